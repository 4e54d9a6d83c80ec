import Testing
import TestSupport

@testable import Base
@testable import RideCore

/// The JSON of OTLP/HTTP.
@Suite struct SpanRequestTests {
  @Test func `IDs are hexadecimal, times and numbers texts, enumerations numbers`() throws {
    var span = TraceSpan(
      traceID: 0xab, id: 1 << 60, parentID: 2, name: "publish \"x\"", kind: .client,
      start: Timestamp(microseconds: 1_800_000_000_123_456),
      end: Timestamp(microseconds: 1_800_000_000_999_999))
    span.attributes = [TraceSpan.Attribute("a", "ä"), TraceSpan.Attribute("n", 3)]
    span.events = [TraceSpan.Event(name: "e", at: Timestamp(microseconds: -5), attributes: [])]
    span.link = TraceParent(traceID: 7, spanID: 8)
    span.isError = true
    let json = String(
      decoding: SpanRequest.json([span], resource: [TraceSpan.Attribute("service.name", "r")]),
      as: UTF8.self)
    let zeros = String(repeating: "0", count: 30)
    let expected = """
      {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":\
      {"stringValue":"r"}}]},"scopeSpans":[{"scope":{"name":"ridepulse"},"spans":[{"attributes":\
      [{"key":"a","value":{"stringValue":"ä"}},{"key":"n","value":{"intValue":"3"}}],\
      "endTimeUnixNano":"1800000000999999000","events":[{"attributes":[],"name":"e",\
      "timeUnixNano":"0"}],"kind":3,"links":[{"spanId":"0000000000000008",\
      "traceId":"\(zeros)07"}],"name":"publish \\"x\\"","parentSpanId":"0000000000000002",\
      "spanId":"1000000000000000","startTimeUnixNano":"1800000000123456000",\
      "status":{"code":2},"traceId":"\(zeros)ab"}]}]}]}
      """
    #expect(json == expected)
  }

  @Test func `a root has no parent, and a span without fault no status`() {
    let span = TraceSpan(
      traceID: 1, id: 1, name: "n", kind: .consumer, start: Sample.now, end: Sample.now)
    let json = String(decoding: SpanRequest.json([span], resource: []), as: UTF8.self)
    for key in ["parentSpanId", "status", "links", "events"] { #expect(!json.contains(key)) }
  }
}
