import Base
import RideCore
import TestSupport
import Testing

@testable import PostgresStore

/// Tests of what people on call do to rides and phones.
@Suite("Remedies in the store", .timeLimit(.minutes(60))) struct RemedyStoreTests {
  private let url: String
  private let session: PostgresSession
  private let revival: PhoneRevival

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    revival = PhoneRevival(session: session)
  }

  private static let start = Timestamp(epochSeconds: 1_700_000_000)

  private static func selection(
    since: Int64 = -3600, until: Int64? = nil, _ reason: String? = nil
  ) -> PhoneRevival.Selection {
    .init(
      app: .customer, since: start + .seconds(since), until: until.map { start + .seconds($0) },
      reason: reason)
  }

  /// Adds a phone that a service reported as gone at a time after `start`.
  private func add(
    _ token: String, _ reason: String = "Unregistered", app: String = "customer",
    installation: String? = nil, after seconds: Int64 = 0
  ) async throws {
    _ = try await session.value(
      """
      insert into ridepulse.devices (app, owner_id, token, installation_id, registered_at,
        disabled_at, disabled_reason, refusals)
      values ($1, 'c1', $2, $3, to_timestamp(1699990000), to_timestamp(1700000000 + $4::int), $5, 2)
      """, [app, token, installation, String(seconds), reason])
  }

  private func enabled() async throws -> [String] {
    try await session.rows(
      "select token, refusals from ridepulse.devices where disabled_at is null order by 1")
  }

  @Test func `phones that a service reported as gone are enabled again, by time and reason`()
    async throws
  {
    try await add("a")
    try await add("b", "DeviceTokenNotForTopic", after: 10)
    try await add("early", after: -7200)
    try await add("late", after: 60)
    try await add("driver", app: "driver")
    let one = Self.selection(until: 60, "DeviceTokenNotForTopic")
    #expect(
      try await revival.count(Self.selection(until: 60)) == [
        .init(reason: "DeviceTokenNotForTopic", revived: 1),
        .init(reason: "Unregistered", revived: 1),
      ])
    #expect(try await enabled().isEmpty)
    #expect(
      try await revival.revive(one) { _ in } == [
        .init(reason: "DeviceTokenNotForTopic", revived: 1)
      ])
    #expect(try await enabled() == ["b 0"])
    #expect(
      try await revival.revive(Self.selection()) { _ in } == [
        .init(reason: "Unregistered", revived: 2)
      ])
    #expect(try await enabled() == ["a 0", "b 0", "late 0"])
    #expect(try await revival.revive(Self.selection()) { _ in }.isEmpty)
  }

  @Test func `more phones than a batch are enabled, and counted once`() async throws {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, disabled_at, disabled_reason)
      select 'customer', 'c' || n, 't' || n, to_timestamp(1700000000), 'Unregistered'
      from generate_series(1, 2 * \(PhoneRevival.batch) + 1) n
      """)
    let count = Int64(2 * PhoneRevival.batch + 1)
    var steps: [Int64] = []
    let counts = try await revival.revive(Self.selection()) { steps.append($0) }
    #expect(counts == [.init(reason: "Unregistered", revived: count)])
    #expect(steps == [Int64(PhoneRevival.batch), 2 * Int64(PhoneRevival.batch), count])
  }

  @Test(arguments: ["replaced", "signed_out", "withdrawn"])
  func `what the app reported is left as it is`(reason: String) async throws {
    try await add("a", reason)
    #expect(try await revival.revive(Self.selection()) { _ in }.isEmpty)
    #expect(try await enabled().isEmpty)
  }

  @Test func `a phone whose installation has registered since is left out`() async throws {
    try await add("old", installation: "i1")
    try await session.script(
      "select ridepulse.register_device('customer', 'c2', 'ab', installation_id => 'i1')")
    let left = [PhoneRevival.Count(reason: "Unregistered", replaced: 1)]
    #expect(try await revival.revive(Self.selection()) { _ in } == left)
    // Also once the newer token is gone for its own reasons.
    try await session.script("select ridepulse.unregister_device('customer', 'ab')")
    #expect(try await revival.revive(Self.selection()) { _ in } == left)
    #expect(try await enabled().isEmpty)
  }

  @Test func `a person who signs out after the storm stays signed out`() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'ab'),
        ridepulse.register_device('customer', 'c2', 'cd');
      update ridepulse.devices set disabled_at = to_timestamp(1700000000),
        disabled_reason = 'Unregistered';
      select ridepulse.unregister_device('customer', 'ab'), ridepulse.sign_out('c2')
      """)
    #expect(try await revival.revive(Self.selection()) { _ in }.isEmpty)
    #expect(try await enabled().isEmpty)
  }

  @Test func `a locked row is counted, and enabled by the next call`() async throws {
    try await add("a")
    try await add("b")
    let other = try PostgresSession(conninfo: url)
    let pid = try #require(try await other.value("select pg_backend_pid()"))
    let held = other.begin(
      """
      with l as materialized (select from ridepulse.devices where token = 'a' for update)
      select pg_sleep(600) from l
      """)
    try await session.waitUntilSleeping(pid)
    #expect(
      try await revival.revive(Self.selection()) { _ in } == [
        .init(reason: "Unregistered", revived: 1, locked: 1)
      ])
    _ = try await session.value("select pg_cancel_backend($1::int)", [pid])
    _ = await held.value
    await other.close()
    #expect(
      try await revival.revive(Self.selection()) { _ in } == [
        .init(reason: "Unregistered", revived: 1)
      ])
  }

  @Test func `a refusal that was recorded before does not disable the phone again, the next does`()
    async throws
  {
    try await add("a")
    let refused = """
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      select 'phone', id, 'Unregistered', to_timestamp(1699995000) from ridepulse.devices
      """
    try await session.script(refused)
    _ = try await revival.revive(Self.selection()) { _ in }
    #expect(try await TokenOutcomes(session: session).apply().applied == 0)
    #expect(try await enabled() == ["a 0"])
    try await session.script(refused)
    _ = try await TokenOutcomes(session: session).apply()
    #expect(try await enabled().isEmpty)
  }

  @Test func `parked rides are listed and due again, in several batches`() async throws {
    try await session.script(
      """
      insert into ridepulse.agenda (ride_id, fence, leased_until, parked_reason, parked_at)
      select 'r' || n, 1, 'infinity', 'why ' || n, to_timestamp(1700000000)
      from generate_series(1, 1200) n;
      insert into ridepulse.agenda (ride_id, fence, leased_until) values ('free', 1, '-infinity')
      """)
    let parked = ParkedRides(session: session)
    #expect(try await parked.list().count == 1200)
    let named = try await parked.unpark([RideID("r7"), RideID("free"), RideID("none")])
    #expect(named.map(\.id.text) == ["r7"] && named.map(\.reason) == ["why 7"])
    #expect(named.first?.parkedAt == Self.start)
    #expect(try await parked.unpark().count == 1199)
    #expect(try await parked.list().isEmpty)
    #expect(
      try await session.value("select count(*) from ridepulse.agenda where due_at <= now()")
        == "1200")
  }

  @Test func `the quarantine of the apps that are named is lifted`() async throws {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, refusals, quarantined_at)
      select app, 'o', 't' || n, n, to_timestamp(1700000000 + n)
      from unnest(array['customer', 'driver']) app, generate_series(3, 5) n
      """)
    let quarantine = Quarantine(session: session)
    let all = try await quarantine.list()
    #expect(all.map(\.app) == [.customer, .driver] && all.map(\.count) == [3, 3])
    #expect(all.first?.since == Self.start + .seconds(3) && all.first?.refusals == 5)
    #expect(try await quarantine.list([.driver]).map(\.app) == [.driver])
    #expect(try await quarantine.lift(.driver) == 3)
    #expect(try await quarantine.list().map(\.app) == [.customer])
  }
}
