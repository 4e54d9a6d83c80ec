import RideCore
import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct AppVersionCountTests {
  @Test func `Enabled phones are counted by app, system and version`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'a1', app_version => '5.2');
      select ridepulse.register_device('customer', 'c2', 'a2', app_version => '5.2');
      select ridepulse.register_device('customer', 'c3', 'a3');
      select ridepulse.register_device('customer', 'c4', 'a4', app_version => '5.1');
      select ridepulse.unregister_device('customer', 'a4');
      select ridepulse.register_device('driver', 'd1', 'token:1', platform => 'android',
        app_version => '3.0');
      """)
    #expect(
      try await AppVersionCount.all(session) == [
        AppVersionCount(.customer, .ios, "5.2", phones: 2),
        AppVersionCount(.customer, .ios, nil, phones: 1),
        AppVersionCount(.driver, .android, "3.0", phones: 1),
      ])
    await session.close()
  }
}
