import RideCore
import TestSupport
import Testing

@testable import PostgresStore

/// Tests of the counts of the types that cards were sent.
@Suite(.timeLimit(.minutes(60))) struct SentCardTypeTests {
  private let url: String
  private let session: PostgresSession

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
  }

  private static func line(_ type: CardTypeTally.JSONType, _ count: Int64) -> CardTypeTally.Line {
    CardTypeTally.Line(attributesType: "Ride", field: "content-state.eta", type: type, count: count)
  }

  private func sent() async throws -> [String] {
    try await SentCardType.all(session).map { "\($0.line.type) \($0.line.count)" }
  }

  @Test func `R95: only pushes of the last day are counted`() async throws {
    try await SentCardType.record([Self.line(.int, 2), Self.line(.string, 1)], session)
    try await SentCardType.record([Self.line(.int, 3)], session)
    #expect(try await sent() == ["int 5", "string 1"])
    // Each hour has its own count, so the figure does not grow for as long as a type is sent.
    try await session.script(
      "update ridepulse.card_type_hours set hour = hour - interval '23 h' where json_type = 'int'")
    try await SentCardType.record([Self.line(.int, 7)], session)
    #expect(try await sent() == ["int 12", "string 1"])
    try await session.script(
      "update ridepulse.card_type_hours set hour = hour - interval '1 h' where count = 5")
    #expect(try await sent() == ["int 7", "string 1"])
  }

  @Test func `R95: counts of yesterday are deleted, except those that another node holds`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.card_type_hours (attributes_type, field, json_type, hour, count)
      values ('Ride', 'a', 'int', now() - interval '25 h', 1),
        ('Ride', 'b', 'int', now() - interval '25 h', 1);
      insert into ridepulse.card_types (attributes_type, field, json_type, count, last_at)
      values ('Ride', 'a', 'int', 1, now() - interval '25 h'), ('Ride', 'b', 'int', 1, now())
      """)
    let other = try PostgresSession(conninfo: url)
    try await session.script("select pg_advisory_lock(7)")
    let holding = other.begin(
      """
      with held as (select from ridepulse.card_type_hours where field = 'b' for update)
      select pg_advisory_xact_lock(7) from held
      """)
    try await session.wait(until: waitingForAdvisoryLock, is: "1")
    // It would wait for the other node otherwise, which may wait for it.
    try await SentCardType.record([Self.line(.int, 1)], session, timeout: patience)
    let left = "select string_agg(field, ' ' order by field) from ridepulse.card_type_hours"
    #expect(try await session.value(left) == "b content-state.eta")
    let former = "select string_agg(field, ' ') from ridepulse.card_types"
    #expect(try await session.value(former) == "b")
    try await session.script("select pg_advisory_unlock(7)")
    _ = await holding.value
    await other.close()
    try await SentCardType.record([Self.line(.int, 1)], session)
    #expect(try await session.value(left) == "content-state.eta")
  }
}
