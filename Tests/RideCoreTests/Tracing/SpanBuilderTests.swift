import Testing
import TestSupport

@testable import Base
@testable import RideCore

/// The spans of decisions: their places in traces, times and attributes.
@Suite struct SpanBuilderTests {
  static let parent = TraceParent(
    traceID: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, spanID: 0xf067_aa0b_a902_b7)

  /// A view whose events have a trace.
  private static func view(_ events: [RideEvent] = [Sample.event()]) -> RideView {
    var view = Sample.view(events: events)
    view.traces = events.map { EventTrace($0.key, parent) }
    return view
  }

  /// Decides a view, with an outcome for each push, and settles it 0.3 s later.
  private func settle(
    _ view: RideView, _ outcome: PushOutcome = .accepted, rules: [Rule] = [Sample.rule()],
    at now: Timestamp = Sample.now
  ) -> (spans: [TraceSpan], settlement: Settlement) {
    var decision = decide(view, by: Sample.book(rules), now: now)
    let outcomes = decision.pushes.map { _ in outcome }
    let end = now + .milliseconds(300)
    decision.settlement = decision.settled(outcomes, now: end) { 0.5 }
    var times = PassTimes(
      decidedAt: now, sample: nil, rules: "sha256:1234", pushes: outcomes.count, at: .seconds(7))
    for index in outcomes.indices { times.answer(index, at: .milliseconds(7_040 + 10 * index)) }
    let spans = SpanBuilder.spans(of: decision, outcomes, times, now: end)
    return (spans, decision.settlement)
  }

  private func text(_ span: TraceSpan, _ key: String) -> String? {
    span.attributes.first { $0.key == key }.map {
      switch $0.value {
      case .text(let text): text
      case .number(let number): String(number)
      }
    }
  }

  @Test func `an event and its push continue the app's trace`() throws {
    let (spans, settlement) = settle(Self.view())
    try #require(spans.map(\.name) == ["process driver_arrived", "publish customer"])
    let (process, publish) = (spans[0], spans[1])
    #expect(spans.allSatisfy { $0.traceID == Self.parent.traceID && $0.link == nil })
    #expect(process.parentID == Self.parent.spanID && publish.parentID == process.id)
    #expect(process.kind == .consumer && publish.kind == .client)
    #expect(process.start == Sample.now && process.end == Sample.now + .milliseconds(300))
    #expect(publish.start == Sample.now && publish.end == Sample.now + .milliseconds(40))
    #expect(spans.allSatisfy { !$0.isError })
    let entry = try #require(settlement.entries.first { $0.status == .accepted })
    #expect(publish.id == TraceSpan.id(of: entry.id, attempt: 1))
    #expect(
      publish.acceptedPush
        == TracedPush(
          entry.id, TraceParent(traceID: publish.traceID, spanID: publish.id), .customer))
    let expected = [
      "messaging.system": "apns", "messaging.operation.type": "send",
      "messaging.operation.name": "publish", "messaging.message.id": entry.id.description,
      "messaging.destination.name": "customer", "ridepulse.rule": "arrived",
      "ridepulse.rules_digest": "sha256:1234", "ridepulse.ride_id": "r1",
      "ridepulse.attempt": "1", "ridepulse.status": "accepted", "ridepulse.type": "alert",
    ]
    for (key, value) in expected { #expect(text(publish, key) == value, "\(key)") }
    #expect(text(publish, "error.type") == nil)
    #expect(text(process, "messaging.message.id") == "1")
    #expect(text(process, "messaging.operation.type") == "process")
    #expect(settlement.memo.traces.isEmpty)
  }

  @Test func `the span ID is the beginning of SHA-256 of push and attempt`() throws {
    let id = try #require(PushID("6f1c1b7e-0000-8000-8000-000000000001"))
    let digest = SHA256.digest("6f1c1b7e-0000-8000-8000-000000000001 2".utf8)
    #expect(TraceSpan.id(of: id, attempt: 2).digits == SHA256.hex(digest.prefix(8)))
  }

  @Test func `a decision that is repeated makes the same spans`() {
    let first = settle(Self.view()).spans
    let second = settle(Self.view(), at: Sample.now + .seconds(25)).spans
    #expect(first.map(\.id) == second.map(\.id))
    #expect(first.map(\.traceID) == second.map(\.traceID))
  }

  @Test(arguments: [(58, true), (59, false), (3600, false)])
  func `an event that waited for a minute begins a trace with a link`(late: Int, isChild: Bool) {
    // The event is a second old.
    let spans = settle(Self.view(), at: Sample.now + .seconds(late)).spans
    let process = spans.first { $0.kind == .consumer }
    #expect((process?.parentID == Self.parent.spanID) == isChild)
    #expect((process?.traceID == Self.parent.traceID) == isChild)
    #expect(process?.link == (isChild ? nil : Self.parent))
    #expect(Set(spans.map(\.traceID)).count == 1)
  }

  @Test func `a retry is a span of another trace with a link, and has its own ID`() throws {
    let refusal = PushOutcome.refused(Refusal(status: 503, reason: "ServiceUnavailable"))
    let (first, settlement) = settle(Self.view(), refusal)
    let refused = try #require(first.first { $0.kind == .client })
    #expect(refused.isError && refused.acceptedPush == nil)
    #expect(text(refused, "error.type") == "ServiceUnavailable")
    #expect(text(refused, "http.response.status_code") == "503")
    #expect(text(refused, "ridepulse.status") == "pending")
    // The memo has the trace, also after it was stored.
    let stored = try Memo(storedText: settlement.memo.storedText)
    #expect(stored.traces == [EventTrace(Sample.event().key, Self.parent)])
    let later = Sample.view(events: [], memo: stored)
    let due = try #require(settlement.nextDue)
    let (second, end) = settle(later, at: due)
    try #require(second.map(\.name) == ["process driver_arrived", "publish customer"])
    #expect(second[0].parentID == nil && second[0].link == Self.parent)
    #expect(second[0].traceID != Self.parent.traceID && second[1].parentID == second[0].id)
    #expect(second[1].id != refused.id && text(second[1], "ridepulse.attempt") == "2")
    #expect(end.memo.traces.isEmpty)
  }

  @Test func `what is not sent is an event of the span, with its reason`() throws {
    var view = Self.view()
    view.phones = []
    let spans = settle(view).spans
    try #require(spans.count == 1)
    let event = try #require(spans[0].events.first)
    #expect(event.name == "suppressed")
    #expect(
      event.attributes.contains(TraceSpan.Attribute("ridepulse.reason", "no_phone"))
        && event.attributes.contains(TraceSpan.Attribute("ridepulse.rule", "arrived")))
  }

  @Test func `a push that was not tried has no span, and its event's trace is kept`() throws {
    let (spans, settlement) = settle(Self.view(), .unsent(.closed))
    #expect(spans.map(\.kind) == [.consumer])
    #expect(settlement.memo.traces.map(\.parent) == [Self.parent])
  }

  @Test func `only events with a trace have spans`() {
    var view = Sample.view(events: [Sample.event(1), Sample.event(2, "eta_changed")])
    #expect(settle(view).spans.isEmpty)
    view.traces = [EventTrace(view.events[1].key, Self.parent)]
    #expect(settle(view).spans.map(\.name) == ["process eta_changed"])
  }

  @Test func `no person is named, nor a pseudo ride, which is made of one`() {
    var view = Self.view()
    let secrets = ["\"c\"", "\"d\"", Sample.customerToken, "c1c1c1", "B-RP"]
    func check(_ spans: [TraceSpan]) {
      let json = String(decoding: SpanRequest.json(spans, resource: []), as: UTF8.self)
      for secret in secrets { #expect(!json.contains(secret), "\(secret)") }
    }
    check(settle(view).spans)
    view.rideID = RideID(ofPerson: "c", app: .customer)
    view.ride = nil
    let spans = settle(view).spans
    #expect(!spans.isEmpty && spans.allSatisfy { text($0, "ridepulse.ride_id") == nil })
    check(spans)
  }

  @Test func `an event that a rule emits has the trace of its cause`() throws {
    let rule = Rule(
      name: "emits", app: .customer, when: .on(["driver_arrived"]), what: .emit("eta_changed"),
      expires: .after(.seconds(60)), source: "sample.yaml:1")
    let emitted = try #require(settle(Self.view(), rules: [rule]).settlement.emits.first)
    #expect(emitted.trace == Self.parent)
    #expect(settle(Sample.view(), rules: [rule]).settlement.emits.map(\.trace) == [nil])
  }

  @Test func `a receipt is a part of its attempt's span`() throws {
    let publish = try #require(settle(Self.view()).spans.last)
    let push = try #require(publish.acceptedPush)
    let receipt = push.receipt(at: Sample.now + .seconds(5))
    #expect(receipt.traceID == publish.traceID && receipt.parentID == publish.id)
    #expect(receipt.name == "seen customer" && receipt.start == receipt.end)
    #expect(receipt.id == push.receipt(at: Sample.now).id && receipt.id != publish.id)
  }
}
