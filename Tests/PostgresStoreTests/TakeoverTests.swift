import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// A claim reports whether the previous holder lost the ride only by the end of its lease.
@Suite(.timeLimit(.minutes(60))) struct TakeoverTests {
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
    try await session.script("insert into ridepulse.rides (id, state) values ('r', 'e')")
  }

  private func claim(by store: PostgresRideStore) async throws -> (claim: RideClaim, view: RideView)
  {
    try #require(try await store.claim(limit: 10, asleep: false).rides.first)
  }

  private func endLease() async throws {
    try await session.script("update ridepulse.agenda set leased_until = now()")
  }

  @Test func `a lease that ended marks every later claim, until one settles`() async throws {
    #expect(try await !claim(by: first).view.isTakenOver)
    try await endLease()
    #expect(try await second.claim(limit: 10, asleep: false).hasLostClaims)
    let taken = try #require(try await second.claimLost().rides.first)
    #expect(taken.view.isTakenOver)
    // Released unread: the next claim must find it taken over, too.
    try await second.release([taken.claim])
    let again = try await claim(by: first)
    #expect(again.view.isTakenOver)
    let configuration = EngineConfiguration(
      rules: RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: []), bundleIDs: [:])
    let now = Timestamp(epochSeconds: 1_800_000_000)
    let decision = decide(again.view, by: configuration, now: now)
    _ = try await first.settle([
      ClaimedSettlement(
        claim: again.claim, settlement: decision.settled([], now: now, jitter: { 0 }))
    ])
    try await session.script("select ridepulse.emit('e', 'r')")
    #expect(try await !claim(by: second).view.isTakenOver)
  }

  @Test func `a release before anything was sent marks nothing`() async throws {
    try await first.release([try await claim(by: first).claim])
    #expect(try await !claim(by: second).view.isTakenOver)
  }

  /// What a claim leaves whose snapshot is older than another node's settlement of the same event.
  @Test(arguments: [nil, "memo = '{}'", "due_at = now()", "unread = 1"])
  func `a release leaves no row that nothing makes due`(known: String?) async throws {
    let claimed = try await claim(by: first).claim
    try await session.script("delete from ridepulse.events")
    if let known { try await session.script("update ridepulse.agenda set \(known)") }
    try await first.release([claimed])
    let rows = try await session.value("select count(*) from ridepulse.agenda where node is null")
    #expect(rows == (known == nil ? "0" : "1"))
  }

  @Test func `a parked ride may have been sent, and its old claim ends`() async throws {
    let claimed = try await claim(by: first)
    try await first.park(claimed.claim, reason: "refused")
    // A renewal in flight must not give the parked ride a lease that ends.
    _ = try await first.renew([claimed.claim])
    #expect(try await first.claim(limit: 10, asleep: false).rides.isEmpty)
    #expect(try await session.value("select ridepulse.unpark('r')") == "t")
    #expect(try await claim(by: first).view.isTakenOver)
  }
}
