import RideCore
import Testing

@testable import PostgresStore

/// Which apps have ever reported contacts and receipts.
@Suite(.timeLimit(.minutes(60))) struct AppReportsTests {
  @Test func `a contact and a first receipt count for their app only`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    let apps: Set<App> = [.customer, .driver]
    // A receipt of a push that no escalation awaits names no owner.
    try await session.script("select ridepulse.seen('8a5c0f5e-0000-8000-8000-000000000001')")
    #expect(
      try await AppReports.all(of: apps, session) == [
        AppReports(.customer, hasContact: false, hasReceipt: false),
        AppReports(.driver, hasContact: false, hasReceipt: false),
      ])
    try await session.script(
      """
      select ridepulse.contact('customer', 'c1');
      update ridepulse.receipts set app = 'driver', owner_id = 'd1'
      """)
    #expect(
      try await AppReports.all(of: apps, session) == [
        AppReports(.customer, hasContact: true, hasReceipt: false),
        AppReports(.driver, hasContact: false, hasReceipt: true),
      ])
    #expect(try await AppReports.all(of: [], session) == [])
    await session.close()
  }
}
