import Foundation
import LocalPostgres
import PostgresStore
import RideCore
import Testing
import TestSupport

@testable import AdminServer
@testable import RidePulse

/// Compares `docs/openapi.yaml` with the code and with a server's answers.
@Suite(.timeLimit(.minutes(60))) struct OpenAPITests {
  @Test func `each route is documented, and no other`() throws {
    let routes = APIRoutes(
      apps: [], answer: { _, _, _ in .isUnderWay },
      history: { _ in throw TestFailure("nobody asks") })
    let operations = try OpenAPIDocument().operations
    #expect(operations == Set(routes.all.map { "\($0.method) \($0.path)" }))
    #expect(routes.all.allSatisfy { $0.isPrivate || $0.isWriting })
  }

  @Test func `each field is documented, and no other`() throws {
    let document = try OpenAPIDocument()
    for call in APICall.all {
      let body = try #require(
        document.root.value(at: [
          "paths", call.path, "post", "requestBody", "content", "application/json", "schema",
        ]))
      let schema = document.followed(body)
      #expect(
        Set((schema.value(at: ["properties"])?.members ?? [:]).keys)
          == Set(call.fields.map(\.name)), "\(call.path)")
      #expect(
        Set(schema.value(at: ["required"])?.texts ?? [])
          == Set(call.fields.filter(\.isRequired).map(\.name)), "\(call.path)")
      #expect(schema.value(at: ["additionalProperties"]) == .bool(false))
    }
  }

  @Test func `each code is documented, and no other`() throws {
    let codes = try OpenAPIDocument().root.value(at: ["components", "schemas", "Code", "enum"])
    #expect(codes?.texts == APIError.Code.allCases.map(\.rawValue))
  }

  private static let token = Stage.customerToken
  private static let valid = [
    "events": #"{"event": "ping", "ride_id": "r1"}"#,
    "devices": #"{"app": "customer", "owner_id": "c1", "token": "\#(token)"}"#,
    "live-activities":
      #"{"app": "customer", "owner_id": "c1", "token": "\#(token)", "ride_id": "r1", "activity_id": "a"}"#,
    "push-to-start":
      #"{"app": "customer", "owner_id": "c1", "token": "\#(token)", "attributes_type": "T"}"#,
    "contact": #"{"app": "customer", "owner_id": "c1"}"#,
  ]

  /// Expects that the document describes an answer.
  private func check(
    _ answer: APIClient.Answer, _ method: String, _ path: String, _ document: OpenAPIDocument,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard let schema = document.schema(method, path, answer.status), let body = answer.body else {
      Issue.record("\(method) \(path) is not documented: \(answer)", sourceLocation: sourceLocation)
      return
    }
    #expect(document.faults(of: body, by: schema) == [], sourceLocation: sourceLocation)
    #expect(
      answer.headers["content-type"] == "application/json", sourceLocation: sourceLocation)
  }

  @Test func `what is documented is answered`() async throws {
    let document = try OpenAPIDocument()
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      for call in APICall.all {
        let answer = try api.post(call.path, Self.valid[call.name] ?? "")
        #expect((200...201).contains(answer.status), "\(call.path): \(answer)")
        check(answer, "POST", call.path, document)
      }
      try await stage.settled()
      let story = try api.get("/v1/rides/r1/explain")
      #expect(story.status == 200 && story.text.contains("contacted_at"), "\(story)")
      check(story, "GET", "/v1/rides/{id}/explain", document)
    }
  }

  @Test func `each documented code comes, and in the documented form`() async throws {
    let document = try OpenAPIDocument()
    let cluster = try await LocalCluster(durability: .fast)
    try await Stage.run(cluster: cluster) { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      var seen: Set<String> = []
      let error = try #require(document.root.value(at: ["components", "schemas", "Error"]))
      func record(_ answer: APIClient.Answer, _ path: String, _ method: String = "POST") {
        seen.insert(answer.code ?? "")
        #expect(document.faults(of: answer.body ?? .null, by: error) == [], "\(answer)")
        // Paths without an operation have an error body, but no documented statuses.
        if document.operations.contains("\(method) \(path)") {
          check(answer, method, path, document)
        }
      }
      for (path, body, headers, type, status, code) in Hostile.rows {
        let answer = try api.post(path, body, headers, type: type)
        #expect(
          answer.status == status && answer.code == code,
          "\(path) \(String(decoding: body.prefix(200), as: UTF8.self)): \(answer)")
        record(answer, path)
      }
      let explain = "/v1/rides/{id}/explain"
      for path in ["/v1/rides/r9/explain", "/v1/rides/%FF/explain", "/v1/rides/'%22%5C/explain"] {
        record(try api.get(path), explain, "GET")
      }
      record(try api.get("/v1/rides/a%2Fb/explain"), "/v1")
      record(try api.get("/v1/events"), "/v1/events", "GET")
      var stranger = api
      stranger.token = "wrong"
      record(try stranger.post("/v1/events", Self.valid["events"] ?? ""), "/v1/events")
      let (other, outsider) = try await APIClient.serve(stage.environment, token: nil)
      record(try outsider.post("/v1/events", Self.valid["events"] ?? ""), "/v1/events")
      other.stop()
      // Two different requests with one key.
      _ = try api.post("/v1/contact", Self.valid["contact"] ?? "", key: "k")
      record(try api.post("/v1/events", Self.valid["events"] ?? "", key: "k"), "/v1/events")
      try await stage.sql(
        "select pg_advisory_lock(hashtextextended('ridepulse.idempotency_keys j', 0))")
      record(try api.post("/v1/events", Self.valid["events"] ?? "", key: "j"), "/v1/events")
      // Postgres refuses the call, does not answer, has another schema, is down.
      try await stage.sql(
        "alter table ridepulse.events add constraint mine check (event <> 'ping')")
      record(try api.post("/v1/events", Self.valid["events"] ?? ""), "/v1/events")
      try await stage.sql("alter table ridepulse.events drop constraint mine")
      try await stage.sql("select pg_advisory_lock(42)")
      let holder = try PostgresSession(conninfo: stage.conninfo)
      let held = Task {
        let begin = Statement(name: "", sql: "begin")
        let end = Statement(name: "", sql: "commit")
        let lock = Statement(name: "", sql: "lock table ridepulse.contacts in exclusive mode")
        let wait = Statement(name: "", sql: "select pg_advisory_xact_lock(42)")
        _ = try await holder.run(
          [Call(begin), Call(lock), Call(wait), Call(end)], timeout: .seconds(120))
      }
      try await stage.until(
        "select count(*) from pg_locks where locktype = 'advisory' and not granted", is: "1")
      record(try api.post("/v1/contact", Self.valid["contact"] ?? ""), "/v1/contact")
      record(try await Self.crowded(api), "/v1/contact")
      try await stage.sql("select pg_advisory_unlock(42)")
      try await held.value
      await holder.close()
      try await stage.sql("alter function ridepulse.idempotent_call rename to answer_twice")
      record(try api.post("/v1/contact", Self.valid["contact"] ?? ""), "/v1/contact")
      await cluster.stop()
      for (path, method) in [("/v1/contact", "POST"), (explain, "GET")] {
        let answer =
          method == "GET"
          ? try api.get("/v1/rides/r1/explain") : try api.post(path, Self.valid["contact"] ?? "")
        #expect(answer.status == 503 && answer.headers["retry-after"] == "1", "\(answer)")
        record(answer, path, method)
      }
      #expect(seen == Set(APIError.Code.allCases.map(\.rawValue)))
      #expect(server.isRunning)
    }
  }
}

extension OpenAPITests {
  /// Returns the first `busy` answer to a call, made while Postgres delays more calls than are
  /// processed at once.
  fileprivate static func crowded(_ api: APIClient) async throws -> APIClient.Answer {
    let crowd = try SlowClients(api, "call", count: 100, from: ["127.0.0.1"])
    defer { crowd.end() }
    for _ in 0..<20 {
      let answer = try api.post("/v1/contact", valid["contact"] ?? "")
      if answer.code == "busy" { return answer }
    }
    throw TestFailure("every call was answered")
  }
}

/// Hostile bodies, and the expected answers.
private enum Hostile {
  static var rows: [(String, [UInt8], [String], String?, Int, String)] {
    let json = "application/json"
    let events = "/v1/events"
    func text(_ path: String, _ body: String, _ status: Int, _ code: String)
      -> (String, [UInt8], [String], String?, Int, String)
    { (path, Array(body.utf8), [], json, status, code) }
    let ping = Array(#"{"event": "ping", "ride_id": "r1"}"#.utf8)
    return [
      (events, ping, [], "text/plain", 415, "unsupported_media_type"),
      (events, ping, [], nil, 415, "unsupported_media_type"),
      (events, ping, [], "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
      (events, [UInt8](repeating: 32, count: 70_000), [], json, 413, "body_too_large"),
      (events, [], [], json, 400, "invalid_json"),
      (events, [0xff, 0xfe, 0x7b, 0], [], json, 400, "invalid_json"),
      (events, ping, ["Idempotency-Key: a b"], json, 400, "invalid_idempotency_key"),
      (events, ping, ["Idempotency-Key;"], json, 400, "invalid_idempotency_key"),
      (events, ping, ["Idempotency-Key: ä"], json, 400, "invalid_idempotency_key"),
      text(events, String(repeating: "[", count: 60_000), 400, "invalid_json"),
      text(
        events,
        String(repeating: #"{"a":"#, count: 9000) + "1" + String(repeating: "}", count: 9000),
        400, "invalid_json"),
      text(events, #"{"event": "ping", "ride_id": "r1""#, 400, "invalid_json"),
      text(events, #"{"event": "ping", "ride_id": "\ud800"}"#, 400, "invalid_json"),
      text(
        events, #"{"event": "ping", "ride_id": "r1", "data": {"n": 1e999}}"#, 400, "invalid_json"),
      text(events, #"{"event": "a", "event": "b", "ride_id": "r1"}"#, 400, "invalid_json"),
      text(events, #"{"event": "ping", "rideid": "r1"}"#, 422, "unknown_field"),
      text(events, #"{"event": "ping"}"#, 422, "missing_field"),
      text(events, #"{"event": "ping", "ride_id": 4711}"#, 422, "wrong_type"),
      text(events, #"{"event": "ping", "ride_id": ""}"#, 422, "invalid_value"),
      text(
        events, #"{"event": "ping", "ride_id": "r1", "data": {"a": "\u0000"}}"#, 422,
        "invalid_value"),
      text(events, #"{"event": "ping", "ride_id": "r1", "data": "{}"}"#, 422, "wrong_type"),
      text(
        events, #"{"event": "ping", "ride_id": "\#(String(repeating: "r", count: 60_000))"}"#, 422,
        "invalid_value"),
      text("/v1/contact", #"{"app": "costumer", "owner_id": "c"}"#, 422, "invalid_value"),
      text(
        "/v1/devices", #"{"app": "customer", "owner_id": "c", "token": "'; drop table"}"#, 422,
        "invalid_value"),
      text("/v1/event", "{}", 404, "not_found"), text("/v1", "{}", 404, "not_found"),
      text("/v1/rides/r1/explain", "{}", 405, "method_not_allowed"),
    ]
  }
}
