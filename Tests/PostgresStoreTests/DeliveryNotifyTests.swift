import Base
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// Tests that a verdict notifies listeners in the settling transaction, if that is switched on.
@Suite("Notifying of deliveries", .timeLimit(.minutes(60))) struct DeliveryNotifyTests {
  private let url: String
  private let session: PostgresSession
  private let store: PostgresRideStore
  private let events = EventLog()
  private let listener: PostgresSession

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    store = PostgresRideStore(
      node: "11111111-2222-3333-4444-555555555555", host: "test", apps: [.customer],
      rules: RuleSet(activeStates: [], finalStates: [], events: [], rules: []),
      lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
    listener = try PostgresSession(
      conninfo: url, listen: ["ridepulse_deliveries"], onEvent: events.record)
    _ = await events.nextConnection()
  }

  /// Settles a ride with entries of these outcomes.
  private func settle(_ statuses: [LedgerEntry.Status], attempt: String) async throws {
    try await session.script("select ridepulse.emit('e', 'r1')")
    let claimed = try #require(try await store.claim(limit: 1, asleep: false).rides.first)
    var settlement = Settlement(
      rideID: "r1", consumed: claimed.view.events.map(\.key))
    settlement.entries = statuses.enumerated().map { index, status in
      LedgerEntry(
        id: PushID(of: "\(attempt) \(index)"), event: claimed.view.events[0], rule: "r",
        app: .customer, pushType: .alert, status: status, attempts: 1)
    }
    let batch = [ClaimedSettlement(claim: claimed.claim, settlement: settlement)]
    #expect(try await store.settle(batch) == SettleResult())
  }

  /// Returns the payloads that arrived before a last one, which this sends.
  private func arrived() async throws -> [String] {
    try await session.script("select pg_notify('ridepulse_deliveries', 'end')")
    var payloads: [String] = []
    while true {
      let event = await events.first { if case .notification = $0 { true } else { false } }
      guard case .notification(_, let payload) = event, payload != "end" else { return payloads }
      payloads.append(payload)
    }
  }

  @Test func `R69: a settlement with verdicts notifies once, and only if switched on`()
    async throws
  {
    try await settle([.accepted, .rejected], attempt: "off")
    #expect(try await arrived() == [])
    try await session.script("update ridepulse.settings set notify_deliveries = true")
    try await settle([.accepted, .rejected, .pending], attempt: "on")
    #expect(try await arrived() == [""])
    try await settle([.pending], attempt: "pending")
    try await settle([], attempt: "none")
    #expect(try await arrived() == [])
    // Transactions of other databases hold the log back for a moment.
    try await session.wait(until: "select count(*) from ridepulse.deliveries_after()", is: "4")
    await listener.close()
  }
}
