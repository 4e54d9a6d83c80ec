import Testing

@testable import Base

@Suite struct NearestWordTests {
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
}
