package import Base
import RideCore

/// What leaves for each phone of a replay, from which screens are made.
package struct ScreenFeed: Sendable {
  /// By `Phone.id`.
  private var sent: [Int64: [ScreenRun.Departure]] = [:]

  package init() {}

  /// Adds the pushes of a decision that a service accepted.
  package mutating func add(_ pass: Pass) {
    let pushes = Dictionary(
      pass.decision.pushes.map { ($0.entry.id, $0) }, uniquingKeysWith: { first, _ in first })
    let view = pass.decision.view
    for entry in pass.settlement.entries where entry.isAcceptedPush {
      guard let push = pushes[entry.id] else { continue }
      let departure = ScreenRun.Departure(
        at: pass.now,
        push: ScreenPush(push, ofRide: view.rideID, channel: view.storage(ofChannelOf: entry)))
      for phone in view.receivers(of: entry) { sent[phone, default: []].append(departure) }
    }
  }

  /// Returns a phone's screen as it is at some time.
  package func screen(of phone: ScenarioPhone, at instant: Timestamp) -> Screen {
    var run = ScreenRun(phone, sent[phone.id] ?? [])
    return run.screen(at: instant)
  }

  /// Returns a phone's screens at times in their order.
  package func screens(of phone: ScenarioPhone, at instants: [Timestamp]) -> [Screen] {
    var run = ScreenRun(phone, sent[phone.id] ?? [])
    return instants.map { run.screen(at: $0) }
  }

  /// Returns everything that was sent to a phone, whether or not it could be reached.
  package func pushes(to phone: Int64) -> [(at: Timestamp, push: ScreenPush)] {
    (sent[phone] ?? []).map { ($0.at, $0.push) }
  }
}

extension RideView {
  /// Returns what APNs stores of the broadcasts of a card's channel.
  fileprivate func storage(ofChannelOf entry: LedgerEntry) -> ChannelStorage {
    guard case .channel(let id)? = entry.card else { return .latest }
    return channels.first { $0.id == id }?.storage ?? .latest
  }

  /// Returns the phones that a push reaches: `Phone.id`.
  ///
  /// A card whose app named no installation is on its owner's first iPhone, and a channel is received
  /// by every iPhone of its app.
  fileprivate func receivers(of entry: LedgerEntry) -> [Int64] {
    if let phone = phone(of: entry) { return [phone.id] }
    if case .channel? = entry.card {
      return phones.filter { $0.platform == .ios && $0.app == entry.app }.map(\.id)
    }
    return iPhone(of: entry).map { [$0.id] } ?? []
  }
}
