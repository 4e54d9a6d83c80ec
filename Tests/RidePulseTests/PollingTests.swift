import Foundation
import LocalPostgres
import PostgresStore
import Testing
import TestSupport

/// Tests of `RIDEPULSE_LISTEN=off`: no transaction contains a NOTIFY.
@Suite("Polling only", .timeLimit(.minutes(60))) struct PollingTests {
  private static let prepare = """
    begin;
    select ridepulse.emit('driver_nearby', 'r1');
    prepare transaction 'booking'
    """

  @Test func `an app may prepare its transactions, which it can't while a node sleeps`()
    async throws
  {
    let cluster = try await LocalCluster(
      durability: .fast, options: ["max_prepared_transactions=4"])
    try await Stage.run(cluster: cluster) { stage in
      try await stage.addRide()
      let listening = try Server(stage.environment)
      try await stage.until("select bool_or(asleep) from ridepulse.nodes", is: "t")
      let refusal = await #expect(throws: PostgresError.self) {
        try await stage.sql(Self.prepare)
      }
      #expect(refusal?.server?.sqlState == "0A000")
      #expect(listening.stop() == 0)

      var environment = stage.environment
      environment["RIDEPULSE_LISTEN"] = "off"
      environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
      let server = try Server(environment)
      try await stage.until("select count(*) from ridepulse.nodes", is: "1")
      // Covers as many polls as a node makes in a few seconds of rest.
      for _ in 1...20 {
        try await Task.sleep(for: .milliseconds(200))  // poll: at any moment of the node's rest
        try await stage.sql(Self.prepare)
        #expect(try await stage.value("select bool_or(asleep) from ridepulse.nodes") == "f")
        try await stage.sql("commit prepared 'booking'")
      }
      try await stage.settled()
      // One by one or several in a look: a busy node sends the newest of those.
      let ended =
        "select count(*) from ridepulse.deliveries where status in ('accepted', 'superseded')"
      #expect(try await stage.value(ended) == "20")
      #expect(
        try await stage.value(
          "select count(*) from pg_stat_activity where application_name = 'ridepulse listen'")
          == "0")
      let url = "http://127.0.0.1:\(server.said("port") ?? "")/metrics"
      let metrics = try Command.run("/usr/bin/curl", ["--silent", url]).output
      #expect(!metrics.contains("\nridepulse_listen_healthy"))
      try Checkup(environment).expect("listen", "ok", "off: an event waits")
      #expect(server.stop() == 0)
    }
    await cluster.stop()
  }

  @Test func `another word is refused`() async throws {
    try await Stage.run { stage in
      let environment = stage.environment.merging(["RIDEPULSE_LISTEN": "no"]) { $1 }
      let result = try Command.ridepulse(["serve", "--once"], environment)
      #expect(result.status == 1)
      #expect(result.errors.contains("RIDEPULSE_LISTEN is no; expected on or off"))
    }
  }
}
