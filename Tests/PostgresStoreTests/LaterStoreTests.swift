import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// What later decisions need from the database: emitted events, receipts and contacts.
@Suite("Emitted events, receipts and contacts", .timeLimit(.minutes(60))) struct LaterStoreTests {
  private let session: PostgresSession
  private let store: PostgresRideStore
  private let configuration: EngineConfiguration

  init() async throws {
    let url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    var alert = Alert()
    alert.title = LocalizedText([("en", try TextTemplate("x"))])
    func rule(_ name: String, _ when: Rule.When, _ what: Rule.What) -> Rule {
      Rule(
        name: name, app: .driver, when: when, what: what, expires: .after(.seconds(3600)),
        source: "test")
    }
    var offer = rule("offer", .on(["offer"]), .alert(alert))
    offer.escalation = Escalation(unlessSeenWithin: .seconds(600), emit: "unseen")
    let rules = RuleSet(
      activeStates: ["e"], finalStates: [], events: ["offer", "unseen", "pong", "lost"],
      rules: [
        rule("relay", .on(["e", "ping"]), .emit("pong")), offer,
        rule(
          "lost", .at(Timing(.times([RuleTime(.contact, by: .seconds(120))]), while: ["e"])),
          .emit("lost")),
      ])
    configuration = EngineConfiguration(rules: rules, bundleIDs: [.driver: "com.example.driver"])
    store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.driver], rules: rules,
      lease: .seconds(600), claims: session, settlements: try PostgresSession(conninfo: url),
      log: Log { _, _, _ in })
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id, driver_id) values ('r', 'e', 'c', 'd');
      select ridepulse.register_device('driver', 'd', repeat('ab', 32))
      """)
  }

  /// Claims and decides what is due; returns the views and the settlements, none of them settled.
  private func decided() async throws -> [(view: RideView, settlement: ClaimedSettlement)] {
    let claim = try await store.claim(limit: 10, asleep: false)
    return claim.rides.map { ride in
      let decision = decide(ride.view, by: configuration, now: claim.now)
      let settled = decision.settled(decision.pushes.map { _ in .accepted }, now: claim.now) { 0.5 }
      return (ride.view, ClaimedSettlement(claim: ride.claim, settlement: settled))
    }
  }

  @discardableResult
  private func handle() async throws -> [RideView] {
    let decided = try await decided()
    _ = try await store.settle(decided.map(\.settlement))
    return decided.map(\.view)
  }

  private func events() async throws -> String? {
    try await session.value(
      """
      select string_agg(concat_ws(' ', event, data, customer_id, driver_id), ', ' order by id)
      from ridepulse.events
      """)
  }

  @Test func `a settlement emits what its rules emit, in order, once, and consumes the cause`()
    async throws
  {
    try await session.script("select ridepulse.emit('ping', 'r', '{\"n\": 1.50}')")
    let decided = try await decided()
    #expect(decided.map(\.view.events.count) == [2])
    let first = try await store.settle(decided.map(\.settlement))
    #expect(first.lost.isEmpty)
    #expect(try await events() == #"pong {} c d, pong {"n": 1.50} c d"#)
    // The answer was lost, and the settlement is given again: it is no longer held.
    let again = try await store.settle(decided.map(\.settlement))
    #expect(again.lost.count == 1)
    #expect(try await events() == #"pong {} c d, pong {"n": 1.50} c d"#)
    #expect(
      try await session.value(
        "select string_agg(concat_ws(' ', event, reason, reason_code), ', ' order by event) from ridepulse.ledger"
      ) == "e emitted pong emitted, ping emitted pong emitted")
    try await handle()
    #expect(try await events() == nil)
  }

  @Test func `a claim that is lost emits nothing`() async throws {
    let decided = try await decided()
    try await session.script("update ridepulse.agenda set fence = fence + 1")
    _ = try await store.settle(decided.map(\.settlement))
    #expect(try await events() == "e {} c d")
  }

  @Test func `R90: a claim reads the receipts of pushes that an escalation awaits`() async throws {
    try await handle()
    try await handle()
    try await session.script("select ridepulse.emit('offer', 'r')")
    try await handle()
    let push = try #require(
      try await session.value(
        "select apns_id from ridepulse.ledger where rule = 'offer' and status = 'accepted'"))
    try await session.script(
      "select ridepulse.seen('\(push)'), ridepulse.seen(gen_random_uuid());"
        + "update ridepulse.agenda set due_at = now()")
    let views = try await handle()
    #expect(views.map { $0.seen.map(\.description) } == [[push]])
    // It is not due yet: what it awaits is kept.
    #expect(
      try await session.value(
        "select count(*) from ridepulse.ledger where reason_code = 'waiting_for_receipt'") == "1")
  }

  @Test func `a receipt of each day is stored with its owner, and read by claims`() async throws {
    let owners = "select string_agg(app || ' ' || owner_id, ', ') from ridepulse.receipts"
    try await handle()
    try await handle()
    for number in 1...3 {
      if number == 3 {
        try await session.script(
          "update ridepulse.receipts set seen_at = seen_at - interval '25 hours'")
      }
      try await session.script("select ridepulse.emit('offer', 'r')")
      try await handle()
      let push = try #require(
        try await session.value(
          """
          select apns_id from ridepulse.ledger where rule = 'offer' and status = 'accepted'
            and push_type = 'alert' order by event_id desc limit 1
          """))
      // Ten minutes later.
      try await session.script(
        """
        select ridepulse.seen('\(push)');
        update ridepulse.agenda set due_at = now(),
          memo = jsonb_set(memo, '{waiting,0,wait,due}', to_jsonb(0))
        """)
      let views = try await handle()
      #expect(views.map(\.reporters) == [number == 1 ? [] : [PhoneOwner(.driver, "d")]])
      #expect(try await session.value(owners) == (number < 3 ? "driver d" : "driver d, driver d"))
    }
    try await session.script("select ridepulse.forget('d')")
    #expect(try await session.value(owners) == nil)
  }

  @Test func `the receipts of a person of another app with the same ID do not count`() async throws
  {
    try await handle()
    try await handle()
    try await session.script("select ridepulse.emit('offer', 'r')")
    try await handle()
    try await session.script(
      """
      insert into ridepulse.receipts (apns_id, app, owner_id)
      values (gen_random_uuid(), 'customer', 'd'), (gen_random_uuid(), 'driver', 'other');
      update ridepulse.agenda set due_at = now()
      """)
    #expect(try await handle().map(\.reporters) == [[]])
  }

  @Test func `a settlement that is lost names no owner of a receipt`() async throws {
    try await handle()
    try await handle()
    try await session.script("select ridepulse.emit('offer', 'r')")
    try await handle()
    try await session.script(
      """
      select ridepulse.seen(apns_id) from ridepulse.ledger
      where rule = 'offer' and status = 'accepted' and push_type = 'alert';
      update ridepulse.agenda set due_at = now(),
        memo = jsonb_set(memo, '{waiting,0,wait,due}', to_jsonb(0))
      """)
    let decided = try await decided()
    #expect(decided.map(\.settlement.settlement.ownersReceipts.count) == [1])
    // Another node holds the ride, and the person may have been erased since.
    try await session.script("update ridepulse.agenda set fence = fence + 1")
    _ = try await store.settle(decided.map(\.settlement))
    let named = "select count(*) from ridepulse.receipts where owner_id is not null"
    #expect(try await session.value(named) == "0")
    try await session.script("update ridepulse.agenda set fence = fence - 1")
    _ = try await store.settle(decided.map(\.settlement))
    #expect(try await session.value(named) == "1")
  }

  @Test func `a delivery names the person whom it was for, until the person is erased`()
    async throws
  {
    let owners = """
      select string_agg(distinct kind || ' ' || coalesce(owner_id, '-'), ', ')
      from ridepulse.deliveries
      """
    let followed = owners.replacing("ridepulse.deliveries", with: "ridepulse.deliveries_after()")
    try await handle()
    try await handle()
    try await session.script("select ridepulse.emit('offer', 'r')")
    try await handle()
    #expect(try await session.value(owners) == "emit -, escalation d, push d")
    // Transactions of other databases hold the log back for a moment.
    try await session.wait(until: followed, is: "emit -, push d")
    // Whoever has the phone now: the row is about the person of then.
    try await session.script("update ridepulse.devices set owner_id = 'other'")
    #expect(try await session.value(owners) == "emit -, escalation d, push d")
    try await session.script("select ridepulse.forget('d')")
    #expect(try await session.value(owners)?.contains(" d") == false)
  }

  @Test func `R88: a claim reads the contacts of the ride's owners, with or without a phone`()
    async throws
  {
    try await session.script(
      """
      delete from ridepulse.devices;
      select ridepulse.contact('driver', 'd'), ridepulse.contact('customer', 'c'),
        ridepulse.contact('driver', 'other')
      """)
    let views = try await handle()
    #expect(views.map { $0.contacts.map(\.owner) } == [["d"]])
    #expect(views.first?.contacts.first?.app == .driver)
    // Two minutes later.
    try await session.script(
      """
      update ridepulse.contacts set contacted_at = contacted_at - interval '3 minutes';
      update ridepulse.rides set updated_at = updated_at - interval '3 minutes';
      update ridepulse.agenda set memo = null, due_at = now(); delete from ridepulse.events
      """)
    try await handle()
    #expect(try await events() == "lost {} c d")
  }

  @Test func `R78: an erased person has no escalation any more`() async throws {
    try await handle()
    try await handle()
    try await session.script("select ridepulse.emit('offer', 'r')")
    try await handle()
    #expect(try await session.value("select memo::text ~ 'receipt' from ridepulse.agenda") == "t")
    try await session.script("select ridepulse.forget('d')")
    #expect(
      try await session.value(
        "select coalesce(memo::text ~ 'receipt', false) from ridepulse.agenda")
        == "f")
  }
}
