import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct JSONTests {
  private static let values: [(String, JSON)] = [
    ("1", .integer(1)), ("-0", .integer(0)), ("1.0", .number(1)), ("1e2", .number(100)),
    ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(0x1p63)),
    ("true", .bool(true)), (" null ", .null), (#""\u00e9\ud83d\ude95\/""#, .string("é🚕/")),
    (#"{"a":[1,{}]}"#, .object(["a": .array([.integer(1), .object([:])])])),
    ("\"é\"", .string("é")),
  ]

  @Test(arguments: values)
  func `JSON is parsed`(text: String, value: JSON) throws {
    #expect(try JSONParser.parse(Array(text.utf8)) == value)
  }

  @Test(arguments: [
    "", " ", "01", "1.", "+1", ".5", "1e", "-", "tru", "nul", "[1,]", "[1", "{\"a\"}", "{\"a\":1,}",
    "{a:1}", "\"a", "\"\n\"", "\"\\x\"", "\"\\u12\"", "\"\\ud83d\"", "\"\\ude95\"", "1 2",
    "{\"a\":1,\"a\":1}", String(repeating: "[", count: 100_000), "1e999",
  ])
  func `invalid JSON is refused`(text: String) {
    #expect(throws: JSONError.self) { try JSONParser.parse(Array(text.utf8)) }
  }

  @Test func `invalid UTF-8 is refused`() {
    #expect(throws: JSONError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
  }

  @Test func `JSON is written on one line, keys sorted`() {
    let value = JSON.object(["b": .string("a\"\\\n\u{1}é"), "a": .array([.null, .bool(false)])])
    #expect(value.description == #"{"a":[null,false],"b":"a\"\\\u000a\u0001é"}"#)
  }
}

@Suite struct Base64URLTests {
  @Test(arguments: [
    ("", []), ("AA", [0]), ("AQID", [1, 2, 3]), ("-_8", [0xFB, 0xFF]),
    ("________", [UInt8](repeating: 0xFF, count: 6)),
  ])
  func `text is decoded`(text: String, bytes: [UInt8]) {
    #expect(Base64URL.decode(text[...]) == bytes)
    #expect(Base64URL.encode(bytes) == text)
  }

  @Test(arguments: ["A", "AA==", "A+", "A/", "AB", "A A", "AAAAA"])
  func `other text is refused`(text: String) {
    #expect(Base64URL.decode(text[...]) == nil)
  }
}
