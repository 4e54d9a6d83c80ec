import Base
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import PushClient
@testable import RideCore

/// Exports to a receiver that reads requests by OpenTelemetry's own definitions.
@Suite struct SpanExporterTests {
  private let problems = ProblemList()

  private final class ProblemList: Sendable {
    private let list = Mutex<[String?]>([])
    var all: [String?] { list.withLock { $0 } }
    func add(_ problem: String?) { list.withLock { $0.append(problem) } }
  }

  private func exporter(_ url: String, limit: Int = 8192) -> SpanExporter {
    let problems = problems
    return SpanExporter(
      to: SpanExporter.Target(
        url: url, headers: ["authorization: Bearer x"],
        resource: [TraceSpan.Attribute("service.name", "rides \"Grüße\"")]), limit: limit,
      timeLimit: .seconds(20), now: { Timestamp(microseconds: 0) }, onAnswer: { problems.add($0) })
  }

  private static func spans(_ count: Int) -> [TraceSpan] {
    let start = Timestamp(microseconds: 1_800_000_000_123_456)
    return (1...count).map { number in
      var span = TraceSpan(
        traceID: 1 << 127 | 5, id: UInt64(number), parentID: .max, name: "publish customer",
        kind: .client, start: start, end: start + .milliseconds(40))
      span.attributes = [
        TraceSpan.Attribute("text", "\u{1}\"\\ü"), TraceSpan.Attribute("number", number),
      ]
      span.events = [TraceSpan.Event(name: "suppressed", at: start, attributes: span.attributes)]
      span.link = TraceParent(traceID: 3, spanID: 4)
      span.isError = number == 1
      return span
    }
  }

  @Test(.enabled(if: SpanReceiver.isAvailable, "\(SpanReceiver.need)"))
  func `a receiver reads the spans as they are`() async throws {
    let receiver = try SpanReceiver()
    let exporter = exporter(receiver.url + "/v1/traces")
    exporter.add(Self.spans(2))
    await exporter.close(within: .seconds(30))
    let request = try #require(receiver.requests.first)
    #expect(receiver.requests.count == 1 && request.problem == nil, "\(request)")
    #expect(request.path == "/v1/traces" && request.authorization == "Bearer x")
    #expect(request.resource == ["service.name": "rides \"Grüße\""])
    let span = try #require(request.spans.first)
    #expect(span.traceID == "80000000000000000000000000000005")
    #expect(span.id == "0000000000000001" && span.parentID == "ffffffffffffffff")
    #expect(span.name == "publish customer" && span.kind == 3 && span.isError)
    #expect(span.start == 1_800_000_000_123_456_000 && span.end - span.start == 40_000_000)
    #expect(span.attributes == ["text": "\u{1}\"\\ü", "number": "1"])
    #expect(span.events == ["suppressed"])
    #expect(span.links == ["00000000000000000000000000000003-0000000000000004"])
    #expect(!request.spans[1].isError)
    #expect(exporter.counts.exported == 2 && problems.all == [nil])
  }

  @Test(.enabled(if: SpanReceiver.isAvailable, "\(SpanReceiver.need)"))
  func `what is refused for a while is repeated, and for good is counted`() async throws {
    let receiver = try SpanReceiver()
    let exporter = exporter(receiver.url + "/v1/traces")
    try await receiver.answer(with: "503 1")
    exporter.add(Self.spans(3))
    try await wait(until: "a request was refused") { !receiver.requests.isEmpty }
    try await receiver.answer(with: "200")
    try await wait(until: "it was repeated") { exporter.counts.exported == 3 }
    let first = try #require(problems.all.first)
    #expect(first?.contains("HTTP 503") == true && problems.all.contains(nil))
    try await receiver.answer(with: "400")
    exporter.add(Self.spans(2))
    try await wait(until: "it was refused") { exporter.counts.failed == 2 }
    try await receiver.answer(with: "partial 1")
    exporter.add(Self.spans(2))
    try await wait(until: "a part was refused") { exporter.counts.failed == 3 }
    #expect(exporter.counts.exported == 4)
    await exporter.close(within: .seconds(30))
  }

  @Test func `without a receiver, spans are dropped at the limit, and nobody waits`() async throws {
    let exporter = exporter("http://127.0.0.1:1/v1/traces", limit: 10)
    let began = ContinuousClock.now
    for _ in 0..<100 { exporter.add(Self.spans(100)) }
    #expect(ContinuousClock.now - began < .seconds(20))
    #expect(exporter.counts.dropped == 9_990)
    try await wait(until: "the failure was reported") { problems.all.contains { $0 != nil } }
    await exporter.close(within: .milliseconds(200))
    try await wait(until: "the rest is counted") { exporter.counts.failed == 10 }
  }
}
