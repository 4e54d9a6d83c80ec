import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of `Idempotency-Key`: each call takes effect once, on any number of nodes, through kill
/// -9.
@Suite(.timeLimit(.minutes(60))) struct APIKeyTests {
  private static let body = #"{"event": "eta_changed", "ride_id": "r1", "data": {"n": 1, "m": 2}}"#

  @Test func `A repeated request gets the first answer and has no effect`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      try await stage.keepEvents()
      let first = try api.post("/v1/events", Self.body, key: "k-1")
      #expect(first.status == 201 && first.headers["idempotency-replayed"] == nil, "\(first)")
      let again = try api.post("/v1/events", Self.body, key: "k-1")
      #expect(again.headers["idempotency-replayed"] == "true")
      #expect(again.status == 201 && again.text == first.text, "\(again)")
      // The same object, serialized differently.
      let other = #"{"data":{"m":2,"n":1},"ride_id":"r1","event":"eta_changed"}"#
      #expect(try api.post("/v1/events", other, key: "k-1").text == first.text)
      #expect(try await stage.value("select count(*) from public.seen") == "1")
      for (path, body) in [
        ("/v1/events", Self.body.replacing("r1", with: "r2")),
        ("/v1/contact", #"{"app": "driver", "owner_id": "d1"}"#),
      ] {
        let reused = try api.post(path, body, key: "k-1")
        #expect(reused.status == 422 && reused.code == "idempotency_key_reused", "\(reused)")
      }
      #expect(try await stage.value("select count(*) from ridepulse.contacts") == "0")
      #expect(try api.post("/v1/events", Self.body, key: "k-2").eventID != first.eventID)
      #expect(try api.post("/v1/events", Self.body).eventID != first.eventID)
      #expect(try await stage.value("select count(*) from public.seen") == "3")
    }
  }

  @Test func `A refused request does not use up its key`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      try await stage.sql(
        "alter table ridepulse.events add constraint mine check (event <> 'eta_changed')")
      let refused = try api.post("/v1/events", Self.body, key: "k")
      #expect(refused.status == 422 && refused.code == "refused", "\(refused)")
      try await stage.sql("alter table ridepulse.events drop constraint mine")
      let taken = try api.post("/v1/events", Self.body, key: "k")
      #expect(taken.status == 201 && taken.headers["idempotency-replayed"] == nil, "\(taken)")
    }
  }

  @Test func `Twenty equal requests at once on two nodes create one event`() async throws {
    try await Stage.run { stage in
      let nodes = [
        try await APIClient.serve(stage.environment), try await APIClient.serve(stage.environment),
      ]
      defer { for node in nodes { node.server.stop() } }
      try await stage.keepEvents()
      let result = try Command.run(
        "/usr/bin/curl",
        [
          "--silent", "--parallel", "--parallel-immediate", "--parallel-max", "20", "--data",
          Self.body, "--header", "Content-Type: application/json", "--header",
          "Authorization: Bearer sesame-42", "--header", "Idempotency-Key: one", "--write-out",
          "%{http_code}\n",
        ]
          + nodes.flatMap {
            [$0.client.url + "/v1/events?[1-10]", "--output", stage.directory + "/#1-answer"]
          })
      let codes = result.output.split(separator: "\n")
      #expect(codes.count == 20 && codes.contains("201"), "\(result.output)\(result.errors)")
      #expect(codes.allSatisfy { $0 == "201" || $0 == "409" }, "\(codes)")
      print("20 equal posts at once: \(Dictionary(codes.map { ($0, 1) }, uniquingKeysWith: +))")
      let ids = try nodes.map { try $0.client.post("/v1/events", Self.body, key: "one") }
      #expect(ids.allSatisfy { $0.status == 201 && $0.headers["idempotency-replayed"] == "true" })
      #expect(ids[0].eventID == ids[1].eventID)
      #expect(try await stage.value("select count(*) from public.seen") == "1")
    }
  }

  @Test func `A repeat during the first request gets request_in_progress`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let slow = try PostgresSession(conninfo: stage.conninfo)
      try await stage.sql("select pg_advisory_lock(42)")
      // Acts as a node that is slow between its work and its commit.
      let first = Task {
        let answer = Statement(
          name: "", sql: "select body from ridepulse.idempotent_call('k', 'events', $1::jsonb)")
        let wait = Statement(name: "", sql: "select pg_advisory_xact_lock(42)")
        return try await slow.run([Call(answer, [Self.body]), Call(wait)])[0].string(0, 0)
      }
      try await stage.until(Stage.waitingForAdvisoryLock, is: "1")
      let second = try api.post("/v1/events", Self.body, key: "k")
      #expect(second.status == 409 && second.code == "request_in_progress", "\(second)")
      #expect(second.headers["retry-after"] == "1")
      #expect(try api.post("/v1/events", Self.body, key: "other").status == 201)
      try await stage.sql("select pg_advisory_unlock(42)")
      let body = try await first.value
      let third = try api.post("/v1/events", Self.body, key: "k")
      #expect(third.status == 201 && third.text == body.map { $0 + "\n" }, "\(third)")
      await slow.close()
    }
  }

  @Test func `Requests repeated through kill -9 take effect once`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.keepEvents()
      let count = 40
      let script = """
        for n in $(seq \(count)); do
          curl --silent --max-time 120 --output /dev/null --write-out '%{http_code}\\n' \
            --header 'Content-Type: application/json' --header 'Authorization: Bearer sesame-42' \
            --header "Idempotency-Key: k$n" --data "{\\"event\\": \\"eta_changed\\", \\"ride_id\\": \\"r$n\\"}" \
            "$URL/v1/events"
        done
        """
      var codes: [Substring] = []
      for round in 1...8 {
        let (server, api) = try await APIClient.serve(stage.environment)
        let posts = Task {
          try Command.run("/bin/bash", ["-c", script], ["URL": api.url]).output
        }
        if round < 8 {
          try await stage.until(
            "select count(*) >= \(round * 4) from public.seen", is: "t")
          server.kill9()
        }
        codes = try await posts.value.split(separator: "\n")
        if round == 8 { server.stop() }
      }
      #expect(codes.count == count && codes.allSatisfy { $0 == "201" }, "\(codes)")
      #expect(
        try await stage.rows("select count(*), count(distinct ride_id) from public.seen")
          == [["\(count)", "\(count)"]])
    }
  }

  @Test func `Keys expire after a day and are deleted`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let first = try api.post("/v1/events", Self.body, key: "k")
      try await stage.sql(
        """
        update ridepulse.idempotency_keys set created_at = now() - interval '23 hours';
        insert into ridepulse.idempotency_keys
        select 'old' || n, '', 200, '{}', now() - interval '25 hours' from generate_series(1, 50) n
        """)
      #expect(try api.post("/v1/events", Self.body, key: "k").text == first.text)
      try await stage.sql(
        "update ridepulse.idempotency_keys set created_at = now() - interval '25 hours' where key = 'k'"
      )
      let next = try api.post("/v1/events", Self.body, key: "k")
      #expect(next.status == 201 && next.eventID != first.eventID, "\(next)")
      for n in 1...3 { _ = try api.post("/v1/events", Self.body, key: "n\(n)") }
      #expect(try await stage.value("select count(*) from ridepulse.idempotency_keys") == "4")
    }
  }

  @Test func `An app's role cannot use the keys of others`() async throws {
    try await Stage.run { stage in
      try await stage.asReader { environment in
        let session = try PostgresSession(conninfo: environment["DATABASE_URL"] ?? "")
        let event = #"'{"event": "e", "ride_id": "r"}'"#
        for call in ["idempotent_call('k', 'events', \(event))", "answer('events', \(event))"] {
          let error = await #expect(throws: PostgresError.self) {
            try await session.script("select ridepulse.\(call)")
          }
          #expect(error?.refusesRights == true, "\(call): \(error?.description ?? "")")
        }
        await session.close()
      }
    }
  }
}
