import Base
import Foundation
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// `participants.attributes`: what texts and conditions read as `me`.
@Suite("Attributes of participants", .timeLimit(.minutes(60))) struct ParticipantAttributeTests {
  private let session: PostgresSession

  init() async throws {
    session = try await PostgresSession(conninfo: migratedDatabase())
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id) values
        ('r1', 'requested', 'c1'), ('r2', 'requested', 'c9');
      select ridepulse.register_device('customer', 'c1', 'a1'),
        ridepulse.register_device('customer', 'c2', 'a2');
      delete from ridepulse.events
      """)
  }

  private func add(_ people: String) async throws {
    try await session.script("insert into ridepulse.participants values \(people)")
  }

  private func view(_ rules: RuleSet) async throws -> RideView {
    let snapshot = RideSnapshot(
      session: session, apps: [.customer], rules: rules, log: Log { _, _, _ in })
    var found: RideView?
    try await snapshot.rides(in: ["requested"]) { page in
      found = page.first { $0.rideID == "r1" } ?? found
    }
    return try #require(found)
  }

  @Test(arguments: [
    ("'[]'", "22023 ridepulse.participants needs a JSON object as attributes, got array"),
    ("'null'", "22023 ridepulse.participants needs a JSON object as attributes, got null"),
    ("null", "22023 ridepulse.participants needs a JSON object as attributes, got NULL"),
    (
      "jsonb_build_object('a', repeat('x', 9000))",
      "22023 attributes of ridepulse.participants has 9009 bytes"
    ),
  ])
  func `attributes are a JSON object of at most 8 KiB`(value: String, refusal: String) async throws
  {
    let row = "'r1', 'customer', 'c2', \(value)"
    #expect(
      try await session.refusal("insert into ridepulse.participants values (\(row))") == refusal)
    try await add("('r1', 'customer', 'c2', '{\"pin\": 7}')")
    let change = "update ridepulse.participants set attributes = \(value)"
    #expect(try await session.refusal(change) == refusal)
    #expect(
      try await session.rows("select attributes from ridepulse.participants") == ["{\"pin\": 7}"])
  }

  @Test func `the attributes of the last of 1000 participants can be changed`() async throws {
    try await session.script(
      """
      insert into ridepulse.participants select 'r1', 'customer', 'p' || n
      from generate_series(1, 1000) n;
      update ridepulse.participants set attributes = '{"a": 1}' where owner_id = 'p7';
      insert into ridepulse.participants values ('r1', 'customer', 'p8', '{"a": 2}')
      on conflict (ride_id, app, owner_id) do update set attributes = excluded.attributes
      """)
    #expect(
      try await session.rows(
        "select owner_id from ridepulse.participants where attributes <> '{}' order by 1")
        == ["p7", "p8"])
  }

  @Test func `changed attributes make the ride of a live card due, and no other`() async throws {
    try await add("('r1', 'customer', 'c2'), ('r2', 'customer', 'c2')")
    try await session.script(
      """
      select ridepulse.register_live_activity('r1', 'customer', 'c2', 'b1', 'x');
      delete from ridepulse.events;
      update ridepulse.participants set attributes = '{}'
      """)
    #expect(try await session.rows("select event from ridepulse.events") == [])
    try await session.script("update ridepulse.participants set attributes = '{\"eta\": 5}'")
    #expect(
      try await session.rows("select ride_id, event from ridepulse.events") == ["r1 card_ended"])
  }

  @Test func `put_ride sets attributes, and changes those of people who are there`() async throws {
    func put(_ people: String) async throws {
      _ = try await session.run([
        direct(
          "select ridepulse.put_ride($1::jsonb)",
          [#"{"id": "r1", "state": "requested", "participants": [\#(people)]}"#])
      ])
    }
    let read = "select owner_id, attributes from ridepulse.participants order by 1"
    try await put(
      #"{"app": "customer", "owner_id": "c2", "attributes": {"pin": 1}}, "#
        + #"{"app": "customer", "owner_id": "c2", "attributes": {"pin": 2}}"#)
    #expect(try await session.rows(read) == ["c2 {\"pin\": 1}"])
    try await put(
      #"{"app": "customer", "owner_id": "c2", "attributes": {"pin": 3}}, "#
        + #"{"app": "fleet", "owner_id": "f1"}"#)
    #expect(try await session.rows(read) == ["c2 {\"pin\": 3}", "f1 {}"])
    try await put(#"{"app": "customer", "owner_id": "c2"}"#)
    #expect(try await session.rows(read) == ["c2 {}"])
  }

  @Test func `two pooled riders have a PIN and an ETA of their own, and the customer has none`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.participants values
        ('r1', 'customer', 'c2', '{"pin": "22", "eta": 1800000120}'),
        ('r1', 'customer', 'c3', '{"pin": "33", "eta": 1800000180}');
      select ridepulse.register_device('customer', 'c3', 'a3');
      select ridepulse.emit('eta_changed', 'r1')
      """)
    var alert = Alert()
    alert.title = LocalizedText(
      try TextTemplate("{{me.pin | default: 'none'}} {{me.eta | default: '-'}}"))
    let rule = Rule(
      name: "eta", app: .customer, when: .on(["eta_changed"]),
      what: .alert(alert, priority: .immediate), expires: .after(.seconds(60)), source: "a.yaml:1")
    let rules = RuleSet(
      activeStates: ["requested"], finalStates: [], events: ["eta_changed"], rules: [rule])
    let configuration = EngineConfiguration(
      rules: rules, bundleIDs: [.customer: "com.example"], defaultEnvironment: .sandbox)
    let view = try await view(rules)
    let now = try #require(view.events.first?.at)
    let pushes = decide(view, by: configuration, now: now).pushes
    let texts = Dictionary(
      uniqueKeysWithValues: pushes.map { push in
        let json = JSONValue(json: push.payload)
        return (
          push.entry.owner?.text ?? "", json?.value(at: ["aps", "alert", "title"])?.text ?? ""
        )
      })
    #expect(texts == ["c1": "none -", "c2": "22 1800000120", "c3": "33 1800000180"])
  }
}
