import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// Differences that no one sees.
@Suite struct OddSpaceTests {
  private func shown(_ expected: String, _ actual: String) -> [String] {
    UnmetExpectation.differences(of: .string(actual), from: .string(expected), at: "title")
      .map { "\($0.expected) \($0.actual)" }
  }

  @Test func `U12: white space is escaped where nothing else differs`() {
    #expect(shown("12,50 €", "12,50\u{a0}€") == [#""12,50 €" "12,50\u{a0}€""#])
    #expect(shown("4:05\u{202f}PM", "4:05\u{a0}PM") == [#""4:05\u{202f}PM" "4:05\u{a0}PM""#])
    #expect(shown("a", "a\u{200b}") == [#""a" "a\u{200b}""#])
    #expect(shown("7341", "\u{2068}7341\u{2069}") == [#""7341" "\u{2068}7341\u{2069}""#])
    #expect(shown("a\u{200d}b", "ab") == [#""a\u{200d}b" "ab""#])
    #expect(shown("12,50\u{a0}€", "13,50\u{a0}€") == ["\"12,50\u{a0}€\" \"13,50\u{a0}€\""])
    #expect(shown("a b", "a b").isEmpty)
  }
}
