import Base
import StoreTestSupport
import TestSupport
import Testing

@testable import PostgresStore
@testable import RideCore

/// `ridepulse.share`, by which an old sender leaves exactly those people to the rules.
@Suite("ridepulse.share", .timeLimit(.minutes(60))) struct ShareFunctionTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  @Test func `it is the share of the rules, bit for bit`() async throws {
    var random = SeededGenerator(seed: 5)
    let letters = ["a", "7", "é", "/", " ", "'", "\\", "🚕", "-"]
    func word(_ length: ClosedRange<Int>) -> String {
      (0..<Int.random(in: length, using: &random)).map { _ in
        letters.randomElement(using: &random) ?? ""
      }.joined()
    }
    let pairs =
      [("", ""), ("news", "owner-0")] + (0..<500).map { _ in (word(0...8), word(0...40)) }
    let rows = try await session.run([
      Call(
        Statement(
          name: "",
          sql: """
            select ridepulse.share(n, o) from unnest($1::text[], $2::text[]) with ordinality v (n, o, i)
            order by i
            """),
        [PostgresArray.literal(pairs.map(\.0)), PostgresArray.literal(pairs.map(\.1))])
    ])[0]
    #expect(rows.rowCount == pairs.count)
    for (row, pair) in pairs.enumerated() {
      let share = rows.string(row, 0).flatMap { Double($0) }
      #expect(share == OwnerShare.of(OwnerID(pair.1), named: pair.0), "\(pair)")
    }
  }

  @Test func `it is null for null, and an index may use it`() async throws {
    #expect(try await session.value("select ridepulse.share('moving', null)") == nil)
    try await session.script(
      """
      create table public.people (id text);
      create index on public.people (ridepulse.share('moving', id))
      """)
  }
}
