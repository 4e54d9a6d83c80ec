import Base
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

@Suite("R84: permits in the database", .timeLimit(.minutes(60))) struct PermitStoreTests {
  private static let node = "11111111-2222-8333-8444-555555555555"
  private let conninfo: String
  private let session: PostgresSession

  init() async throws {
    conninfo = try await migratedDatabase()
    session = try PostgresSession(conninfo: conninfo)
  }

  private func hold(_ rides: Int) async throws {
    try await session.script(
      """
      insert into ridepulse.agenda (ride_id, node, fence, leased_until)
      select 'r' || n, '\(Self.node)', n, now() + interval '1 hour'
      from generate_series(1, \(rides)) n
      """)
  }

  private static func claim(_ ride: Int, fence: Int64? = nil) -> RideClaim {
    var claim = RideClaim(rideID: "r\(ride)", fence: fence ?? Int64(ride))
    claim.holder = node
    return claim
  }

  private static func claimed(
    _ ride: Int, outcomes: [PermitOutcome] = [], fence: Int64? = nil
  ) -> ClaimedSettlement {
    let claim = claim(ride, fence: fence)
    var settlement = Settlement.synthetic(
      ride: claim.rideID, now: Timestamp(epochSeconds: 1_800_000_000), isOver: false)
    settlement.permits = outcomes
    return ClaimedSettlement(claim: claim, settlement: settlement)
  }

  private static func permit(
    _ number: Int, _ owner: OwnerID = "c", _ pushes: CountedPushes = .topic("t"),
    ride: RideID = "r1", app: App = .customer
  ) -> Permit {
    Permit(
      id: PushID(
        of: "\(number)", app.rawValue, owner.text, pushes.kind, pushes.name, ride.text), app: app,
      owner: owner, pushes: pushes, ride: ride, window: .seconds(3600))
  }

  private static func request(
    _ permit: Permit, _ count: Int = 3, per period: PushCap.Period = .time(.seconds(3600)),
    at second: Int64 = 0
  ) -> PermitRequest {
    PermitRequest(
      permit: permit, cap: PushCap(count: count, per: period),
      // Beyond all that the test takes.
      validUntil: Timestamp(epochSeconds: 4_000_000_000),
      occurredAt: Timestamp(epochSeconds: second))
  }

  private func settle(
    _ batch: [ClaimedSettlement], over session: PostgresSession? = nil
  ) async throws {
    _ = try await (session ?? self.session).run(
      [Call(SettleStatements.writeSettings)] + PermitStatements.settling(batch))
  }

  private func grant(
    _ ride: Int, _ requests: [PermitRequest], fence: Int64? = nil,
    over session: PostgresSession? = nil
  ) async throws -> GrantResult {
    let rides = [ClaimedRequests(claim: Self.claim(ride, fence: fence), requests: requests)]
    let results = try await (session ?? self.session).run(
      PermitStatements.granting(rides))
    return PermitStatements.result(results[1])
  }

  private func granted() async throws -> Set<String> {
    let text = try await session.value(
      "select coalesce(string_agg(id::text, ' '), '') from ridepulse.permits")
    return Set((text ?? "").split(separator: " ").map(String.init))
  }

  @Test func `concurrent nodes grant as many as the cap, without a deadlock`() async throws {
    let (sessions, rides) = (6, 60)
    try await hold(rides)
    let refused = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<sessions {
        group.addTask {
          let session = try PostgresSession(conninfo: conninfo)
          var refused = 0
          for ride in (1...rides) where ride % sessions == worker {
            // Two owners and topics in each batch, in both orders.
            let permits = [Self.permit(ride, "c"), Self.permit(ride, "e", .rule("u"))]
            let requests = permits.map { Self.request($0) }
            let result = try await grant(
              ride, ride % 2 == 0 ? requests : requests.reversed(), over: session)
            refused += result.refused.count
          }
          await session.close()
          return refused
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(try await granted().count == 6)
    #expect(refused == 2 * rides - 6)
  }

  @Test(arguments: [PushCap.Period.ride, .time(.seconds(3600))])
  func `another app, person, topic, or rule of the topic's name has a count of its own`(
    period: PushCap.Period
  ) async throws {
    try await hold(1)
    let permits = [
      Self.permit(0), Self.permit(1, app: .driver), Self.permit(2, "e"),
      Self.permit(3, "c", .topic("u")), Self.permit(4, "c", .rule("t")), Self.permit(5),
    ]
    let requests = permits.enumerated().map {
      Self.request($1, 1, per: period, at: Int64($0))
    }
    #expect(try await grant(1, requests) == GrantResult(refused: [permits[5].id]))
  }

  @Test func `a call that is repeated asks for the same permits`() async throws {
    try await hold(1)
    let requests = (0..<4).map { Self.request(Self.permit($0), at: Int64($0)) }
    let first = try await grant(1, requests)
    #expect(first == GrantResult(refused: [Self.permit(3).id]))
    let permits = try await granted()
    #expect(permits == Set((0..<3).map { Self.permit($0).id.description }))
    #expect(try await grant(1, requests) == first)
    #expect(try await granted() == permits)
  }

  @Test func `a ride that another node holds gets none, and gives none back`() async throws {
    try await hold(2)
    let request = Self.request(Self.permit(0))
    #expect(try await grant(1, [request], fence: 99) == GrantResult(lost: ["r1"]))
    #expect(try await granted().isEmpty)
    #expect(try await grant(1, [request]) == GrantResult())
    let lost = PermitOutcome(permit: Self.permit(0), isSent: false, isDone: true)
    try await settle([Self.claimed(1, outcomes: [lost], fence: 99)])
    #expect(try await granted().count == 1)
    // What was sent counts, whoever holds the ride then.
    let sent = PermitOutcome(permit: Self.permit(0), isSent: true, isDone: true)
    try await settle([Self.claimed(1, outcomes: [sent], fence: 99)])
    try await settle([Self.claimed(1, outcomes: [lost])])
    #expect(try await granted().count == 1)
    // The person may have been erased since: no row is added for a lost ride.
    let erased = PermitOutcome(permit: Self.permit(7), isSent: true, isDone: true)
    try await settle([Self.claimed(2, outcomes: [erased], fence: 99)])
    #expect(try await granted().count == 1)
  }

  @Test func `a permit is kept until its window is over, granted or only counted`() async throws {
    try await hold(1)
    // The second one is of a rule that counts for another one's cap, and asks for nothing.
    let permits = [Self.permit(0), Self.permit(1)]
    _ = try await grant(1, [Self.request(permits[0])])
    let sent = PermitOutcome(permit: permits[1], isSent: true, isDone: true)
    try await settle([Self.claimed(1, outcomes: [sent])])
    let kept = try await session.rows(
      "select keep_until > counts_at + interval '59 minutes' from ridepulse.permits")
    #expect(kept == ["t", "t"])
  }

  /// The settlement that follows may find the lock released, and would drop the outcome otherwise.
  @Test func `R84: a ride that another session has locked settles neither permits nor pushes`()
    async throws
  {
    try await hold(2)
    _ = try await grant(1, [Self.request(Self.permit(0), 1)])
    let sent = PermitOutcome(permit: Self.permit(0), isSent: true, isDone: true)
    let batch = [Self.claimed(1, outcomes: [sent]), Self.claimed(2)]
    let other = try PostgresSession(conninfo: conninfo)
    let pid = try #require(try await other.value("select pg_backend_pid()"))
    let lock = """
      with held as materialized (select from ridepulse.agenda where ride_id = 'r1' for update)
      select pg_sleep(600) from held
      """
    let open = other.begin(lock)
    try await session.waitUntilSleeping(pid)
    let error = await #expect(throws: PostgresError.self) { try await settle(batch) }
    #expect(error?.server?.sqlState == "55P03" && error?.failure.cause == .conflict)
    let used = "select count(*) from ridepulse.permits where is_sent"
    #expect(try await session.value(used) == "0")
    try await session.script("select pg_cancel_backend(\(pid))")
    _ = await open.value
    try await settle(batch)
    #expect(try await session.value(used) == "1")
    // One that has passed to another node is lost, locked or not: nothing waits for it.
    try await session.script("update ridepulse.agenda set fence = 99 where ride_id = 'r1'")
    let again = other.begin(lock)
    try await session.waitUntilSleeping(pid)
    try await settle(batch)
    try await session.script("select pg_cancel_backend(\(pid))")
    _ = await again.value
    await other.close()
  }

  @Test func `a preview reads what rules and rides have used`() async throws {
    try await hold(2)
    let used = [
      Self.permit(0), Self.permit(1, "c", .rule("r"), ride: "r2"), Self.permit(2, "c", .rule("r")),
    ]
    try await settle([
      Self.claimed(
        1,
        outcomes: [used[0], used[2]].map { PermitOutcome(permit: $0, isSent: true, isDone: true) }),
      Self.claimed(2, outcomes: [PermitOutcome(permit: used[1], isSent: true, isDone: true)]),
    ])
    var alert = Alert()
    alert.title = LocalizedText(TextTemplate(literal: "x"))
    var rule = Rule(
      name: "r", app: .customer, when: .on(["e"]), what: .alert(alert),
      expires: .after(.seconds(60)), source: "a.yaml:1")
    rule.limits.cap = PushCap(count: 1, per: .ride)
    let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule])
    var book = try await PermitRead.all.book(for: rules, ["r1", "r2"], session)
    #expect(Set(book.granted.map(\.id)) == Set(used.map(\.id)))
    #expect(Set(book.granted.map(\.ride)) == ["r1", "r2"])
    let ofOne = try await PermitRead.all.book(for: rules, ["r2"], session)
    #expect(ofOne.granted.map(\.id) == [used[1].id])
    rule.limits.cap = PushCap(count: 1, per: .seconds(3600))
    let timed = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule])
    let ofAll = try await PermitRead.all.book(for: timed, [], session)
    #expect(Set(ofAll.granted.map(\.id)) == Set(used.map(\.id)))
    let next = ["r2", "r3"].map { ride in
      Self.request(Self.permit(9, "c", .rule("r"), ride: RideID(ride)), 1, per: .ride)
    }
    #expect(book.refuse(next, at: Timestamp(epochSeconds: 0)) == [next[0].permit.id])
  }

  /// The rule of `PermitBook`, which the preview uses, and that of the function are one.
  @Test(arguments: [TestSeed.value(1)])
  func `SQL and the preview's book agree`(seed: UInt64) async throws {
    try await hold(5)
    var numbers = SeededGenerator(seed: seed)
    var book = PermitBook()
    for step in 0..<400 {
      let ride = Int.random(in: 1...5, using: &numbers)
      var requests: [PermitRequest] = []
      var outcomes: [PermitOutcome] = []
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        let owner: OwnerID = ["c", "é\"\\"].randomElement(using: &numbers) ?? "c"
        // A rule and a topic of one name have counts of their own.
        let pushes: CountedPushes = Bool.random(using: &numbers) ? .topic("t") : .rule("t")
        let permit = Self.permit(
          Int.random(in: 0..<6, using: &numbers), owner, pushes, ride: "r\(ride)")
        if requests.contains(where: { $0.permit == permit })
          || outcomes.contains(where: { $0.permit == permit })
        {
          continue
        }
        if Bool.random(using: &numbers) {
          let count = Int.random(in: 1...4, using: &numbers)
          let period = Bool.random(using: &numbers) ? .ride : PushCap.Period.time(.seconds(3600))
          requests.append(
            Self.request(permit, count, per: period, at: Int64(requests.count)))
        } else {
          outcomes.append(
            PermitOutcome(
              permit: permit, isSent: Int.random(in: 0..<3, using: &numbers) == 0,
              isDone: Bool.random(using: &numbers)))
        }
      }
      let now = Timestamp(epochSeconds: 1_800_000_000 + Int64(step))
      let refused = book.refuse(requests, at: now)
      #expect(try await grant(ride, requests).refused == refused, "step \(step) seed \(seed)")
      book.settle(outcomes, at: now)
      try await settle([Self.claimed(ride, outcomes: outcomes)])
      let expected = book.granted.map(\.id.description)
      #expect(try await granted() == Set(expected), "step \(step) seed \(seed)")
    }
  }

  @Test func `a claim reads permits and what people have turned off, if a rule asks`() async throws
  {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id, driver_id) values ('r', 'e', 'c', 'd');
      select ridepulse.register_device('customer', 'c', 'ab'), ridepulse.register_device('driver', 'd', 'cd'),
        ridepulse.register_live_activity('r', 'customer', 'c', 'ef', 'a'),
        ridepulse.set_preference('customer', 'c', 'off', false),
        ridepulse.set_preference('customer', 'c', 'on', false),
        ridepulse.set_preference('customer', 'c', 'on', true),
        ridepulse.set_preference('driver', 'x', 'off', false),
        ridepulse.set_preference('driver', 'c', 'other', false)
      """)
    func store(_ topic: Topic?, _ digit: String) -> PostgresRideStore {
      var alert = Alert()
      alert.title = LocalizedText(TextTemplate(literal: "x"))
      var rule = Rule(
        name: "r", app: .customer, when: .on(["e"]), what: .alert(alert),
        expires: .after(.seconds(60)), source: "a.yaml:1")
      rule.limits.topic = topic
      return PostgresRideStore(
        node: "\(digit)1111111-2222-8333-8444-555555555555", host: "test",
        apps: [.customer, .driver],
        rules: RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule]),
        lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
    }
    let without = try #require(
      try await store(nil, "1").claim(limit: 1, asleep: false).rides.first?.view)
    #expect(without.optOuts.isEmpty && without.phones.count == 2)
    // The card makes the ride due.
    #expect(without.events.map(\.name).contains("preference_changed"))
    try await session.script("update ridepulse.agenda set leased_until = '-infinity'")
    let view = try #require(
      try await store("t", "2").claim(limit: 1, asleep: false).rides.first?.view)
    #expect(view.optOuts == [OptOut(app: .customer, owner: "c", topic: "off")])
  }

  @Test func `a preference that is set again changes nothing, and makes no ride due`() async throws
  {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id) values ('r', 'e', 'c');
      select ridepulse.register_live_activity('r', 'customer', 'c', 'ef', 'a');
      delete from ridepulse.events
      """)
    // A topic without a row is on.
    for (isAllowed, changes) in [
      (true, false), (false, true), (false, false), (true, true), (true, false),
    ] {
      let changed = try await session.value(
        "select ridepulse.set_preference('customer', 'c', 'card', \(isAllowed))")
      #expect(changed == (changes ? "t" : "f"))
      let events = try await session.value(
        "with gone as (delete from ridepulse.events returning event) select string_agg(event, ',') from gone"
      )
      #expect(events == (changes ? "preference_changed" : nil))
    }
  }

  @Test func `a claim reads what people without a phone have turned off, if a post can be`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id, driver_id) values ('r', 'e', 'c', 'd');
      select ridepulse.set_preference('customer', 'c', 'off', false),
        ridepulse.set_preference('driver', 'd', 'off', false)
      """)
    func store(_ topic: Topic?, _ digit: String) -> PostgresRideStore {
      var rule = Rule(
        name: "r", app: .customer, when: .on(["e"]), what: .post(Post(receiver: "sms")),
        expires: .after(.seconds(60)), source: "a.yaml:1")
      rule.limits.topic = topic
      return PostgresRideStore(
        node: "\(digit)1111111-2222-8333-8444-555555555555", host: "test", apps: [],
        rules: RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule]),
        lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
    }
    let without = try await store(nil, "1").claim(limit: 1, asleep: false).rides.first?.view
    #expect(try #require(without).optOuts.isEmpty)
    try await session.script("update ridepulse.agenda set leased_until = '-infinity'")
    let view = try #require(
      try await store("off", "2").claim(limit: 1, asleep: false).rides.first?.view)
    #expect(view.phones.isEmpty)
    #expect(view.optOuts == [OptOut(app: .customer, owner: "c", topic: "off")])
  }
}
