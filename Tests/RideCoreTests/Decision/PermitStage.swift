@testable import Base
@testable import RideCore
@testable import Timeline

/// A rule with a cap, and rides about which it fires.
enum PermitSample {
  static func rule(
    _ count: Int?, _ name: String = "capped", per: Duration = .seconds(600),
    on event: String = "driver_arrived", collapse: String? = nil
  ) -> Rule {
    var rule = Sample.rule(name, on: [event], expires: .after(.seconds(300)), collapse: collapse)
    rule.limits.topic = "news"
    rule.limits.cap = count.map { PushCap(count: $0, per: per) }
    return rule
  }

  static func view(
    _ number: Int, at: Timestamp, owner: OwnerID = "c", phones: Int = 1,
    names: [String] = ["driver_arrived"]
  ) -> RideView {
    var ride = Sample.ride()
    ride.id = "r\(number)"
    ride.customerID = owner
    let events = names.enumerated().map {
      RideEvent(id: Int64(number * 10 + $0.offset), name: $0.element, at: at)
    }
    return RideView(
      rideID: ride.id, ride: ride, events: events,
      phones: (0..<phones).map {
        Sample.phone(Int64(number * 10 + $0), owner: owner, token: "\(100_000 + number * 10 + $0)")
      })
  }
}

/// Several rides, handled by a store with one book of permits.
struct PermitStage {
  var book = PermitBook()
  var sent: [(at: Timestamp, entry: LedgerEntry)] = []
  var entries: [PushID: LedgerEntry] = [:]
  private var takenOver: Set<RideID> = []

  /// Handles a ride until nothing is due; an outcome that is nil is a node that died after it sent.
  mutating func handle(
    _ view: inout RideView, by rules: EngineConfiguration, at now: inout Timestamp,
    outcome: (PlannedPush) -> PushOutcome? = { _ in .accepted }
  ) {
    for _ in 0..<10 {
      view.isTakenOver = takenOver.contains(view.rideID)
      let decision = decide(view, by: rules, now: now) { book.refuse($0, at: now) }
      let outcomes = decision.pushes.map(outcome)
      for (push, outcome) in zip(decision.pushes, outcomes) where outcome?.mayHaveArrived ?? true {
        sent.append((now, push.entry))
      }
      if outcomes.contains(where: { $0 == nil }) {
        takenOver.insert(view.rideID)
        return
      }
      takenOver.remove(view.rideID)
      let settlement = decision.settled(outcomes.compactMap(\.self), now: now) { 0 }
      view.apply(settlement)
      book.settle(settlement.permits, at: now)
      for entry in settlement.entries { entries[entry.id] = entry }
      guard let due = settlement.nextDue, due <= now else { return }
      now = now + .milliseconds(3)
    }
  }

  var reasons: [String] {
    entries.values.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" }.sorted()
  }
}
