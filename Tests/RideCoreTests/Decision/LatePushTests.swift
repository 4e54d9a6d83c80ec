import Foundation
import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// U2: what leaves later than its rule fired is decided again by `while` and `if`.
@Suite("A push that leaves late") struct LatePushTests {
  /// 01:30 in UTC, and 07:00, when quiet hours end.
  private static let night = Sample.now - .seconds(6 * 3600 + 1800)
  private static let morning = Sample.now - .seconds(3600)

  /// A ride with a rule on `driver_arrived`, or on another event, that is handled repeatedly.
  private struct Stage {
    var rule: Rule
    var others: [Rule] = []
    var view: RideView
    var rows: [String] = []
    var sent: [Int64] = []

    init(
      if text: String, remembering: [[String]] = [], phones: Int64 = 1, at now: Timestamp = night,
      data: String = "{}"
    ) throws {
      rule = Sample.rule(expires: .after(.seconds(12 * 3600)))
      rule.condition = try Condition(text, remembering: remembering)
      let event = RideEvent(id: 1, name: "driver_arrived", at: now, data: data)
      view = Sample.view(
        events: [event],
        phones: (1...phones).map { Sample.phone($0, token: "\(100_000 + $0)") })
      view.ride?.attributes = #"{"plate": "B", "paid": false, "eta": 7}"#
    }

    mutating func holdAtNight() throws {
      let from = try #require(QuietHours.TimeOfDay(text: "22:00"))
      let to = try #require(QuietHours.TimeOfDay(text: "07:00"))
      rule.limits.quiet = QuietHours(from: from, to: to, zone: .ride, then: .hold)
    }

    @discardableResult
    mutating func decide(
      at now: Timestamp, _ outcome: (PlannedPush) -> PushOutcome = { _ in .accepted }
    ) -> Decision {
      let decision = RideCore.decide(view, by: Sample.book([rule] + others), now: now)
      let settled = decision.settled(decision.pushes.map(outcome), now: now) { 0.5 }
      sent += decision.pushes.compactMap(\.entry.phone)
      rows += settled.entries.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" }
      view.apply(settled)
      return decision
    }

    mutating func change(_ attributes: String) { view.ride?.attributes = attributes }
  }

  private static let paid = #"{"plate": "B", "paid": true, "eta": 7}"#
  private static let becameFalse =
    "suppressed: if became false before it was sent: !ride.attributes.paid"
  private static let unavailable = PushOutcome.refused(Refusal(status: 503))

  @Test func `held by quiet hours, it is not sent once its if is false`() throws {
    var stage = try Stage(if: "!ride.attributes.paid")
    try stage.holdAtNight()
    stage.decide(at: Self.night)
    #expect(stage.view.memo.waiting.count == 1)
    stage.change(Self.paid)
    let decision = stage.decide(at: Self.morning)
    #expect(decision.pushes.isEmpty)
    #expect(decision.ended.map(\.reason?.code) == [.engine(.conditionFalse)])
    #expect(stage.rows.last == Self.becameFalse)
    #expect(stage.view.memo.isEmpty)
  }

  @Test func `held by quiet hours, it is not sent to a phone that is in contact by then`() throws {
    var stage = try Stage(
      if: "phone.contact == null || now - phone.contact > duration('5m')", phones: 2)
    try stage.holdAtNight()
    stage.decide(at: Self.night)
    #expect(stage.view.memo.waiting.count == 2)
    stage.view.phones[0].contactedAt = Self.morning - .seconds(60)
    stage.decide(at: Self.morning)
    #expect(stage.sent == [2])
  }

  @Test func `held by quiet hours, it is sent while its if is true`() throws {
    var stage = try Stage(if: "!ride.attributes.paid")
    try stage.holdAtNight()
    stage.decide(at: Self.night)
    #expect(stage.decide(at: Self.morning).pushes.count == 1)
  }

  @Test func `a retry is not sent once its if is false, or the ride left its states`() throws {
    for isPaid in [true, false] {
      var stage = try Stage(if: "!ride.attributes.paid", at: Sample.now)
      stage.rule.when = .on(["driver_arrived"], while: ["driver_arrived"])
      stage.decide(at: Sample.now) { _ in Self.unavailable }
      #expect(stage.view.memo.waiting.count == 1)
      if isPaid { stage.change(Self.paid) } else { stage.view.ride?.state = "requested" }
      #expect(stage.decide(at: Sample.now + .seconds(60)).pushes.isEmpty)
      #expect(
        stage.rows.last
          == (isPaid ? Self.becameFalse : "suppressed: the ride is requested, not in while"))
    }
  }

  @Test func `one that may have left is uncertain, not suppressed`() throws {
    var stage = try Stage(if: "!ride.attributes.paid", at: Sample.now)
    stage.decide(at: Sample.now) { _ in .unanswered(.timeout) }
    stage.change(Self.paid)
    let ended = stage.decide(at: Sample.now + .seconds(60)).ended
    #expect(ended.map(\.status) == [.uncertain])
    // The node that held the ride may have sent the retry before it ended.
    var other = try Stage(if: "!ride.attributes.paid", at: Sample.now)
    other.decide(at: Sample.now) { _ in Self.unavailable }
    other.change(Self.paid)
    other.view.isTakenOver = true
    #expect(other.decide(at: Sample.now + .seconds(60)).ended.map(\.status) == [.uncertain])
  }

  @Test func `a retry that is not sent gives its permit back`() throws {
    var stage = try Stage(if: "!ride.attributes.paid", at: Sample.now)
    stage.rule.limits.topic = "news"
    stage.rule.limits.cap = PushCap(count: 1, per: .seconds(600))
    stage.decide(at: Sample.now) { _ in Self.unavailable }
    stage.change(Self.paid)
    let decision = stage.decide(at: Sample.now + .seconds(60))
    #expect(decision.pushes.isEmpty && stage.rows.last == Self.becameFalse)
    let permits = decision.settled([], now: Sample.now) { 0 }.permits
    #expect(permits.map(\.isSent) == [false] && permits.map(\.isDone) == [true])
  }

  @Test func `what waits behind an earlier push is decided again when it leaves`() throws {
    var stage = try Stage(if: "!ride.attributes.paid", at: Sample.now)
    stage.others = [Sample.rule("now", on: ["eta_changed"], expires: .after(.seconds(3600)))]
    stage.view.events = [Sample.event(0, "eta_changed")] + stage.view.events
    let first = stage.decide(at: Sample.now) { push in
      push.entry.rule == "now" ? Self.unavailable : .unsent(.queuedBehind)
    }
    #expect(first.pushes.count == 2 && stage.view.memo.waiting.count == 2)
    stage.change(Self.paid)
    let second = stage.decide(at: Sample.now + .seconds(60))
    #expect(second.pushes.map(\.entry.rule) == ["now"])
    #expect(stage.rows.contains(Self.becameFalse))
  }

  @Test func `if reads the event that fired, the ride as it is, and the time that it is`() throws {
    let text =
      "event.data.kind == 'bill' && event.name == 'driver_arrived' && ride.attributes.eta == 8"
      + " && now - event.at > duration('1h')"
    var stage = try Stage(if: "event.data.kind == 'bill'", data: #"{"kind": "bill"}"#)
    try stage.holdAtNight()
    stage.decide(at: Self.night)
    stage.rule.condition = try Condition(text)
    stage.change(#"{"plate": "B", "eta": 8}"#)
    #expect(stage.decide(at: Self.morning).pushes.count == 1)
  }

  @Test func `if reads what the rule remembered when it fired, for all phones alike`() throws {
    let text = "last == null || last.eta != ride.attributes.eta"
    var stage = try Stage(if: text, remembering: [["eta"]], phones: 3, at: Sample.now)
    // The first phone receives it, and the rule remembers the firing.
    stage.decide(at: Sample.now) { $0.entry.phone == 1 ? .accepted : Self.unavailable }
    #expect(stage.view.memo.conditions["arrived"]?.last == #"{"eta":7}"#)
    stage.decide(at: Sample.now + .seconds(60)) {
      $0.entry.phone == 2 ? .accepted : Self.unavailable
    }
    #expect(stage.decide(at: Sample.now + .seconds(180)).pushes.map(\.entry.phone) == [3])
    #expect(stage.view.memo.fired.isEmpty)
  }

  @Test func `what is back at the remembered value is not sent`() throws {
    let text = "last == null || math.abs(ride.attributes.eta - last.eta) > 5"
    var stage = try Stage(if: text, remembering: [["eta"]], at: Sample.now)
    stage.decide(at: Sample.now)
    let later = Sample.now + .seconds(60)
    stage.view.events = [RideEvent(id: 2, name: "driver_arrived", at: later)]
    stage.change(#"{"plate": "B", "eta": 20}"#)
    stage.decide(at: later) { _ in Self.unavailable }
    // The rule remembers 20, but fired because of 7.
    #expect(stage.view.memo.fired.values.sorted() == [#"{"eta":7}"#])
    let stored = try Memo(storedText: stage.view.memo.storedText)
    #expect(stored == stage.view.memo)
    stage.change(#"{"plate": "B", "eta": 9}"#)
    #expect(stage.decide(at: later + .seconds(60)).pushes.isEmpty)
    #expect(stage.rows.last == "suppressed: if became false before it was sent: \(text)")
  }

  @Test func `a waiting push of an earlier version has no memory, and is sent`() throws {
    let text = "last != null && last.eta != ride.attributes.eta"
    var stage = try Stage(if: text, remembering: [["eta"]], at: Sample.now)
    stage.view.memo.conditions["arrived"] = ConditionMemo(last: #"{"eta":1}"#)
    stage.decide(at: Sample.now) { _ in Self.unavailable }
    stage.view.memo.fired = [:]
    #expect(stage.decide(at: Sample.now + .seconds(60)).pushes.count == 1)
  }

  @Test func `what rules remembered has a bound in the memo`() throws {
    let text = "last == null || last.note != ride.attributes.note"
    var stage = try Stage(if: text, remembering: [["note"]], at: Sample.now)
    let note = String(repeating: "x", count: 4000)
    for number in 1...300 {
      let now = Sample.now + .seconds(Int64(number))
      stage.change(#"{"plate": "B", "note": "\#(number) \#(note)"}"#)
      stage.view.events = [RideEvent(id: Int64(number), name: "driver_arrived", at: now)]
      stage.decide(at: now) { _ in .unsent(.paused(for: .seconds(3600))) }
    }
    #expect(stage.view.memo.waiting.count == 300)
    let size = stage.view.memo.fired.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    #expect(size > 900_000 && size <= MemoBudget.memories)
  }

  @Test func `an escalation whose if became false emits nothing`() throws {
    var stage = try Stage(if: "!ride.attributes.paid", at: Sample.now)
    stage.rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "eta_changed")
    stage.decide(at: Sample.now)
    stage.change(Self.paid)
    let decision = stage.decide(at: Sample.now + .seconds(6))
    #expect(decision.settlement.emits.isEmpty && stage.rows.last == Self.becameFalse)
    #expect(stage.view.memo.isEmpty)
  }

  @Test func `an alert that its card did not show is decided again`() throws {
    var stage = try Stage(if: "!ride.attributes.paid", at: Sample.now)
    let event = try #require(stage.view.events.first)
    var entry = LedgerEntry(
      id: PushID(of: "x"), event: event, rule: "arrived", app: .customer, pushType: .alert,
      status: .pending, attempts: 0)
    entry.phone = 1
    entry.owner = "c"
    stage.view.events = []
    stage.view.memo.waiting = [WaitingItem(entry: entry, wait: .retry(at: Sample.now))]
    stage.change(Self.paid)
    #expect(stage.decide(at: Sample.now).pushes.isEmpty && stage.rows == [Self.becameFalse])
  }
}
