import Foundation
import LocalStack
import PostgresStore
import Testing
import TestSupport

/// Tests of clients that hold the admin server's connections as long as they can.
@Suite(.timeLimit(.minutes(60))) struct SlowRequestTests {
  private func serve(_ body: (Stage, APIClient) async throws -> Void) async throws {
    try await Stage.run { stage in
      let (server, client) = try await APIClient.serve(stage.environment)
      try await body(stage, client)
      #expect(server.stop() == 0)
    }
  }

  private static let ways: [(String, [String])] = [
    ("nothing", ["127.0.0.1"]), ("head", ["127.0.0.1"]), ("body", ["127.0.0.1"]),
    ("idle", ["127.0.0.1"]), ("head", ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]),
  ]

  @Test(arguments: ways) func `Slow clients block no others and are disconnected`(
    how: String, addresses: [String]
  ) async throws {
    try await serve { stage, client in
      let slow = try SlowClients(client, how, count: 200, from: addresses)
      for _ in 0..<5 {
        for path in ["/healthz", "/readyz"] { #expect(try client.get(path).status == 200) }
        let answer = try client.post("/v1/events", #"{"event": "eta_changed", "ride_id": "r1"}"#)
        #expect(answer.status == 202 || answer.status == 200 || answer.status == 201, "\(answer)")
      }
      // No connection stays open forever, even if its client keeps sending.
      try await slow.closed(200 * addresses.count)
    }
  }

  @Test func `Requests that wait for the database do not block the probe`() async throws {
    try await serve { stage, client in
      let url = client.url
      let holder = try PostgresSession(conninfo: stage.conninfo)
      async let held: Void = holder.script(
        "begin; lock table ridepulse.events; select pg_sleep(6); commit")
      try await stage.until(
        "select count(*) > 0 from pg_locks where relation = 'ridepulse.events'::regclass and mode = 'AccessExclusiveLock' and granted",
        is: "t")
      // More calls than the server processes at once.
      let callers = try Command.run(
        "/bin/sh",
        [
          "-c",
          """
          ask() {
            curl -s -o /dev/null -w '%{http_code}\\n' -m 60 -X POST -H 'Authorization: Bearer sesame-42' \
              -H 'Content-Type: application/json' -d '{"event":"eta_changed","ride_id":"r1"}' \
              \(url)/v1/events
          }
          # On a starved machine a connection whose request comes late makes room for others, once.
          once() { code=$(ask); if [ "$code" = 000 ]; then ask; else echo "$code"; fi; }
          for i in $(seq 150); do once & done
          for i in 1 2 3; do curl -s -o /dev/null -w 'probe %{http_code}\\n' -m 30 \(url)/healthz; done
          wait
          """,
        ])
      let lines = callers.output.split(separator: "\n").map(String.init)
      #expect(lines.count { $0 == "probe 200" } == 3, "\(lines)")
      #expect(lines.count == 153 && !lines.contains("000"), "each one is answered: \(lines)")
      try await held
      await holder.close()
      #expect(try client.get("/healthz").status == 200)
    }
  }
}
