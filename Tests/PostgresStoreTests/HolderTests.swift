import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// Tests claims after a failover to a standby that lacked the last commits.
@Suite("Claims after a failover", .timeLimit(.minutes(60))) struct HolderTests {
  private static let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [])
  private let url: String
  private let session: PostgresSession

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    try await session.script(
      """
      insert into ridepulse.rides (id, state) values ('r', 'e');
      delete from ridepulse.events;
      select ridepulse.emit('first', 'r')
      """)
  }

  /// A store of one process: its sessions are replaced, its node stays.
  private func store(pin: DatabasePin = .none) throws -> PostgresRideStore {
    let own = try PostgresSession(conninfo: url)
    return PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.customer],
      pin: pin, rules: Self.rules, lease: .seconds(600), claims: own, settlements: own,
      log: Log { _, _, _ in })
  }

  private func claim(by store: PostgresRideStore) async throws -> (claim: RideClaim, view: RideView)
  {
    try #require(try await store.claim(limit: 10, asleep: false).rides.first)
  }

  private func settlement(
    _ ride: (claim: RideClaim, view: RideView), gone: Int64? = nil
  ) -> ClaimedSettlement {
    let now = Timestamp(epochSeconds: 1_800_000_000)
    var settlement = decide(
      ride.view, by: EngineConfiguration(rules: Self.rules, bundleIDs: [:]), now: now
    ).settled([], now: now, jitter: { 0 })
    if let gone {
      settlement.invalidations = [
        TokenInvalidation(kind: .phone, id: gone, since: nil, reason: "BadDeviceToken")
      ]
    }
    return ClaimedSettlement(claim: ride.claim, settlement: settlement)
  }

  /// What a promoted standby has that lacked everything since before the first claim: neither the
  /// claim nor the event, and sequences that begin again.
  private func loseCommits() async throws {
    try await session.script(
      """
      delete from ridepulse.agenda;
      delete from ridepulse.events;
      alter sequence ridepulse.fence restart;
      alter sequence ridepulse.events_id_seq restart with 2;
      select ridepulse.emit('second', 'r')
      """)
  }

  /// What a promoted standby has that had received the claim, but not the event, of which the claim
  /// was read later.
  private func loseEvents() async throws {
    try await session.script(
      """
      delete from ridepulse.events;
      alter sequence ridepulse.events_id_seq restart with 2;
      select ridepulse.emit('second', 'r')
      """)
  }

  private var events: String? {
    get async throws {
      try await session.value("select string_agg(event, ' ' order by id) from ridepulse.events")
    }
  }

  @Test func `R107: an old settlement with the fence and event ID of a new claim does nothing`()
    async throws
  {
    let before = try store()
    let old = try await claim(by: before)
    try await loseCommits()
    let after = try store()
    let new = try await claim(by: after)
    // Without this the test would prove nothing.
    #expect(new.claim.fence == old.claim.fence)
    #expect(new.view.events.map(\.id) == old.view.events.map(\.id))
    #expect(new.claim.holder != old.claim.holder)
    #expect(try await after.settle([settlement(old)]).lost == [old.claim])
    #expect(try await events == "second")
    #expect(try await after.renew([old.claim, new.claim]) == [old.claim])
    #expect(try await after.journal([ClaimedMemo(claim: old.claim, memo: Memo())]) == ["r"])
    try await after.park(old.claim, reason: "old")
    try await after.release([old.claim])
    #expect(try await after.settle([settlement(new)]) == SettleResult())
    #expect(try await events == nil)
  }

  @Test func `R107: a settlement of a lost event does not consume the event with its ID`()
    async throws
  {
    let store = try store()
    let old = try await claim(by: store)
    try await loseEvents()
    #expect(try await store.settle([settlement(old)]) == SettleResult())
    #expect(try await events == "second")
    let new = try await claim(by: store)
    // Without this the test would prove nothing.
    #expect(new.view.events.map(\.id) == old.view.events.map(\.id))
    #expect(try await store.settle([settlement(new)]) == SettleResult())
    #expect(try await events == nil)
  }

  @Test func `R107: a ride that was claimed before a failover is decided again`() async throws {
    let store = try store()
    var ride = try await claim(by: store)
    ride.claim.databaseIdentity?.timeline += 1
    var over = settlement(ride)
    over.settlement.isOver = true
    over.settlement.nextDue = nil
    #expect(try await store.settle([over]) == SettleResult())
    #expect(try await events == nil)
    let again = try await claim(by: store)
    #expect(again.view.events.isEmpty)
    over = settlement(again)
    over.settlement.isOver = true
    #expect(try await store.settle([over]) == SettleResult())
    #expect(try await session.value("select count(*) from ridepulse.agenda") == "0")
  }

  @Test func `R107: two claims of a ride in one batch are told apart`() async throws {
    let before = try store()
    let old = try await claim(by: before)
    try await loseCommits()
    let after = try store()
    let new = try await claim(by: after)
    let batch = [settlement(old), settlement(new)]
    #expect(PostgresRideStore.rounds(batch) == [[batch[0]], [batch[1]]])
    #expect(try await after.settle(batch).lost == [old.claim])
    #expect(try await events == nil)
  }

  @Test func `R107: an invalid token of another timeline is not recorded`() async throws {
    let store = try store()
    let ride = try await claim(by: store)
    var old = ride
    old.claim.databaseIdentity?.timeline += 1
    _ = try await store.settle([settlement(old, gone: 4711)])
    #expect(try await session.value("select count(*) from ridepulse.token_outcomes") == "0")
    // Settled above: the answer about the token counts even so, on the same timeline.
    _ = try await store.settle([settlement(ride, gone: 4711)])
    #expect(try await session.value("select count(*) from ridepulse.token_outcomes") == "1")
  }

  @Test func `R111: nothing is claimed where the pin does not match`() async throws {
    let store = try store()
    try await session.script("select ridepulse.hold('a drill')")
    #expect(try await store.claim(limit: 10, asleep: false).rides.isEmpty)
    #expect(store.pinProblems.map(\.kind) == [.held])
    try await session.script("select ridepulse.pin()")
    #expect(try await store.claim(limit: 10, asleep: false).rides.count == 1)
    #expect(store.pinProblems.isEmpty)
  }

  @Test func `R111: apps that are not pinned claim nothing until they are`() async throws {
    func store(_ bundleID: String) throws -> PostgresRideStore {
      try self.store(
        pin: DatabasePin(apps: [
          .init(app: .customer, bundleID: bundleID, environment: .production)
        ]))
    }
    let (production, staging) = (try store("com.example.app"), try store("com.example.staging"))
    try await production.checkPin()
    try await session.script("select ridepulse.pin()")
    // This claim finds no pin of its apps, and pins them.
    #expect(try await production.claim(limit: 10, asleep: false).rides.isEmpty)
    #expect(try await staging.claim(limit: 10, asleep: false).rides.isEmpty)
    #expect(staging.pinProblems.map(\.kind) == [.bundleID])
    #expect(try await production.claim(limit: 10, asleep: false).rides.count == 1)
  }

  @Test func `a service with another FCM project claims nothing until the next pin`()
    async throws
  {
    func store(
      _ project: String?, bundleID: String? = "com.example.app"
    ) throws -> PostgresRideStore {
      let apps = bundleID.map {
        [DatabasePin.AppIdentity(app: .customer, bundleID: $0, environment: .production)]
      }
      return try self.store(
        pin: DatabasePin(apps: apps ?? [], projects: project.map { [.customer: $0] } ?? [:]))
    }
    let (before, rides) = (try store(nil), try store("rides-prod"))
    let (staging, alone) = (try store("rides-stage"), try store("rides-prod", bundleID: nil))
    try await before.checkPin()
    // A project is added to the pin as an app is, by the claim that finds it missing.
    #expect(try await rides.claim(limit: 10, asleep: false).rides.isEmpty)
    #expect(try await staging.claim(limit: 10, asleep: false).rides.isEmpty)
    #expect(
      staging.pinProblems == [
        PinProblem(
          kind: .project, app: .customer, pinned: "rides-prod", found: "rides-stage")
      ])
    #expect(
      staging.pinProblems.map(\.description) == [
        "app customer is pinned to FCM project rides-prod, and this service has rides-stage"
      ])
    #expect(PinProblem.remedy(for: staging.pinProblems).contains("stop all services"))
    #expect(try await rides.claim(limit: 10, asleep: false).rides.count == 1)
    #expect(before.pinProblems.isEmpty && alone.pinProblems.isEmpty)
    try await session.script("select ridepulse.pin()")
    #expect(try await staging.claim(limit: 10, asleep: false).rides.isEmpty)
    try await alone.checkPin()
    #expect(alone.pinProblems.map(\.kind) == [.project])
    #expect(
      try await session.rows("select app, bundle_id, project from ridepulse.pinned_apps")
        == ["customer com.example.app rides-stage"])
  }

  /// The pin's site, the service's, and whether the service may send.
  @Test(
    arguments: [
      (nil, nil, true), (nil, "eu", true), ("", nil, true), ("", "eu", false), ("eu", "eu", true),
      ("eu", nil, false), ("eu", "EU", false),
    ] as [(String?, String?, Bool)])
  func `R111: a service claims only where the pin has its site`(
    pinned: String?, found: String?, isAllowed: Bool
  ) async throws {
    try await session.script("select ridepulse.pin(\(pinned.map { "'\($0)'" } ?? "null"))")
    let app = DatabasePin.AppIdentity(
      app: .customer, bundleID: "com.example.app", environment: .production)
    let store = try store(pin: DatabasePin(apps: [app], site: found))
    try await store.checkPin()
    #expect(store.pinProblems.isEmpty == isAllowed)
    #expect(try await store.claim(limit: 10, asleep: false).rides.isEmpty != isAllowed)
    let site = try await session.value("select site from ridepulse.pin")
    #expect(site == pinned ?? found ?? "")
    if !isAllowed {
      #expect(
        store.pinProblems == [PinProblem(kind: .site, pinned: pinned ?? "", found: found ?? "")])
      #expect(PinProblem.remedy(for: store.pinProblems).contains("stop all services"))
    }
  }

  @Test func `an app with a project alone is pinned without a bundle ID, and gets it later`()
    async throws
  {
    let pinned = "select app, bundle_id, environment, project from ridepulse.pinned_apps"
    try await store(pin: DatabasePin(apps: [], projects: [.driver: "p"])).checkPin()
    #expect(try await session.rows(pinned) == ["driver - - p"])
    let both = DatabasePin(
      apps: [.init(app: .driver, bundleID: "com.example.d", environment: .sandbox)],
      projects: [.driver: "p"])
    try await store(pin: both).checkPin()
    #expect(try await session.rows(pinned) == ["driver com.example.d sandbox p"])
  }
}
