@testable import Base
@testable import RideCore
@testable import Timeline

/// One ride with one schedule rule, handled repeatedly.
struct AgendaStage {
  var rule: Rule
  var ride = Sample.ride()
  var memo = Memo()
  var events: [RideEvent] = []
  var slots: [Timestamp] = []
  var closed: [LedgerEntry] = []
  var tally = SlotTally()
  private var lastEvent: Int64 = 0

  init(_ slots: Timing.Slots, while states: Set<String>, expires: Duration = .seconds(300)) {
    rule = Sample.rule("r", app: .driver, body: "at {{event.at}}", expires: .after(expires))
    rule.when = .at(Timing(slots, while: states))
    ride.state = "requested"
  }

  static let start = Sample.now
  static func at(_ minutes: Double) -> Timestamp { start + .microseconds(Int64(minutes * 6e7)) }

  mutating func state(_ state: String, at minutes: Double) {
    ride.state = state
    emit(state, at: minutes)
  }

  mutating func pickup(_ pickup: Double?, at minutes: Double) {
    ride.pickupAt = pickup.map(Self.at)
    emit("ride_updated", at: minutes)
  }

  mutating func emit(_ name: String, at minutes: Double) {
    lastEvent += 1
    ride.updatedAt = Self.at(minutes)
    events.append(RideEvent(id: lastEvent, name: name, at: Self.at(minutes)))
  }

  /// Handles the ride once; returns when it is due next.
  @discardableResult
  mutating func claim(at minutes: Double) -> Double? {
    claim(Self.at(minutes)).map { Double(($0 - Self.start).microseconds) / 6e7 }
  }

  @discardableResult
  mutating func claim(_ now: Timestamp) -> Timestamp? {
    var view = Sample.view(ride: ride, events: events, memo: memo)
    let decision = decide(view, by: Sample.book([rule]), now: now)
    let outcomes = decision.pushes.map { _ in PushOutcome.accepted }
    let settlement = decision.settled(outcomes, now: now) { 0.5 }
    slots += decision.pushes.filter { $0.entry.rule == "r" }.map(\.entry.event.firing)
    closed += decision.ended
    tally += settlement.tallies["r"] ?? SlotTally()
    view.apply(settlement)
    (memo, events) = (view.memo, view.events)
    return settlement.nextDue
  }

  /// Runs the service, which handles the ride whenever it is due.
  mutating func run(until minutes: Double, from: Double = 0) {
    var next = claim(Self.at(from))
    while let due = next, due <= Self.at(minutes) { next = claim(due) }
  }

  var minutes: [Double] { slots.map { Double(($0 - Self.start).microseconds) / 6e7 } }
  var reasons: [String] { closed.map { $0.reason?.text ?? "" } }
}
