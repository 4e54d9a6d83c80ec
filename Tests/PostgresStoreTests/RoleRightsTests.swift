import Testing

@testable import PostgresStore

/// Tests what logins that are members of the three roles can do in SQL.
@Suite("Roles in SQL", .timeLimit(.minutes(60))) struct RoleRightsTests {
  private let owner: PostgresSession
  private let login: PostgresSession
  private let role = "login_\(UInt32.random(in: 0 ... .max))"

  init() async throws {
    let url = try await migratedDatabase()
    owner = try PostgresSession(conninfo: url)
    try await RoleSetup.apply(owner)
    try await owner.script("create role \(role) login")
    login = try PostgresSession(conninfo: url.replacing("user=postgres", with: "user=\(role)"))
  }

  /// Runs a statement that may fail; returns its SQLSTATE then.
  private func attempt(_ sql: String) async -> String? {
    do throws(PostgresError) {
      try await login.script(sql)
      return nil
    } catch {
      return error.server?.sqlState ?? "\(error)"
    }
  }

  private func leave() async throws {
    await login.close()
    try await owner.script("drop owned by \(role); drop role \(role)")
    await owner.close()
  }

  @Test func `R80: a member of ridepulse_app does all that an app needs`() async throws {
    try await owner.script("grant ridepulse_app to \(role)")
    try await login.script(
      """
      insert into ridepulse.rides (id, state, attributes) values ('r1', 'requested', '{"a_id": 1}');
      update ridepulse.rides set state = 'driver_arrived', attributes = '{}';
      update ridepulse.rides set driver_id = 'd1';
      select ridepulse.emit('eta_changed', 'r1', '{"minutes": 3}');
      select ridepulse.register_device('customer', 'c1', 'ab');
      select ridepulse.register_live_activity('r1', 'customer', 'c1', 'ab', 'activity');
      select ridepulse.register_push_to_start('customer', 'c1', 'ab', 'RideAttributes');
      select ridepulse.contact('customer', 'c1', 'i1');
      select ridepulse.seen('8a5c0f5e-0000-8000-8000-000000000001');
      select ridepulse.end_live_activity('customer', 'activity');
      select ridepulse.unregister_push_to_start('customer', 'ab');
      select ridepulse.unregister_device('customer', 'ab');
      select count(*) from ridepulse.deliveries;
      select count(*) from ridepulse.deliveries_after(ridepulse.deliveries_cursor())
      """)
    #expect(
      try await owner.value("select string_agg(event, ' ' order by id) from ridepulse.events")
        == "requested driver_arrived ride_updated eta_changed card_registered card_ended")
    for sql in [
      "select from ridepulse.devices", "delete from ridepulse.rides",
      "select ridepulse.idempotent_call(null, 'contact', '{}')", "select ridepulse.unpark('r1')",
    ] {
      #expect(await attempt(sql) == "42501", "\(sql)")
    }
    try await leave()
  }

  @Test func `R80: a reader writes nothing, and registers no phone of its own`() async throws {
    try await owner.script("grant ridepulse_reader to \(role)")
    try await login.script("select count(*) from ridepulse.ledger, ridepulse.current_devices")
    for sql in [
      "select ridepulse.register_device('customer', 'c1', 'ab')",
      "select ridepulse.emit('e', 'r1')", "select ridepulse.contact('customer', 'c1')",
      "insert into ridepulse.rides (id) values ('r')",
      "update ridepulse.devices set owner_id = 'x'",
      "select ridepulse.watch('pg_class', '{}')",
    ] {
      #expect(await attempt(sql) == "42501", "\(sql)")
    }
    try await leave()
  }
}
