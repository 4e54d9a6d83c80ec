import Foundation
import LocalStack
import PostgresStore
import Testing
import TestSupport

/// Tests of the page in Debian's chromium, driven by `Page/scenes.py`; `make browser-test` installs
/// both.
///
/// With RECORD_GOLDEN=1 the screenshots in `docs/screenshots` are retaken.
@Suite(
  .serialized, .timeLimit(.minutes(60)),
  .enabled(if: Browser.isInstalled, "chromium and chromedriver are not installed"))
struct BrowserTests {
  private func serving(
    _ stage: Stage, port: String = "0", _ body: (Server, String) async throws -> Void
  ) async throws {
    let own = ["RIDEPULSE_ADMIN": "127.0.0.1:\(port)"]
    let server = try Server(stage.environment.merging(own) { $1 })
    defer { server.stop() }
    try await server.waitForLog("Admin server")
    try await body(server, "http://127.0.0.1:\(server.field("port") ?? "")")
  }

  /// Changes a few rides repeatedly until the task is cancelled.
  private static func drive(_ session: PostgresSession) async throws {
    var round = 0
    while !Task.isCancelled {
      round += 1
      let rides = (0..<4).map { "'r-\(2 + (round * 4 + $0) % 319)'" }.joined(separator: ",")
      try await session.script(
        """
        update ridepulse.rides set state = case state
            when 'requested' then 'driver_assigned' when 'driver_assigned' then 'driver_en_route'
            when 'driver_en_route' then 'driver_arrived' when 'driver_arrived' then 'ride_started'
            else 'driver_assigned' end
        where id in (\(rides))
        """)
      let pace = 100 + 60 * (round / 25 % 4)
      try await Task.sleep(for: .milliseconds(pace))  // poll: it is the fleet's pace
    }
  }

  private func driving(_ stage: Stage, _ body: () async throws -> Void) async throws {
    let session = stage.session
    let fleet = Task { try await Self.drive(session) }
    defer { fleet.cancel() }
    try await body()
  }

  @Test func `A busy fleet in light, dark and narrow layouts, and a ride by keyboard alone`()
    async throws
  {
    try await Stage.run { stage in
      try await serving(stage) { _, url in
        try await stage.addFleet()
        try await driving(stage) {
          for scene in ["busy", "dark", "narrow"] { try await stage.play(scene, url) }
        }
        try await stage.play("explain", url)
      }
    }
  }

  @Test func `A paused lane and its resumption are shown`() async throws {
    try await Stage.run { stage in
      try await serving(stage) { _, url in
        try await stage.addFleet()
        try await driving(stage) {
          try await stage.play("paused", url) { what in
            let answer = #"{"answer": {"status": 500, "reason": "InternalServerError"}}"#
            try stage.faults(
              what == "faults"
                ? #"[{"match": {"topic": "com.example.customer"}, "action": \#(answer)}]"# : "[]")
          }
        }
      }
    }
  }

  @Test func `Markup in a ride's ID, state and attributes is shown as text`() async throws {
    try await Stage.run { stage in
      // Not longer: as a collapse ID it must fit into 64 bytes together with the rule's text.
      let bad = #"<img src=x onerror="window.wasHurt=1">"#
      try await serving(stage) { _, url in
        try await stage.sql(
          """
          select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
          select ridepulse.register_device('driver', 'd1', '\(Stage.driverToken)');
          insert into ridepulse.rides (id, state, customer_id, driver_id, attributes)
          select '\(bad)' || more, 'driver_arrived', 'c1', 'd1', jsonb_build_object('\(bad)', '\(bad)')
          from unnest(array['', ' too']) more
          """)
        try await stage.settled()
        // Without an event: the ride stays on the agenda with a state that no rule file has.
        try await stage.sql(
          """
          set local session_replication_role = replica;
          update ridepulse.rides set state = '\(bad)', customer_id = '\(bad)' where id = '\(bad)'
          """)
        try await stage.play("strange", url, input: bad + "\n")
      }
    }
  }

  @Test func `The page of one of several cells stays within the cell`() async throws {
    try await CellStage.run { cells in
      let (server, client) = try await APIClient.serve(
        cells.environment(rules: CellPageTests.rules), token: nil)
      try await server.waitForLog(" Serving", times: 2)
      for (session, ride) in cells.both {
        try await cells.addRide(ride, to: session)
        _ = try await cells.arrive(ride, session)
      }
      try await cells.stage.play("cell", client.url + "/cells/wien")
      #expect(server.stop() == 0)
    }
  }

  /// Sends an alert by hand; returns whether it was accepted.
  private func push(_ title: String, to token: String, _ stage: Stage) async throws -> Bool {
    let file = stage.directory + "/push.apns"
    let alert = #"{"alert":{"title":"\#(title)"},"sound":"default"}"#
    try Data(#"{"Simulator Target Bundle":"com.example.customer","aps":\#(alert)}"#.utf8)
      .write(to: URL(fileURLWithPath: file))
    let port = stage.simulator.url.split(separator: ":").last.map(String.init) ?? ""
    let sent = try await Tool.runAsync(
      SimulatorProcess.binary("apns-simulator").path,
      ["push", file, "--port", port, "--state", stage.directory, "--token", token])
    return sent.status == 0
  }

  @Test func `The simulator's inbox shows each phone and each push, live`() async throws {
    try await Stage.run(simulator: ["--inbox", "127.0.0.1:0"]) { stage in
      let address = try #require(stage.simulator.inboxURL)
      #expect(try await push("Your driver is here", to: Stage.customerToken, stage))
      #expect(try await push("<b>New ride</b>", to: Stage.driverToken, stage))
      try await stage.play("inbox", String(address.dropLast())) { what in
        let isPush = what == "push"
        let token = isPush ? Stage.customerToken : "zz"
        let isAccepted = try await push("While you wait", to: token, stage)
        #expect(isAccepted == isPush)
      }
    }
  }

  @Test func `A page whose service stops shows that, and reconnects by itself`() async throws {
    try await Stage.run { stage in
      // One that no other process is given while the service is down.
      let port = "\(try FreePorts.find(1)[0])"
      try await serving(stage, port: port) { server, url in
        var next: Server?
        defer { next?.stop() }
        try await stage.play("lost", url) { what in
          if what == "stop" {
            #expect(server.stop() == 0)
          } else {
            next = try Server(
              stage.environment.merging(["RIDEPULSE_ADMIN": "127.0.0.1:\(port)"]) { $1 })
          }
        }
      }
    }
  }
}
