import Base
import LocalStack
import RideCore
import Testing

@testable import PostgresStore

@Suite struct SQLTextTests {
  /// Values that would end a literal or a name too early if the code compared `Character`s.
  private static let hostile = [
    "", "it's", "'\u{301}; drop table t; --", "\u{600}'", "\\", "\\'; --", "\\\u{301}'", "a\nb",
    "\u{1b}[2J", "\u{202e}x", "\u{e0041}", "\"", "\"\u{301}", "$$", "%s", ":x", "E'x'", "é",
    "e\u{301}",
  ]

  @Test func `Postgres reads each value back as it was`() async throws {
    let session = try PostgresSession(
      conninfo: try await LocalCluster.shared().freshDatabase())
    for setting in ["on", "off"] {
      try await session.script("set standard_conforming_strings = \(setting)")
      for text in Self.hostile {
        let sql = "select \(SQLText.literal(text)), 1 as \(SQLText.identifier("x" + text))"
        #expect(
          !sql.unicodeScalars.contains { $0.isUnprintable && !text.unicodeScalars.contains($0) })
        let row = try await session.run([Call(Statement(name: "", sql: sql))])[0]
        let back = row.string(0, 0) ?? "null"
        #expect(back.unicodeScalars.elementsEqual(text.unicodeScalars), "\(setting): \(sql)")
      }
    }
    await session.close()
  }

  @Test func `a plain value is a plain literal, and a hostile one is on one line`() {
    #expect(SQLText.literal("it's") == "'it''s'")
    #expect(SQLText.literal("a\\b") == #"E'a\\b'"#)
    #expect(SQLText.literal("a\n\u{1b}\u{e0041}") == #"E'a\u000a\u001b\U000e0041'"#)
    #expect(SQLText.identifier(#"my "app""#) == #""my ""app""""#)
  }
}
