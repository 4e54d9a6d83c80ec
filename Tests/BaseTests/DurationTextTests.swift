import Testing

@testable import Base

/// Durations as rule files write them.
@Suite struct DurationTextTests {
  @Test(
    arguments: [
      ("15s", 15), ("5m", 300), ("1h30m", 5_400), ("2d", 172_800), ("1d1h1m1s", 90_061),
      ("90m", 5_400), ("007s", 7), ("3652d", 315_532_800), ("3653d", nil), ("0s", nil),
      ("0m0s", nil), ("", nil), ("5", nil), ("m", nil), ("5 m", nil), ("5M", nil), ("m5", nil),
      ("30m1h", nil), ("5m5m", nil), ("-5m", nil), ("1.5h", nil), ("5ms", nil), ("٥m", nil),
      ("99999999999999999999s", nil), ("1000000000d", nil),
    ] as [(String, Int64?)])
  func duration(text: String, seconds: Int64?) {
    #expect(Duration(rideText: text) == seconds.map { .seconds($0) })
  }

  @Test(arguments: ["15s", "5m", "1h30m", "2d", "1d1h1m1s"])
  func durationAndBack(text: String) throws {
    #expect(try #require(Duration(rideText: text)).rideText == text)
  }

  @Test func durationsAreWrittenWithTheLargestUnits() {
    #expect(Duration.seconds(5_400).rideText == "1h30m")
    #expect(Duration.zero.rideText == "0s")
    #expect(Duration.milliseconds(1_999).rideText == "1s")
  }
}
