import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of calls to `/v1` with real processes and curl. `APIBodyTests` covers bodies as values.
@Suite(.timeLimit(.minutes(60))) struct APITests {
  @Test func `A posted event reaches the phone`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      try await stage.keepEvents()
      let phone = try api.post(
        "/v1/devices",
        #"{"app": "customer", "owner_id": "c1", "token": "\#(Stage.customerToken.uppercased())"}"#)
      #expect(phone.status == 200 && phone.string("token_suffix") == "c1c1c1", "\(phone)")
      try await stage.sql(
        "insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1')")
      try await stage.settled()
      let answer = try api.post(
        "/v1/events", #"{"event": "driver_nearby", "ride_id": "r1", "data": {"n": 1.5}}"#)
      #expect(answer.status == 201, "\(answer)")
      #expect(answer.headers["content-type"] == "application/json")
      try await stage.settled()
      let id = try #require(answer.eventID)
      #expect(
        try await stage.rows("select event, ride_id, data::text from public.seen where id = \(id)")
          == [["driver_nearby", "r1", #"{"n": 1.5}"#]])
      let arrivals = try stage.arrivals()
      #expect(arrivals.count == 1 && arrivals.first?.token == Stage.customerToken)
      #expect(
        try await stage.value("select status from ridepulse.ledger where event_id = \(id)")
          == "accepted")
    }
  }

  @Test func `A registration over HTTP writes the same rows as one in SQL`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let token = Stage.driverToken
      for (path, body) in [
        (
          "devices",
          #""token": "\#(token)", "environment": "sandbox", "installation_id": "i", "locale": "de", "#
            + #""platform": "ios", "time_zone": "Asia/Tokyo", "alerts": true, "app_version": "4""#
        ),
        (
          "live-activities",
          #""token": "\#(token)", "ride_id": "r7", "activity_id": "a", "frequent": true"#
        ),
        ("push-to-start", #""token": "\#(token)", "attributes_type": "RideAttributes""#),
        ("contact", ""),
      ] {
        let rest = body.isEmpty ? "" : ", " + body
        let answer = try api.post(
          "/v1/\(path)", #"{"app": "driver", "owner_id": "d1"\#(rest)}"#)
        #expect(answer.status == 200, "\(path): \(answer)")
        #expect(!answer.text.contains(token))
      }
      #expect(
        try await stage.rows(
          """
          select d.token, d.environment, d.installation_id, d.locale, d.platform, d.time_zone, d.alerts,
            d.app_version, a.ride_id, a.activity_id,
            a.frequent, p.attributes_type, now() - c.contacted_at < interval '1 minute'
          from ridepulse.devices d, ridepulse.live_activities a, ridepulse.push_to_start_tokens p,
            ridepulse.contacts c
          """)
          == [
            [
              token, "sandbox", "i", "de", "ios", "Asia/Tokyo", "t", "4", "r7", "a", "t",
              "RideAttributes", "t",
            ]
          ])
    }
  }

  @Test func `Explain over HTTP equals the command's output, with the last contact`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(
        stage.environment.merging(["APNS_GUARD_BUNDLE_ID": "com.example.guard"]) { $1 })
      defer { server.stop() }
      try await stage.addRide("ride 1")
      try await stage.sql(
        """
        select ridepulse.contact('customer', 'c1'), ridepulse.contact('customer', 'c2');
        insert into ridepulse.contacts values ('guard', 'g1', now());
        update ridepulse.rides set attributes = '{"guard_id": "g1", "n": 1}'
        """)
      try await stage.settled()
      let answer = try api.get("/v1/rides/ride%201/explain")
      #expect(answer.status == 200, "\(answer)")
      let command = try Command.ridepulse(
        ["explain", "ride 1", "--format", "json"], stage.environment)
      func timeless(_ text: String) -> String {
        text.replacing(/"now":"[^"]*"/, with: "")
      }
      #expect(timeless(answer.text) == timeless(command.output))
      guard case .array(let contacts) = answer.body?.value(at: ["contacts"]) else {
        throw TestFailure(answer.text)
      }
      #expect(contacts.map { $0.value(at: ["owner_id"]) } == [.string("c1"), .string("g1")])
      let table = try Command.ridepulse(["explain", "ride 1"], stage.environment).output
      #expect(table.contains("\nlast contact of customer c1: 2"), "\(table)")
    }
  }

  @Test func `An older contact does not replace a newer one`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        "insert into ridepulse.contacts values ('driver', 'd1', now() + interval '1 hour')")
      #expect(
        try await stage.value(
          "select ridepulse.contact('driver', 'd1') > now() + interval '50 min'")
          == "t")
    }
  }

  @Test func `A21: a NUL, and two lengths of one body, are refused`() async throws {
    try await Stage.run { stage in
      let (server, client) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let parameter = try client.get("/v1/deliveries?after=%00")
      #expect(parameter.code == "invalid_value" && parameter.text.contains("after has %00"))
      let path = try client.get("/v1/rides/a%00b/explain")
      #expect(path.status == 422 && path.code == "invalid_value")
      let lengths = ["--header", "Content-Length: 2", "--header", "content-length: 3"]
      let twice = try client.ask("/v1/events", ["--data-binary", "{}"] + lengths)
      #expect(twice.code == "invalid_request", "\(twice)")
      let chunked = ["--header", "Content-Length: 2", "--header", "Transfer-Encoding: chunked"]
      let both = try client.ask("/v1/events", ["--data-binary", "{}"] + chunked)
      #expect(both.code == "invalid_request", "\(both)")
    }
  }

  @Test func `Refusals are JSON below /v1 and plain text elsewhere`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      var stranger = api
      let body = #"{"event": "x", "ride_id": "r"}"#
      for token in [nil, "", "sesame-43", "sesame-422"] {
        stranger.token = token
        for answer in [
          try stranger.post("/v1/events", body), try stranger.get("/v1/rides/r/explain"),
        ] {
          #expect(answer.status == 401 && answer.code == "unauthorized", "\(answer)")
          #expect(answer.headers["www-authenticate"] == "Bearer")
        }
      }
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
      #expect(try stranger.get("/metrics").status == 200)
      #expect(try stranger.get("/nothing").headers["content-type"]?.hasPrefix("text/plain") == true)
      #expect(!server.log.contains("sesame"))
    }
  }

  @Test func `Without a token no client can post, and only this machine can read`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment, token: nil)
      defer { server.stop() }
      let answer = try api.post("/v1/events", #"{"event": "x", "ride_id": "r"}"#)
      #expect(answer.status == 403 && answer.code == "forbidden", "\(answer)")
      #expect(answer.string("error", "message")?.contains("RIDEPULSE_ADMIN_TOKEN") == true)
      try await stage.addRide()
      #expect(try api.get("/v1/rides/r1/explain").status == 200)

      var open = stage.environment
      open["RIDEPULSE_ADMIN_HOST"] = "0.0.0.0:0"
      let (other, stranger) = try await APIClient.serve(open, token: nil)
      defer { other.stop() }
      let refused = try stranger.get("/v1/rides/r1/explain")
      #expect(refused.status == 403 && refused.code == "forbidden", "\(refused)")
    }
  }

  @Test func `A role without the right posts nothing, and doctor names the right`() async throws {
    try await Stage.run { stage in
      try await stage.asReader { environment in
        let doctor = try Command.ridepulse(["doctor"], environment)
        #expect(
          doctor.output.contains("execute on function ridepulse.idempotent_call(key text"),
          "\(doctor.output)")
      }
    }
  }
}

@Suite(.timeLimit(.minutes(60))) struct ContactTests {
  private static let rules = """
    events: [ping, poke]
    rules:
      - name: quiet
        app: customer
        on: ping
        alert: { title: Are you there }
        expires: 5m
        if: phone.contact == null || now - phone.contact > duration('5m')
      - name: loud
        app: customer
        on: [ping, poke]
        alert: { title: Hello }
        expires: 5m

    """

  @Test func `R88: A rule skips owners and phones with a recent contact over HTTP`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await stage.addRide()
      try await stage.settled()
      func ping() async throws -> [[String?]] {
        let answer = try api.post("/v1/events", #"{"event": "ping", "ride_id": "r1"}"#)
        let id = try #require(answer.eventID)
        try await stage.settled()
        return try await stage.rows(
          "select rule, status, reason from ridepulse.ledger where event_id = \(id) order by rule, status"
        )
      }
      let sent: [[String?]] = [["loud", "accepted", nil], ["quiet", "accepted", nil]]
      #expect(try await ping() == sent)
      #expect(
        try api.post("/v1/contact", #"{"app": "customer", "owner_id": "c2"}"#).status == 200)
      #expect(try api.post("/v1/contact", #"{"app": "driver", "owner_id": "c1"}"#).status == 200)
      #expect(try await ping() == sent)
      #expect(
        try api.post("/v1/contact", #"{"app": "customer", "owner_id": "c1"}"#).status == 200)
      let skipped = try await ping()
      #expect(skipped.map { $0[1] } == ["accepted", "suppressed"], "\(skipped)")
      #expect(skipped.last?[2] == "if is false")
      // The dry run prints the same, under a role that may only read.
      try await stage.asReader { environment in
        let dry = try Command.ridepulse(
          ["trigger", "ping", "--ride", "r1", "--dry-run"],
          environment.merging(["RIDEPULSE_SCHEDULES": stage.directory + "/rules"]) { $1 })
        #expect(dry.output.contains("if is false"), "\(dry.output)\(dry.errors)")
      }
      try await stage.sql(
        "update ridepulse.contacts set contacted_at = contacted_at - interval '5 minutes'")
      #expect(try await ping() == sent)
      // Of two phones, only the one that made contact is skipped.
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)', null, 'i1'),
          ridepulse.register_device('customer', 'c1', repeat('cd', 32), null, 'i2')
        """)
      #expect(
        try api.post(
          "/v1/contact", #"{"app": "customer", "owner_id": "c1", "installation_id": "i2"}"#
        ).status == 200)
      let byPhone = try await ping()
      #expect(
        byPhone.map { $0[1] } == ["accepted", "accepted", "accepted", "suppressed"], "\(byPhone)")
    }
  }
}
