import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of rides, withdrawals and deliveries over HTTP, with real processes and curl.
@Suite(.timeLimit(.minutes(60))) struct APIRideTests {
  private func withServer(
    rules: String? = nil, _ body: (Stage, APIClient) async throws -> Void
  ) async throws {
    try await Stage.run { stage in
      let environment = try rules.map { try stage.environment(rules: $0) } ?? stage.environment
      let (server, api) = try await APIClient.serve(environment)
      defer { server.stop() }
      try await stage.keepEvents()
      try await body(stage, api)
    }
  }

  private static let row = """
    select state, customer_id, driver_id, (pickup_at at time zone 'UTC')::text, time_zone,
      attributes::text from ridepulse.rides where id =
    """

  @Test func `R68: a PUT creates a ride, replaces it, and emits what a trigger emits`()
    async throws
  {
    try await withServer { stage, api in
      let body = #"""
        {"state": "requested", "customer_id": "c1", "driver_id": "d1",
         "pickup_at": "2026-12-01T08:00:00+01:00", "time_zone": "Europe/Berlin",
         "attributes": {"plate": "B 1", "n": [1, null]}}
        """#
      let path = "/v1/rides/a%2Fb%20%C3%A4"
      let made = try api.send("PUT", path, body)
      #expect(made.status == 201 && made.text.contains(#""created": true"#), "\(made)")
      #expect(
        try await stage.rows("\(Self.row) 'a/b ä'") == [
          [
            "requested", "c1", "d1", "2026-12-01 07:00:00", "Europe/Berlin",
            #"{"n": [1, null], "plate": "B 1"}"#,
          ]
        ])
      let same = try api.send("PUT", path, body)
      #expect(same.status == 200 && same.text.contains(#""created": false"#), "\(same)")
      // What is absent gets its default.
      #expect(try api.send("PUT", path, #"{"state": "driver_assigned"}"#).status == 200)
      #expect(
        try await stage.rows("\(Self.row) 'a/b ä'")
          == [["driver_assigned", nil, nil, nil, "UTC", "{}"]])
      #expect(
        try api.send("PUT", path, #"{"state": "driver_assigned", "customer_id": "c2"}"#).status
          == 200)
      let events = "select string_agg(event, ' ' order by id) from public.seen"
      #expect(try await stage.value(events) == "requested driver_assigned ride_updated")
      let read = try api.get("\(path)/explain")
      #expect(read.status == 200 && read.string("ride", "customer_id") == "c2", "\(read)")
    }
  }

  @Test func `R68: a repeated PUT with one key does not undo a later change`() async throws {
    try await withServer { stage, api in
      let first = try api.send("PUT", "/v1/rides/r1", #"{"state": "requested"}"#, key: "k")
      _ = try api.send("PUT", "/v1/rides/r1", #"{"state": "driver_arrived"}"#)
      let again = try api.send("PUT", "/v1/rides/r1", #"{"state": "requested"}"#, key: "k")
      #expect(again.status == 201 && again.text == first.text, "\(again)")
      #expect(again.headers["idempotency-replayed"] == "true")
      #expect(try await stage.value("select state from ridepulse.rides") == "driver_arrived")
      let other = try api.send("PUT", "/v1/rides/r2", #"{"state": "requested"}"#, key: "k")
      #expect(other.code == "idempotency_key_reused", "\(other)")
    }
  }

  @Test func `R68: PUT checks path and body like the other calls`() async throws {
    try await withServer { stage, api in
      let long = String(repeating: "r", count: 513)
      for (path, body, code, field) in [
        ("/v1/rides/\(long)", "{}", "invalid_value", "id"),
        ("/v1/rides/a%00b", "{}", "invalid_value", "id"),
        ("/v1/rides/%FF", "{}", "invalid_path", nil),
        ("/v1/rides/r1", #"{"state": ""}"#, "invalid_value", "state"),
        ("/v1/rides/r1", #"{"pickup_at": "tomorrow"}"#, "invalid_value", "pickup_at"),
        ("/v1/rides/r1", #"{"pickup_at": "2026-02-30T08:00:00Z"}"#, "invalid_value", "pickup_at"),
        ("/v1/rides/r1", #"{"time_zone": "Mars"}"#, "invalid_value", "time_zone"),
        ("/v1/rides/r1", #"{"attributes": {"a": "\u0000"}}"#, "invalid_value", "attributes"),
        ("/v1/rides/r1", #"{"id": "r1"}"#, "unknown_field", "id"),
        ("/v1/rides/", "{}", "not_found", nil),
      ] as [(String, String, String, String?)] {
        let answer = try api.send("PUT", path, body)
        #expect(answer.code == code && answer.field == field, "\(path) \(body): \(answer)")
      }
      var stranger = api
      stranger.token = "wrong"
      #expect(try stranger.send("PUT", "/v1/rides/r1", "{}").status == 401)
      #expect(try await stage.value("select count(*) from ridepulse.rides") == "0")
    }
  }

  @Test func `R68: the name of a state is accepted only from a ride in that state`() async throws {
    try await withServer { stage, api in
      let event = #"{"event": "driver_arrived", "ride_id": "r1"}"#
      let absent = try api.post("/v1/events", event, key: "k")
      #expect(absent.status == 409 && absent.code == "wrong_state", "\(absent)")
      #expect(absent.text.contains("no such ride") && absent.text.contains("PUT /v1/rides"))
      _ = try api.send("PUT", "/v1/rides/r1", #"{"state": "requested"}"#)
      let refused = try api.post("/v1/events", event, key: "k")
      #expect(refused.status == 409 && refused.text.contains("in the state requested"))
      _ = try api.send("PUT", "/v1/rides/r1", #"{"state": "driver_arrived"}"#)
      // A refusal does not use up the key, and an answer is repeated whatever the state is.
      let accepted = try api.post("/v1/events", event, key: "k")
      #expect(accepted.status == 201, "\(accepted)")
      _ = try api.send("PUT", "/v1/rides/r1", #"{"state": "ride_started"}"#)
      #expect(try api.post("/v1/events", event, key: "k").text == accepted.text)
      let unknown = try api.post("/v1/events", #"{"event": "eta_chnaged", "ride_id": "r1"}"#)
      #expect(unknown.status == 422 && unknown.code == "unknown_event", "\(unknown)")
      #expect(unknown.text.contains("did you mean eta_changed?"), "\(unknown)")
      let silent = try api.post("/v1/events", #"{"event": "card_registered", "ride_id": "r1"}"#)
      #expect(silent.code == "unknown_event", "\(silent)")
      #expect(
        try await stage.value("select string_agg(event, ' ' order by id) from public.seen")
          == "requested driver_arrived driver_arrived ride_started")
    }
  }

  @Test func `R76, R77: phones, cards and start tokens are withdrawn over HTTP`() async throws {
    // Without a card's rule the engine does not end the card, whose ride does not exist.
    let rules =
      "rules: [{ name: a, app: customer, on: driver_arrived, alert: { title: x }, expires: 5m }]"
    try await withServer(rules: rules) { stage, api in
      let token = Stage.customerToken
      let person = #""app": "customer", "owner_id": "c1", "token": "\#(token)""#
      let installation = #""installation_id": "i1""#
      for (path, rest) in [
        ("devices", installation), ("push-to-start", #""attributes_type": "T", \#(installation)"#),
        ("live-activities", #""ride_id": "r1", "activity_id": "A/1", \#(installation)"#),
      ] {
        let answer = try api.post("/v1/\(path)", "{\(person), \(rest)}")
        #expect(answer.status == 200, "\(answer)")
      }
      #expect(
        try await stage.rows(
          """
          select a.installation_id, t.installation_id
          from ridepulse.live_activities a, ridepulse.push_to_start_tokens t
          """) == [["i1", "i1"]])
      for (path, table, column) in [
        ("live-activities/customer/A%2F1", "live_activities", "ended_reason"),
        ("push-to-start/customer/\(token.uppercased())", "push_to_start_tokens", "disabled_reason"),
        ("devices/customer/\(token)", "devices", "disabled_reason"),
      ] {
        #expect(try await stage.value("select \(column) from ridepulse.\(table)") == nil)
        let first = try api.send("DELETE", "/v1/\(path)", nil)
        #expect(first.status == 200 && first.text.contains(#""withdrawn": true"#), "\(first)")
        #expect(try await stage.value("select \(column) from ridepulse.\(table)") != nil)
        let again = try api.send("DELETE", "/v1/\(path)", nil)
        #expect(again.status == 200 && again.text.contains(#""withdrawn": false"#), "\(again)")
        #expect(!first.text.contains(token))
      }
      let body = try api.send("DELETE", "/v1/devices/customer/\(token)", "{}")
      #expect(body.status == 200, "an empty object is no mistake: \(body)")
      let stray = try api.send("DELETE", "/v1/devices/customer/\(token)", #"{"token": "ab"}"#)
      #expect(stray.code == "unknown_field", "\(stray)")
      let typo = try api.send("DELETE", "/v1/devices/custmer/\(token)", nil)
      #expect(typo.code == "invalid_value" && typo.field == "app", "\(typo)")
      var stranger = api
      stranger.token = nil
      #expect(try stranger.send("DELETE", "/v1/devices/customer/\(token)", nil).status == 401)
    }
  }

  @Test func `R69: deliveries are followed over HTTP, page by page`() async throws {
    try await withServer { stage, api in
      let empty = try api.get("/v1/deliveries")
      #expect(empty.status == 200 && empty.body?.value(at: ["next"]) == .null, "\(empty)")
      for n in 1...3 { try await stage.addRide("r\(n)", state: "driver_arrived") }
      try await stage.settled()
      let count = "select count(*) from ridepulse.ledger"
      var seen: [String] = []
      var path = "/v1/deliveries?limit=2"
      // A page may be empty for a moment, while a transaction of another test holds rows back.
      while true {
        let page = try api.get(path)
        guard case .array(let rows) = page.body?.value(at: ["deliveries"]) else {
          throw TestFailure("\(page)")
        }
        if let next = page.string("next") { path = "/v1/deliveries?limit=2&after=\(next)" }
        if rows.isEmpty, try await stage.value(count) == "\(seen.count)" { break }
        seen += rows.flatMap { $0.value(at: ["ride_id"])?.texts ?? [] }
      }
      #expect(Set(seen) == ["r1", "r2", "r3"])
      let recent = try api.get("/v1/deliveries?since=2026-01-01T00:00:00Z&limit=1000")
      #expect(recent.text.contains(#""r1""#), "\(recent)")
      try await stage.sql(
        """
        update ridepulse.ledger set apns_unique_id = 'u-1' where ride_id = 'r1';
        insert into ridepulse.receipts (apns_id, seen_at)
        select apns_id, '2026-11-22T08:00:00Z' from ridepulse.ledger where ride_id = 'r1'
        """)
      let shown = try api.get("/v1/deliveries?since=2026-01-01T00:00:00Z&limit=1000").text
      #expect(shown.contains(#""apns_unique_id":"u-1""#), "\(shown)")
      #expect(shown.contains(#""seen_at":"2026-11-22T08:00:00Z""#), "\(shown)")
      for (query, code, field) in [
        ("after=x", "invalid_value", "after"), ("after=%FF", "invalid_value", "after"),
        ("limit=0", "invalid_value", "limit"), ("limit=1001", "invalid_value", "limit"),
        ("since=now", "invalid_value", "since"), ("afer=x", "unknown_field", "afer"),
        ("after=x&since=2026-01-01T00:00:00Z", "invalid_value", "since"),
      ] {
        let answer = try api.get("/v1/deliveries?\(query)")
        #expect(answer.code == code && answer.field == field, "\(query): \(answer)")
      }
      var stranger = api
      stranger.token = "wrong"
      #expect(try stranger.get("/v1/deliveries").status == 401)
    }
  }
}
