import Base
import RideCore

/// What was sent about one ride to each phone, from which its screens are made once the ride is over.
struct RideScreens {
  private var feed = ScreenFeed()
  /// Those that something was sent to, by `Phone.id`.
  private var phones: [Int64: Phone] = [:]
  /// Those that a push about a card was sent to.
  private var withCard: Set<Int64> = []
  /// The ride's zones, each from when it was read first.
  private var zones: [(from: Timestamp, name: String?)] = []

  mutating func add(_ departures: [Departure], in view: RideView) {
    guard let first = departures.first else { return }
    for departure in departures {
      startCard(departure)
      feed.add([departure])
    }
    for id in departures.flatMap(\.phones) where phones[id] == nil {
      phones[id] = view.phones.first { $0.id == id }
    }
    let zone = view.ride?.timeZone
    if zones.isEmpty || zones[zones.count - 1].name != zone { zones.append((first.at, zone)) }
  }

  /// What is updated before a push started it was started by the app: no earlier than it has to be,
  /// because iOS ends it after hours.
  private mutating func startCard(_ departure: Departure) {
    guard let card = departure.push.card else { return }
    for phone in departure.phones
    where withCard.insert(phone).inserted && !departure.push.startsCard {
      feed.add(.startsCard(card), to: phone, at: departure.at)
    }
  }

  /// Returns which limits the phones break, by phone; none that they broke in the past.
  func breaks(
    of limits: [ScreenLimit.Kind], ride: RideID, after past: inout RidePast,
    sensitiveRules: Set<String>, until end: Timestamp
  ) -> [LimitBreak] {
    phones.sorted { $0.key < $1.key }.flatMap { id, row -> [LimitBreak] in
      let sent = feed.pushes(to: id)
      guard let first = sent.first else { return [] }
      let phone = ScenarioPhone(name: nil, id: id, platform: row.platform, start: first.at)
      var state = past[id]
      let check = ScreenLimitCheck(
        screen: feed.screen(of: phone, at: end), sent: sent, sensitiveRules: sensitiveRules,
        zone: { zone(of: row, at: $0) }, time: { CivilTime.local($0, zone(of: row, at: $0)) },
        earlier: state.counts)
      state.counts = check.counts
      let broken: [LimitBreak] = limits.compactMap { limit in
        guard !state.broken.contains(limit), let found = check.violation(of: limit) else {
          return nil
        }
        state.broken.append(limit)
        let shown = found.at.map { feed.screen(of: phone, at: $0) } ?? check.screen
        return LimitBreak(
          ride: ride, limit: limit, token: row.token, person: "\(row.app) \(row.ownerID)",
          at: found.at ?? end, text: found.text, screen: shown.lines(check.time))
      }
      past[id] = state
      return broken
    }
  }

  private func zone(of phone: Phone, at instant: Timestamp) -> ZoneTimes {
    let name = zones.last { $0.from <= instant }?.name ?? phone.timeZone
    return name.flatMap { ZoneTimes(identifier: $0) } ?? .utc
  }
}

extension ScreenPush {
  /// Whether it makes a card appear on an iPhone.
  fileprivate var startsCard: Bool {
    platform == .android || payload.value(at: ["aps", "event"])?.string == "start"
  }
}
