package import Base
package import RideCore

/// How often one ride asked the people whom it reached for attention.
///
/// Each push counts as on a phone that is on, without a Focus, so that nothing of it has to be kept.
package struct RideAttention: Sendable {
  private struct PhoneCount {
    var person: PhoneOwner
    var count = AttentionCount()
  }

  /// By `Phone.id`.
  private var phones: [Int64: PhoneCount] = [:]

  package init() {}

  package mutating func add(_ departures: [Departure], in view: RideView) {
    for departure in departures {
      guard let attention = departure.push.attention(at: departure.at) else { continue }
      for id in departure.phones {
        guard let phone = view.phones.first(where: { $0.id == id }) else { continue }
        let person = PhoneOwner(phone.app, phone.ownerID)
        phones[id, default: PhoneCount(person: person)].count
          .add(attention, hour: view.hour(at: departure.at, on: phone))
      }
    }
  }

  /// What each person noticed: of several phones, the one that asked for the most attention counts.
  package var people: [PhoneOwner: AttentionCount] {
    phones.values.reduce(into: [:]) { people, phone in
      guard let known = people[phone.person], !phone.count.isLouder(than: known) else {
        return people[phone.person] = phone.count
      }
    }
  }
}

extension RideView {
  /// Returns the hour of the ride's clock; without a ride, of the phone's.
  fileprivate func hour(at instant: Timestamp, on phone: Phone) -> Int {
    let name = ride?.timeZone ?? phone.timeZone
    let zone = name.flatMap { ZoneTimes(identifier: $0) } ?? .utc
    let second = (instant.epochSeconds + zone.offset(at: instant)) % 86_400
    return Int((second + 86_400) % 86_400 / 3600)
  }
}

extension ScreenPush {
  /// Returns how much it asks for attention on a phone that is on, has the card that it is about, and
  /// has no Focus; nil if it shows nothing.
  package func attention(at instant: Timestamp) -> Attention? {
    var screen = Screen(platform, at: instant)
    let named = payload.value(at: ["message", "data", "rp_card"])?.string
    if let card = platform == .android ? named : card { screen.startCard(card, at: instant) }
    screen.receive(self, at: instant)
    guard case .shown(let attention)? = screen.outcomes.last?.fate else { return nil }
    return attention
  }
}
