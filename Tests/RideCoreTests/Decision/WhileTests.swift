import Base
import Testing

@testable import RideCore
@testable import Timeline

@Suite("while next to on") struct WhileTests {
  private static func rule(_ states: Set<String>?) -> Rule {
    var rule = Sample.rule(on: ["driver_arrived", "eta_changed"])
    rule.when = .on(["driver_arrived", "eta_changed"], while: states)
    return rule
  }

  /// The states of `while`, the ride's state, and the reason if nothing is sent.
  static let rows: [(Set<String>?, String?, String?)] = [
    (nil, "ride_completed", nil), (nil, nil, nil), (["driver_arrived"], "driver_arrived", nil),
    (["requested", "driver_arrived"], "requested", nil),
    (["driver_arrived"], "ride_completed", "the ride is ride_completed, not in while"),
    (["driver_arrived"], nil, "the ride is in no state, not in while"),
  ]

  @Test(arguments: rows)
  func `R71: a push leaves only in the states of while`(
    states: Set<String>?, state: String?, reason: String?
  ) {
    var ride = Sample.ride()
    ride.state = state
    let decision = decide(
      Sample.view(ride: ride), by: Sample.book([Self.rule(states)]), now: Sample.now)
    #expect(decision.pushes.count == (reason == nil ? 1 : 0))
    #expect(decision.ended.map(\.reason?.text) == (reason == nil ? [] : [reason]))
    #expect(decision.ended.allSatisfy { $0.phone == 1 && $0.reason?.code == .engine(.leftStates) })
  }

  @Test(arguments: ["driver_arrived", "ride_completed"])
  func `R71: while is asked again at each retry`(state: String) {
    let configuration = Sample.book([Self.rule(["driver_arrived"])])
    var view = Sample.view()
    let refused = PushOutcome.refused(503, "Shutdown")
    view.apply(
      decide(view, by: configuration, now: Sample.now).settled([refused], now: Sample.now) { 0 })
    #expect(view.memo.waiting.count == 1)
    view.ride?.state = state
    let decision = decide(view, by: configuration, now: Sample.now + .seconds(5))
    #expect(decision.pushes.count == (state == "driver_arrived" ? 1 : 0))
    #expect(
      decision.reasons
        == (state == "driver_arrived"
          ? [] : ["suppressed: the ride is ride_completed, not in while"]))
  }

  @Test func `R71: a push that while blocks supersedes nothing`() {
    var rules = [Self.rule(nil), Self.rule(["requested"])]
    rules[0].when = .on(["driver_arrived"])
    rules[1].when = .on(["eta_changed"], while: ["requested"])
    rules[1].name = "eta"
    for index in rules.indices { rules[index].collapse = Sample.text("ride-{{ride.id}}") }
    let view = Sample.view(events: [Sample.event(), Sample.event(2, "eta_changed")])
    let decision = decide(view, by: Sample.book(rules), now: Sample.now)
    #expect(decision.pushes.map(\.entry.rule) == ["arrived"])
  }
}

@Suite("Words that no rule file declares") struct UnknownWordTests {
  /// The event, the ride's state, and the reason in the ledger.
  static let rows: [(String, String?, String?)] = [
    ("SEARCHING", "SEARCHING", #"no rule file declares the state "SEARCHING""#),
    ("SEARCHING", "requested", #"no rule file declares the event "SEARCHING""#),
    ("driver_arived", nil, #"no rule file declares the event "driver_arived""#),
    ("requested", "requested", nil), ("ride_completed", "ride_completed", nil),
    ("eta_changed", "requested", nil), ("ride_updated", "requested", nil),
    // Raw pushes have rides of their own.
    ("raw_push", "requested", #"no rule file declares the event "raw_push""#),
    ("raw_broadcast", "requested", #"no rule file declares the event "raw_broadcast""#),
  ]

  static let internalRows =
    InternalEvent.allCases.map(\.rawValue)
    .filter { event in !rows.contains { $0.0 == event } }.map { ($0, "requested", nil) }
    as [(String, String?, String?)]

  @Test(arguments: rows + internalRows)
  func `R67: an unknown state or event gets one row`(event: String, state: String?, reason: String?)
  {
    var ride = Sample.ride()
    ride.state = state
    let decision = decide(
      Sample.view(ride: ride, events: [Sample.event(7, event)]), by: Sample.book(), now: Sample.now)
    #expect(decision.pushes.isEmpty && decision.settlement.consumed.map(\.id) == [7])
    #expect(decision.ended.map { $0.reason?.text } == [reason].filter { $0 != nil })
    let code = event == state ? LedgerReason.Engine.unknownState : .unknownEvent
    #expect(
      decision.ended.allSatisfy {
        $0.rule == "" && $0.app.rawValue == "" && $0.status == .suppressed
          && $0.reason?.code == .engine(code) && $0.event.id == 7
      })
  }

  @Test func `R67: a word of any length gives a short reason`() {
    let event = Sample.event(7, String(repeating: "ä\n", count: 400))
    let decision = decide(Sample.view(events: [event]), by: Sample.book(), now: Sample.now)
    #expect(decision.ended.allSatisfy { ($0.reason?.text.utf8.count ?? 999) < 120 })
  }

  @Test func `a ride whose row was removed ends its card and its heartbeats`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    let view = stage.view
    var gone = view
    gone.ride = nil
    gone.events = [Sample.event(99, InternalEvent.rideRemoved.rawValue)]
    let decision = decide(gone, by: stage.configuration, now: stage.now)
    #expect(decision.pushes.map(\.entry.cardEvent) == [.end])
    #expect(
      decision.settlement.memo.slots.isEmpty && decision.nextSlot == nil && !decision.isActive)
  }

  @Test func `R78: no reason names a person`() {
    let owner: OwnerID = "somebody-17"
    var ride = Sample.ride()
    ride.customerID = owner
    var view = Sample.view(ride: ride, phones: [])
    view.events = [Sample.event(), Sample.event(2, "driver_assigned")]
    var stage = CardStage()
    stage.others = [Sample.rule()]
    let decision = decide(view, by: stage.configuration, now: Sample.now)
    #expect(
      decision.reasons.sorted() == [
        "suppressed: no phone of the customer",
        "suppressed: no push-to-start token of the customer",
      ])
  }
}
