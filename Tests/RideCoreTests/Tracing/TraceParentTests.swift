import Testing

@testable import Base
@testable import RideCore

/// The form of `traceparent`, by the examples and rules of W3C Trace Context.
@Suite struct TraceParentTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  @Test(
    arguments: [
      ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false),
      // Only the last bit says that it is sampled.
      ("00-\(trace)-\(span)-03", true), ("00-\(trace)-\(span)-fe", false),
      // A later version may add to it.
      ("01-\(trace)-\(span)-01", true), ("cc-\(trace)-\(span)-01-what-follows", true),
    ])
  func `a valid one is read`(text: String, isSampled: Bool) throws {
    let parent = try #require(TraceParent(text))
    #expect(parent.traceID == 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736)
    #expect(parent.spanID == 0xf067_aa0b_a902_b7)
    #expect(parent.isSampled == isSampled)
    #expect(parent.text == "00-\(Self.trace)-\(Self.span)-\(isSampled ? "01" : "00")")
  }

  @Test(arguments: [
    "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-01-",
    "00-\(trace)-\(span)-010", "00-\(trace)-\(span)-0g", "ff-\(trace)-\(span)-01",
    "00-\(trace.uppercased())-\(span)-01", "00-00000000000000000000000000000000-\(span)-01",
    "00-\(trace)-0000000000000000-01", "00_\(trace)_\(span)_01", " 00-\(trace)-\(span)-01",
    "01-\(trace)-\(span)-01.more", "0x-\(trace)-\(span)-01", "00-\(trace)-+0f067aa0ba902b7-01",
    String(repeating: "ä", count: 55), "00-\(trace)-\(span)-01\n",
  ])
  func `any other is none`(text: String) {
    #expect(TraceParent(text) == nil)
  }

  @Test func `only a sampled one of an event is kept`() {
    let key = EventKey(id: 1, at: Sample.now)
    #expect(EventTrace(key, "00-\(Self.trace)-\(Self.span)-01")?.parent.spanID != nil)
    #expect(EventTrace(key, "00-\(Self.trace)-\(Self.span)-00") == nil)
    #expect(EventTrace(key, "nonsense") == nil)
  }

  /// A memo of one version is read by the next one.
  @Test func `a memo stores a trace as its header`() throws {
    var memo = Memo()
    let key = EventKey(id: 7, at: Timestamp(epochSeconds: 1_800_000_000))
    memo.traces = [EventTrace(key, TraceParent(traceID: 0xab, spanID: 0xcd))]
    let stored = #"""
      {"traces":[{"id":7,"at":1800000000000000,\#
      "parent":"00-000000000000000000000000000000ab-00000000000000cd-01"}]}
      """#
    #expect(memo.storedText == stored)
    #expect(try Memo(storedText: stored) == memo)
    #expect(throws: StoredFault.self) { try Memo(storedText: stored.replacing("ab-", with: "x-")) }
  }
}
