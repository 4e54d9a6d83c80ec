import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of `ridepulse forget` in a database that a real service has used.
@Suite("ridepulse forget") struct ForgetTests {
  private static let person = "person-4711"
  private static let installation = "installation-4711"

  /// Returns a token; its last six digits occur nowhere else.
  private static func token(_ number: Int) -> String {
    String(repeating: "a\(number)", count: 29) + "fedcb\(number)"
  }

  private static let rules =
    CardTests.rules.replacing("[ping]", with: "[ping, ride_offer]")
    .replacing("expires: 1m", with: "expires: 1h") + """
        - name: offer
          app: driver
          on: ride_offer
          alert: { title: "Ride {{ride.id}}" }
          expires: 1h
        - name: told
          app: driver
          on: driver_arrived
          alert: { title: "{{ride.attributes.customer_name | default: 'Ride'}}" }
          collapse: "driver-{{ride.driver_id}}"
          expires: 1h

      """

  /// Registers the person's phones over HTTP, under idempotency keys, and other people's in SQL.
  private func addPhones(_ stage: Stage, _ api: APIClient) async throws {
    try await stage.sql(
      """
      insert into ridepulse.rides (id, state, customer_id, driver_id, attributes)
      values ('r1', 'requested', '\(Self.person)', 'd1', '{"customer_name": "Eve"}')
      """)
    let named = #""owner_id": "\#(Self.person)", "app""#
    for (path, rest) in [
      ("devices", #": "customer", "token": "\#(Self.token(1))", "installation_id": "i""#),
      ("devices", #": "customer", "token": "\#(Self.token(2))""#),
      ("devices", #": "driver", "token": "\#(Self.token(3))""#),
      (
        "live-activities",
        #": "customer", "token": "\#(Self.token(4))", "ride_id": "r1", "activity_id": "a1""#
      ),
      (
        "push-to-start",
        #": "customer", "token": "\#(Self.token(5))", "attributes_type": "RideAttributes""#
      ), ("contact", #": "customer", "installation_id": "\#(Self.installation)""#),
    ] {
      let answer = try api.post(
        "/v1/\(path)", "{\(named)\(rest)}", key: "key-\(path)-\(rest.utf8.count)")
      #expect(answer.status == 200, "\(path): \(answer)")
    }
    try await stage.sql(
      """
      update ridepulse.devices set installation_id = '\(Self.installation)'
      where installation_id = 'i';
      select ridepulse.register_device('customer', 'other', '\(Stage.customerToken)'),
        ridepulse.register_device('driver', 'd1', '\(Stage.driverToken)'),
        ridepulse.contact('driver', 'd1'),
        ridepulse.set_preference('customer', '\(Self.person)', 'news', false),
        ridepulse.set_preference('customer', 'other', 'news', false);
      insert into ridepulse.permits
      select gen_random_uuid(), 'customer', o, 't', true, now(), now() + interval '1 h', 'topic', 'r'
      from unnest(array['\(Self.person)', 'other']) o
      """)
  }

  /// Lets rides of the person end, pushes wait for retries, and a phone go into quarantine.
  private func addRides(_ stage: Stage, _ api: APIClient) async throws {
    // Of another environment: refused as a bad token, until the phone is in quarantine.
    try stage.tokens(#"{"tokens": [{"token": "\#(Self.token(2))", "environment": "sandbox"}]}"#)
    for number in 1...4 {
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id, driver_id)
        values ('over\(number)', 'driver_arrived', '\(Self.person)', 'd1')
        """)
      try await stage.settled()
    }
    try await stage.sql(
      """
      update ridepulse.rides set state = 'ride_completed' where id <> 'r1';
      insert into ridepulse.rides (id, state, customer_id, driver_id)
      values ('by', 'ride_completed', 'other', '\(Self.person)'),
        ('foreign', 'ride_completed', 'other', 'd1')
      """)
    try await stage.settled()
    try await stage.until("select count(*) from ridepulse.quarantine", is: "1")
    try stage.faults(
      #"[{"match": {}, "action": {"answer": {"status": 503, "reason": "ServiceUnavailable"}}}]"#)
    try await stage.sql(
      """
      update ridepulse.rides set state = 'driver_arrived' where id = 'r1';
      insert into ridepulse.rides (id, state, customer_id, driver_id, attributes) values
        ('r2', 'driver_assigned', '\(Self.person)', 'd1', '{}'),
        ('r3', 'driver_arrived', 'other', '\(Self.person)', '{"driver_name": "Eve", "plate": "B"}')
      """)
    let offer = try api.post(
      "/v1/events",
      #"{"event": "ride_offer", "ride_id": "r4", "data": {"driver_id": "\#(Self.person)"}}"#,
      key: "offer-\(Self.person)")
    #expect(offer.status == 201)
    try await stage.until(
      """
      select string_agg(distinct ride_id || ' ' || rule, ', ') from ridepulse.ledger
      where status = 'pending' and ride_id in ('r1', 'r2', 'r3') and app = 'customer'
      """, is: "r1 arrived, r1 card, r2 card, r3 arrived")
  }

  private func dump(_ stage: Stage) throws -> String {
    let dump = try Command.run(
      "/usr/bin/env", ["pg_dump", "--inserts", "--data-only", stage.conninfo],
      ProcessInfo.processInfo.environment)
    #expect(dump.status == 0, "\(dump.errors)")
    return dump.output
  }

  private static let words =
    [person, installation] + (1...5).flatMap { [token($0), String(token($0).suffix(6))] }

  /// The rows of other people, as they are to stay.
  private func others(_ stage: Stage) async throws -> [[String?]] {
    try await stage.rows(
      """
      select d::text from ridepulse.devices d where owner_id <> '\(Self.person)'
      union all select c::text from ridepulse.contacts c where owner_id <> '\(Self.person)'
      union all
      select i::text from ridepulse.installation_contacts i where owner_id <> '\(Self.person)'
      union all select p::text from ridepulse.preferences p where owner_id <> '\(Self.person)'
      union all select p::text from ridepulse.permits p where owner_id <> '\(Self.person)'
      union all select r::text from ridepulse.rides r where id = 'foreign'
      union all select l::text from ridepulse.ledger l where ride_id = 'foreign'
        or ride_id like 'over%' and app = 'driver'
      order by 1
      """)
  }

  @Test func `R78: after forget, nothing in the database names the person`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await addPhones(stage, api)
      try await addRides(stage, api)
      let text = try dump(stage)
      for word in Self.words { #expect(text.contains(word), "not stored before: \(word)") }
      let kept = try await others(stage)
      #expect(kept.count > 7)

      let erased = try Command.ridepulse(["forget", Self.person, "--yes"], stage.environment)
      #expect(erased.status == 0, "\(erased.errors)")
      for table in [
        "agenda", "contacts", "devices", "events", "idempotency_keys", "installation_contacts",
        "ledger", "permits", "preferences", "rides",
      ] {
        #expect(erased.output.contains(table), "\(erased.output)")
      }
      #expect(erased.output.contains("rows erased") && !erased.output.contains(Self.person))
      try stage.faults("[]")
      try await stage.settled()
      #expect(try await others(stage) == kept)
      #expect(
        try await stage.rows(
          "select id, driver_id, attributes::text from ridepulse.rides where id not like 'f%'")
          == [["r3", nil, #"{"plate": "B"}"#]])
      #expect(server.stop() == 0)

      let left = try dump(stage)
      for word in Self.words {
        let lines = left.split(separator: "\n").filter { $0.contains(word) }
        #expect(lines.isEmpty, "\(word): \(lines)")
      }
      #expect(!left.contains("Eve"))
      let again = try Command.ridepulse(["forget", Self.person, "--yes"], stage.environment)
      #expect(again.status == 0 && again.output.contains("nothing named this person"))
    }
  }

  @Test func `R78: a node that holds a ride cannot write the person back`() async throws {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try stage.faults(#"[{"match": {}, "times": 1, "action": {"stall": true}}]"#)
      try await stage.sql(
        """
        select ridepulse.register_device('driver', '\(Self.person)', '\(Self.token(3))');
        insert into ridepulse.rides (id, state, driver_id, customer_id)
        values ('r3', 'driver_arrived', '\(Self.person)', 'other')
        """)
      try await wait(until: "the push has left") { try !stage.arrivals().isEmpty }
      let erased = try Command.ridepulse(["forget", Self.person, "--yes"], stage.environment)
      #expect(erased.status == 0, "\(erased.errors)")
      try await stage.settled()
      #expect(server.stop() == 0)
      let left = try dump(stage)
      for word in [Self.person, Self.token(3), String(Self.token(3).suffix(6))] {
        #expect(!left.contains(word), "\(word)")
      }
    }
  }

  /// With the installation ID that it begins with, and an end that occurs nowhere else.
  private static let registration = "fQ3abcDEFghiJKLmnoPQRu:APA91b-Kx7_zQ9"

  @Test func `R78: after forget, nothing names the person's Android phone`() async throws {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let server = try Server(try fcm.environment(rules: Self.rules))
      defer { server.stop() }
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', '\(Self.person)', '\(Self.registration)', platform => 'android');
        insert into ridepulse.rides (id, state, customer_id)
        values ('r1', 'driver_assigned', '\(Self.person)'), ('r2', 'driver_assigned', '\(Self.person)')
        """)
      try await stage.settled()
      try fcm.faults(
        #"[{"match": {}, "action": {"answer": {"status": 503, "reason": "UNAVAILABLE"}}}]"#)
      try await stage.sql(
        """
        select ridepulse.end_live_activity('customer', id || '.r2') from ridepulse.devices;
        update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
        """)
      try await stage.until(
        """
        select count(*) > 0 from ridepulse.ledger
        where status = 'pending' and ride_id = 'r1' and attempts > 0
        """, is: "t")
      let words = [Self.person, "fQ3abcDEFghiJKLmnoPQRu", Self.registration, "x7_zQ9"]
      let text = try dump(stage)
      for word in words { #expect(text.contains(word), "not stored before: \(word)") }
      let erased = try Command.ridepulse(["forget", Self.person, "--yes"], stage.environment)
      #expect(erased.status == 0, "\(erased.errors)")
      try fcm.faults("[]")
      try await stage.settled()
      #expect(server.stop() == 0)
      let left = try dump(stage)
      for word in words {
        let lines = left.split(separator: "\n").filter { $0.contains(word) }
        #expect(lines.isEmpty, "\(word): \(lines)")
      }
    }
  }

  @Test(
    arguments: [
      (["forget"], 64, "OWNER is missing"),
      (["forget", ""], 64, "OWNER or APP is empty"),
      (["forget", "u1"], 64, "forget needs --yes without a terminal"),
      (["forget", "u1", "--yes"], 1, "can't be reached"),
      (["forget", "u1", "--ap", "driver"], 64, "did you mean --app?"),
    ] as [([String], Int32, String)])
  func `R78: a mistake erases nothing`(words: [String], status: Int32, text: String) throws {
    let result = try Command.ridepulse(words, ["DATABASE_URL": "host=/nowhere"])
    #expect(result.status == status && result.errors.contains(text), "\(result.errors)")
  }
}
