import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of raw pushes with a real service and the simulator: each way to send one.
@Suite("ridepulse push", .timeLimit(.minutes(60))) struct PushTests {
  /// Everything on the wire that does not differ by push.
  private func wire(_ arrival: Arrival) -> [String: String?] {
    var wire: [String: String?] = ["token": arrival.token, "payload": arrival.payloadText]
    for name in ["apns-topic", "apns-push-type", "apns-priority"] {
      wire[name] = arrival.header(name)
    }
    return wire
  }

  @Test func `R106: SQL, HTTP and the command line send the same request, with a verdict`()
    async throws
  {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let sql = try await stage.value(
        """
        select ridepulse.push('customer', '\(Stage.rawToken.uppercased())', '\(Stage.rawPayload)',
          priority => 5)
        """)
      let http = try api.post(
        "/v1/push",
        #"{"app": "customer", "token": "\#(Stage.rawToken)", "payload": \#(Stage.rawPayload), "priority": 5}"#
      )
      #expect(http.status == 201, "\(http)")
      let command = try stage.push(["--priority", "5", "--wait"])
      #expect(command.status == 0, "\(command.errors)")
      let lines = command.output.split(separator: "\n")
      #expect(lines.last == "accepted: push to customer …5a5a5a", "\(lines)")
      try await stage.settled()
      let arrivals = try stage.arrivals()
      #expect(
        arrivals.map { $0.header("apns-id") }
          == [sql, http.string("apns_id"), lines.first.map(String.init)])
      #expect(Set(arrivals.map(wire)).count == 1, "\(arrivals.map(wire))")
      #expect(arrivals.first?.payloadText == Stage.rawPayload)
      #expect(arrivals.allSatisfy { $0.header("apns-push-type") == "alert" })
      #expect(
        arrivals.allSatisfy { arrival in
          let left = Int(arrival.header("apns-expiration") ?? "").map {
            Double($0) - arrival.receivedAt
          }
          return left.map { (3000...3602).contains($0) } == true
        })
      #expect(
        try await stage.rows(
          "select distinct ride_id = ridepulse.raw_ride('push', 'customer', '\(Stage.rawToken)') "
            + "from ridepulse.deliveries where status = 'accepted' and token_suffix = '5a5a5a'")
          == [["t"]])
      #expect(try await stage.value("select count(*) from ridepulse.devices") == "0")
      #expect(try await stage.value("select count(*) from ridepulse.agenda") == "0")
    }
  }

  @Test func `R106: the payload of SQL and of a file is sent byte for byte`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      let payload = #"{ "z" : 1.0, "aps":{"alert":"ü \u00e9 /"} , "a":[] }"# + "\n"
      let sent = try stage.push(["--type", "alert", "--wait"], payload: payload)
      #expect(sent.status == 0, "\(sent.errors)")
      try await stage.sql(
        "select ridepulse.push('customer', '\(Stage.rawToken)', '\(payload)'::json)")
      try await stage.settled()
      // The simulator records the body unchanged, except for the line break.
      let records = try String(contentsOfFile: stage.simulator.records, encoding: .utf8)
      let text = payload.replacing("\n", with: " ")
      #expect(records.components(separatedBy: ":" + text).count == 3, "\(records)")
      #expect(server.stop() == 0)
    }
  }

  @Test func `R106: a push whose transaction is rolled back is not sent`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      try await stage.sql(
        """
        begin; select ridepulse.push('customer', '\(Stage.rawToken)', '{"aps":{"alert":"no"}}');
        rollback; begin;
        select ridepulse.push('customer', '\(Stage.rawToken)', '{"aps":{"alert":"yes"}}'); commit
        """)
      try await stage.until(
        "select count(*) from ridepulse.ledger where status = 'accepted'", is: "1")
      #expect(server.stop() == 0)
      #expect(try stage.arrivals().map { $0.aps("alert") } == ["yes"])
    }
  }

  @Test func `R106: a background push that Apple would refuse is refused at each entrance`()
    async throws
  {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let command = try stage.push(["--type", "background"])
      #expect(command.status == 64 && command.errors.contains("lacks aps.content-available"))
      let urgent = try stage.push(
        ["--type", "background", "--priority", "10"],
        payload: #"{"aps":{"content-available":1}}"#)
      #expect(urgent.status == 64 && urgent.errors.contains("--priority is 10; APNs accepts 5"))
      let http = try api.post(
        "/v1/push",
        #"{"app": "customer", "token": "\#(Stage.rawToken)", "push_type": "background", "payload": {}}"#
      )
      #expect(http.status == 422 && http.code == "invalid_value" && http.field == "payload")
      // SQL leaves the content of the payload to the engine.
      try await stage.sql(
        "select ridepulse.push('customer', '\(Stage.rawToken)', '{}', 'background', 5)")
      try await stage.settled()
      let rows = try await stage.rows(Stage.rawOutcomes)
      #expect(rows.count == 1 && rows[0][1] == "background" && rows[0][2] == "rejected")
      #expect(rows.first?[3]?.hasPrefix("payload lacks aps.content-available") == true)
      let good = try stage.push(
        ["--type", "background", "--wait"], payload: #"{"aps":{"content-available":1}}"#)
      #expect(good.status == 0, "\(good.errors)\(good.output)")
      let arrivals = try stage.arrivals()
      #expect(arrivals.map { $0.header("apns-priority") } == ["5"])
    }
  }

  @Test func `R106: a card's update and a call have the topic of their type`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      let now = Int(Date().timeIntervalSince1970)
      let card =
        #"{"aps":{"event":"update","timestamp":\#(now),"content-state":{"status":"here"}}}"#
      let update = try stage.push(["--type", "liveactivity", "--wait"], payload: card)
      #expect(update.status == 0, "\(update.errors)\(update.output)")
      let call = try stage.push(
        ["--type", "voip", "--expires", "never-store", "--wait"],
        payload: #"{"aps":{},"caller":"d1"}"#)
      #expect(call.status == 0, "\(call.errors)\(call.output)")
      let arrivals = try stage.arrivals()
      #expect(
        arrivals.map { $0.header("apns-topic") } == [
          "com.example.customer.push-type.liveactivity", "com.example.customer.voip",
        ])
      #expect(arrivals.last?.header("apns-expiration") == "0")
      #expect(server.stop() == 0)
    }
  }

  @Test func `R106: broadcasts of SQL, HTTP and the command line are the same request`()
    async throws
  {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let channel = try stage.create("--storage", "latest")
      let now = Int(Date().timeIntervalSince1970)
      let payload =
        #"{"aps":{"content-state":{"status":"moving"},"event":"update","timestamp":\#(now)}}"#
      let sql = try await stage.value(
        "select ridepulse.broadcast('customer', '\(channel)', '\(payload)')")
      let http = try api.post(
        "/v1/push", #"{"app": "customer", "channel_id": "\#(channel)", "payload": \#(payload)}"#)
      #expect(http.status == 201, "\(http)")
      let command = try Tool.run(
        try Command.ridepulse,
        ["broadcast", channel, "--app", "customer", "--payload", "-", "--wait"],
        environment: stage.environment, input: Data(payload.utf8))
      #expect(command.status == 0, "\(command.errors)\(command.output)")
      #expect(command.output.contains("accepted: broadcast to customer"), "\(command.output)")
      try await stage.settled()
      let broadcasts = try stage.broadcasts()
      #expect(
        broadcasts.map { $0.header("apns-request-id") } == [
          sql, http.string("apns_id"), command.output.split(separator: "\n").first.map(String.init),
        ])
      #expect(broadcasts.allSatisfy { $0.header("apns-channel-id") == channel })
      #expect(broadcasts.allSatisfy { $0.header("apns-priority") == "10" })
      #expect(broadcasts.allSatisfy { $0.payloadText == payload && $0.isAccepted })
      // A channel of RidePulse that stores nothing gets pushes that are never stored.
      let unstored = try stage.create("--storage", "none")
      try await stage.sql("select ridepulse.broadcast('customer', '\(unstored)', '\(payload)')")
      try await stage.settled()
      #expect(try stage.broadcasts().last?.header("apns-expiration") == "0")
      #expect(try await stage.rows(Stage.rawOutcomes).allSatisfy { $0[2] == "accepted" })
    }
  }

  @Test func `R106: the same Idempotency-Key sends once`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let body =
        #"{"app": "customer", "token": "\#(Stage.rawToken)", "payload": \#(Stage.rawPayload), "expires": "5m"}"#
      let answers = try (1...2).map { _ in try api.post("/v1/push", body, key: "k1") }
      #expect(answers.map(\.status) == [201, 201])
      #expect(answers[0].string("apns_id") == answers[1].string("apns_id"))
      #expect(answers[1].headers["idempotency-replayed"] == "true")
      try await stage.settled()
      #expect(
        try stage.arrivals().map { $0.header("apns-id") } == [answers[0].string("apns_id")])
    }
  }
}

extension Arrival {
  /// The payload with sorted keys.
  fileprivate var payloadText: String? {
    record.value(at: ["payload"]).map { String(decoding: $0.json, as: UTF8.self) }
  }
}

extension Stage {
  static let rawToken = String(repeating: "5a", count: 32)
  static let rawPayload = #"{"aps":{"alert":"Hi"},"n":1}"#

  /// The outcome of each raw push, oldest first.
  static let rawOutcomes = """
    select rule, push_type, status, reason, attempts from ridepulse.ledger
    where rule in ('push', 'broadcast') order by event_id
    """

  /// Runs `ridepulse push`.
  func push(
    _ words: [String], payload: String = rawPayload, token: String = rawToken
  ) throws -> Tool {
    let file = directory + "/payload-\(UUID().uuidString).json"
    try Data(payload.utf8).write(to: URL(fileURLWithPath: file))
    return try Command.ridepulse(
      ["push", "--app", "customer", "--token", token, "--payload", file] + words, environment)
  }
}
