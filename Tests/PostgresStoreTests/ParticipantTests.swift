import Base
import Foundation
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// R89: further people of a ride, and events about no ride, as SQL has them.
@Suite("Participants", .timeLimit(.minutes(60))) struct ParticipantTests {
  private let url: String
  private let session: PostgresSession
  private static let fleet = App(rawValue: "fleet")

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id, driver_id) values
        ('r1', 'requested', 'c1', 'd1'), ('r2', 'requested', 'c9', null);
      select ridepulse.register_device('customer', 'c1', 'a1'),
        ridepulse.register_device('customer', 'c2', 'a2'),
        ridepulse.register_device('driver', 'd7', 'a7'),
        ridepulse.register_device('driver', 'd8', 'a8'),
        ridepulse.register_device('fleet', 'f1', 'af');
      delete from ridepulse.events
      """)
  }

  private func add(_ people: String) async throws {
    try await session.script("insert into ridepulse.participants values \(people)")
  }

  // MARK: The table

  @Test(
    arguments: [
      ("'r9', 'customer', 'c2'", "22023 ridepulse.participants names a ride that does not exist"),
      ("null, 'customer', 'c2'", "22023 ridepulse.participants needs ride_id, got NULL"),
      ("'r1', '', 'c2'", "22023 ridepulse.participants needs app, got ''"),
      ("'r1', 'curier', 'c2'", "22023 app of ridepulse.participants is 'curier', which is unknown"),
      ("'r1', 'customer', null", "22023 ridepulse.participants needs owner_id, got NULL"),
      (
        "'r1', 'customer', E'a\\nb'",
        "22023 owner_id of ridepulse.participants contains a control character"
      ),
      (
        "'r1', 'customer', repeat('x', 513)",
        "22023 owner_id of ridepulse.participants has 513 bytes"
      ),
    ])
  func `R81: a participant is refused as HTTP refuses`(row: String, refusal: String) async throws {
    try await session.script("insert into ridepulse.apps (app) values ('customer'), ('fleet')")
    #expect(
      try await session.refusal("insert into ridepulse.participants values (\(row))") == refusal)
  }

  @Test func `a ride has 1000 participants at most`() async throws {
    let many =
      "insert into ridepulse.participants select 'r1', 'customer', 'p' || n from generate_series"
    try await session.script("\(many)(1, 1000) n")
    #expect(
      try await session.refusal("\(many)(1001, 1001) n")
        == "22023 the ride has 1000 participants, the most that are allowed")
  }

  @Test func `participants go with their ride, by deletion and by retention`() async throws {
    try await add("('r1', 'customer', 'c2'), ('r2', 'customer', 'c3')")
    try await session.script("delete from ridepulse.rides where id = 'r1'")
    #expect(
      try await session.rows("select ride_id, owner_id from ridepulse.participants") == ["r2 c3"])
    try await session.script(
      """
      update ridepulse.rides set updated_at = now() - interval '31 days';
      delete from ridepulse.events; delete from ridepulse.agenda;
      select * from ridepulse.sweep('rides')
      """)
    #expect(try await session.rows("select count(*) from ridepulse.rides") == ["0"])
    #expect(try await session.rows("select count(*) from ridepulse.participants") == ["0"])
  }

  @Test func `R89: a removed participant's live card makes the ride due, and nothing else does`()
    async throws
  {
    try await add("('r1', 'customer', 'c2'), ('r1', 'fleet', 'f1'), ('r2', 'customer', 'c2')")
    #expect(try await session.rows("select event from ridepulse.events") == [])
    try await session.script(
      """
      select ridepulse.register_live_activity('r1', 'customer', 'c2', 'b1', 'x');
      delete from ridepulse.events;
      delete from ridepulse.participants where ride_id = 'r2' or app = 'fleet'
      """)
    #expect(try await session.rows("select event from ridepulse.events") == [])
    try await session.script("delete from ridepulse.participants")
    #expect(
      try await session.rows("select ride_id, event from ridepulse.events") == ["r1 card_ended"])
  }

  @Test(arguments: [
    "participant_checked", "participant_removed", "rides_removed", "entered_states_removed",
  ])
  func `R80: the trigger functions serve their own table alone`(function: String) async throws {
    let when = function == "participant_checked" ? "before insert" : "after insert"
    try await session.script(
      """
      create table other (id text, ride_id text, app text, owner_id text);
      create trigger t \(when) on other for each row execute function ridepulse.\(function)()
      """)
    #expect(
      try await session.refusal("insert into other values ('x', 'r1', 'customer', 'c2')")?
        .hasPrefix(
          "42501 ridepulse.\(function) serves ridepulse.") == true)
  }

  @Test func `R80: the app writes participants, and the others read them`() async throws {
    try await RoleSetup.apply(session)
    try await add("('r1', 'fleet', 'f1')")
    let tries: [(String, String, Bool)] = [
      ("app", "insert into ridepulse.participants values ('r1', 'customer', 'c2')", true),
      ("app", "delete from ridepulse.participants where owner_id = 'c2'", true),
      ("app", "update ridepulse.participants set attributes = '{\"a\": 1}'", true),
      ("app", "select count(*) from ridepulse.participants", true),
      ("app", "select ridepulse.emit('x', null, '{\"driver_id\": \"d7\"}')", true),
      ("engine", "select count(*) from ridepulse.participants", true),
      ("engine", "delete from ridepulse.participants", false),
      ("reader", "select count(*) from ridepulse.participants", true),
      ("reader", "insert into ridepulse.participants values ('r1', 'customer', 'c3')", false),
    ]
    for (role, sql, isAllowed) in tries {
      try await session.script("set role ridepulse_\(role)")
      let refusal = try await session.refusal(sql)
      try await session.script("reset role")
      #expect((refusal == nil) == isAllowed, "\(role): \(sql): \(refusal ?? "")")
    }
  }

  // MARK: What a claim reads

  private func rules(card: Bool = false) -> RuleSet {
    var life = LiveActivity(attributesType: "T")
    life.start = ["ride_offer"]
    let rule = Rule(
      name: "card", app: .driver, when: .life, what: .liveActivity(life),
      expires: .after(.seconds(60)), source: "a.yaml:1")
    return RuleSet(
      activeStates: ["requested"], finalStates: [], events: [], rules: card ? [rule] : [])
  }

  private func view(_ ride: RideID, card: Bool = false) async throws -> RideView {
    let snapshot = RideSnapshot(
      session: session, apps: [.customer, .driver, Self.fleet], rules: rules(card: card),
      log: Log { _, _, _ in })
    var found: RideView?
    try await snapshot.rides(in: ["requested"]) { page in
      found = page.first { $0.rideID == ride } ?? found
    }
    return try #require(found)
  }

  @Test func `R89: a claim reads participants and their phones`() async throws {
    #expect(try await view("r1").ride?.participants == [])
    try await add("('r1', 'fleet', 'f1'), ('r1', 'customer', 'c2'), ('r1', 'customer', 'c1')")
    let view = try await view("r1")
    #expect(
      view.ride?.participants == [
        Participant(app: .customer, ownerID: "c1"), Participant(app: .customer, ownerID: "c2"),
        Participant(app: Self.fleet, ownerID: "f1"),
      ])
    #expect(view.phones.map(\.ownerID).sorted() == ["c1", "c2", "f1"])
    #expect(try await self.view("r2").ride?.participants == [])
  }

  @Test(
    arguments: [
      (#"{"driver_id": ["d7", "d8", "d7"]}"#, ["c1", "d7", "d8"]),
      (#"{"driver_id": "d8"}"#, ["c1", "d8"]), (#"{"driver_id": []}"#, ["c1"]),
      (#"{"driver_id": [null, {"a": 1}, ["d7"]]}"#, ["c1"]), (#"{"driver_id": null}"#, ["c1"]),
      (#"{"fleet_id": ["f1"], "other_id": ["d7"]}"#, ["c1", "f1"]),
    ])
  func `R89: a claim reads the phones of those whom an event names`(data: String, owners: [String])
    async throws
  {
    _ = try await session.run([
      direct("select ridepulse.emit('ride_offer', 'r1', $1::jsonb)", [data])
    ])
    #expect(try await view("r1").phones.map(\.ownerID.text).sorted() == owners)
  }

  @Test func `R89: start tokens of participants and of those whom an event names are read`()
    async throws
  {
    try await session.script(
      """
      select ridepulse.register_push_to_start('driver', 'd7', 'e7', 'T'),
        ridepulse.register_push_to_start('driver', 'd8', 'e8', 'T'),
        ridepulse.register_push_to_start('driver', 'd9', 'e9', 'T');
      insert into ridepulse.participants values ('r1', 'driver', 'd7');
      select ridepulse.emit('ride_offer', 'r1', '{"driver_id": ["d8"]}')
      """)
    let view = try await view("r1", card: true)
    #expect(view.startTokens.map(\.ownerID).sorted() == ["d7", "d8"])
  }

  // MARK: Events about no ride

  @Test func `R89: each person has an event and a pseudo ride of their own`() async throws {
    try await session.script("insert into ridepulse.apps (app) values ('fleet')")
    let data = #"{"driver_id": ["d8", 7, "d8"], "fleet_id": "f1", "doc_id": ["x"]}"#
    let sql = "select ridepulse.emit('document_expires', null, $1::jsonb)"
    let first = try await session.value(sql, [data])
    let rows = try await session.rows("select id, ride_id, data from ridepulse.events order by id")
    let people = PersonalEvent.split(data, apps: [Self.fleet])
    #expect(people.map(\.ownerID) == ["d8", "7", "f1"])
    #expect(rows.first?.hasPrefix("\(first ?? "") ") == true)
    for (row, person) in zip(rows, people) {
      let words = row.split(separator: " ", maxSplits: 2)
      #expect(String(words[1]) == RideID(ofPerson: person.ownerID, app: person.app).text)
      #expect(JSONValue(json: words[2].utf8) == JSONValue(json: person.data.utf8))
    }
    #expect(rows.count == people.count)
  }

  @Test(
    arguments: [
      ("null, '{\"doc_id\": \"x\"}'", "22023 ridepulse.emit needs a ride, or a person in data"),
      ("null, null", "22023 ridepulse.emit needs a ride, or a person in data"),
      ("null, '{\"driver_id\": []}'", "22023 ridepulse.emit needs a ride, or a person in data"),
      (
        "null, '{\"driver_id\": [{}]}'",
        "22023 driver_id of ridepulse.emit contains a value of type object"
      ),
      ("null, '{\"driver_id\": [null]}'", "22023 driver_id of ridepulse.emit contains null"),
      ("null, '[]'", "22023 ridepulse.emit needs a JSON object as data, got array"),
      ("'', '{\"driver_id\": \"d7\"}'", "22023 ridepulse.emit needs ride_id, got ''"),
      (
        "null, jsonb_build_object('driver_id', to_jsonb(array(select generate_series(1, 1001))))",
        "22023 data of ridepulse.emit names 1001 people"
      ),
      (
        "'r1', jsonb_build_object('driver_id', to_jsonb(array(select generate_series(1, 1001))))",
        "22023 data of ridepulse.emit has a list of more than 1000 people"
      ),
    ])
  func `R81: emit refuses an event that concerns nobody, or too many`(
    arguments: String, refusal: String
  ) async throws {
    #expect(try await session.refusal("select ridepulse.emit('e', \(arguments))") == refusal)
  }

  // MARK: Erasure and search

  @Test func `R78: forget erases participants and the person's own events, and counts them`()
    async throws
  {
    try await add("('r1', 'customer', 'c2'), ('r1', 'fleet', 'f1'), ('r2', 'customer', 'c2')")
    let person = RideID(ofPerson: "c2", app: .customer)
    _ = try await session.run([
      direct("select ridepulse.emit('x', null, '{\"customer_id\": [\"c2\", \"c1\"]}')"),
      direct(
        """
        insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status,
          attempts, occurred_at)
        values ($1, gen_random_uuid(), 'x', 'r', 'customer', 'alert', 'suppressed', 0, now())
        """, [person.text]),
    ])
    let counts = try await session.value("select ridepulse.forget('c2')")
    let found = try #require(counts.flatMap { JSONValue(json: $0.utf8) })
    #expect(found.value(at: ["participants"]) == .integer(2))
    #expect(found.value(at: ["events"]) == .integer(1))
    #expect(found.value(at: ["ledger"]) == .integer(1))
    #expect(found.value(at: ["rides"]) == .integer(0))
    #expect(
      try await session.rows("select ride_id, owner_id from ridepulse.participants") == ["r1 f1"])
    #expect(
      try await session.rows("select ride_id from ridepulse.events")
        == [RideID(ofPerson: "c1", app: .customer).text])
    #expect(try await session.rows("select id from ridepulse.rides order by 1") == ["r1", "r2"])
  }

  @Test func `a ride without its roles stays while others take part`() async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, driver_id) values ('r3', 'requested', 'd5'),
        ('r4', 'requested', 'd5');
      insert into ridepulse.participants values ('r3', 'fleet', 'f1'), ('r4', 'driver', 'd5')
      """)
    _ = try await session.run([direct("select ridepulse.forget('d5')")])
    #expect(try await session.rows("select id from ridepulse.rides where id > 'r2'") == ["r3"])
    #expect(try await session.rows("select ride_id from ridepulse.participants") == ["r3"])
  }

  @Test func `R113: a person is found as a participant, and by events about no ride`() async throws
  {
    try await add("('r1', 'customer', 'c2'), ('r2', 'customer', 'c9')")
    let person = RideID(ofPerson: "c2", app: .customer)
    _ = try await session.run([
      direct(
        """
        insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status,
          attempts, occurred_at)
        values ($1, gen_random_uuid(), 'x', 'doc', 'customer', 'alert', 'suppressed', 0, now())
        """, [person.text])
    ])
    let search = PushSearch(session: session)
    let found = try await search.result(of: .owner("c2"))
    #expect(found.rides.items.map(\.id) == ["r1"] && found.rides.items.map(\.app) == ["customer"])
    #expect(found.pushes.items.map(\.rule) == ["doc"])
    #expect(try await search.result(of: .owner("c9")).rides.items.map(\.id) == ["r2"])
  }

  @Test func `explain shows the participants and their contacts`() async throws {
    try await add("('r1', 'fleet', 'f1'), ('r1', 'customer', 'c1')")
    try await session.script(
      "select ridepulse.contact('fleet', 'f1'), ridepulse.contact('customer', 'c1')")
    let history = try await RideQueries(session: session).history(of: "r1")
    #expect(history.ride?.participants.map(\.ownerID) == ["c1", "f1"])
    #expect(history.contacts.map(\.ownerID) == ["c1", "f1"])
  }
}
