import Testing

@testable import Base

@Suite("Comma-separated values") struct CSVReaderTests {
  /// Splits a text at its line feeds, as files are read.
  private static func records(
    _ text: [UInt8], separator: Unicode.Scalar = ",", _ encoding: CSVReader.Encoding = .utf8
  ) throws(CSVReader.Problem) -> [CSVReader.Record] {
    var reader = CSVReader(separator: UInt8(ascii: separator), encoding: encoding)
    var records: [CSVReader.Record] = []
    var lines = text.split(separator: 10, omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    for line in lines {
      if let record = try reader.read(Array(line)) { records.append(record) }
    }
    try reader.finish()
    return records
  }

  @Test(
    arguments: [
      ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]), ("a,b", [["a", "b"]]), ("", []), ("\n\r\n", []),
      ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]), (",\n", [["", ""]]),
      ("a,,c", [["a", "", "c"]]),
      ("\"a\",\"b,c\"", [["a", "b,c"]]), ("\"say \"\"hi\"\"\",x", [["say \"hi\"", "x"]]),
      ("\"two\nlines\",x\ny,z", [["two\nlines", "x"], ["y", "z"]]),
      ("\"two\r\nlines\",x\r\n", [["two\r\nlines", "x"]]), ("\"\",\"\"", [["", ""]]),
      ("\"a\n\nb\"", [["a\n\nb"]]), ("\u{feff}time,é", [["time", "é"]]),
      ("a\rb,c", [["a\rb", "c"]]),
    ] as [(String, [[String]])])
  func `RFC 4180 is read`(text: String, expected: [[String]]) throws {
    #expect(try Self.records(Array(text.utf8)).map(\.fields) == expected)
  }

  @Test func `a record has the number of its first line`() throws {
    let records = try Self.records(Array("a\n\n\"b\nc\"\nd".utf8))
    #expect(records.map(\.line) == [1, 3, 5])
  }

  @Test func `another separator and Latin-1 are read`() throws {
    #expect(
      try Self.records([0x66, 0xfc, 0x72, 0x3b, 0x2c], separator: ";", .latin1).map(\.fields)
        == [["für", ","]])
  }

  @Test(
    arguments: [
      ("a\n\"b", 2, "field 1 is not closed: a quote is missing"),
      ("a,b\n1,\"2\"3", 2, "field 2 has more after its closing quote"),
      ("a\nb\"c", 2, "field 1 has a quote but does not begin with one"),
      ("a,\"b\n\nc", 1, "field 2 is not closed"),
    ] as [(String, Int, String)])
  func `a mistake has its line and field`(text: String, line: Int, message: String) throws {
    let problem = #expect(throws: CSVReader.Problem.self) {
      try Self.records(Array(text.utf8))
    }
    #expect(
      problem?.line == line && problem?.message.hasPrefix(message) == true, "\(problem as Any)")
  }

  @Test(
    arguments: [
      ([0x61, 0x2c, 0xfc], "field 2 is not UTF-8"), ([0xff, 0xfe, 0x61, 0x00], "it is UTF-16"),
    ] as [([UInt8], String)])
  func `another encoding is named`(bytes: [UInt8], message: String) {
    let problem = #expect(throws: CSVReader.Problem.self) { try Self.records(bytes) }
    #expect(problem?.message.hasPrefix(message) == true, "\(problem as Any)")
  }

  @Test func `a quote that is never closed does not read the rest of a large file`() throws {
    var reader = CSVReader()
    _ = try reader.read(Array("\"a".utf8))
    let line = [UInt8](repeating: 0x61, count: 1000)
    let problem = #expect(throws: CSVReader.Problem.self) {
      for _ in 0..<2000 { _ = try reader.read(line) }
    }
    #expect(problem?.line == 1)
  }

  /// Random fields of all that quoting is about.
  @Test func `what is written with quotes is read as it was`() throws {
    var random = SeededGenerator(seed: 4180)
    for _ in 0..<300 {
      let rows = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        (0..<3).map { _ in
          (0..<Int.random(in: 0...6, using: &random)).map { _ in
            ["a", "\"", ",", "\n", "é", " "].randomElement(using: &random) ?? ""
          }.joined()
        }
      }
      let text = rows.map { row in
        row.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
      }.joined(separator: "\n")
      #expect(try Self.records(Array(text.utf8)).map(\.fields) == rows, "\(text.debugDescription)")
    }
  }
}
