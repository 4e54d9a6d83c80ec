import Testing

@testable import RideCore

/// Misspelt words, locales of phones, and durations in rules.
@Suite struct WordTests {
  @Test(
    arguments: [
      ("titel", "title"), ("Title", "title"), ("tilte", "title"), ("expire", "expires"),
      ("expires", "expires"), ("on", nil), ("xyz", nil), ("", nil), ("bdoy", "body"),
      ("driver_arived", "driver_arrived"), (String(repeating: "e", count: 1_000_000), nil),
    ] as [(String, String?)])
  func nearest(word: String, expected: String?) {
    let known = ["title", "body", "expires", "driver_arrived"]
    #expect(nearestWord(to: word, among: known) == expected)
  }

  @Test func theFirstOfTwoEquallyNear() {
    #expect(nearestWord(to: "cat", among: ["car", "can"]) == "car")
    #expect(nearestWord(to: "cat", among: [String]()) == nil)
  }

  @Test(
    arguments: [
      ("en", 0), ("de", 1), ("de-AT", 1), ("DE_at", 1), ("pt-BR", 2), ("pt_BR", 2), ("pt", 3),
      ("pt-PT", 3), ("zh-Hant-TW", 4), ("zh-Hans-CN", 3), ("fr", 3), ("", 3), ("d", 3), (nil, 3),
    ] as [(String?, Int)])
  func textOfALocale(locale: String?, index: Int) {
    let locales = ["en", "de", "pt-BR", "default", "zh-Hant"]
    let texts = LocalizedText(locales.map { ($0, TextTemplate(literal: $0)) })
    #expect(texts?.index(for: locale) == index)
  }

  @Test func textWithoutADefault() {
    let texts = LocalizedText([
      ("en", TextTemplate(literal: "a")), ("de", TextTemplate(literal: "b")),
    ])
    #expect(texts?.index(for: "fr") == 0)
    #expect(LocalizedText(TextTemplate(literal: "a")).index(for: "de") == 0)
    #expect(LocalizedText([]) == nil)
  }

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
