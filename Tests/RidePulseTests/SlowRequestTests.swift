import Foundation
import LocalStack
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
      let lock = try await OpenTransaction(stage, "lock table ridepulse.events")
      // More calls than the server processes at once.
      async let callers = Tool.runAsync(
        "/bin/sh",
        [
          "-c",
          """
          ask() {
            curl -s -o /dev/null -w '%{http_code}\\n' -m 240 -X POST -H 'Authorization: Bearer sesame-42' \
              -H 'Content-Type: application/json' -d '{"event":"eta_changed","ride_id":"r1"}' \
              \(client.url)/v1/events
          }
          # On a starved machine a connection whose request comes late makes room for others, once.
          once() { code=$(ask); if [ "$code" = 000 ]; then ask; else echo "$code"; fi; }
          for i in $(seq 150); do once & done
          wait
          """,
        ])
      let waiting = """
        select count(*) > 0 from pg_locks join pg_database d on d.oid = database
        where relation = 'ridepulse.events'::regclass and not granted
          and datname = current_database()
        """
      try await stage.until(waiting, is: "t")
      for _ in 1...3 { #expect(try client.get("/healthz").status == 200) }
      try await lock.commit()
      let lines = try await callers.output.split(separator: "\n").map(String.init)
      #expect(lines.count == 150 && !lines.contains("000"), "each one is answered: \(lines)")
      #expect(try client.get("/healthz").status == 200)
    }
  }
}
