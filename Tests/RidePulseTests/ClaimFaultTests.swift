import Foundation
import Testing
import TestSupport

/// Claims and other calls that fail at once: `serve` is not ready after a while, and works again
/// without a restart.
@Suite("Claims that fail", .timeLimit(.minutes(60))) struct ClaimFaultTests {
  private func fails(
    _ client: APIClient, after change: () async throws -> Void, _ words: String
  ) async throws {
    var answer = try client.get("/readyz")
    try await wait(until: "/readyz answers 200: \(answer)") {
      answer = try client.get("/readyz")
      return answer.status == 200
    }
    try await change()
    try await wait(until: "/readyz answers 503 because of claims: \(answer)") {
      answer = try client.get("/readyz")
      return answer.status == 503 && answer.text.contains("claims have failed for")
    }
    for text in [words, "nothing is lost", "ridepulse doctor"] {
      #expect(answer.text.contains(text), "\(text) is not in \(answer.text)")
    }
    #expect(try client.get("/healthz").status == 200, "a restart would not help")
    let metrics = try client.get("/metrics").text
    #expect(!metrics.contains("ridepulse_claim_failing_seconds 0\n"))
    #expect(metrics.contains("ridepulse_ready 0\n"))
  }

  private func recovers(_ stage: Stage, _ server: Server, _ client: APIClient) async throws {
    try await stage.settled()
    #expect(try stage.arrivals().contains { $0.isAccepted })
    try await wait(until: "/readyz answers 200") { try client.get("/readyz").status == 200 }
    try await server.waitForLog("Claim succeeded again")
    let log = server.log
    let lines = log.split(separator: "\n").count { $0.contains("Claim failed") }
    // One at the start, and one for each minute that it lasts.
    #expect((1...3).contains(lines), "\(log)")
    #expect(!log.contains("Database connection lost"), "\(log)")
    #expect(log.components(separatedBy: "Database connected").count <= 4, "\(log)")
  }

  @Test func `U1: a revoked right`() async throws {
    try await Stage.run { stage in
      let login = "login_\(UUID().uuidString.prefix(8).lowercased())"
      _ = try Command.ridepulse(["migrate", "--roles"], ["DATABASE_URL": stage.conninfo])
      try await stage.sql(
        """
        create role \(login) login in role ridepulse_engine;
        revoke select on ridepulse.rides from ridepulse_engine;
        grant select on ridepulse.rides to \(login)
        """)
      let (server, client) = try await APIClient.serve(
        stage.environment.merging([
          "DATABASE_URL": stage.conninfo.replacing("user=postgres", with: "user=\(login)")
        ]) { $1 })
      try await fails(
        client,
        after: {
          try await stage.sql("revoke select on ridepulse.rides from \(login)")
          try await stage.addRide(state: "driver_arrived")
        }, "permission denied for table rides")
      try await stage.sql("grant select on ridepulse.rides to \(login)")
      try await recovers(stage, server, client)
      #expect(server.stop() == 0)
      try await stage.sql("drop owned by \(login); drop role \(login)")
    }
  }

  @Test func `U1: a lock on the table of rides`() async throws {
    try await Stage.run { stage in
      let (server, client) = try await APIClient.serve(stage.environment)
      try await stage.addRide(state: "requested")
      try await stage.settled()
      let lock = try await OpenTransaction(stage, "lock table ridepulse.rides")
      // Emitting an event reads the ride, and would wait.
      try await fails(
        client, after: { try await stage.sql("update ridepulse.agenda set due_at = now()") },
        "lock timeout")
      try await lock.commit()
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await recovers(stage, server, client)
      #expect(server.stop() == 0)
    }
  }

  private static let capped = """
    events: [ping]
    rules:
      - name: news
        app: customer
        on: ping
        alert: { title: News }
        expires: 1h
        at-most: { count: 3, per: 1h }
    """

  @Test func `U1: permits that no ride gets, although claims succeed`() async throws {
    try await Stage.run { stage in
      let (server, client) = try await APIClient.serve(try stage.environment(rules: Self.capped))
      try await stage.addRide(state: "requested")
      try await stage.sql(
        """
        alter function ridepulse.request_permits(jsonb) rename to hidden;
        select ridepulse.emit('ping', 'r1')
        """)
      var answer = try client.get("/readyz")
      try await wait(until: "/readyz answers 503: \(answer)") {
        answer = try client.get("/readyz")
        return answer.status == 503
      }
      for text in ["permits of pushes have failed for", "request_permits", "nothing is lost"] {
        #expect(answer.text.contains(text), "\(text) is not in \(answer.text)")
      }
      #expect(try !client.get("/metrics").text.contains("ridepulse_claim_failing_seconds 0\n"))
      try await stage.sql("alter function ridepulse.hidden(jsonb) rename to request_permits")
      try await stage.settled(within: .seconds(60))
      #expect(try stage.arrivals().contains { $0.isAccepted })
      try await wait(until: "/readyz answers 200") { try client.get("/readyz").status == 200 }
      #expect(server.stop() == 0)
    }
  }

  @Test func `from SIGTERM on it is not ready, while it waits for answers`() async throws {
    try await Stage.run { stage in
      try stage.faults(#"[{"action": {"delay_ms": 4000}}]"#)
      let (server, client) = try await APIClient.serve(stage.environment)
      try await stage.addRide(state: "driver_arrived")
      try await stage.until(
        "select count(*) from ridepulse.agenda where node is not null", is: "1")
      #expect(try client.get("/readyz").status == 200)
      server.terminate()
      var answer = try client.get("/readyz")
      try await wait(until: "/readyz answers 503: \(answer)") {
        answer = try client.get("/readyz")
        return answer.status == 503
      }
      #expect(answer.text == "stopping\n")
      #expect(try client.get("/healthz").status == 200)
      #expect(server.exitStatus() == 0)
    }
  }
}
