import Testing

@testable import Base
@testable import RideCore

/// The times in reasons, by the clock of a reader.
@Suite struct ReasonTimesTests {
  private static let start = Timestamp(epochSeconds: 1_795_248_000)

  /// (reason, what a reader with another clock sees)
  private static let reasons: [(LedgerReason, String)] = [
    (.waiting(until: start), "waits until noon"),
    (.startsLater(start), "the card starts at noon"),
    (.setTooLate(start), "its time, noon, had passed when it was set"),
    (.validUntil(start), "valid until noon"),
    (.coveredByCard, "covered by the card"),
  ]

  @Test(arguments: reasons.indices) func `A reader's own clock writes them`(index: Int) {
    let (reason, text) = Self.reasons[index]
    #expect(reason.text { $0 == Self.start ? "noon" : "?" } == text)
    #expect(reason.text(by: CivilTime.iso) == reason.text)
    #expect(reason.states(Self.start) == text.contains("noon"))
  }

  @Test func `A reason that was stored equals the one that was decided, and keeps its text`() throws
  {
    let reason = LedgerReason.waiting(until: Self.start)
    var json: [UInt8] = []
    reason.store(in: &json)
    let stored = try LedgerReason(stored: #require(JSONValue(json: json)))
    #expect(stored == reason && stored.hashValue == reason.hashValue)
    #expect(stored.text { _ in "noon" } == reason.text)
    #expect(reason != .waiting(until: Self.start + .seconds(1)))
  }
}
