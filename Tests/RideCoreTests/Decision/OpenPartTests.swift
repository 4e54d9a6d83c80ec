import Foundation
import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// Looks with more pushes than fit into one decision.
@Suite struct OpenPartTests {
  private static func phones(_ count: Int) -> [Phone] {
    (1...Int64(count)).map { Sample.phone($0, token: String(format: "%064x", $0)) }
  }

  /// Handles a claim to its end, as the engine does; returns the sent pushes and the decisions.
  private func run(
    _ view: RideView, _ book: EngineConfiguration,
    _ outcome: (PlannedPush) -> PushOutcome = { _ in .accepted }
  ) -> (sent: [PlannedPush], decisions: Int, last: Settlement?) {
    var view = view
    var sent: [PlannedPush] = []
    var last: Settlement?
    for decisions in 1...100 {
      let decision = decide(view, by: book, now: Sample.now)
      let settlement = decision.settled(
        decision.pushes.map(outcome), now: Sample.now, jitter: { 1 })
      sent += decision.pushes
      last = settlement
      view.apply(settlement)
      if view.events.isEmpty, settlement.nextDue.map({ $0 > Sample.now }) ?? true {
        return (sent, decisions, last)
      }
    }
    return (sent, .max, last)
  }

  @Test func `R70: many phones are addressed in parts, each once`() {
    let view = Sample.view(phones: Self.phones(10_000).shuffled())
    let first = decide(view, by: Sample.book(), now: Sample.now)
    #expect(first.pushes.count == OpenPart.size)
    #expect(
      first.settlement.consumed.isEmpty && first.settlement.memo.part?.after == Int64(OpenPart.size)
    )
    let (sent, decisions, last) = run(view, Sample.book())
    #expect(Set(sent.compactMap(\.entry.phone)).count == 10_000 && sent.count == 10_000)
    #expect(decisions == 11)
    #expect(last?.memo.isEmpty == true)
  }

  @Test func `each part has all events of the claim, and none of those that came later`() throws {
    let rule = Sample.rule(on: ["eta_changed", "driver_arrived"], collapse: "one")
    var view = Sample.view(
      events: [Sample.event(1, "eta_changed"), Sample.event(2)], phones: Self.phones(3000))
    let first = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(first.pushes.allSatisfy { $0.entry.event.id == 2 })
    #expect(first.ended.allSatisfy { $0.status == .superseded })
    view.memo =
      first.settled(first.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 }).memo
    view.events.append(Sample.event(3, "eta_changed"))
    let second = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(second.pushes.allSatisfy { $0.entry.event.id == 2 })
    let (sent, _, _) = run(view, Sample.book([rule]))
    #expect(sent.count { $0.entry.event.id == 3 } == 3000)
  }

  @Test func `A later part of a pass that was taken over may have been sent, too`() throws {
    // The previous holder had one event, and thus all phones in one part.
    let rule = Sample.rule(on: ["eta_changed", "driver_arrived"])
    var view = Sample.view(
      events: [Sample.event(1, "eta_changed"), Sample.event(2)], phones: Self.phones(600))
    view.isTakenOver = true
    let first = decide(view, by: Sample.book([rule]), now: Sample.now)
    view.memo =
      first.settled(first.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 }).memo
    view.memo = try Memo(storedText: view.memo.storedText)
    view.isTakenOver = false
    let late = decide(view, by: Sample.book([rule]), now: Sample.now + .seconds(86_400))
    #expect(late.ended.count == 200)
    #expect(late.ended.allSatisfy { $0.status == .uncertain })
    let (sent, _, _) = run(view, Sample.book([rule]))
    #expect(sent.allSatisfy { $0.entry.doubt == .takenOver })
  }

  @Test func `A part that was taken over has the phones of its previous holder`() throws {
    var view = Sample.view(phones: Self.phones(3000))
    let first = decide(view, by: Sample.book(), now: Sample.now)
    view.memo =
      first.settled(first.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 }).memo
    view.isTakenOver = true
    let second = decide(view, by: Sample.book(), now: Sample.now)
    #expect(second.pushes.allSatisfy { $0.entry.doubt == .takenOver })
    view.memo =
      second.settled(second.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 }).memo
    view.isTakenOver = false
    let third = decide(view, by: Sample.book(), now: Sample.now)
    #expect(third.pushes.allSatisfy { $0.entry.doubt == nil })
  }

  @Test func `R107: a later part leaves out an event with the ID of a lost one`() {
    var view = Sample.view(phones: Self.phones(3000))
    let first = decide(view, by: Sample.book(), now: Sample.now)
    view.memo =
      first.settled(first.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 }).memo
    var event = Sample.event()
    event.at = Sample.now
    view.events = [event]
    let second = decide(view, by: Sample.book(), now: Sample.now)
    #expect(second.pushes.isEmpty && second.settlement.consumed.isEmpty)
    let (sent, _, _) = run(view, Sample.book())
    #expect(Set(sent.compactMap(\.entry.phone)).count == 3000)
  }

  @Test func `R107: two events of one ID keep their data in the memo`() throws {
    var memo = Memo()
    for data in [#"{"n": 1}"#, #"{"n": 2}"#, #"{"n": 1}"#, "{}"] {
      var entry = LedgerEntry(
        id: PushID(of: data), event: Sample.event(data: data), rule: "r", app: .customer,
        pushType: .alert, status: .pending, attempts: 1)
      entry.phone = 1
      memo.waiting.append(WaitingItem(entry: entry, wait: .retry(at: Sample.now)))
    }
    let json = memo.storedText
    #expect(try Memo(storedText: json) == memo)
  }

  @Test func `a person without a phone is named once`() {
    var view = Sample.view(phones: Self.phones(5000))
    let book = Sample.book([Sample.rule(), Sample.rule("driver", app: .driver)])
    var reasons: [String] = []
    for _ in 0..<10 {
      let decision = decide(view, by: book, now: Sample.now)
      reasons += decision.reasons
      let settlement = decision.settled(
        decision.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 })
      view.memo = settlement.memo
      if !settlement.consumed.isEmpty { view.events = [] }
    }
    #expect(reasons == ["suppressed: no phone of the driver"])
  }

  @Test func `a slot fires once for each of many phones`() {
    var rule = Sample.rule("beat")
    rule.when = .at(Timing(.every(.seconds(60)), while: ["driver_arrived"]))
    let view = Sample.view(events: [], phones: Self.phones(5000))
    let entered = decide(view, by: Sample.book([rule]), now: Sample.now)
    var later = view
    later.memo = entered.settled([], now: Sample.now, jitter: { 0 }).memo
    var sent: [PushID] = []
    var tally = SlotTally()
    for _ in 0..<6 {
      let decision = decide(later, by: Sample.book([rule]), now: Sample.now + .seconds(90))
      sent += decision.pushes.map(\.entry.id)
      for (_, part) in decision.settlement.tallies { tally += part }
      later.memo =
        decision.settled(
          decision.pushes.map { _ in .accepted }, now: Sample.now + .seconds(90), jitter: { 0 }
        ).memo
    }
    #expect(sent.count == 5000 && Set(sent).count == 5000)
    #expect(tally.fired == 1 && tally.remainder == 0)
  }

  @Test func `an event's data is stored once in the memo for all retries`() throws {
    let data = #"{"text": "\#(String(repeating: "x", count: 150_000))"}"#
    let view = Sample.view(
      events: [Sample.event(data: data)], phones: Self.phones(OpenPart.size))
    let (_, _, last) = run(view, Sample.book()) { _ in
      .refused(Refusal(status: 503, reason: "Shutdown"))
    }
    let memo = try #require(last?.memo)
    #expect(memo.waiting.count == OpenPart.size)
    let json = memo.storedText
    #expect(json.count < 2_000_000)
    #expect(try Memo(storedText: json) == memo)
  }

  @Test func `a memo is bounded; a push that does not fit ends with a reason`() {
    let view = Sample.view(phones: Self.phones(MemoBudget.items + 3000))
    var entries: [LedgerEntry] = []
    var open = view
    for _ in 0..<15 {
      let decision = decide(open, by: Sample.book(), now: Sample.now)
      let settlement = decision.settled(
        decision.pushes.map { _ in .refused(Refusal(status: 503, reason: "Shutdown")) },
        now: Sample.now, jitter: { 1 })
      entries += settlement.entries
      open.memo = settlement.memo
      if !settlement.consumed.isEmpty { open.events = [] }
    }
    #expect(open.memo.waiting.count == MemoBudget.items)
    let ended = entries.filter { $0.status != .pending }
    #expect(ended.count == 3000)
    #expect(
      ended.allSatisfy {
        $0.status == .suppressed
          && $0.reason?.text == "too many pushes to retry: a ride keeps 10000"
      })
  }

  @Test func `a memo keeps a limited number of bytes of event data`() {
    let data = #"{"text": "\#(String(repeating: "x", count: 1_000_000))"}"#
    let events = (1...10).map { Sample.event($0, data: data) }
    let decision = decide(
      Sample.view(events: events), by: Sample.book(), now: Sample.now)
    let settlement = decision.settled(
      decision.pushes.map { _ in .unsent(.refusedStream) }, now: Sample.now, jitter: { 1 })
    #expect(settlement.memo.waiting.count == 4)
    #expect(settlement.entries.count { $0.status == .suppressed } == 6)
  }

  @Test func `an alert that cards have shown is not sent to the phones of a later part`() throws {
    var part = OpenPart(through: 1, startedAt: Sample.now, after: 1, slots: [])
    part.shown = ["7": [1]]
    var memo = Memo()
    memo.part = part
    var decider = Decider(
      view: Sample.view(memo: memo), configuration: Sample.book(), now: Sample.now)
    let rule = CompiledRule(Sample.rule())
    decider.cover(decider.draft(rule, Sample.event()), Cover(cards: [.activity(7)]))
    #expect(decider.decision.reasons == ["suppressed: covered by the card"])
    #expect(decider.decision.covered.isEmpty)
  }

  @Test func `slots do not follow the row while events are left`() {
    var rule = Sample.rule("beat")
    rule.when = .at(Timing(.every(.seconds(60)), while: ["driver_arrived"]))
    var view = Sample.view(events: [Sample.event(1, "requested")])
    view.hasMoreEvents = true
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(decision.settlement.memo.slots.isEmpty)
    let settlement = decision.settled([], now: Sample.now, jitter: { 0 })
    #expect(settlement.nextDue == Sample.now && !settlement.isOver)
  }
}
