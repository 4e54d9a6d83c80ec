import Foundation
import LocalStack
import Testing
import TestSupport

/// `serve` without a route to APNs: what it says, how it resumes, and when another node takes over.
@Suite("A node that does not reach APNs", .timeLimit(.minutes(60))) struct ReachTests {
  private static let rules = """
    events: [offer]
    rules:
      - { name: offer, app: driver, on: offer, alert: { title: New ride }, expires: 15s }
      - { name: hint, app: customer, on: offer, alert: { title: On its way }, expires: 1h }

    """

  private static let accepted =
    "select count(*) from ridepulse.deliveries where status = 'accepted'"

  private func addRides(_ count: Int, _ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5(n::text))
      from generate_series(1, \(count)) n;
      insert into ridepulse.rides (id, state, customer_id)
      select 'r' || n, 'requested', 'c' || n from generate_series(1, \(count)) n;
      select ridepulse.emit('offer', 'r' || n) from generate_series(1, \(count)) n
      """)
  }

  /// Starts the stage's simulator again on its port.
  private func restart(_ stage: Stage) throws -> LocalSimulator {
    let port = String(stage.simulator.url.split(separator: ":").last ?? "")
    return try LocalSimulator(directory: stage.directory, options: ["--port", port])
  }

  @Test func `U15: a pause without a connection names its cause, and ends with a connection`()
    async throws
  {
    // One that no other process is given while the simulator is down.
    let port = "\(try FreePorts.find(1)[0])"
    try await Stage.run(simulator: ["--port", port]) { stage in
      let (server, client) = try await APIClient.serve(try stage.environment(rules: Self.rules))
      stage.simulator.stop()
      try await addRides(25, stage)
      try await server.waitForLog(
        "Lane paused: APNs can't be reached; check DNS, network and proxy")
      try await stage.until(
        "select count(*) > 0 from ridepulse.deliveries where reason like '%APNs can''t be reached'",
        is: "t")
      let lane = #"ridepulse_lane_paused{app="customer",environment="production",cause="#
      let metrics = try client.get("/metrics").text
      #expect(metrics.contains(lane + "\"unreachable\"} 1"), "\(metrics)")
      #expect(metrics.contains(lane + "\"refused\"} 0"))
      let simulator = try restart(stage)
      defer { simulator.stop() }
      // The push sent on trial may have waited for this connection, and then ends the pause itself.
      try await server.waitForLog("Lane resumed")
      try await stage.until(Self.accepted, is: "25")
      #expect(!server.log.contains("check keys and topics"), "\(server.log)")
      #expect(server.stop() == 0)
    }
  }

  @Test func `U15: a replaced key ends the pause of its app`() async throws {
    try await Stage.run { stage in
      let folder = stage.directory + "/key"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let path = folder + "/AuthKey_SIMKEY0001.p8"
      let made = try Command.run(
        "/usr/bin/openssl",
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path])
      #expect(made.status == 0, "\(made.errors)")
      var environment = try stage.environment(rules: Self.rules)
      let right = try #require(environment["APNS_PRIVATE_KEY_PATH"])
      environment["APNS_PRIVATE_KEY_PATH"] = path
      let server = try Server(environment)
      try await addRides(25, stage)
      try await server.waitForLog("Lane paused: APNs refuses its pushes; check keys and topics")
      try Data(contentsOf: URL(fileURLWithPath: right)).write(
        to: URL(fileURLWithPath: path), options: .atomic)
      server.hangUp()
      try await server.waitForLog("Lane resumed: its key or certificate was replaced")
      try await stage.until(Self.accepted, is: "25")
      #expect(server.stop() == 0)
    }
  }

  @Test func `U16: a node whose open connection swallows pushes leaves offers to another node`()
    async throws
  {
    try await Stage.run { stage in
      let second = try LocalSimulator(directory: stage.directory + "/second")
      defer {
        kill(second.processID, SIGCONT)
        second.stop()
      }
      let environment = try stage.environment(rules: Self.rules)
      let cutOff = try Server(environment.merging(second.environment) { $1 })
      let healthy = try Server(environment)
      let rides = 20
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd' || n, md5(n::text) || md5('x' || n))
        from generate_series(1, \(rides)) n;
        insert into ridepulse.rides (id, state, driver_id)
        select 'r' || n, 'requested', 'd' || n from generate_series(1, \(rides)) n
        """)
      var offers = 0
      func offer() async throws {
        offers += 1
        try await stage.sql("select ridepulse.emit('offer', 'r\(1 + offers % rides)')")
        try await Task.sleep(for: .milliseconds(500))  // poll: offers come one after another
      }
      func isUsed() -> Bool {
        (try? String(contentsOfFile: second.records, encoding: .utf8))?.isEmpty == false
      }
      while !isUsed(), offers < 100 { try await offer() }
      #expect(isUsed())
      kill(second.processID, SIGSTOP)
      let before = offers
      while offers < before + 60 { try await offer() }
      try await stage.settled()
      let verdicts = try await stage.rows(
        "select status, count(*) from ridepulse.deliveries where app = 'driver' group by 1")
      #expect(verdicts == [["accepted", "\(offers)"]])
      #expect(cutOff.log.contains("Claiming paused: APNs"), "\(cutOff.log)")
      kill(second.processID, SIGCONT)
      try await cutOff.waitForLog("Claiming resumed")
      #expect(healthy.stop() == 0)
      #expect(cutOff.stop() == 0)
    }
  }

  @Test func `U16: another node that reaches APNs sends every offer in time`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let cutOff = try Server(
        environment.merging(["APNS_PRODUCTION_URL": "https://127.0.0.1:1"]) { $1 })
      let healthy = try Server(environment)
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd1', '\(Stage.driverToken)');
        insert into ridepulse.rides (id, state, driver_id) values ('r1', 'requested', 'd1')
        """)
      let paused = "Claiming paused: APNs can't be reached, and another node reaches it"
      var offers = 0
      func offer() async throws {
        offers += 1
        try await stage.sql("select ridepulse.emit('offer', 'r1')")
        try await stage.until(
          "select count(*) from ridepulse.deliveries where status <> 'pending' and app = 'driver'",
          is: "\(offers)")
      }
      while !cutOff.log.contains(paused), offers < 100 { try await offer() }
      #expect(cutOff.log.contains(paused), "\(cutOff.log)")
      for _ in 0..<20 { try await offer() }
      let others = try await stage.rows(
        """
        select status, reason from ridepulse.deliveries
        where app = 'driver' and status <> 'accepted'
        """)
      #expect(others.isEmpty, "\(others)")
      // Without the other node it goes on as if it were alone.
      #expect(healthy.stop() == 0)
      try await cutOff.waitForLog("Claiming resumed")
      #expect(cutOff.stop() == 0)
    }
  }
}
