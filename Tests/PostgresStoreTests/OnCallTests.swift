import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// Tests of what a person on call writes into the database.
@Suite("Holds, pauses and discards", .timeLimit(.minutes(60))) struct OnCallTests {
  private let url: String
  private let session: PostgresSession

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
  }

  private func attempt(_ sql: String) async -> String? {
    do throws(PostgresError) {
      try await session.script(sql)
      return nil
    } catch {
      return error.server?.sqlState ?? "\(error)"
    }
  }

  @Test func `a hold names who holds, and release ends it alone`() async throws {
    #expect(try await SendingHold.read(session) == nil)
    #expect(try await SendingHold.end(session) == nil)
    let hold = try #require(try await SendingHold.begin("a drill", session))
    #expect(hold.reason == "a drill" && hold.author == "postgres")
    try await session.script("insert into ridepulse.pinned_apps (app) values ('customer')")
    #expect(try await DatabasePin.none.problems(session).map(\.kind) == [.held])
    #expect(try await SendingHold.end(session) == hold)
    #expect(try await DatabasePin.none.problems(session).isEmpty)
    #expect(try await session.value("select count(*) from ridepulse.pinned_apps") == "1")
    #expect(try await session.value("select held_by from ridepulse.pin") == nil)
    // pin() ends it as well.
    _ = try await SendingHold.begin("another", session)
    try await session.script("select ridepulse.pin()")
    #expect(
      try await session.value("select num_nulls(held_at, held_reason, held_by) from ridepulse.pin")
        == "3")
  }

  @Test func `a pause is changed, read and ended`() async throws {
    let first = try await PauseTable.pause(.rule, "eta", for: .seconds(60), "why", session)
    let second = try await PauseTable.pause(.rule, "eta", for: .seconds(3600), nil, session)
    #expect(second > first)
    _ = try await PauseTable.pause(.app, "driver", for: .seconds(60), "b", session)
    let found = try await PauseTable.read(session).all
    #expect(found.map(\.subject) == ["app driver", "rule eta"])
    #expect(found.map(\.reason) == ["b", nil] && found.map(\.author) == ["postgres", "postgres"])
    #expect(found.last?.until == second)
    // One that is over is void before anybody removes it.
    try await session.script(
      """
      update ridepulse.pauses set since = now() - interval '2 hours', until = now() - interval '1 s'
      where kind = 'app'
      """)
    #expect(try await PauseTable.read(session).all.map(\.name) == ["eta"])
    #expect(try await PauseTable.resume(.rule, "eta", session)?.pause.until == second)
    #expect(try await PauseTable.resume(.rule, "eta", session) == nil)
    #expect(try await PauseTable.read(session).isEmpty)
  }

  @Test func `a claim learns that pauses begin, change or end`() async throws {
    func number() async throws -> String? {
      try await session.value("select pauses from ridepulse.claim_place('{}', '{}', '{}')")
    }
    var numbers = [try await number()]
    for change in [
      "select ridepulse.pause('rule', 'eta', '1 hour', 'a')",
      "select ridepulse.pause('app', 'eta', '1 hour', 'a')",
      "select ridepulse.pause('app', 'eta', '1 hour', 'b')",
      "select ridepulse.resume('rule', 'eta')",
    ] {
      try await session.script(change)
      numbers.append(try await number())
      #expect(try await number() == numbers.last)
    }
    #expect(Set(numbers).count == 5 && numbers[0] == "0", "\(numbers)")
    try await session.script(
      "update ridepulse.pauses set since = since - interval '2 hours', until = now() - interval '1 s'"
    )
    #expect(try await number() == "0")
  }

  @Test func `a node reports its rules as a revision`() async throws {
    let node = "11111111-2222-8333-8444-555555555555"
    let revision = Revision(rules: "abc", version: "1")
    _ = try await RevisionRegistry(session: session).record(revision)
    func report() async throws -> (isKnown: Bool, nodes: [LivingState.Node]) {
      try await LivingState.report(
        node: node, revision: revision, share: nil, problem: "x", session)
    }
    #expect(try await !report().isKnown, "it has not claimed")
    try await session.script(
      "insert into ridepulse.nodes (node, host, asleep, seen_at, edition) "
        + "values ('\(node)', 'a', false, now(), 7)")
    let (isKnown, nodes) = try await report()
    #expect(isKnown && nodes.map(\.rulesProblem) == ["x"])
    #expect(nodes.map(\.rules) == ["abc"] && nodes.map(\.version) == ["1"])
    let since = "select rules_since from ridepulse.nodes"
    let first = try await session.value(since)
    _ = try await report()
    #expect(try await session.value(since) == first)
  }

  @Test(arguments: [
    "'rul', 'x'", "null, 'x'", "'rule', ''", "'rule', null", "'rule', repeat('x', 513)",
    "'rule', 'x', '8 days'", "'rule', 'x', '0 s'", "'rule', 'x', '-1 s'", "'rule', 'x', null",
  ])
  func `a pause that is none is refused`(arguments: String) async {
    #expect(await attempt("select ridepulse.pause(\(arguments))") == "22023")
  }

  @Test func `resume makes due what waits for a pause, and nothing that a node holds`() async throws
  {
    func memo(_ code: String) -> String {
      #"{"waiting": [{"entry": {"reason": {"code": "\#(code)", "text": "x"}}}]}"#
    }
    try await session.script(
      """
      insert into ridepulse.agenda (ride_id, memo, fence, leased_until, due_at) values
        ('paused', '\(memo("paused"))', 1, '-infinity', now() + interval '1 h'),
        ('soon', '\(memo("paused"))', 1, '-infinity', now()),
        ('quiet', '\(memo("quiet_hours"))', 1, '-infinity', now() + interval '1 h'),
        ('held', '\(memo("paused"))', 1, now() + interval '1 h', now() + interval '1 h')
      """)
    _ = try await PauseTable.pause(.event, "e", for: .seconds(60), nil, session)
    #expect(try await PauseTable.resume(.event, "e", session)?.rides == 2)
    #expect(
      try await session.rows(
        "select ride_id from ridepulse.agenda where due_at < now() + interval '4 s' order by 1")
        == ["paused", "soon"])
  }

  /// The memo that the engine stores is the one that `resume` looks for.
  @Test func `resume finds what a decision has left`() async throws {
    let rule = Rule(
      name: "e", app: .driver, when: .on(["go"]), what: .emit("next"), expires: .ofEmit,
      source: "sample.yaml:1")
    let rules = RuleSet(
      activeStates: ["on"], finalStates: [], events: ["go", "next"], rules: [rule])
    try await session.script(
      """
      insert into ridepulse.rides (id, state) values ('r', 'on');
      delete from ridepulse.events;
      select ridepulse.emit('go', 'r'), ridepulse.pause('rule', 'e')
      """)
    let store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "a", apps: [.driver], rules: rules,
      lease: .seconds(60), claims: session, settlements: session, log: Log { _, _, _ in })
    let claim = try await store.claim(limit: 10, asleep: false)
    let ride = try #require(claim.rides.first)
    var configuration = EngineConfiguration(rules: rules, bundleIDs: [:])
    configuration.pauses = try await PauseTable.read(session)
    let settlement = decide(ride.view, by: configuration, now: claim.now)
      .settled([], now: claim.now) { 0 }
    _ = try await store.settle([ClaimedSettlement(claim: ride.claim, settlement: settlement)])
    #expect(
      try await session.rows("select status, reason_code from ridepulse.ledger")
        == ["pending paused"])
    #expect(try await PauseTable.resume(.rule, "e", session)?.rides == 1)
  }

  @Test func `events that no node has handled are discarded, each with a row`() async throws {
    try await session.script(
      """
      insert into ridepulse.agenda (ride_id, fence, leased_until, node, memo, parked_reason) values
        ('held', 1, now() + interval '1 h', gen_random_uuid(), null, null),
        ('lost', 1, now() - interval '1 s', gen_random_uuid(), null, null),
        ('part', 1, '-infinity', null, '{"part": {}}', null),
        ('parked', 1, 'infinity', null, null, 'why'), ('free', 1, '-infinity', null, null, null);
      select ridepulse.emit('storm', r), ridepulse.emit('other', r)
      from unnest(array['held', 'lost', 'part', 'parked', 'free', 'new']) r;
      update ridepulse.events set created_at = now() - interval '2 h'
      where ride_id = 'new' and event = 'storm';
      select ridepulse.emit('storm', 'new')
      """)
    let now = try await EventDiscard.now(session)
    let storm = EventDiscard(event: "storm", since: now - .seconds(3600), until: now + .seconds(1))
    let found = try await storm.count(session)
    #expect(found.events == 6 && found.rides == 6)
    #expect(try await storm.discardSome(session) == 2)
    #expect(try await storm.discardSome(session) == 0)
    #expect(
      try await session.rows(
        """
        select ride_id, event, rule, status, reason, reason_code, finished_at is not null
        from ridepulse.ledger order by 1
        """) == [
          "free storm  suppressed discarded by postgres discarded t",
          "new storm  suppressed discarded by postgres discarded t",
        ])
    #expect(
      try await session.rows(
        """
        select ride_id, string_agg(event, ',' order by id) from ridepulse.events
        group by 1 order by 1
        """) == [
          "free other", "held storm,other", "lost storm,other", "new storm,other",
          "parked storm,other", "part storm,other",
        ])
    // The ride of a first event is due, so that the next claim takes it off the agenda.
    let due = "select due_at <= now() from ridepulse.agenda where ride_id = 'new'"
    #expect(try await session.value(due) == "t")
  }

  @Test func `a ride whose row another session has locked is left`() async throws {
    try await session.script(
      """
      select ridepulse.emit('storm', 'r');
      insert into ridepulse.agenda (ride_id, fence, leased_until) values ('r', 1, '-infinity')
      """
    )
    let other = try PostgresSession(conninfo: url)
    try await other.script("select pg_advisory_lock(1)")
    let now = try await EventDiscard.now(session)
    let storm = EventDiscard(event: "storm", since: now - .seconds(60), until: now + .seconds(1))
    // A claim locks the row, and commits its lease later.
    let claiming = Task {
      try await session.script(
        """
        select from ridepulse.agenda where ride_id = 'r' for update;
        select pg_advisory_lock(1);
        update ridepulse.agenda set leased_until = now() + interval '1 h', node = gen_random_uuid()
        """)
    }
    while try await other.value(waitingForAdvisoryLock) != "1" { await Task.yield() }
    #expect(try await storm.discardSome(other) == 0)
    try await other.script("select pg_advisory_unlock(1)")
    try await claiming.value
    #expect(try await storm.discardSome(other) == 0)
    #expect(try await storm.count(other).events == 1)
  }

  @Test(arguments: ["null, now()", "'e', null", "'e', now(), null"])
  func `a discard without bounds is refused`(arguments: String) async {
    #expect(await attempt("select ridepulse.discard(\(arguments))") == "22023")
  }

  @Test func `the traffic of each app has the most frequent reasons`() async throws {
    try await session.script(
      """
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        occurred_at, reason_code, created_at)
      select 'r', gen_random_uuid(), 'e', 'r', app, type, status, 1, now(), code,
        now() - age * interval '1 minute'
      from (values
        ('customer', 'alert', 'accepted', null, 1), ('customer', 'alert', 'accepted', null, 6),
        ('customer', 'alert', 'rejected', 'BadDeviceToken', 1),
        ('customer', 'alert', 'rejected', 'BadDeviceToken', 2),
        ('customer', 'alert', 'expired', 'out_of_time', 1),
        ('customer', 'alert', 'uncertain', 'service_ended', 1),
        ('customer', 'alert', 'pending', 'lane_paused', 1),
        ('customer', 'alert', 'suppressed', 'no_phone', 1),
        ('customer', 'emit', 'accepted', 'emitted', 1), ('', 'alert', 'suppressed', 'discarded', 1),
        ('driver', 'post', 'accepted', null, 0)) v (app, type, status, code, age)
      """)
    #expect(
      try await AppTraffic.all(session) == [
        AppTraffic(
          app: "customer", accepted: 1, failed: 4, waiting: 1, failure: "BadDeviceToken",
          wait: "lane_paused"), AppTraffic(app: "driver", accepted: 1),
      ])
  }
}
