import Foundation
import LocalStack
import Testing
import TestSupport

@Suite("A phone that APNs refuses") struct PhoneTests {
  /// Runs a second simulator, for the other environment, that accepts the same key.
  private func withSandbox(
    _ stage: Stage, _ body: (LocalSimulator, Server) async throws -> Void
  ) async throws {
    let directory = stage.directory + "-sandbox"
    try FileManager.default.copyItem(atPath: stage.directory, toPath: directory)
    let sandbox = try LocalSimulator(
      directory: directory, options: ["--environment", "sandbox"])
    defer {
      sandbox.stop()
      try? FileManager.default.removeItem(atPath: directory)
    }
    let server = try Server(stage.environment.merging(["APNS_SANDBOX_URL": sandbox.url]) { $1 })
    defer { server.stop() }
    try await body(sandbox, server)
  }

  private func arrivals(_ simulator: LocalSimulator) throws -> Int {
    let text = try String(contentsOfFile: simulator.records, encoding: .utf8)
    return text.split(separator: "\n").count
  }

  private static let phone = """
    select environment, refusals, is_probed, quarantined_at is not null
    from ridepulse.devices where app = 'customer'
    """

  /// Adds this many rides of one customer, each with an event at once.
  private func notify(_ rides: Int, _ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
      insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'no_show', 'c1' from generate_series(1, \(rides)) n
      """)
  }

  @Test func `R16: one probe finds a phone's environment, and all pushes arrive`()
    async throws
  {
    try await Stage.run { stage in
      try stage.tokens(
        #"{"tokens": [{"token": "\#(Stage.customerToken)", "environment": "sandbox"}]}"#)
      try await withSandbox(stage) { sandbox, _ in
        try await notify(12, stage)
        try await stage.settled()
        let statuses = try await stage.rows(
          """
          select status, count(*) from ridepulse.deliveries where app = 'customer'
          group by status
          """)
        #expect(statuses == [["accepted", "12"]])
        #expect(try await stage.rows(Self.phone) == [["sandbox", "0", "t", "f"]])
        #expect(try arrivals(sandbox) == 12)
      }
    }
  }

  @Test func `R16: a token that is bad in both environments is probed once`()
    async throws
  {
    try await Stage.run { stage in
      let nowhere = #"{"tokens": [{"token": "\#(Stage.customerToken)", "environment": "#
      try stage.tokens(nowhere + #""sandbox"}]}"#)
      try await withSandbox(stage) { sandbox, _ in
        let production = nowhere + #""production"}]}"#
        let posted = try Command.run(
          "/usr/bin/curl",
          [
            "--silent", "--fail", "--http2", "--cacert", "\(sandbox.directory)/ca.pem", "--data",
            production, "\(sandbox.url)/simulator/tokens",
          ])
        #expect(posted.status == 0)
        try await notify(12, stage)
        try await stage.settled()
        #expect(try arrivals(sandbox) == 1)
        let verdicts = try await stage.rows(
          "select distinct status, reason from ridepulse.deliveries where app = 'customer'")
        #expect(verdicts == [["rejected", "BadDeviceToken"]])
        let before = try stage.arrivals().count

        // Refused in both environments, and once more: in quarantine until it is lifted.
        for _ in 1...3 {
          try await stage.sql("select ridepulse.emit('refund_issued', 'r1')")
          try await stage.settled()
        }
        #expect(try arrivals(sandbox) == 1)
        #expect(try await stage.value("select count(*) from ridepulse.quarantine") == "1")
        #expect(try stage.arrivals().count <= before + 2)
        let reason = try await stage.value(
          "select reason from ridepulse.deliveries order by finished_at desc limit 1")
        #expect(reason?.contains("the phone is in quarantine: APNs refused its token") == true)

        try await stage.sql("select ridepulse.unquarantine('customer')")
        #expect(try await stage.rows(Self.phone) == [[nil, "0", "f", "f"]])
      }
    }
  }

  @Test func `A registration lifts the quarantine`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.sql(
        """
        update ridepulse.devices set refusals = 3, quarantined_at = now();
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)')
        """)
      #expect(try await stage.rows(Self.phone) == [[nil, "0", "f", "f"]])
      #expect(try await stage.value("select count(*) from ridepulse.quarantine") == "1")
    }
  }

  @Test func `R4: every ride waits for a throttled phone`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try stage.faults(
        """
        [{"match": {}, "times": 1, "action": {"answer":
          {"status": 429, "reason": "TooManyRequests", "retry_after": 10}}}]
        """)
      try await notify(1, stage)
      try await stage.until(
        "select count(*) from ridepulse.devices where quiet_until is not null", is: "1")
      try await stage.sql(
        "insert into ridepulse.rides (id, state, customer_id) values ('q', 'no_show', 'c1')")
      try await stage.settled()
      let times = try stage.arrivals().map(\.receivedAt)
      #expect(times.count == 3)
      let waits = times.dropFirst().map { $0 - (times.first ?? 0) }
      // The database decides when the wait is over; the simulator records when a push arrives.
      #expect(waits.allSatisfy { $0 >= 9.9 }, "\(waits)")
      let tries = try await stage.rows(
        "select ride_id, status, attempts from ridepulse.deliveries order by ride_id")
      #expect(tries == [["q", "accepted", "1"], ["r1", "accepted", "2"]])
    }
  }
}
