import LocalPostgres
import RideCore
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(60))) struct ContactTests {
  private static let rules = """
    events: [ping, poke]
    rules:
      - name: quiet
        app: customer
        on: ping
        alert: { title: Are you there }
        expires: 5m
        unless-contact-within: 5m
      - name: loud
        app: customer
        on: [ping, poke]
        alert: { title: Hello }
        expires: 5m

    """

  @Test func `a rule spares who was heard from over HTTP, and tells others`() async throws {
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
          "select rule, status, reason from ridepulse.ledger where event_id = \(id) order by rule")
      }
      let sent: [[String?]] = [["loud", "accepted", nil], ["quiet", "accepted", nil]]
      #expect(try await ping() == sent)
      #expect(
        try api.post("/v1/contact", #"{"app": "customer", "owner_id": "c2"}"#).status == 200)
      #expect(try api.post("/v1/contact", #"{"app": "driver", "owner_id": "c1"}"#).status == 200)
      #expect(try await ping() == sent)
      #expect(
        try api.post("/v1/contact", #"{"app": "customer", "owner_id": "c1"}"#).status == 200)
      let spared = try await ping()
      #expect(spared.map { $0[1] } == ["accepted", "suppressed"], "\(spared)")
      #expect(spared.last?[2]?.wholeMatch(of: /heard from the phone \d+s ago/) != nil)
      // The dry run prints the same, under a role that may only read.
      try await stage.asReader { environment in
        let dry = try Command.ridepulse(
          ["trigger", "ping", "--ride", "r1", "--dry-run"],
          environment.merging(["RIDEPULSE_SCHEDULES": stage.directory + "/rules"]) { $1 })
        #expect(dry.output.contains("heard from the phone"), "\(dry.output)\(dry.errors)")
      }
      try await stage.sql(
        "update ridepulse.contacts set contacted_at = contacted_at - interval '5 minutes'")
      #expect(try await ping() == sent)
    }
  }
}
