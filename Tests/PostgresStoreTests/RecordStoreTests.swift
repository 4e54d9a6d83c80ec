import Base
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// Passes of sampled rides in the database.
@Suite("Recorded passes", .timeLimit(.minutes(60))) struct RecordStoreTests {
  private let session: PostgresSession
  private let store: PostgresRideStore
  private let configuration: EngineConfiguration

  init() async throws {
    let url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    let rules = RuleSet(
      activeStates: ["e"], finalStates: [], events: [],
      rules: [
        Rule(
          name: "r", app: .customer, when: .on(["e"]), what: .background,
          expires: .after(.seconds(3600)), source: "test")
      ])
    configuration = EngineConfiguration(
      rules: rules, bundleIDs: [.customer: "com.example.customer"])
    store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.customer], rules: rules,
      lease: .seconds(600), claims: session, settlements: try PostgresSession(conninfo: url),
      log: Log { _, _, _ in })
    try await session.script(
      """
      select ridepulse.register_device('customer', 'person-17', repeat('ab', 32));
      insert into ridepulse.rides (id, state, customer_id, attributes)
      values ('r1', 'e', 'person-17', '{"plate": "B-RP 1"}'), ('r2', 'e', '4711', '{}')
      """)
  }

  /// Claims and decides what is due, and records the rides of this sample.
  private func decided(_ text: String = "100%") async throws -> [ClaimedSettlement] {
    let sample = try #require(RecordSample(text: text))
    let claim = try await store.claim(limit: 10, asleep: false)
    return claim.rides.map { ride in
      let decision = decide(ride.view, by: configuration, now: claim.now)
      let outcomes = decision.pushes.map { _ in PushOutcome.accepted }
      var settlement = decision.settled(outcomes, now: claim.now) { 0.5 }
      if sample.contains(ride.claim.rideID) {
        let times = PassTimes(
          decidedAt: claim.now, sample: sample, pushes: outcomes.count, at: .zero)
        settlement.recorded = RecordedPass(
          decision, outcomes, settlement, times, now: claim.now)
      }
      return ClaimedSettlement(claim: ride.claim, settlement: settlement)
    }
  }

  private func count() async throws -> String? {
    try await session.value("select count(*) from ridepulse.recorded")
  }

  @Test func `A settlement writes the passes of sampled rides, once`() async throws {
    let batch = try await decided()
    #expect(batch.count == 2)
    #expect(try await store.settle(batch).lost.isEmpty)
    #expect(try await count() == "2")
    #expect(
      try await session.value(
        """
        select concat_ws(' ', sample, pass #>> '{ride,attributes,plate}', pass #>> '{outcomes,0,status}',
          tableoid::regclass <> 'ridepulse.recorded_default'::regclass)
        from ridepulse.recorded where ride_id = 'r1'
        """) == "1000000 B-RP 1 accepted t")
    // The answer was lost, and the settlement is given again.
    #expect(try await store.settle(batch).lost.count == 2)
    #expect(try await count() == "2")
    let passes = RecordedPasses(session: session)
    let (start, end) = (Timestamp(epochSeconds: 0), Timestamp(epochSeconds: 4_000_000_000))
    #expect(try await passes.summary(from: start, to: end).sample?.text == "100%")
    var rides: [RideID] = []
    try await passes.read(from: start, to: end) { rides += $0.map(\.ride) }
    #expect(rides.sorted() == ["r1", "r2"])
    #expect(try await passes.summary(from: start, to: start + .seconds(1)).sample == nil)
  }

  @Test func `A ride's passes are read page by page, up to a limit`() async throws {
    func add(_ first: Int, _ last: Int) async throws {
      try await session.script(
        """
        insert into ridepulse.recorded (ride_id, fence, decided_at, from_at, sample, pass)
        select ride, n, now(), now() + n / 7 * interval '1 second', 1, '{}'
        from generate_series(\(first), \(last)) n, unnest(array['long', 'other']) ride
        """)
    }
    let passes = RecordedPasses(session: session)
    let (start, end) = (Timestamp(epochSeconds: 0), Timestamp(epochSeconds: 4_000_000_000))
    let limit = RecordedPasses.rideLimit
    try await add(1, 1001)
    var read = try await passes.passes(of: "long", from: start, to: end)
    #expect(read.rows.map(\.fence) == Array(1...1001) && !read.isCut)
    try await add(1002, limit)
    read = try await passes.passes(of: "long", from: start, to: end)
    #expect(read.rows.map(\.fence) == (1...Int64(limit)).map(\.self) && !read.isCut)
    try await add(limit + 1, limit + 1)
    read = try await passes.passes(of: "long", from: start, to: end)
    #expect(read.rows.count == limit && read.isCut)
    #expect(read.rows.allSatisfy { $0.ride == "long" })
  }

  @Test func `A ride that is no longer held is not recorded`() async throws {
    let batch = try await decided()
    try await session.script("update ridepulse.agenda set fence = fence + 1 where ride_id = 'r1'")
    #expect(try await store.settle(batch).lost.map(\.rideID) == ["r1"])
    #expect(
      try await session.value("select string_agg(ride_id, ' ') from ridepulse.recorded") == "r2")
  }

  @Test func `A settlement without a sampled ride has no further statement`() async throws {
    let batch = try await decided("0.0001%")
    #expect(RecordStatements.recording(batch).isEmpty)
    _ = try await store.settle(batch)
    #expect(try await count() == "0")
  }

  @Test func `R78: what was recorded of an erased person is deleted, and nothing else`()
    async throws
  {
    _ = try await store.settle(try await decided())
    // Only its data name the person, and as a number.
    try await session.script(
      """
      insert into ridepulse.recorded (ride_id, fence, decided_at, from_at, sample, pass) values
        ('other', 1, now(), now(), 1, '{"events": [{"data": {"driver_id": [4711]}}]}'),
        ('near', 1, now(), now(), 1, '{"at": 14711, "text": "471"}')
      """)
    let forgotten = try await session.value("select ridepulse.forget('4711') ->> 'recorded'")
    #expect(forgotten == "2")
    #expect(
      try await session.value(
        "select string_agg(ride_id, ' ' order by ride_id) from ridepulse.recorded") == "near r1")
    #expect(try await session.value("select ridepulse.forget('person-17') ->> 'recorded'") == "1")
  }

  @Test func `Days are made ahead and dropped after the retention`() async throws {
    try await session.script(
      """
      create table ridepulse.recorded_20200101 partition of ridepulse.recorded
        for values from ('2020-01-01Z') to ('2020-01-02Z');
      insert into ridepulse.recorded (ride_id, fence, decided_at, from_at, sample, pass) values
        ('old', 1, '2020-01-01T12:00Z', now(), 1, '{}'), ('older', 1, '2019-01-01Z', now(), 1, '{}')
      """)
    let actions = try await LedgerPartitions(session: session).rotateRecorded().map(\.description)
    #expect(actions == ["deleted 1 of recorded_default", "dropped recorded_20200101"])
    #expect(try await count() == "0")
    #expect(
      try await session.value(
        """
        select count(*) from pg_inherits where inhparent = 'ridepulse.recorded'::regclass
        """) == "4")
  }
}
