import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@testable import AdminServer
@testable import RidePulse

/// Compares `docs/openapi.yaml` with the code and with a server's answers.
@Suite(.timeLimit(.minutes(60))) struct OpenAPITests {
  @Test func `Exactly the routes are documented`() throws {
    let routes = APIRoutes(
      apps: { [] }, rules: { nil }, answer: { _, _, _, _, _ in .isUnderWay },
      history: { _ in throw TestFailure("not called") },
      search: { _ in throw TestFailure("not called") },
      deliveries: { _ in throw TestFailure("not called") }, reload: { nil })
    let operations = try OpenAPIDocument().operations
    #expect(operations == Set(routes.all.map { "\($0.method) \($0.path)" }))
    #expect(routes.all.allSatisfy { $0.isPrivate || $0.isWriting })
  }

  @Test func `Exactly the parameters and fields are documented`() throws {
    let document = try OpenAPIDocument()
    for call in APICall.all {
      let operation = ["paths", call.path, call.method.lowercased()]
      let parameters = document.root.value(at: operation + ["parameters"])?.elements ?? []
      for (place, fields) in [("path", call.parameters), ("query", call.query)] {
        let documented = parameters.map(document.followed)
          .filter { $0.value(at: ["in"]) == .string(place) }
        #expect(
          documented.flatMap { $0.value(at: ["name"])?.texts ?? [] } == fields.map(\.name),
          "\(call.path)")
      }
      if call.fields.isEmpty {
        #expect(document.root.value(at: operation + ["requestBody"]) == nil, "\(call.path)")
        continue
      }
      let body = try #require(
        document.root.value(
          at: operation + ["requestBody", "content", "application/json", "schema"]))
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

  @Test func `Exactly the error codes are documented`() throws {
    let codes = try OpenAPIDocument().root.value(at: ["components", "schemas", "Code", "enum"])
    #expect(codes?.texts == APIError.Code.allCases.map(\.rawValue))
  }

  private static let token = Stage.customerToken
  private static let valid = [
    "events": #"{"event": "eta_changed", "ride_id": "r1"}"#,
    "rides":
      #"{"state": "requested", "participants": [{"app": "customer", "owner_id": "c1"}]}"#,
    "devices": #"{"app": "customer", "owner_id": "c1", "token": "\#(token)"}"#,
    "live-activities":
      #"{"app": "customer", "owner_id": "c1", "token": "\#(token)", "ride_id": "r1", "activity_id": "a"}"#,
    "push-to-start":
      #"{"app": "customer", "owner_id": "c1", "token": "\#(token)", "attributes_type": "T"}"#,
    "contact": #"{"app": "customer", "owner_id": "c1", "installation_id": "i"}"#,
    "seen": #"{"apns_id": "6f1c1b7e-0000-4000-8000-000000000001"}"#,
    "preferences":
      #"{"app": "customer", "owner_id": "c1", "topic": "news", "allowed": false}"#,
    "push":
      #"{"app": "customer", "token": "\#(token)", "payload": {"aps": {"alert": "Hi"}}}"#,
  ]

  @Test func `Answers have the documented form`() async throws {
    let document = try OpenAPIDocument()
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      for call in APICall.all {
        let path = call.path.replacing("{app}", with: "customer").replacing("{id}", with: "r2")
          .replacing("{token}", with: Self.token).replacing("{activity_id}", with: "a")
        let answer = try api.send(call.method, path, Self.valid[call.name])
        #expect((200...204).contains(answer.status), "\(call.path): \(answer)")
        document.check(answer, call.method, call.path)
      }
      try await stage.settled()
      let report = try api.get("/v1/rides/r1/explain")
      #expect(report.status == 200 && report.text.contains("contacted_at"), "\(report)")
      document.check(report, "GET", "/v1/rides/{id}/explain")
      let found = try api.get("/v1/explain?owner_id=c1")
      #expect(found.status == 200 && found.text.contains("token_suffix"), "\(found)")
      document.check(found, "GET", "/v1/explain")
      // One of the calls withdrew the phone.
      let registration = try api.send("POST", "/v1/devices", Self.valid["devices"])
      #expect(registration.status == 200, "\(registration)")
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      try await stage.settled()
      // Transactions of other databases hold the log back for a moment.
      var page = try api.get("/v1/deliveries?limit=10")
      try await wait(until: "a push is among the deliveries: \(page)") {
        page = try api.get("/v1/deliveries?limit=10")
        return page.status == 200 && page.text.contains("accepted")
      }
      document.check(page, "GET", "/v1/deliveries")
      let reload = try api.send("POST", "/v1/reload", nil)
      #expect(reload.status == 200, "\(reload)")
      document.check(reload, "POST", "/v1/reload")
    }
  }
}
