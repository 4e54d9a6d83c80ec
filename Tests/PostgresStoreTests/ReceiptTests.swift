import Testing

@testable import PostgresStore

/// `ridepulse.seen`: receipts of pushes.
@Suite("Receipts", .timeLimit(.minutes(60))) struct ReceiptTests {
  private static let id = "8a5c0f5e-0000-8000-8000-000000000001"

  private func session() async throws -> (PostgresSession, url: String) {
    let url = try await migratedDatabase()
    let session = try PostgresSession(conninfo: url)
    return (session, url)
  }

  private func addRow(_ session: PostgresSession) async throws {
    try await session.script(
      """
      insert into ridepulse.ledger (ride_id, apns_id, event_id, event, rule, app, push_type, status,
        attempts, occurred_at)
      values ('r1', '\(Self.id)', 1, 'e', 'rule', 'driver', 'alert', 'accepted', 1, now())
      """)
  }

  @Test func `a receipt before the ledger row counts, and the first one does`() async throws {
    let (session, _) = try await session()
    try await session.script("select ridepulse.seen('\(Self.id)')")
    let first = try await session.value("select seen_at from ridepulse.receipts")
    try await addRow(session)
    try await session.script("select ridepulse.seen('\(Self.id)')")
    #expect(try await session.value("select seen_at from ridepulse.deliveries") == first)
    // Transactions of other databases hold the log back for a moment.
    try await session.wait(
      until: "select seen_at from ridepulse.deliveries_after()", is: try #require(first))
    await session.close()
  }

  @Test func `null is refused with a hint`() async throws {
    let (session, _) = try await session()
    await #expect {
      try await session.script("select ridepulse.seen(null)")
    } throws: { error in
      (error as? PostgresError)?.server?.sqlState == "22023"
    }
    await session.close()
  }

  @Test func `an app's open transaction with a receipt does not hold up a settlement`() async throws
  {
    let (session, url) = try await session()
    try await addRow(session)
    let app = try PostgresSession(conninfo: url)
    let pid = try #require(try await app.value("select pg_backend_pid()"))
    let open = app.begin(
      "with report as materialized (select ridepulse.seen('\(Self.id)')) select pg_sleep(600) from report"
    )
    try await session.waitUntilSleeping(pid)
    try await session.script(
      "set lock_timeout = '200ms'; update ridepulse.ledger set status = 'uncertain'")
    try await session.script("select pg_cancel_backend(\(pid))")
    _ = await open.value
    #expect(try await session.value("select count(*) from ridepulse.receipts") == "0")
    await app.close()
    await session.close()
  }

  @Test func `old receipts are swept with the ledger's age`() async throws {
    let (session, _) = try await session()
    try await session.script(
      """
      insert into ridepulse.receipts values (gen_random_uuid(), now() - interval '31 days'),
        (gen_random_uuid(), now() - interval '29 days')
      """)
    #expect(try await session.value("select deleted from ridepulse.sweep('receipts')") == "1")
    await session.close()
  }
}
