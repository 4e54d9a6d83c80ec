import Testing

@testable import Base

/// Timestamps never overflow, and seconds are rounded down.
@Suite struct TimestampTests {
  @Test(
    arguments: [
      (0, 0), (999_999, 0), (1_000_000, 1), (-1, -1), (-1_000_000, -1), (-1_000_001, -2),
      (Int64.max, 9_223_372_036_854), (Int64.min, -9_223_372_036_855),
    ] as [(Int64, Int64)])
  func wholeSeconds(microseconds: Int64, seconds: Int64) {
    #expect(Timestamp(microseconds: microseconds).epochSeconds == seconds)
  }

  @Test func sums() {
    let instant = Timestamp(epochSeconds: 100)
    #expect(instant + .seconds(5) == Timestamp(epochSeconds: 105))
    #expect(instant - .milliseconds(500) == Timestamp(microseconds: 99_500_000))
    #expect(instant + .nanoseconds(1_999) == Timestamp(microseconds: 100_000_001))
    #expect(instant - Timestamp(epochSeconds: 103) == .seconds(-3))
    #expect(instant < instant + .microseconds(1))
  }

  @Test func theEndsOfTime() {
    let last = Timestamp(microseconds: .max)
    let first = Timestamp(microseconds: .min)
    #expect(Timestamp(epochSeconds: .max) == last)
    #expect(Timestamp(epochSeconds: .min) == first)
    #expect(last + .seconds(1) == last)
    #expect(first - .seconds(1) == first)
    #expect(Timestamp(epochSeconds: 0) - .seconds(Int64.min) == last)
    #expect(last - first == .microseconds(Int64.max))
    #expect(first - last == .microseconds(Int64.min))
    #expect(Timestamp(epochSeconds: 0) - first == .microseconds(Int64.max))
    #expect(Timestamp(microseconds: -1) - first == .microseconds(Int64.max))
  }

  @Test func durationsInMicroseconds() {
    #expect(Duration.seconds(Int64.max).microseconds == .max)
    #expect(Duration.seconds(Int64.min).microseconds == .min)
    #expect(Duration.nanoseconds(-1_999).microseconds == -1)
    #expect(Duration.milliseconds(1_500).inSeconds == 1.5)
  }

  @Test(
    arguments: [
      ("2026-11-21T08:05:00Z", 1_795_248_300_000_000),
      ("2026-11-21T08:05:00+02:00", 1_795_241_100_000_000),
      ("2026-11-21T08:05:00.25Z", 1_795_248_300_250_000),
      ("2026-11-21T08:05:00", nil), ("2026-11-21", nil), ("2026-13-45T99:99:99Z", nil),
      ("soon", nil), ("", nil), ("99999999999999999999-01-01T00:00:00Z", nil),
      ("300000-01-01T00:00:00Z", nil), ("9998-12-31T00:00:00Z", 253_370_678_400_000_000),
    ] as [(String, Int64?)])
  func iso(text: String, microseconds: Int64?) {
    #expect(CivilTime.instant(iso: text)?.microseconds == microseconds)
  }

  @Test func isoAndBack() throws {
    let text = "2026-02-28T23:59:59Z"
    #expect(CivilTime.iso(try #require(CivilTime.instant(iso: text))) == text)
  }
}
