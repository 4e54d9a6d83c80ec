import Base
import Testing

@testable import PostgresStore
@testable import RideCore

@Suite("Rides that can't be read", .timeLimit(.minutes(60))) struct UnreadableTests {
  private let session: PostgresSession
  private let store: PostgresRideStore
  private let configuration: EngineConfiguration

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    let rule = Rule(
      name: "r", app: .customer, when: .on(["e"]), what: .background, expires: .after(.seconds(60)),
      source: "test")
    var life = LiveActivity(attributesType: "T")
    life.start = ["e"]
    let card = Rule(
      name: "card", app: .customer, when: .life, what: .liveActivity(life),
      expires: .after(.seconds(60)), source: "test")
    let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule, card])
    configuration = EngineConfiguration(rules: rules, bundleIDs: [:])
    store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.customer], rules: rules,
      lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
  }

  private static let large =
    "(select jsonb_build_object('x', string_agg(md5(n::text), '')) from generate_series(1, 70000) n)"

  private func claim() async throws -> [RideID] {
    let claim = try await store.claim(limit: 100, asleep: false)
    _ = try await store.settle(
      claim.rides.map { ride in
        let decision = decide(ride.view, by: configuration, now: claim.now)
        return ClaimedSettlement(
          claim: ride.claim,
          settlement: decision.settled(
            decision.pushes.map { _ in .accepted }, now: claim.now, jitter: { 0.5 }))
      })
    return claim.rides.map(\.claim.rideID).sorted()
  }

  @Test func `R38: they hold up no other, and are parked at once or the third time, and listed`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, attributes) values
        ('attributes', 'e', \(Self.large)), ('once', 'e', '{}');
      insert into ridepulse.events (ride_id, event, data)
      select id, 'e', case id when 'data' then \(Self.large) else '{}' end
      from unnest(array['memo', 'data', 'good', 'slots']) id;
      insert into ridepulse.agenda (ride_id, memo, fence, leased_until) values
        ('memo', '{"waiting": "none"}', 0, '-infinity'),
        ('once', '{"waiting": "none"}', 0, '-infinity'),
        ('slots', '{"slots": {"r": "1 2 x -"}}', 0, '-infinity')
      """)
    #expect(try await claim() == ["good"])
    // A ride that can be read at the next claim is claimed like any other.
    try await session.script(
      "update ridepulse.agenda set memo = null, leased_until = now() where ride_id = 'once'")
    #expect(try await claim() == ["once"])
    #expect(
      try await session.value("select unread from ridepulse.agenda where ride_id = 'once'") == "0")
    let parked = "select string_agg(ride_id, ' ' order by ride_id) from ridepulse.parked"
    for _ in 1...2 {
      // What is too large is so for every node; another version may read a memo.
      #expect(try await session.value(parked) == "attributes data")
      // Leased until the lease ends, so that they are not claimed again at once.
      #expect(try await claim() == [])
      try await session.script("update ridepulse.agenda set leased_until = now()")
      #expect(try await claim() == [])
    }
    #expect(try await session.value(parked) == "attributes data memo slots")
    let reasons = "select string_agg(reason, ' ' order by ride_id) from ridepulse.parked"
    let said = try await session.value(reasons) ?? ""
    #expect(said.contains("its attributes are too large: 2") && said.contains("the data of event"))
    #expect(said.contains("its memo can't be read: slots."))
    #expect(said.contains(#""1 2 x -" is not times of slots"#))
    // Fixed, and unparked.
    try await session.script(
      """
      update ridepulse.agenda set memo = null;
      update ridepulse.events set data = '{}';
      set ridepulse.silent = 'on';
      update ridepulse.rides set attributes = '{}';
      reset ridepulse.silent;
      select ridepulse.unpark(id) from unnest(array['attributes', 'data', 'memo', 'slots']) id
      """)
    #expect(try await claim() == ["attributes", "data", "memo", "slots"])
    #expect(try await session.value("select count(*) from ridepulse.events") == "0")
    #expect(try await session.value("select coalesce(sum(unread), 0) from ridepulse.agenda") == "0")
  }

  @Test func `while reads fail, a claim of no ride fails, too`() async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, state) values ('r', 'e');
      alter table ridepulse.rides rename to away
      """)
    await #expect(throws: StoreFailure.self) { try await claim() }
    // Another node has it.
    try await session.script(
      """
      insert into ridepulse.agenda (ride_id, fence, leased_until)
      values ('r', nextval('ridepulse.fence'), now() + interval '5 minutes')
      """)
    await #expect(throws: StoreFailure.self) { try await claim() }
    try await session.script("alter table ridepulse.away rename to rides")
    #expect(try await claim() == [])
    try await session.script(
      "update ridepulse.agenda set node = null, leased_until = '-infinity'")
    #expect(try await claim() == ["r"])
  }

  @Test func `what unpacks to far more than its size in the table is too large, beside others`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, attributes) values
        ('bomb', 'e', jsonb_build_object('x', repeat('a', 4 << 20))), ('good', 'e', '{}'),
        ('digits', 'e', jsonb_build_object('x', (select jsonb_agg(1e131000::numeric)
          from generate_series(1, 20)))), ('large', 'e', jsonb_build_object('x', repeat('b', 900000)))
      """)
    #expect(try await claim() == ["good", "large"])
    let parked =
      "select string_agg(ride_id || ': ' || reason, ', ' order by ride_id) from ridepulse.parked"
    let words = try await session.value(parked) ?? ""
    #expect(
      words.contains("bomb: its attributes are too large: 4194313 bytes, the limit is 1048576"))
    #expect(words.contains("digits: its attributes are too large: 26"))
  }

  @Test func `a claim reads so much text and no more, and releases the rest at once`() async throws
  {
    // Incompressible values: as large in the table as their text.
    try await session.script(
      """
      insert into ridepulse.rides (id, state, attributes)
      select 'a', 'quiet', jsonb_build_object('x', string_agg(md5(random()::text), ''))
      from generate_series(1, 28000);
      insert into ridepulse.rides (id, state, attributes)
      select 'r' || n, 'e', (select attributes from ridepulse.rides where id = 'a')
      from generate_series(1, 100) n;
      delete from ridepulse.events where ride_id = 'a'
      """)
    var read = 0
    var looks = 0
    while read < 100, looks < 100 {
      looks += 1
      let claim = try await store.claim(limit: 500, asleep: false)
      #expect(
        claim.rides.map(\.view.textBytes).reduce(0, +) <= BoundedJSON.claimLimit
          + BoundedJSON.textLimit)
      #expect(claim.rides.count + claim.released == 100 - read)
      read += claim.rides.count
    }
    #expect(read == 100 && looks > 1)
  }

  @Test func `events with much data come a part at a time, in their order`() async throws {
    try await session.script(
      """
      select ridepulse.emit('e', 'r', jsonb_build_object('n', n, 'x',
        (select string_agg(md5(m::text || n), '') from generate_series(1, 28000) m)))
      from generate_series(1, 40) n;
      select ridepulse.emit('e', 'other')
      """)
    var seen: [Int64] = []
    var looks = 0
    while seen.count < 40, looks < 100 {
      looks += 1
      let claim = try await store.claim(limit: 10, asleep: false)
      for ride in claim.rides where ride.view.rideID == "r" { seen += ride.view.events.map(\.id) }
      _ = try await store.settle(
        claim.rides.map { ride in
          ClaimedSettlement(
            claim: ride.claim,
            settlement: decide(ride.view, by: configuration, now: claim.now)
              .settled([], now: claim.now, jitter: { 0.5 }))
        })
    }
    #expect(seen.count == 40 && seen == seen.sorted() && Set(seen).count == 40)
    #expect(looks > 1)
  }

  @Test func `a ride that no statement can read is set aside, and the others are read`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id, attributes)
      select 'r' || n, 'e', 'c' || n, '{}' from generate_series(1, 20) n
      """)
    // Stands for any value of a ride that PostgreSQL cannot read.
    try await session.script(
      """
      alter table ridepulse.rides rename to all_rides;
      create view ridepulse.rides as select id, state, customer_id, driver_id, pickup_at, time_zone,
        case id when 'r7' then (length(id) / (length(id) - 2))::text::jsonb else attributes end
          as attributes, updated_at
      from ridepulse.all_rides
      """)
    var read: [RideID] = []
    for _ in 0..<4 { read += try await claim() }
    #expect(read.sorted() == (1...20).map { RideID("r\($0)") }.filter { $0 != "r7" }.sorted())
    #expect(
      try await session.value("select unread from ridepulse.agenda where ride_id = 'r7'") == "1")
  }

  @Test func `R38: rows that nobody would write are read all the same`() async throws {
    let times = ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC", "1970-01-01"]
    for (index, time) in times.enumerated() {
      let id = "r\(index)"
      try await session.script(
        """
        insert into ridepulse.rides (id, state, customer_id, pickup_at, updated_at, attributes)
        values ('\(id)', 'e', '\(id)', '\(time)', '\(time)', jsonb_build_object(
          'deep', (repeat('[', 3000) || repeat(']', 3000))::jsonb, 'large', 1e400::numeric));
        update ridepulse.events set created_at = '\(time)', data = '{"n": 1e-400}'
        where ride_id = '\(id)';
        insert into ridepulse.agenda (ride_id, due_at, fence, leased_until)
        values ('\(id)', '\(time)', 9223372036854775807, '-infinity');
        insert into ridepulse.live_activities
          (ride_id, app, owner_id, activity_id, token, registered_at)
        values ('\(id)', 'customer', '\(id)', '\(id)', 'zz', '\(time)');
        insert into ridepulse.push_to_start_tokens
          (app, owner_id, attributes_type, token, registered_at)
        values ('customer', '\(id)', 'T', '\(id)', '\(time)')
        """)
    }
    #expect(try await claim() == ["r0", "r1", "r2", "r3", "r4"])
    #expect(try await session.value("select count(*) from ridepulse.events") == "0")
    let notified = "select count(distinct ride_id) from ridepulse.deliveries where rule = 'r'"
    #expect(try await session.value(notified) == "5")
  }

  @Test func `R37, R41: an event below where claims begin is found all the same`() async throws {
    try await session.script("select ridepulse.emit('e', 'r' || n) from generate_series(1, 9) n")
    #expect(try await claim().count == 9)
    let end = ContinuousClock.now + .seconds(3)
    while ContinuousClock.now < end {
      #expect(try await claim() == [])
      try await Task.sleep(for: .milliseconds(20))  // poll: time must pass between claims
    }
    try await session.script(
      """
      insert into ridepulse.events (id, ride_id, event, data) overriding system value
      values (-5, 'late', 'e', '{}')
      """)
    var rides: [RideID] = []
    for _ in 0..<600 where rides.isEmpty {
      rides = try await claim()
      try await Task.sleep(for: .milliseconds(50))  // poll: only a claim can find it
    }
    #expect(rides == ["late"])
  }
}
