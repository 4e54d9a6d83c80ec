import Foundation
import LocalStack
import Testing
import TestSupport

@Suite("Legacy senders") struct LegacyGatewayTests {
  private static let script = Project.path("Tests/RidePulseTests/Legacy/send.php")

  /// Starts a gateway on a stage's database.
  private func gateway(_ stage: Stage, _ words: [String] = []) throws -> Server {
    try Server(
      stage.environment,
      ["--app", "customer", "--port", "0", "--feedback-port", "0"] + words,
      command: "legacy-gateway")
  }

  /// Sends pushes 1 to `count`, and waits for this many error packets; returns the script's output.
  private func send(
    _ port: String?, _ count: Int, errors: Int, _ tokens: [Int: String] = [:]
  ) async throws -> [Substring] {
    try await run(
      "/usr/bin/php",
      [Self.script, try #require(port), "\(count)", "\(errors)"]
        + tokens.map { "\($0)=\($1)" })
  }

  /// Runs a process; returns the lines that it prints.
  private func run(_ path: String, _ words: [String]) async throws -> [Substring] {
    let result = try await Tool.runAsync(path, words)
    return (result.output + result.errors).split(separator: "\n")
  }

  private static let verdicts = """
    select status, reason, count(*) from ridepulse.deliveries where rule = 'legacy'
    group by status, reason order by status
    """

  @Test func `10,000 pushes of a PHP script with one bad token: all others arrive once`()
    async throws
  {
    try await Stage.run { stage in
      let bad = String(repeating: "ba", count: 32)
      try stage.tokens(#"{"tokens": [{"token": "\#(bad)", "environment": "sandbox"}]}"#)
      let server = try Server(stage.environment)
      let gateway = try gateway(stage, ["--environment", "production"])
      let said = try await send(gateway.field("port"), 10_000, errors: 1, [4321: bad])
      #expect(said == ["command 8 status 8 identifier 4321", "done"])
      try await stage.until(
        "select count(*) from ridepulse.deliveries where status = 'accepted'", is: "9999",
        within: .seconds(240))
      try await stage.settled()
      let verdicts = try await stage.rows(Self.verdicts)
      #expect(verdicts == [["accepted", nil, "9999"], ["rejected", "BadDeviceToken", "1"]])
      let accepted = try stage.arrivals().filter(\.isAccepted)
      #expect(accepted.count == 9999 && Set(accepted.map(\.token)).count == 9999)
      #expect(accepted.allSatisfy { $0.header("apns-push-type") == "alert" })
      // A pseudo ride without pending work leaves the agenda.
      #expect(try await stage.value("select count(*) from ridepulse.agenda") == "0")
      #expect(gateway.stop() == 0)
      #expect(server.stop() == 0)
    }
  }

  @Test func `A disabled phone is reported once on the feedback port and refused afterwards`()
    async throws
  {
    try await Stage.run { stage in
      let gone = String(repeating: "90", count: 32)
      try stage.tokens(
        #"{"tokens": [{"token": "\#(gone)", "unregistered_since": 1700000000000}]}"#)
      let server = try Server(stage.environment)
      let gateway = try gateway(stage)
      let first = try await send(gateway.field("port"), 3, errors: 1, [1: gone])
      #expect(first == ["command 8 status 8 identifier 1", "done"])
      let short = String(gone.dropLast(2))
      let second = try await send(gateway.field("port"), 9, errors: 2, [4: short, 7: gone])
      let expected: [Substring] = [
        "command 8 status 5 identifier 4", "command 8 status 8 identifier 7", "done",
      ]
      #expect(second == expected)
      try await stage.settled()
      let verdicts = try await stage.rows(
        """
        select status, reason, count(*) from ridepulse.deliveries where rule = 'legacy'
        group by status, reason order by status
        """)
      #expect(verdicts.last == ["rejected", "Unregistered", "1"])
      let feedback = try await feedback(gateway)
      #expect(feedback.count == 1)
      #expect(feedback.first?.hasSuffix("0020" + gone) == true, "\(feedback)")
      #expect(try await self.feedback(gateway).isEmpty)
      #expect(gateway.stop() == 0)
      #expect(server.stop() == 0)
    }
  }

  /// Returns the tuples of the feedback port, one per line.
  private func feedback(_ gateway: Server) async throws -> [Substring] {
    try await run(
      "/usr/bin/php",
      [
        "-r",
        """
        $context = stream_context_create(['ssl' => ['verify_peer' => false,
          'verify_peer_name' => false]]);
        $socket = stream_socket_client('tls://127.0.0.1:\(try #require(gateway.field("feedback")))',
          $code, $text, 60, STREAM_CLIENT_CONNECT, $context);
        foreach (str_split(stream_get_contents($socket), 38) as $tuple)
          if ($tuple != '') echo bin2hex($tuple), "\\n";
        """,
      ])
  }

  @Test func `Gateway and service killed, Postgres restarted: committed pushes arrive once`()
    async throws
  {
    let cluster = try await LocalCluster(durability: .real)
    try await Stage.run(cluster: cluster) { stage in
      let first = try gateway(stage)
      #expect(try await send(first.field("port"), 300, errors: 0) == ["done"])
      try await stage.until("select count(*) from ridepulse.events", is: "300")
      first.kill9()
      try await cluster.restart(.immediate)
      var server = try Server(stage.environment)
      try await stage.until(
        "select count(*) > 0 from ridepulse.deliveries where status = 'accepted'", is: "t")
      server.kill9()
      let second = try gateway(stage)
      server = try Server(stage.environment)
      try await stage.settled(within: .seconds(240))
      #expect(try await stage.rows(Self.verdicts) == [["accepted", nil, "300"]])
      // While Postgres is down, senders wait; the pushes of senders that disconnect are kept.
      await cluster.kill()
      let port = second.field("port")
      async let said = send(port, 320, errors: 0)
      try await second.waitForLog("pushes can't be committed")
      try await cluster.start()
      #expect(try await said.last == "done")
      try await stage.until(
        "select count(*) from ridepulse.deliveries where status = 'accepted'", is: "620",
        within: .seconds(240))
      #expect(second.stop() == 0)
      #expect(server.stop() == 0)
    }
    await cluster.stop()
  }
}
