import Base
import RideCore
import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct QueryResultTests {
  @Test func `values are read by their kind`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    let result = try await session.run([
      direct(
        """
        select 'räder', '', null, 42, -7::bigint, true, false, 1.5::float8,
          9223372036854775807, (-9223372036854775808)::bigint, '9223372036854775808', '-', '12x'
        """)
    ])[0]
    #expect(result.rowCount == 1 && result.columnCount == 13)
    #expect(result.string(0, 0) == "räder")
    #expect(result.string(0, 1) == "")
    #expect(result.string(0, 2) == nil)
    #expect(result.int64(0, 2) == nil && result.bool(0, 2) == nil && result.double(0, 2) == nil)
    #expect(result.int64(0, 3) == 42 && result.int64(0, 4) == -7)
    #expect(result.bool(0, 5) == true && result.bool(0, 6) == false && result.bool(0, 3) == nil)
    #expect(result.double(0, 7) == 1.5)
    #expect(result.int64(0, 8) == .max && result.int64(0, 9) == .min)
    for column in [0, 1, 10, 11, 12] { #expect(result.int64(0, column) == nil) }
  }

  @Test(arguments: [(-1, 0), (0, -1), (1, 0), (0, 1), (.max, 0), (0, .max), (.min, .min)])
  func `outside the range is nil`(row: Int, column: Int) async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    let result = try await session.run([direct("select 't'")])[0]
    #expect(result.bool(0, 0) == true, "the control")
    #expect(result.string(row, column) == nil && result.int64(row, column) == nil)
    #expect(result.bool(row, column) == nil && result.double(row, column) == nil)
  }

  @Test func `a select list and its reader, a table of rows and its arrays, agree`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    let rows = RowParameters<(name: String?, count: Int)>(
      after: 1, [.text("name") { $0.name }, .integer("count") { $0.count }])
    var list = SelectList()
    let (count, name) = (list.integer("r.count"), list.text("r.name"))
    let at = list.time("timestamptz 'epoch' + r.count * interval '1 second'")
    let isLast = list.boolean("r.count = $1::int")
    let end = list.time("timestamptz 'infinity'")
    let results = try await session.run([
      direct(
        "select \(list.sql) from \(rows.table("r"))",
        ["7"] + rows.arrays([(name: "a", count: 1), (name: nil, count: 7)]))
    ])[0]
    #expect(rows.last == 3 && rows.keys == "$2::text[]")
    #expect(results[0, name] == "a" && results[0, count] == 1 && results[0, isLast] == false)
    #expect(results[1, name] == nil && results[1, count] == 7 && results[1, isLast] == true)
    #expect(results[1, at] == Timestamp(microseconds: 7_000_000))
    #expect(results[0, end] == Timestamp(microseconds: 253_370_764_800_000_000))
  }

  @Test func `ten thousand rows come whole`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    let result = try await session.run([
      direct("select n, 'row ' || n from generate_series(1, 10000) n")
    ])[0]
    #expect(result.rowCount == 10_000)
    let sum = (0..<result.rowCount).reduce(0) { $0 + (result.int64($1, 0) ?? 0) }
    #expect(sum == 50_005_000)
    #expect(result.string(9_999, 1) == "row 10000")
  }

  @Test func `an array arrives byte for byte, however hostile`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    let hostile: [String?] = [
      "", " ", nil, "NULL", "null", #"""#, #"\"#, #"\\""#, "{}", "{a,b}", ",", "'", "a\nb\tc\r",
      "é", "e\u{301}", "🚕👩‍👩‍👧", "\u{1}\u{7F}", "ends with \\", "$1", "\u{FEFF}x", "\u{10FFFF}",
    ]
    let sql = "select s, s is null from unnest($1::text[]) with ordinality as a(s, n) order by n"
    let result = try await session.run([direct(sql, [PostgresArray.literal(hostile)])])[0]
    #expect(result.rowCount == hostile.count)
    for (row, text) in hostile.enumerated() {
      // Compared as bytes: Swift holds the two forms of é to be equal.
      #expect(result.string(row, 0).map { Array($0.utf8) } == text.map { Array($0.utf8) })
      #expect(result.bool(row, 1) == (text == nil))
    }
  }
}
