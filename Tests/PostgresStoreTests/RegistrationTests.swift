import Testing

@testable import PostgresStore

/// `register_device`: what a phone states of itself.
@Suite("Registration of phones", .timeLimit(.minutes(60))) struct RegistrationTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  private static let stored =
    "select concat_ws(' ', environment, installation_id, locale, platform, time_zone, alerts, "
    + "app_version) from ridepulse."

  /// Registers a phone with further arguments.
  private func register(_ arguments: String = "") async throws {
    try await session.script(
      "select ridepulse.register_device('customer', 'c1', 'a1'\(arguments))")
  }

  @Test func `a phone states its zone, platform, alerts and version, in this order`() async throws {
    try await register(
      ", 'sandbox', 'i1', 'de-AT', 'ios', 'Asia/Tokyo', true, '4.2'")
    let all = "sandbox i1 de-AT ios Asia/Tokyo t 4.2"
    #expect(try await session.value(Self.stored + "devices") == all)
    #expect(try await session.value(Self.stored + "current_devices") == all)
  }

  @Test(
    arguments: [
      "", ", time_zone => '', app_version => ''", ", platform => null, alerts => null",
      ", 'sandbox', 'i1', 'de-AT'",
    ])
  func `null and an empty text keep what is stored`(arguments: String) async throws {
    try await register(", 'sandbox', 'i1', 'de-AT', 'ios', 'Asia/Tokyo', false, '4.2'")
    try await register(arguments)
    #expect(
      try await session.value(Self.stored + "devices") == "sandbox i1 de-AT ios Asia/Tokyo f 4.2")
  }

  @Test func `a new value replaces the stored one`() async throws {
    try await register(", time_zone => 'Asia/Tokyo', alerts => false, app_version => '4.2'")
    try await register(", time_zone => 'Europe/Vienna', alerts => true, app_version => '4.3'")
    #expect(
      try await session.value(Self.stored + "devices") == "ios Europe/Vienna t 4.3")
  }

  @Test func `a phone of a zone that the server lacks is registered`() async throws {
    try await register(", time_zone => 'Mars/Base'")
    #expect(try await session.value("select time_zone from ridepulse.devices") == "Mars/Base")
  }

  @Test(arguments: ["windows", "Android", "iOS", ""])
  func `another platform is refused, and nothing is stored`(platform: String) async throws {
    let error = await #expect(throws: PostgresError.self) {
      try await register(", platform => '\(platform)'")
    }
    #expect(error?.server?.sqlState == "22023")
    #expect(error.map { "\($0)" }?.contains("'\(platform)', which is unknown") == true)
    #expect(try await session.value("select count(*) from ridepulse.devices") == "0")
  }

  @Test func `there is one function of the name`() async throws {
    #expect(
      try await session.value("select count(*) from pg_proc where proname = 'register_device'")
        == "1")
  }

  @Test func `many phones are registered by looking up each of them, from an empty table on`()
    async throws
  {
    try await session.script(
      """
      begin;
      select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5(n::text))
      from generate_series(1, 300) n;
      create temporary table rows_read as
      select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables
      where relname = 'devices';
      commit
      """)
    let count = try await session.value("select count < 1000 from rows_read")
    #expect(count == "t")
  }
}
