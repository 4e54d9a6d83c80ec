import Testing

@testable import Base

/// JSON values keep their types when they are parsed and written.
@Suite struct JSONValueTests {
  @Test(
    arguments: [
      ("null", .null), ("true", .bool(true)), ("false", .bool(false)),
      ("1", .integer(1)), ("0", .integer(0)), ("1.0", .integer(1)), ("-0", .integer(0)),
      ("1.5", .number(1.5)), ("0.1", .number(0.1)), ("1e3", .integer(1_000)),
      ("9007199254740993", .integer(9_007_199_254_740_993)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .number(0x1p63)), ("-9223372036854775809", .number(-0x1p63)),
      ("1e19", .number(1e19)), ("1e999", nil), ("[1e999]", nil), ("{\"a\":-1e999}", nil),
      ("\"a\\u00e9\\n\"", .string("aé\n")), ("\"\"", .string("")), ("\"1\"", .string("1")),
      ("[true,1,0,false]", .array([.bool(true), .integer(1), .integer(0), .bool(false)])),
      ("{\"a\":{\"b\":[]}}", .object(["a": .object(["b": .array([])])])),
      ("", nil), ("nan", nil), ("{", nil), ("1 2", nil), ("'a'", nil),
    ] as [(String, JSONValue?)])
  func read(text: String, value: JSONValue?) {
    #expect(JSONValue(json: text.utf8) == value)
  }

  @Test(arguments: [
    "null", "true", "1", "0.1", "\"a\"", "[1,true,null,\"x\"]", "{\"a\":{\"b\":1.5},\"c\":[]}",
    "9223372036854775807", "-9223372036854775808",
  ])
  func readAndWritten(text: String) throws {
    let value = try #require(JSONValue(json: text.utf8))
    #expect(String(decoding: value.json, as: UTF8.self) == text)
  }

  @Test func keysAreSorted() {
    let value = JSONValue.object(["b": .integer(1), "a": .integer(2), "ä": .null, "B": .null])
    #expect(String(decoding: value.json, as: UTF8.self) == #"{"B":null,"a":2,"b":1,"ä":null}"#)
  }

  @Test func valuesAtPaths() {
    let value = JSONValue.object(["a": .object(["b": .integer(1)])])
    #expect(value.value(at: ["a", "b"]) == .integer(1))
    #expect(value.value(at: []) == value)
    #expect(value.value(at: ["b"]) == nil)
    #expect(value.value(at: ["a", "b", "c"]) == nil)
  }
}
