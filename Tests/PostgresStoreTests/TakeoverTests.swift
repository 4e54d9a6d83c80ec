import Base
import TestSupport
import Testing

@testable import PostgresStore
@testable import RideCore

/// A claim reports whether the previous holder lost the ride only by the end of its lease.
@Suite(.timeLimit(.minutes(60))) struct TakeoverTests {
  private let url: String
  private let session: PostgresSession
  private let first: PostgresRideStore
  private let second: PostgresRideStore

  init() async throws {
    let url = try await migratedDatabase()
    let session = try PostgresSession(conninfo: url)
    let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [])
    func store(_ digit: String) -> PostgresRideStore {
      PostgresRideStore(
        node: "\(digit)1111111-2222-8333-8444-555555555555", host: "test", apps: [.customer],
        rules: rules, lease: .seconds(600), claims: session, settlements: session,
        log: Log { _, _, _ in })
    }
    (self.url, self.session, first, second) = (url, session, store("1"), store("2"))
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

  @Test func `a release finds a row that moves while it waits for its lock`() async throws {
    let claimed = try await claim(by: first).claim
    try await session.script("update ridepulse.agenda set memo = '{}'")
    let writer = try PostgresSession(conninfo: url, applicationName: "writer")
    async let moved: Void = writer.script(
      "begin; update ridepulse.agenda set due_at = now(); select pg_sleep(0.3); commit")
    try await wait(until: "the row is locked") {
      try await session.value(
        """
        select exists (select from ridepulse.agenda where due_at is not null)
          or exists (select from pg_stat_activity where application_name = 'writer'
            and datname = current_database() and wait_event = 'PgSleep')
        """) == "t"
    }
    // On a busy machine, the limit of a lock may pass.
    for _ in 0..<10 where (try? await first.release([claimed])) != nil { break }
    try await moved
    let rows = try await session.value("select count(*) from ridepulse.agenda where node is null")
    #expect(rows == "1")
    await writer.close()
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

  @Test
  func `what a lost node sent stays in doubt if other events take its place in the next claim`()
    async throws
  {
    var alert = Alert()
    alert.title = LocalizedText(TextTemplate(literal: "Your driver is here"))
    let rule = Rule(
      name: "arrived", app: .customer, when: .on(["e"]), what: .alert(alert, priority: .immediate),
      expires: .after(.seconds(60)), source: "test")
    let configuration = EngineConfiguration(
      rules: RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule]),
      bundleIDs: [.customer: "com.example.customer"])
    try await session.script(
      """
      update ridepulse.rides set customer_id = 'c' where id = 'r';
      delete from ridepulse.events;
      select setval(pg_get_serial_sequence('ridepulse.events', 'id'), 100);
      select ridepulse.register_device('customer', 'c', repeat('c1', 32));
      """)
    try await session.script("select ridepulse.emit('e', 'r') from generate_series(1, 1000)")
    let lost = try await claim(by: first).view
    #expect(lost.events.count == 1000 && !lost.hasMoreEvents)
    // As if they had been inserted before those, and had committed only now.
    try await session.script(
      """
      insert into ridepulse.events (id, ride_id, event, data) overriding system value
      select n, 'r', 'e', '{}' from generate_series(1, 3) n
      """)
    try await endLease()
    #expect(try await second.claim(limit: 10, asleep: false).hasLostClaims)
    var claimed = try #require(try await second.claimLost().rides.first)
    var statuses: [LedgerEntry.Status] = []
    for events in [1000, 3] {
      #expect(claimed.view.events.count == events)
      let late = (lost.events.last?.at ?? Timestamp(microseconds: 0)) + .seconds(3600)
      let decision = decide(claimed.view, by: configuration, now: late)
      let settlement = decision.settled([], now: late, jitter: { 0 })
      statuses += settlement.entries.map(\.status)
      _ = try await second.settle([
        ClaimedSettlement(claim: claimed.claim, settlement: settlement)
      ])
      if events == 1000 { claimed = try await claim(by: second) }
    }
    #expect(statuses.count == 1003 && statuses.allSatisfy { $0 == .uncertain })
  }
}
