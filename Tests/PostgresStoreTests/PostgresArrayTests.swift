@testable import PostgresStore
import Testing

@Suite struct PostgresArrayTests {
  @Test(
    arguments: [
      ("nothing", [], "{}"),
      ("plain", ["a", "b"], #"{"a","b"}"#),
      ("null and its word", [nil, "NULL"], #"{NULL,"NULL"}"#),
      ("empty text", [""], #"{""}"#),
      ("quote and backslash", [#"a"b\c"#], #"{"a\"b\\c"}"#),
      ("braces and comma", ["{a,b}"], #"{"{a,b}"}"#),
    ] as [(String, [String?], String)])
  func literal(problem: String, elements: [String?], expected: String) {
    #expect(PostgresArray.literal(elements) == expected)
  }
}
