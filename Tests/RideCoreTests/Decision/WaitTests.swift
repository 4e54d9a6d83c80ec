import Foundation
import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// R87: an event arms a firing for later, if it still may.
@Suite("at: an event") struct WaitTests {
  /// A ride with the rule `at: driver_arrived + 2m` for the customer, who has one phone.
  private struct Stage {
    var view = Sample.view(events: [Sample.event()])
    var rule: Rule
    var now = Sample.now
    var verdicts: [String] = []

    init(_ wait: Int64 = 120, while states: Set<String>? = ["driver_arrived"]) {
      rule = Sample.rule(collapse: "r-{{ride.id}}")
      rule.when = .on(["driver_arrived"], while: states)
      rule.delay(by: .seconds(wait))
    }

    /// Decides once and settles; returns the decision and when the ride is due.
    @discardableResult
    mutating func decide(
      at seconds: Double, _ outcome: PushOutcome = .accepted
    ) -> (decision: Decision, due: Double?) {
      now = Sample.now + .microseconds(Int64(seconds * 1e6))
      let decision = RideCore.decide(view, by: Sample.book([rule]), now: now)
      let settled = decision.settled(decision.pushes.map { _ in outcome }, now: now) { 0.5 }
      view.apply(settled)
      verdicts += settled.entries.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" }
      return (decision, settled.nextDue.map { Double(($0 - Sample.now).microseconds) / 1e6 })
    }
  }

  @Test func `R87: the push waits, pending with its due time, and leaves then`() throws {
    var stage = Stage()
    let first = stage.decide(at: 0)
    // The event is a second old.
    #expect(first.decision.pushes.isEmpty && first.due == 119)
    #expect(stage.verdicts == ["pending: waits until 2027-01-15T08:01:59Z"])
    #expect(stage.view.memo.waiting.map(\.entry.reason?.code) == [.engine(.waiting)])
    let early = stage.decide(at: 100)
    #expect(early.decision.pushes.isEmpty && early.due == 119)
    let last = stage.decide(at: 119)
    let push = try #require(last.decision.pushes.first)
    #expect(last.decision.pushes.count == 1 && push.entry.reason == nil)
    // It is valid for five minutes from then.
    #expect(push.validUntil == Sample.now + .seconds(-1 + 120 + 300))
    #expect(stage.verdicts.last == "accepted: " && stage.view.memo.isEmpty)
  }

  @Test func `R87: a ride that has left the states by then receives nothing, with the reason`() {
    var stage = Stage()
    stage.decide(at: 0)
    stage.view.ride?.state = "requested"
    #expect(stage.decide(at: 119).decision.pushes.isEmpty)
    #expect(stage.verdicts.last == "suppressed: the ride is requested, not in while")
  }

  @Test
  func `a ride that leaves and comes back in time receives it: the state counts when it is due`() {
    var stage = Stage()
    stage.view.ride?.state = "requested"
    stage.decide(at: 0)
    stage.view.ride?.state = "driver_arrived"
    #expect(stage.decide(at: 119).decision.pushes.count == 1)
  }

  @Test func `an event that is handled late fires at once, and not after its validity`() {
    var stage = Stage()
    #expect(stage.decide(at: 200).decision.pushes.count == 1)
    stage = Stage()
    stage.decide(at: 419)
    #expect(stage.verdicts == ["expired: valid until 2027-01-15T08:06:59Z"])
  }

  @Test func `it delays no other push to the phone, and none takes it along`() {
    var stage = Stage()
    stage.decide(at: 0)
    let other = Sample.rule("other", on: ["eta_changed"])
    stage.view.events = [Sample.event(2, "eta_changed")]
    let decision = RideCore.decide(
      stage.view, by: Sample.book([other, stage.rule]), now: Sample.now + .seconds(10))
    #expect(decision.pushes.map(\.entry.rule) == ["other"])
    #expect(decision.kept.map(\.due) == [Sample.now + .seconds(119)])
  }

  @Test func `a newer event of the same look supersedes it, waiting or not`() {
    var stage = Stage()
    stage.decide(at: 0)
    stage.view.events = [RideEvent(id: 2, name: "driver_arrived", at: Sample.now + .seconds(60))]
    stage.decide(at: 60)
    let due = stage.decide(at: 119).due
    #expect(stage.verdicts.filter { $0.hasPrefix("superseded") }.count == 1)
    #expect(due == 180 && stage.decide(at: 180).decision.pushes.count == 1)
    #expect(stage.view.memo.isEmpty)
  }

  @Test func `while it waits, it supersedes no older push that is retried`() {
    var stage = Stage()
    stage.rule.delay(by: nil)
    stage.decide(at: 0, .refused(Refusal(status: 503, reason: "Shutdown")))
    #expect(stage.view.memo.waiting.count == 1)
    stage.rule.delay(by: .seconds(120))
    stage.view.events = [RideEvent(id: 2, name: "driver_arrived", at: Sample.now)]
    #expect(stage.decide(at: 0.1).decision.pushes.isEmpty)
    #expect(stage.decide(at: 60).decision.pushes.map(\.entry.event.id) == [1])
  }

  @Test func `after a takeover, a push that was not due has not been sent by anybody`() {
    var stage = Stage()
    stage.decide(at: 0)
    stage.view.isTakenOver = true
    stage.decide(at: 60)
    #expect(stage.view.memo.waiting.allSatisfy { $0.entry.doubt == nil })
    stage.view.ride?.state = "requested"
    stage.view.isTakenOver = false
    stage.decide(at: 119)
    #expect(stage.verdicts.last?.hasPrefix("suppressed") == true)
  }

  @Test func `a phone that is gone by then, and a run of serve once`() {
    var stage = Stage()
    let settled = stage.decide(at: 0).decision.settled([], now: Sample.now) { 0 }
    var unfinished = UnfinishedPushes()
    unfinished.add([settled])
    #expect(unfinished.groups.isEmpty, "a push that waits on purpose is not left over")
    stage.view.phones = []
    stage.decide(at: 119)
    #expect(stage.verdicts.last == "suppressed: the phone is disabled")
  }

  @Test func `the memo survives JSON`() throws {
    var stage = Stage()
    stage.decide(at: 0)
    let json = stage.view.memo.storedText
    #expect(try Memo(storedText: json) == stage.view.memo)
  }

  @Test func `a newer occurrence replaces a firing that has not happened, also without collapse`() {
    var stage = Stage()
    stage.rule.collapse = nil
    stage.decide(at: 0)
    stage.view.events = [RideEvent(id: 2, name: "driver_arrived", at: Sample.now + .seconds(60))]
    #expect(stage.decide(at: 60).due == 180)
    #expect(stage.verdicts.contains("superseded: superseded by driver_arrived"))
    #expect(stage.decide(at: 180).decision.pushes.map(\.entry.event.id) == [2])
  }

  @Test func `each time of a list is a firing of its own, with the data of the event`() {
    var stage = Stage()
    stage.rule.when = .at(
      Timing(
        .times([60, 120, 120].map { RuleTime(.event("driver_arrived"), by: .seconds($0)) }),
        while: nil))
    stage.decide(at: 0)
    #expect(stage.view.memo.waiting.count == 2)
    #expect(stage.decide(at: 59).decision.pushes.count == 1)
    #expect(stage.decide(at: 119).decision.pushes.count == 1)
    #expect(stage.view.memo.waiting.isEmpty)
  }

  /// The attribute of the offset, and when the rule fires; nil if it does not.
  static let offsets: [(attributes: String, due: Double?, reason: String?)] = [
    (#"{"free_wait": 300}"#, 299, nil), (#"{"free_wait": "90"}"#, 89, nil),
    ("{}", nil, "missing attributes.free_wait"),
    (#"{"free_wait": "soon"}"#, nil, #"attributes.free_wait "soon" is not a number"#),
    (#"{"free_wait": -5}"#, nil, "attributes.free_wait -5 is not a number"),
  ]

  @Test(arguments: offsets.indices)
  func `an offset of the ride, in seconds`(index: Int) {
    let (attributes, due, reason) = Self.offsets[index]
    var stage = Stage()
    stage.rule.when = .at(
      Timing(
        .times([
          RuleTime(.event("driver_arrived"), by: .attribute(["free_wait"], isBefore: false))
        ]), while: nil))
    stage.view.ride?.attributes = attributes
    #expect(stage.decide(at: 0).due == due)
    if let reason { #expect(stage.verdicts == ["suppressed: \(reason)"]) }
  }

  @Test func `two offers to two drivers are two firings`() {
    var stage = Stage(while: nil)
    stage.rule = Sample.rule("offer", app: .driver)
    stage.rule.when = .on(["offer"])
    stage.rule.delay(by: .seconds(60))
    stage.view.phones = [
      Sample.phone(1, app: .driver, owner: "d1"), Sample.phone(2, app: .driver, owner: "d2"),
    ]
    stage.view.events = ["d1", "d2"].enumerated().map { index, driver in
      RideEvent(
        id: Int64(index) + 1, name: "offer", at: Sample.now, data: #"{"driver_id": "\#(driver)"}"#)
    }
    stage.decide(at: 0)
    #expect(stage.decide(at: 60).decision.pushes.count == 2)
  }
}
