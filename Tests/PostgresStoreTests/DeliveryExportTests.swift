import Base
import RideCore
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Exports of verdicts", .timeLimit(.minutes(60))) struct DeliveryExportTests {
  private let url: String
  private let session: PostgresSession
  private let export: DeliveryExport

  /// 2024-11-21.
  private static let day = Timestamp(epochSeconds: 1_732_147_200)

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    export = DeliveryExport(session: session)
  }

  /// Adds a verdict some seconds after the day's start.
  private func add(_ ride: String, after seconds: Int64) async throws {
    try await session.script(
      """
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        occurred_at, finished_at)
      values ('\(ride)', gen_random_uuid(), 'e', 'r', 'customer', 'alert', 'accepted', 1,
        to_timestamp(1732147200), to_timestamp(1732147200 + \(seconds)))
      """)
  }

  private func exported() async throws -> [String] {
    var rides: [String] = []
    try await export.read(from: Self.day, to: Self.day + .seconds(86_400)) { deliveries in
      rides += deliveries.map(\.rideID.text)
    }
    return rides
  }

  @Test func `a day has the verdicts of its hours in the order of their commits`() async throws {
    try await add("before", after: -1)
    try await add("second", after: 20)
    try await add("first", after: 0)
    // Committed after the first one of the next day, as a settlement that took long.
    try await add("next", after: 86_400)
    try await add("last", after: 86_399)
    try await add("later", after: 100_000)
    #expect(try await exported() == ["second", "first", "last"])
  }

  @Test func `a day is not complete while a transaction of it is open`() async throws {
    try await add("first", after: 0)
    let other = try PostgresSession(conninfo: url)
    let pid = try #require(try await other.value("select pg_backend_pid()"))
    let late = other.begin(
      """
      with w as (insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status,
        attempts, occurred_at, finished_at)
      values ('late', gen_random_uuid(), 'e', 'r', 'customer', 'alert', 'accepted', 1,
        to_timestamp(1732147200), to_timestamp(1732147300)) returning 1)
      select pg_sleep(2) from w
      """)
    try await session.waitUntilSleeping(pid)
    #expect(try await exported() == ["first", "late"])
    #expect(await late.value.failure == nil)
    await other.close()
  }

  @Test func `the ledger reaches a day if it has its partition or an earlier one`() async throws {
    let now = try await export.now()
    #expect(try await export.reaches(now))
    #expect(try await export.reaches(now + .seconds(86_400)))
    #expect(try await !export.reaches(now - .seconds(400 * 86_400)))
  }

  @Test func `the names are the columns of the view in its order`() async throws {
    let columns = try await session.value(
      """
      select string_agg(attname, ' ' order by attnum) from pg_attribute
      where attrelid = 'ridepulse.deliveries'::regclass and attnum > 0
      """)
    #expect(columns == Delivery.names.joined(separator: " "))
  }
}
