import Base
import Testing

@testable import RideCore

/// The pushes that are sent to one phone, and their order.
@Suite struct OrderTests {
  private static let names = ["requested", "driver_arrived", "eta_changed"]
  private func rules(collapse: String?) -> EngineConfiguration {
    Sample.book(
      Self.names.map { name in
        Sample.rule(
          name, on: [name], expires: .after(name == "requested" ? .seconds(900) : .seconds(60)),
          collapse: collapse)
      })
  }

  private func events(_ names: [String], from first: Int64 = 1) -> [RideEvent] {
    names.enumerated().map { Sample.event(first + Int64($0), $1) }
  }

  @Test func `R70: the newest push of a collapse ID supersedes the others of its claim`() {
    let decision = decide(
      Sample.view(events: events(Self.names)), by: rules(collapse: "ride-{{ride.id}}"),
      now: Sample.now)
    #expect(decision.pushes.map(\.entry.event.name) == ["eta_changed"])
    #expect(
      decision.ended.map(\.status) == [.superseded, .superseded]
        && decision.ended.map(\.event.id) == [1, 2])
    #expect(decision.settlement.consumed.map(\.id) == [1, 2, 3])
  }

  @Test func `another phone, collapse ID or push type supersedes nothing`() {
    var background = Sample.rule("heartbeat", on: ["eta_changed"], collapse: "one")
    background.what = .background
    let book = Sample.book([
      Sample.rule("a", on: ["requested"], collapse: "one"),
      Sample.rule("b", on: ["driver_arrived"], collapse: "two"),
      Sample.rule("c", app: .driver, on: ["driver_arrived"], collapse: "one"), background,
    ])
    let decision = decide(
      Sample.view(events: events(Self.names)), by: book, now: Sample.now)
    #expect(decision.ended.isEmpty)
    #expect(decision.pushes.map(\.entry.rule) == ["a", "b", "c", "heartbeat"])
  }

  @Test func `an event whose push is not sent supersedes nothing`() {
    let book = Sample.book([
      Sample.rule("a", on: ["requested"], collapse: "one"),
      Sample.rule("b", on: ["driver_arrived"], body: "{{ride.attributes.no}}", collapse: "one"),
    ])
    let decision = decide(
      Sample.view(events: events(["requested", "driver_arrived"])), by: book, now: Sample.now)
    #expect(decision.pushes.map(\.entry.rule) == ["a"])
  }

  @Test func `a retry is sent before newer pushes, and a slot in between`() {
    let book = rules(collapse: nil)
    let first = decide(
      Sample.view(events: events(["requested"])), by: book, now: Sample.now)
    let memo = first.settled(
      [.refused(Refusal(status: 503, reason: "Shutdown"))], now: Sample.now, jitter: { 1 }
    ).memo
    #expect((memo.waiting.first?.due ?? Sample.now) > Sample.now)
    // The retry is not due yet, but is sent: otherwise the newer push would arrive before it.
    let next = decide(
      Sample.view(events: events(["driver_arrived", "eta_changed"], from: 2), memo: memo),
      by: book, now: Sample.now)
    #expect(next.pushes.map(\.entry.event.id) == [1, 2, 3])
    #expect(next.kept.isEmpty)
  }

  @Test func `R39, R70: nothing older follows what a dead node may have sent`() {
    let book = rules(collapse: "ride-{{ride.id}}")
    let first = decide(
      Sample.view(events: events(["requested"])), by: book, now: Sample.now)
    let memo = first.settled(
      [.refused(Refusal(status: 503, reason: "Shutdown"))], now: Sample.now, jitter: { 1 }
    ).memo
    // When another node takes over, the newer push is no longer valid, the older one still is.
    let late = Sample.now + .seconds(120)
    var view = Sample.view(events: events(["driver_arrived"], from: 2), memo: memo)
    #expect(decide(view, by: book, now: late).pushes.map(\.entry.event.id) == [1])
    view.isTakenOver = true
    let decision = decide(view, by: book, now: late)
    #expect(decision.pushes.isEmpty)
    #expect(decision.ended.map(\.status) == [.uncertain, .uncertain])
    #expect(decision.ended.map(\.event.id) == [2, 1])
  }

  @Test func `a clock that was set back changes no order`() {
    var turned = events(Self.names)
    for index in turned.indices { turned[index].at = Sample.now - .seconds(Int64(index)) }
    let decision = decide(
      Sample.view(events: turned), by: rules(collapse: nil), now: Sample.now)
    #expect(decision.pushes.map(\.entry.event.id) == [1, 2, 3])
    let one = decide(Sample.view(events: turned), by: rules(collapse: "one"), now: Sample.now)
    #expect(one.pushes.map(\.entry.event.id) == [3])
  }

  @Test func `pushes behind a retried one wait for it, and do not count as attempts`() throws {
    let decision = decide(
      Sample.view(events: events(Self.names)), by: rules(collapse: nil), now: Sample.now)
    let settlement = decision.settled(
      [
        .refused(Refusal(status: 503, reason: "Shutdown")), .unsent(.queuedBehind),
        .unsent(.queuedBehind),
      ],
      now: Sample.now,
      jitter: { 1 })
    #expect(settlement.entries.map(\.status) == [.pending, .pending, .pending])
    #expect(settlement.entries.map(\.attempts) == [1, 0, 0])
    let dues = settlement.memo.waiting.map(\.due)
    #expect(dues == [dues[0], dues[0], dues[0]] && dues[0] > Sample.now)
    // All of them are sent again in order, once they are due.
    let next = decide(
      Sample.view(events: [], memo: settlement.memo), by: rules(collapse: nil), now: dues[0])
    #expect(next.pushes.map(\.entry.event.id) == [1, 2, 3])
  }

  @Test
  func `a waiting push is not sent to a phone that has another owner now`() {
    let first = decide(Sample.view(), by: Sample.book(), now: Sample.now)
    let memo = first.settled([.unsent(.refusedStream)], now: Sample.now, jitter: { 0 }).memo
    let next = decide(
      Sample.view(events: [], phones: [Sample.phone(owner: "stranger")], memo: memo),
      by: Sample.book(), now: Sample.now + .seconds(10))
    #expect(next.reasons == ["suppressed: the phone belongs to another person now"])
    #expect(next.pushes.isEmpty)
  }

  @Test func `retries that exceed one decision, and newer pushes, keep their order`() {
    let book = Sample.book([Sample.rule("a", on: ["requested"], expires: .after(.seconds(9000)))])
    let count = OpenPart.size + 500
    var memo = Memo()
    let first = decide(
      Sample.view(
        events: (1...Int64(count)).map { Sample.event($0, "requested") }, phones: [Sample.phone()]),
      by: book, now: Sample.now)
    // One push was sent; the others were cut off by the ride's time limit.
    let outcomes = first.pushes.enumerated().map { index, _ in
      index == 0 ? PushOutcome.accepted : .unsent(.queuedBehind)
    }
    memo = first.settled(outcomes, now: Sample.now, jitter: { 0 }).memo
    memo.waiting.shuffle()
    var sent: [Int64] = []
    for round in 0..<4 {
      let events = round == 0 ? [Sample.event(Int64(count) + 1, "requested")] : []
      let decision = decide(
        Sample.view(events: events, phones: [Sample.phone()], memo: memo), by: book,
        now: Sample.now)
      sent += decision.pushes.map(\.entry.event.id)
      memo =
        decision.settled(
          decision.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 }
        ).memo
    }
    #expect(sent == Array(2...Int64(count) + 1))
  }

  @Test func `a phone's older push that waits holds back its newer retries, and no other phone's`()
  {
    let book = rules(collapse: nil)
    let first = decide(
      Sample.view(events: events(["requested", "driver_arrived"])), by: book, now: Sample.now)
    var memo = first.settled(
      [.refused(Refusal(status: 503, reason: "Shutdown")), .unsent(.queuedBehind)], now: Sample.now,
      jitter: { 1 }
    ).memo
    // Whatever the memo says, the newer push goes no earlier.
    memo.waiting[1].wait = .behind(until: Sample.now)
    let next = decide(Sample.view(events: [], memo: memo), by: book, now: Sample.now)
    #expect(next.pushes.isEmpty)
    #expect(next.kept.map(\.due) == [memo.waiting[0].due, memo.waiting[0].due])
  }
}
