import Foundation
import Testing

@testable import RideCore

/// The fast parser accepts nothing that Foundation reads otherwise.
@Suite struct PlainJSONTests {
  @Test(arguments: [
    "0", "7", "-12", "12.50", "0.1", "-0.5", "20.0", "-0.0", "true", "false", "null", "\"\"",
    "\"Grüße\"", "[]", "{}", " [1, 2.25 ,\"x\"] ", #"{"a":{"b":[true,null]},"c":"d"}"#,
    "123456789012345", "0.000001", "99999.9999", "1.0", "0.0",
  ])
  func commonTexts(_ text: String) throws {
    let value = try #require(PlainJSON.value(of: Array(text.utf8)))
    #expect(value == foundation(text))
  }

  @Test(arguments: [
    "", "01", "1.", ".5", "-", "+1", "1e3", "1234567890123456", #""a\n""#, #"{"a":1,"a":2}"#,
    "[1,]", "{\"a\"}", "tru", "nullx", "[1", "\"\u{1}\"", "-0", "1 2",
  ])
  func restIsLeftToFoundation(_ text: String) {
    #expect(PlainJSON.value(of: Array(text.utf8)) == nil)
  }

  @Test func invalidUTF8IsLeftToFoundation() {
    #expect(PlainJSON.value(of: [34, 0xff, 34]) == nil)
  }

  /// Seeded texts of the shapes that rows have, some of them damaged.
  @Test func randomTexts() {
    var random = SeededRandom(7)
    for _ in 0..<3000 {
      var text = Array(random.json(3).utf8)
      if random.next(4) == 0, !text.isEmpty {
        text[Int(random.next(UInt64(text.count)))] = UInt8(random.next(95) + 32)
      }
      guard let value = PlainJSON.value(of: text) else { continue }
      #expect(value == foundation(String(decoding: text, as: UTF8.self)))
    }
  }

  /// An escape makes the fast parser give up, and means the same.
  private func foundation(_ text: String) -> JSONValue? {
    let wrapped = JSONValue(json: #"["\n","# .utf8 + text.utf8 + "]".utf8)
    guard case .array(let elements)? = wrapped, elements.count == 2 else { return nil }
    return elements.last
  }
}

private struct SeededRandom {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next(_ bound: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % bound
  }

  mutating func json(_ depth: Int) -> String {
    switch next(depth > 0 ? 9 : 6) {
    case 0: return "\(Int(next(2000)) - 1000)"
    case 1: return "\(next(100_000)).\(next(1000))"
    case 2: return ["true", "false", "null"][Int(next(3))]
    case 3: return "\"\(next(1000))\""
    case 4: return "-\(next(10)).\(next(10))"
    case 5: return "\"ü \(next(10))\""
    case 6: return "[" + (0..<next(4)).map { _ in json(depth - 1) }.joined(separator: ", ") + "]"
    default:
      return "{" + (0..<next(4)).map { "\"k\($0)\":\(json(depth - 1))" }.joined(separator: ",") + "}"
    }
  }
}
