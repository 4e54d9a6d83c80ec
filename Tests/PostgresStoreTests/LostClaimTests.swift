import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// Rides whose claims end with their node.
@Suite(.timeLimit(.minutes(60))) struct LostClaimTests {
  private let session: PostgresSession
  private let store: PostgresRideStore
  private static let lease = Duration.seconds(600)

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.customer],
      rules: RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: []),
      lease: Self.lease, claims: session, settlements: session, log: Log { _, _, _ in })
  }

  private func insert(_ rides: ClosedRange<Int>) async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, state)
      select 'r' || n, 'e' from generate_series(\(rides.lowerBound), \(rides.upperBound)) n
      """)
  }

  private func claim() async throws -> Claim { try await store.claim(limit: 100, asleep: false) }

  /// Lets all leases run out, as those of a node that was killed.
  private func endLeases() async throws {
    try await session.script(
      "update ridepulse.agenda set leased_until = now() where leased_until > now()")
  }

  private func settle(_ claim: Claim) async throws {
    let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [])
    let configuration = EngineConfiguration(rules: rules, bundleIDs: [:])
    let now = Timestamp(epochSeconds: 1_800_000_000)
    let settlements = claim.rides.map { ride in
      ClaimedSettlement(
        claim: ride.claim,
        settlement: decide(ride.view, by: configuration, now: now)
          .settled([], now: now, jitter: { 0 }))
    }
    #expect(try await store.settle(settlements) == SettleResult())
  }

  /// Seconds until the last lease ends.
  private func longestLease() async throws -> Double {
    let text = try await session.value(
      """
      select extract(epoch from max(leased_until) - now()) from ridepulse.agenda
      where leased_until > now()
      """)
    return text.flatMap(Double.init) ?? 0
  }

  @Test func `a ride is decided with others, then alone, and then parked`() async throws {
    try await insert(1...3)
    #expect(try await claim().rides.count == 3)
    try await endLeases()
    // A fresh ride is not claimed together with them.
    try await insert(4...4)
    let fresh = try await claim()
    #expect(fresh.rides.map(\.claim.rideID.text) == ["r4"])
    #expect(fresh.hasLostClaims)
    try await settle(fresh)
    let together = try await store.claimLost()
    #expect(together.rides.count == 3)
    #expect(together.rides.allSatisfy { $0.view.isTakenOver })
    #expect(try await longestLease() < 4)
    try await endLeases()
    for _ in 1...2 {
      let alone = try await store.claimLost()
      #expect(alone.rides.count == 1)
      #expect(alone.hasLostClaims)
      try await settle(alone)
    }
    let last = try await store.claimLost()
    #expect(last.rides.count == 1)
    #expect(try await longestLease() > 50)
    let ride = try #require(last.rides.first?.claim.rideID.text)
    try await endLeases()
    // That node ended before it decided the ride, and the next two while they did: one may be chance.
    for _ in 1...2 {
      let next = try await store.claimLost()
      #expect(next.rides.count == 1)
      try await store.recordDeciding(next.rides.map(\.claim))
      try await endLeases()
    }
    #expect(try await store.claimLost().rides.isEmpty)
    #expect(
      try await session.value("select ride_id || ': ' || reason from ridepulse.parked")
        == "\(ride): 5 claims in a row ended with their node, the last while this ride alone was "
        + "decided; the log or core dump of that node shows where")
    // Unparked, it is a ride like any other.
    #expect(try await session.value("select ridepulse.unpark('\(ride)')") == "t")
    let again = try await claim()
    #expect(again.rides.count == 1)
    #expect(!again.hasLostClaims)
  }

  @Test func `a claim that was settled is no longer counted`() async throws {
    try await insert(1...1)
    for _ in 1...5 {
      _ = try await claim()
      try await endLeases()
      #expect(try await claim().hasLostClaims)
      let lost = try await store.claimLost()
      #expect(lost.rides.count == 1)
      try await settle(lost)
      try await session.script("select ridepulse.emit('e', 'r1')")
    }
    #expect(try await session.value("select count(*) from ridepulse.parked") == "0")
  }

  @Test func `a ride whose decision survives is parked after ten claims`() async throws {
    try await insert(1...1)
    _ = try await claim()
    try await endLeases()
    #expect(try await claim().hasLostClaims)
    for number in 1..<10 {
      let lost = try await store.claimLost()
      try #require(lost.rides.count == 1, "claim \(number)")
      #expect(try await store.recordDecided(lost.rides.map(\.claim)).isEmpty)
      #expect(try await longestLease() > 50)
      try await endLeases()
    }
    #expect(try await store.claimLost().rides.isEmpty)
    let reason = try await session.value("select reason from ridepulse.parked")
    #expect(reason?.hasPrefix("10 claims in a row ended with their node;") == true)
  }

  @Test func `a release counts no claim`() async throws {
    try await insert(1...1)
    for _ in 1...4 {
      let claim = try await claim()
      #expect(!claim.hasLostClaims)
      try await store.release(claim.rides.map(\.claim))
    }
  }

  @Test func `a former holder is told that its claim is over`() async throws {
    try await insert(1...1)
    let former = try await claim()
    try await endLeases()
    #expect(try await claim().hasLostClaims)
    // Set aside, and claimed by no other node yet.
    #expect(try await store.renew(former.rides.map(\.claim)).count == 1)
    let lost = try await store.claimLost()
    // Its short lease is over before the decision is, and no other node has noticed.
    try await endLeases()
    #expect(try await store.recordDecided(lost.rides.map(\.claim)).isEmpty)
    try await endLeases()
    #expect(try await store.claimLost().rides.count == 1)
    #expect(try await store.recordDecided(lost.rides.map(\.claim)).count == 1)
  }

  @Test func `a ride that can't be read ends no node`() async throws {
    try await insert(1...1)
    _ = try await claim()
    try await endLeases()
    try await session.script("update ridepulse.agenda set memo = '{\"waiting\": \"none\"}'")
    for _ in 1...3 {
      #expect(try await claim().hasLostClaims)
      #expect(try await store.claimLost().rides.isEmpty)
      try await endLeases()
    }
    let reason = try await session.value("select reason from ridepulse.parked")
    #expect(reason?.hasPrefix("its memo can't be read") == true, "\(reason ?? "not parked")")
  }

  @Test func `a service that may not claim parks nothing, and does not try again at once`()
    async throws
  {
    try await insert(1...1)
    _ = try await claim()
    try await endLeases()
    #expect(try await claim().hasLostClaims)
    try await session.script(
      "update ridepulse.lost_claims set claims = 10; select ridepulse.hold('test')")
    #expect(try await claim().hasLostClaims == false)
    let lost = try await store.claimLost()
    #expect(lost.rides.isEmpty && !lost.hasLostClaims)
    #expect(try await session.value("select count(*) from ridepulse.parked") == "0")
  }

  @Test func `A12: a lease from before the clock went back lasts no longer than others`()
    async throws
  {
    try await insert(1...2)
    let held = try await claim()
    try await session.script(
      "update ridepulse.agenda set leased_until = leased_until + interval '1 hour'")
    // Its holder may be at work: the rides stay its own, for as long as any lease.
    let other = try await claim()
    #expect(other.rides.isEmpty && !other.hasLostClaims)
    #expect(
      try await session.value(
        "select count(*) from ridepulse.agenda where leased_until <= now() + interval '10 minutes'")
        == "2")
    #expect(try await store.renew(held.rides.map(\.claim)).isEmpty)
    // It was killed.
    try await endLeases()
    #expect(try await claim().hasLostClaims)
    let lost = try await store.claimLost()
    #expect(lost.rides.count == 2)
    // It may have sent with times up to the end of that lease.
    for ride in lost.rides {
      #expect(ride.view.heldUntil.map { $0 > lost.now + .seconds(3500) } == true)
    }
    try await settle(lost)
    try await session.script("select ridepulse.emit('e', 'r1')")
    #expect(try await claim().rides.map(\.view.heldUntil) == [nil])
  }

  @Test func `behind a backlog, a fifth of a claim is for the newest events`() async throws {
    try await insert(1...300)
    try await session.script("select ridepulse.emit('e', 'new')")
    let claim = try await store.claim(limit: 50, asleep: false)
    let rides = Set(claim.rides.map(\.claim.rideID.text))
    #expect(rides.count == 50)
    #expect(rides.contains("r1"))
    #expect(rides.contains("new"))
    #expect(rides.contains("r300"))
  }
}
