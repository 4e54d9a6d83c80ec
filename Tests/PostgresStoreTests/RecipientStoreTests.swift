import Base
import Testing

@testable import PostgresStore
@testable import RideCore

@Suite("Recipients of late pushes, and the reach of nodes", .timeLimit(.minutes(60)))
struct RecipientStoreTests {
  private let session: PostgresSession
  private let first: PostgresRideStore
  private let second: PostgresRideStore

  init() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [])
    func store(_ digit: String) -> PostgresRideStore {
      PostgresRideStore(
        node: "\(digit)1111111-2222-8333-8444-555555555555", host: "test", apps: [.customer],
        rules: rules, lease: .seconds(600), claims: session, settlements: session,
        log: Log { _, _, _ in })
    }
    (self.session, first, second) = (session, store("1"), store("2"))
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'aa01', installation_id => 'i1');
      select ridepulse.register_device('customer', 'c2', 'aa02', installation_id => 'i2');
      select ridepulse.register_live_activity('r', 'customer', 'c1', 'ca01', 'a1',
        installation_id => 'i1');
      select ridepulse.register_push_to_start('customer', 'c1', '5a01', 'T',
        installation_id => 'i1')
      """)
  }

  private func recipients() async throws -> [PushRecipient] {
    let rows = try await session.run([
      direct(
        """
        select 'phone', id, token, owner_id from ridepulse.devices
        union all select 'activity', id, token, owner_id from ridepulse.live_activities
        union all select 'start', id, token, owner_id from ridepulse.push_to_start_tokens
        order by 1, 3
        """)
    ])[0]
    return try (0..<rows.rowCount).map { row in
      PushRecipient(
        kind: try #require(TokenInvalidation.Kind(rawValue: rows.string(row, 0) ?? "")),
        id: try #require(rows.int64(row, 1)), token: rows.string(row, 2) ?? "",
        owner: OwnerID(rows.string(row, 3) ?? ""))
    }
  }

  private func tokens(_ recipients: [PushRecipient]) async throws -> [String] {
    try await first.unchanged(recipients).map(\.token).sorted()
  }

  @Test func `A5: a sign-out withdraws phone, card and start token of its installation`()
    async throws
  {
    let all = try await recipients()
    #expect(try await tokens(all) == ["5a01", "aa01", "aa02", "ca01"])
    try await session.script("select ridepulse.unregister_device('customer', 'aa01')")
    #expect(try await tokens(all) == ["aa02"])
    #expect(try await tokens([]) == [])
  }

  @Test
  func `A5: a phone of another person is not the one that was read, unless it stands for itself`()
    async throws
  {
    let all = try await recipients()
    try await session.script(
      "select ridepulse.register_device('customer', 'c3', 'aa02', installation_id => 'i2')")
    #expect(try await tokens(all).contains("aa02") == false)
    var raw = try #require(all.first { $0.token == "aa02" })
    raw.owner = nil
    #expect(try await tokens([raw]) == ["aa02"])
    raw.token = "aa03"
    #expect(try await tokens([raw]) == [])
  }

  @Test func `U16: nodes see what other live nodes report`() async throws {
    for store in [first, second] { _ = try await store.claim(limit: 1, asleep: false) }
    // However long the test takes.
    let staysLive = "update ridepulse.nodes set seen_at = now() + interval '1 hour'"
    try await session.script(staysLive)
    #expect(try await first.report(nil) == NodePeers())
    #expect(try await second.report(.reached) == NodePeers())
    #expect(try await first.report(.lost) == NodePeers(isAnyReached: true))
    try await session.script(staysLive)
    #expect(try await second.report(.reached) == NodePeers(isAnyLost: true))
    // A node that does not claim any more reaches nothing for the others.
    try await session.script(
      "update ridepulse.nodes set seen_at = now() - interval '9 s' where apns = 'reached'")
    #expect(try await first.report(.lost) == NodePeers())
  }
}
