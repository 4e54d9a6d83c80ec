import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

@testable import AdminServer

/// Causes each error of the API and compares the answers with `docs/openapi.yaml`.
@Suite("Errors of the API", .timeLimit(.minutes(60))) struct OpenAPIErrorTests {
  @Test("Malformed requests get their documented error") func malformedRequests() async throws {
    try await withServer { fixture in
      for (path, body, headers, type, status, code) in Hostile.rows {
        let answer = try fixture.api.post(path, body, headers, type: type)
        let request = "\(path) \(String(decoding: body.prefix(200), as: UTF8.self))"
        #expect(answer.status == status && answer.code == code, "\(request): \(answer)")
        fixture.expectDocumented(answer, "POST", path)
      }
    }
  }

  @Test("Each error has its code, in the documented form", arguments: ErrorCase.all)
  fileprivate func errors(errorCase: ErrorCase) async throws {
    let cluster = errorCase.stopsDatabase ? try await LocalCluster(durability: .fast) : nil
    try await withServer(cluster) { fixture in
      if let cluster { await cluster.stop() }
      let codes = try await errorCase.codes(fixture)
      #expect(codes.contains(errorCase.code), "\(codes)")
      #expect(fixture.server.isRunning)
    }
    await cluster?.stop()
  }

  @Test("The tests above cover all codes") func allCodes() {
    // CellTests has the code of services with several cells.
    let codes = ErrorCase.all.map(\.code) + Hostile.rows.map(\.5) + ["cell_missing"]
    #expect(Set(codes) == Set(APIError.Code.allCases.map(\.rawValue)))
  }

  private func withServer(
    _ cluster: LocalCluster? = nil, _ body: (APIFixture) async throws -> Void
  ) async throws {
    let document = try OpenAPIDocument()
    try await Stage.run(cluster: cluster) { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      try await body(APIFixture(document: document, stage: stage, server: server, api: api))
    }
  }
}

/// A server whose answers are compared with the document.
private struct APIFixture {
  let document: OpenAPIDocument
  let stage: Stage
  let server: Server
  let api: APIClient

  static let explain = "/v1/rides/{id}/explain"
  static let event = #"{"event": "eta_changed", "ride_id": "r1"}"#
  static let contact = #"{"app": "customer", "owner_id": "c1"}"#

  /// Expects that an answer is an error in the documented form; returns its code.
  @discardableResult func expectDocumented(
    _ answer: APIClient.Answer, _ method: String, _ path: String
  ) -> String {
    let error = document.root.value(at: ["components", "schemas", "Error"]) ?? .null
    #expect(document.faults(of: answer.body ?? .null, by: error) == [], "\(answer)")
    // Paths without an operation have an error body, but no documented statuses.
    if document.operations.contains("\(method) \(path)") {
      document.check(answer, method, path)
    }
    return answer.code ?? ""
  }

  func postEvent(_ api: APIClient? = nil, key: String? = nil) throws -> String {
    expectDocumented(
      try (api ?? self.api).post("/v1/events", Self.event, key: key), "POST", "/v1/events")
  }

  func postContact() throws -> String {
    expectDocumented(try api.post("/v1/contact", Self.contact), "POST", "/v1/contact")
  }

  /// Runs `body` while another transaction keeps calls of `contact` waiting.
  func whileContactsAreLocked<Value>(_ body: () async throws -> Value) async throws -> Value {
    let held = try await OpenTransaction(stage, "lock table ridepulse.contacts in exclusive mode")
    let value = try await body()
    try await held.commit()
    return value
  }
}

/// An error that depends on the state of the server or the database.
private struct ErrorCase: CustomTestStringConvertible, Sendable {
  let code: String
  var stopsDatabase = false
  /// Causes the error and returns the codes of the answers.
  let codes: @Sendable (APIFixture) async throws -> [String]

  var testDescription: String { code }

  static let all: [ErrorCase] = [
    ErrorCase(code: "unknown_ride") { fixture in
      try ["r9", "a%2Fb", "'%22%5C"].map { id in
        fixture.expectDocumented(
          try fixture.api.get("/v1/rides/\(id)/explain"), "GET", APIFixture.explain)
      }
    },
    ErrorCase(code: "not_recorded") { fixture in
      try [
        "owner_id=c9", "token=abcdef", "apns_id=0c244c98-2cc0-81c0-9f50-cfc81cd45506",
      ].map { query in
        fixture.expectDocumented(
          try fixture.api.get("/v1/explain?\(query)"), "GET", "/v1/explain")
      }
    },
    ErrorCase(code: "not_found") { fixture in
      [fixture.expectDocumented(try fixture.api.get("/v1/rides/a/b/explain"), "GET", "/v1")]
    },
    ErrorCase(code: "invalid_path") { fixture in
      try ["%FF", "%", "%4g"].map { id in
        fixture.expectDocumented(
          try fixture.api.get("/v1/rides/\(id)/explain"), "GET", APIFixture.explain)
      }
    },
    ErrorCase(code: "invalid_request") { fixture in
      let lengths = ["--header", "Content-Length: 2", "--header", "content-length: 3"]
      let answer = try fixture.api.ask("/v1/events", ["--data-binary", "{}"] + lengths)
      return [fixture.expectDocumented(answer, "POST", "/v1/events")]
    },
    ErrorCase(code: "wrong_state") { fixture in
      let arrived = #"{"event": "driver_arrived", "ride_id": "r1"}"#
      let absent = try fixture.api.post("/v1/events", arrived)
      try await fixture.stage.addRide()
      let other = try fixture.api.post("/v1/events", arrived)
      return [absent, other].map { fixture.expectDocumented($0, "POST", "/v1/events") }
    },
    ErrorCase(code: "unknown_event") { fixture in
      let answer = try fixture.api.post(
        "/v1/events", #"{"event": "eta_chnaged", "ride_id": "r1"}"#)
      #expect(answer.text.contains("did you mean eta_changed?"), "\(answer)")
      return [fixture.expectDocumented(answer, "POST", "/v1/events")]
    },
    ErrorCase(code: "cursor_lost") { fixture in
      let cursor = "0123456789abcdef.00000001.5.00000000-0000-0000-0000-000000000000"
      return [
        fixture.expectDocumented(
          try fixture.api.get("/v1/deliveries?after=\(cursor)"), "GET", "/v1/deliveries")
      ]
    },
    ErrorCase(code: "method_not_allowed") { fixture in
      [fixture.expectDocumented(try fixture.api.get("/v1/events"), "GET", "/v1/events")]
    },
    ErrorCase(code: "unauthorized") { fixture in
      var stranger = fixture.api
      stranger.token = "wrong"
      return [try fixture.postEvent(stranger)]
    },
    ErrorCase(code: "forbidden") { fixture in
      let (server, outsider) = try await APIClient.serve(fixture.stage.environment, token: nil)
      defer { server.stop() }
      return [try fixture.postEvent(outsider)]
    },
    ErrorCase(code: "idempotency_key_reused") { fixture in
      _ = try fixture.api.post("/v1/contact", APIFixture.contact, key: "k")
      return [try fixture.postEvent(key: "k")]
    },
    ErrorCase(code: "request_in_progress") { fixture in
      try await fixture.stage.sql(
        "select pg_advisory_lock(hashtextextended('ridepulse.idempotency_keys j', 0))")
      return [try fixture.postEvent(key: "j")]
    },
    ErrorCase(code: "refused") { fixture in
      try await fixture.stage.sql(
        "alter table ridepulse.events add constraint mine check (event <> 'eta_changed')")
      return [try fixture.postEvent()]
    },
    ErrorCase(code: "rules_refused") { fixture in
      let environment = try fixture.stage.environment(rules: "events: [ping]\n")
      let (server, api) = try await APIClient.serve(environment)
      defer { server.stop() }
      _ = try fixture.stage.environment(rules: "events: [ping]\nrulez: []\n")
      let answer = try api.send("POST", "/v1/reload", nil)
      fixture.document.check(answer, "POST", "/v1/reload")
      return [answer.code ?? ""]
    },
    ErrorCase(code: "unknown_outcome") { fixture in
      try await fixture.whileContactsAreLocked { [try fixture.postContact()] }
    },
    ErrorCase(code: "busy") { fixture in
      // Postgres delays more calls than the server processes at once.
      try await fixture.whileContactsAreLocked {
        let crowd = try SlowClients(fixture.api, "call", count: 100, from: ["127.0.0.1"])
        defer { crowd.end() }
        var codes: [String] = []
        try await wait(until: "a call is refused as busy: \(codes)") {
          codes.append(try fixture.postContact())
          return codes.last == "busy"
        }
        return codes
      }
    },
    ErrorCase(code: "database_not_ready") { fixture in
      try await fixture.stage.sql("alter function ridepulse.idempotent_call rename to other")
      return [try fixture.postContact()]
    },
    ErrorCase(code: "database_unavailable", stopsDatabase: true) { fixture in
      let call = try fixture.api.post("/v1/contact", APIFixture.contact)
      let history = try fixture.api.get("/v1/rides/r1/explain")
      for answer in [call, history] {
        #expect(answer.status == 503 && answer.headers["retry-after"] == "1", "\(answer)")
      }
      return [
        fixture.expectDocumented(call, "POST", "/v1/contact"),
        fixture.expectDocumented(history, "GET", APIFixture.explain),
      ]
    },
  ]
}

/// Hostile bodies, and the expected answers.
private enum Hostile {
  static var rows: [(String, [UInt8], [String], String?, Int, String)] {
    let json = "application/json"
    let events = "/v1/events"
    func text(_ path: String, _ body: String, _ status: Int, _ code: String)
      -> (String, [UInt8], [String], String?, Int, String)
    { (path, Array(body.utf8), [], json, status, code) }
    let ping = Array(#"{"event": "eta_changed", "ride_id": "r1"}"#.utf8)
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
      text(events, #"{"event": "eta_changed", "ride_id": "r1""#, 400, "invalid_json"),
      text(events, #"{"event": "eta_changed", "ride_id": "\ud800"}"#, 400, "invalid_json"),
      text(
        events, #"{"event": "eta_changed", "ride_id": "r1", "data": {"n": 1e999}}"#, 400,
        "invalid_json"),
      text(events, #"{"event": "a", "event": "b", "ride_id": "r1"}"#, 400, "invalid_json"),
      text(events, #"{"event": "eta_changed", "rideid": "r1"}"#, 422, "unknown_field"),
      text(events, #"{"event": "eta_changed"}"#, 422, "missing_field"),
      text(events, #"{"event": "eta_changed", "ride_id": 4711}"#, 422, "wrong_type"),
      text(events, #"{"event": "eta_changed", "ride_id": ""}"#, 422, "invalid_value"),
      text(
        events, #"{"event": "eta_changed", "ride_id": "r1", "data": {"a": "\u0000"}}"#, 422,
        "invalid_value"),
      text(events, #"{"event": "eta_changed", "ride_id": "r1", "data": "{}"}"#, 422, "wrong_type"),
      text(
        events,
        #"{"event": "eta_changed", "ride_id": "\#(String(repeating: "r", count: 60_000))"}"#, 422,
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
