import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

/// R89: several people of a ride, people whom an event names, and events about no ride, through the
/// service.
@Suite("Several people") struct SeveralPeopleTests {
  private static let rules = """
    states: { active: [requested, driver_arrived], final: [ride_completed] }
    events: [ride_offer, offer_revoked, document_expires]
    rules:
      - name: arrived
        app: [customer, fleet]
        on: driver_arrived
        alert: { title: "Here: {{ride.attributes.plate}}" }
        data: { event: "{{event.name}}" }
        expires: 1h
      - name: offer
        app: driver
        on: ride_offer
        alert: { title: A ride }
        data: { event: "{{event.name}}" }
        collapse: "offer-{{ride.id}}"
        expires: 1h
      - name: revoked
        app: driver
        on: offer_revoked
        alert: { title: Taken }
        data: { event: "{{event.name}}" }
        collapse: "offer-{{ride.id}}"
        expires: 1h
      - name: document
        app: driver
        on: document_expires
        alert: { title: "Renew {{event.data.document}}" }
        data: { event: "{{event.name}}" }
        expires: 1h

    """

  private static let topics = ["customer", "driver", "fleet"].flatMap {
    ["--topic", "com.example.\($0)"]
  }

  /// The token of a person, whose last digits the number is.
  private static func token(_ number: Int) -> String {
    String(repeating: "ab", count: 30) + "\(1000 + number)"
  }

  private func environment(_ stage: Stage) throws -> [String: String] {
    try stage.environment(rules: Self.rules).merging([
      "APNS_FLEET_BUNDLE_ID": "com.example.fleet"
    ]) { $1 }
  }

  private func addRide(_ stage: Stage) async throws {
    try await stage.sql(
      """
      insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('r1', 'requested', 'c1', '{"plate": "B-RP 1"}');
      insert into ridepulse.participants values ('r1', 'customer', 'c2'), ('r1', 'fleet', 'f1');
      select ridepulse.register_device('customer', 'c1', '\(Self.token(91))'),
        ridepulse.register_device('customer', 'c2', '\(Self.token(92))'),
        ridepulse.register_device('fleet', 'f1', '\(Self.token(93))');
      select ridepulse.register_device('driver', 'd' || n, '\(Self.token(0).dropLast(4))' || 1000 + n)
      from generate_series(1, 10) n
      """)
  }

  private func received(_ stage: Stage, _ event: String) throws -> [String] {
    try stage.arrivals().filter { $0.event == event && $0.isAccepted }
      .map { String($0.token.suffix(4)) }.sorted()
  }

  @Test func `R89: two riders and the fleet manager are told, an offer is revoked for nine`()
    async throws
  {
    try await Stage.run(simulator: Self.topics) { stage in
      let server = try Server(try environment(stage))
      defer { server.stop() }
      try await addRide(stage)
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived'")
      try await stage.settled()
      #expect(try received(stage, "driver_arrived") == ["1091", "1092", "1093"])
      #expect(
        Set(try stage.arrivals().compactMap { $0.header("apns-topic") })
          == ["com.example.customer", "com.example.fleet"])

      try await stage.sql(
        """
        select ridepulse.emit('ride_offer', 'r1', jsonb_build_object('driver_id',
          to_jsonb(array(select 'd' || n from generate_series(1, 10) n))))
        """)
      try await stage.settled()
      #expect(try received(stage, "ride_offer") == (1...10).map { "\(1000 + $0)" })
      try await stage.sql(
        """
        select ridepulse.emit('offer_revoked', 'r1', jsonb_build_object('driver_id',
          to_jsonb(array(select 'd' || n from generate_series(1, 10) n where n <> 4))))
        """)
      try await stage.settled()
      #expect(
        try received(stage, "offer_revoked") == (1...10).filter { $0 != 4 }.map { "\(1000 + $0)" })
      let rules = try await stage.rows(
        "select rule, app, count(*), count(distinct apns_id) from ridepulse.deliveries group by 1, 2 order by 1, 2"
      )
      #expect(
        rules == [
          ["arrived", "customer", "2", "2"], ["arrived", "fleet", "1", "1"],
          ["offer", "driver", "10", "10"], ["revoked", "driver", "9", "9"],
        ])
      let explained = try Command.ridepulse(["explain", "r1"], stage.environment)
      #expect(
        explained.output.contains("participants: customer c2, fleet f1"), "\(explained.output)")
      for person in ["customer c1 …ab1091", "customer c2 …ab1092", "fleet f1 …ab1093"] {
        #expect(
          explained.output.contains("arrived (alert) to \(person): accepted"), "\(explained.output)"
        )
      }
    }
  }

  @Test func `R89: who takes part no longer receives nothing more`() async throws {
    try await Stage.run(simulator: Self.topics) { stage in
      let server = try Server(try environment(stage))
      defer { server.stop() }
      try await addRide(stage)
      try await stage.sql(
        """
        delete from ridepulse.participants where owner_id = 'c2';
        update ridepulse.rides set state = 'driver_arrived'
        """)
      try await stage.settled()
      #expect(try received(stage, "driver_arrived") == ["1091", "1093"])
    }
  }

  @Test func `R89: an event about no ride reaches whom it names, by SQL, HTTP and command`()
    async throws
  {
    try await Stage.run(simulator: Self.topics) { stage in
      let environment = try environment(stage)
      let (server, client) = try await APIClient.serve(environment)
      defer { server.stop() }
      try await addRide(stage)
      try await stage.sql(
        #"select ridepulse.emit('document_expires', null, '{"driver_id": "d1", "document": "A"}')"#)
      let posted = try client.post(
        "/v1/events",
        #"{"event": "document_expires", "data": {"driver_id": ["d2", "d3"], "document": "B"}}"#)
      #expect(posted.status == 201 && posted.eventID != nil, "\(posted)")
      let triggered = try Command.ridepulse(
        [
          "trigger", "document_expires", "--data", #"driver_id:=["d4","d99"]"#, "--data",
          "document=C", "--wait",
        ], environment)
      #expect(triggered.status == 0, "\(triggered.errors)")
      #expect(
        triggered.output.contains("accepted: document to driver d4 …ab1004"), "\(triggered.output)")
      #expect(
        triggered.output.contains("suppressed: document to driver d99: no phone of the driver"),
        "\(triggered.output)")
      try await stage.settled()
      #expect(try received(stage, "document_expires") == ["1001", "1002", "1003", "1004"])
      #expect(
        try await stage.value("select count(*) from ridepulse.agenda where ride_id <> 'r1'") == "0")

      let found = try Command.ridepulse(["explain", "--owner", "d99"], environment)
      #expect(found.output.contains("no phone of the driver"), "\(found.output)")
      let dry = try Command.ridepulse(
        [
          "trigger", "document_expires", "--data", "driver_id=d5", "--data", "document=D",
          "--dry-run",
        ], environment)
      #expect(dry.output.contains("Renew D"), "\(dry.output) \(dry.errors)")
    }
  }

  @Test func `R89: the preview of a rides file has participants`() throws {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    try FileManager.default.createDirectory(
      atPath: folder + "/rules", withIntermediateDirectories: true)
    try Data(Self.rules.utf8).write(to: URL(fileURLWithPath: folder + "/rules/a.yaml"))
    let people = #"[{"app":"customer","owner_id":"c2"},{"app":"fleet","owner_id":"f1"}]"#
    let phones =
      #"[{"app":"customer","token":"aa"},{"app":"customer","token":"bb","owner_id":"c2"},"#
      + #"{"app":"fleet","token":"cc","owner_id":"f1"}]"#
    let ride =
      #"{"id":"r1","state":"driver_arrived","customer_id":"c1","attributes":{"plate":"P"},"#
      + #""participants":\#(people),"phones":\#(phones),"events":[{"event":"driver_arrived"}]}"#
    try Data(ride.utf8).write(to: URL(fileURLWithPath: folder + "/rides.jsonl"))
    let result = try Command.ridepulse(
      ["preview", "--rides", folder + "/rides.jsonl", "--format", "json"],
      [
        "RIDEPULSE_SCHEDULES": folder + "/rules", "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer",
        "APNS_DRIVER_BUNDLE_ID": "com.example.driver", "APNS_FLEET_BUNDLE_ID": "com.example.fleet",
      ])
    let lines = result.output.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }
    let pushes = lines.compactMap { line -> String? in
      if case .string(let app) = line.value(at: ["app"]) { app } else { nil }
    }
    #expect(
      pushes.sorted() == ["customer", "customer", "fleet"], "\(result.output) \(result.errors)")
  }

  @Test(
    arguments: [
      (#"{"event": "document_expires"}"#, "missing_field", "ride_id"),
      (#"{"event": "document_expires", "data": {"doc_id": "d1"}}"#, "missing_field", "ride_id"),
      (#"{"event": "document_expires", "data": {"driver_id": []}}"#, "missing_field", "ride_id"),
      (#"{"event": "driver_arrived", "data": {"driver_id": "d1"}}"#, "missing_field", "ride_id"),
    ])
  func `R81: HTTP refuses an event about nobody`(body: String, code: String, field: String)
    async throws
  {
    try await Stage.run(simulator: Self.topics) { stage in
      let (server, client) = try await APIClient.serve(try environment(stage))
      defer { server.stop() }
      let answer = try client.post("/v1/events", body)
      #expect(answer.code == code && answer.field == field, "\(answer)")
    }
  }
}
