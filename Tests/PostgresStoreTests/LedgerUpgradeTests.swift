import Testing

@testable import PostgresStore
@testable import RideCore

@Suite("The ledger's upgrade", .timeLimit(.minutes(60))) struct LedgerUpgradeTests {
  private let session: PostgresSession
  private let role = "app_\(UInt32.random(in: 0 ... .max))"

  init() async throws {
    session = try PostgresSession(conninfo: try await makeDatabase())
    _ = try await Migrations.apply(
      session: session, steps: Migrations.all.filter { $0.number < 7 })
    try await session.script(
      """
      create role \(role);
      grant select, insert, update on ridepulse.ledger to \(role);
      grant select on ridepulse.ledger to public;
      insert into ridepulse.agenda (ride_id, memo, fence, leased_until) values
        ('alert', '{"retries": [{}]}', 1, '-infinity'), ('card', '{"cards": {}}', 1, '-infinity'),
        ('done', '{"slots": {}}', 1, '-infinity');
      insert into ridepulse.ledger (ride_id, apns_id, event_id, event, rule, app, push_type, status,
        reason, attempts, collapse_id, device_id, token_suffix, occurred_at, created_at, card_event)
      select ride_id, md5(ride_id || status)::uuid, 7, 'driver_arrived', 'r', 'customer', push_type,
        status, 'because', 3, 'c', 5, 'abcdef', '2026-03-01Z', '2026-03-02Z', card_event
      from (values ('alert', 'alert', 'accepted', null), ('alert', 'alert', 'pending', null),
          ('card', 'liveactivity', 'accepted', 'update'), ('card', 'liveactivity', 'pending', 'end'),
          ('done', 'alert', 'rejected', null))
        rows (ride_id, push_type, status, card_event);
      """)
  }

  private func lines(_ sql: String) async throws -> [String] {
    let rows = try await session.run([direct(sql)])[0]
    return (0..<rows.rowCount).compactMap { rows.string($0, 0) }
  }

  @Test func `R41: what was there is kept, and seen as before`() async throws {
    let deliveries = """
      select d::text from ridepulse.deliveries d where (ride_id, status) <> ('card', 'pending')
        and reason = 'because' order by 1
      """
    let before = try await lines(deliveries)
    _ = try await Migrations.apply(session: session)
    #expect(try await lines(deliveries) == before && before.count == 4)
    let columns = """
      select string_agg(attname, ', ' order by attnum) from pg_attribute
      where attrelid = 'ridepulse.deliveries'::regclass and attnum > 0
      """
    #expect(
      try await session.value(columns)
        == "ride_id, event, rule, app, push_type, status, reason, attempts, apns_id, "
        + "collapse_id, created_at, finished_at, token_suffix")
    let history = try await RideQueries(session: session).history(of: "alert")
    #expect(Set(history.entries.map(\.status)) == ["pending", "accepted"])
    let rights = """
      select string_agg(privilege_type, ' ' order by privilege_type)
      from information_schema.role_table_grants
      where table_schema = 'ridepulse' and table_name = 'ledger' and grantee =
      """
    #expect(try await session.value("\(rights) '\(role)'") == "INSERT SELECT UPDATE")
    #expect(try await session.value("\(rights) 'PUBLIC'") == "SELECT")
    try await session.script("drop owned by \(role); drop role \(role)")
  }

  @Test func `R41: what waits is settled where it stands, and a card's attempt begins anew`()
    async throws
  {
    _ = try await Migrations.apply(session: session)
    #expect(
      try await lines("select ride_id || ' ' || status from ridepulse.ledger") == [
        "alert pending"
      ])
    let card = "select status || ': ' || reason from ridepulse.deliveries where apns_id = $1::uuid"
    let id = try await session.value("select md5('cardpending')")
    #expect(
      try await session.value(card, [id])
        == "suppressed: the next attempt stands in a row of its own")
    // Long after the upgrade the old rows are no longer needed.
    try await session.script(
      "update ridepulse.retention set cut_at = now() - interval '31 days'")
    #expect(
      try await LedgerPartitions(session: session).rotate()
        == [.init(action: "emptied", object: "ledger_before")])
    #expect(try await session.value("select count(*) from ridepulse.deliveries") == "1")
  }

  @Test func `R41: a node of before takes no ride that it could not settle`() async throws {
    let claim = """
      insert into ridepulse.nodes as n (node, host, asleep, seen_at)
      values (gen_random_uuid(), 'h', true, now())
      on conflict (node) do update set asleep = excluded.asleep, seen_at = excluded.seen_at
      """
    try await session.script(claim)
    _ = try await Migrations.apply(session: session)
    let error = await #expect(throws: PostgresError.self) { try await session.script(claim) }
    #expect(error?.server?.sqlState == "23502")
    #expect(try await session.value("select count(*) from ridepulse.nodes") == "0")
  }
}
