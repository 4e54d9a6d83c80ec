import Foundation
import Glibc
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

  private func folder(_ stage: Stage) -> String {
    Golden.isRecording ? Project.path("docs/screenshots") : stage.directory
  }

  private func serving(
    _ stage: Stage, port: String = "0", _ body: (Server, String) async throws -> Void
  ) async throws {
    let own = ["RIDEPULSE_ADMIN": "127.0.0.1:\(port)"]
    let server = try Server(stage.environment.merging(own) { $1 })
    defer { server.stop() }
    try await server.waitForLog("Admin server")
    try await body(server, "http://127.0.0.1:\(server.field("port") ?? "")")
  }

  /// Plays a scene; when the scene requests a change, `change` receives its name.
  private func play(
    _ scene: String, _ url: String, _ stage: Stage, input: String = "",
    _ change: (String) async throws -> Void = { _ in }
  ) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = [
      "-B", Project.path("Tests/RidePulseTests/Page/scenes.py"), scene, url, folder(stage),
    ]
    let (words, answers) = (Pipe(), Pipe())
    process.standardInput = words
    process.standardOutput = answers
    let errors = stage.directory + "/\(scene).err"
    try Data().write(to: URL(fileURLWithPath: errors))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
    try process.run()
    // SIGTERM has no effect: the threads that start a process here block it.
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    try words.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    var isDone = false
    for await line in lines(answers) {
      if line == "done" { isDone = true }
      guard line.hasPrefix("waiting: ") else { continue }
      try await change(String(line.dropFirst(9)))
      try words.fileHandleForWriting.write(contentsOf: Data("done\n".utf8))
    }
    process.waitUntilExit()
    let said = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(isDone && process.terminationStatus == 0, "\(scene): \(said.suffix(4000))")
  }

  /// Returns the output of a process line by line until its end. Our scripts write whole lines.
  private func lines(_ pipe: Pipe) -> AsyncStream<String> {
    AsyncStream { lines in
      pipe.fileHandleForReading.readabilityHandler = { handle in
        let data = handle.availableData
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
          lines.yield(String(line))
        }
        guard data.isEmpty else { return }
        handle.readabilityHandler = nil
        lines.finish()
      }
    }
  }

  /// Adds some hundred rides in several states, with a phone for each person and a card for some.
  private func fleet(_ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device(app, left(app, 1) || '-' || n, md5(app || n) || md5(n::text))
      from generate_series(1, 320) n, unnest(array['customer', 'driver']) app;
      insert into ridepulse.rides (id, state, customer_id, driver_id, pickup_at, attributes)
      select 'r-' || n,
        (array['requested', 'driver_assigned', 'driver_en_route', 'driver_arrived', 'ride_started'])
          [1 + (n + 2) % 5],
        'c-' || n, 'd-' || n, now() + n * interval '20 seconds',
        jsonb_build_object('driver_name', 'Ana', 'plate', 'B-RP ' || n)
      from generate_series(1, 320) n;
      select ridepulse.register_live_activity(
        'r-' || n, 'customer', 'c-' || n, md5('card' || n) || md5('c' || n), 'activity-' || n)
      from generate_series(2, 60) n;
      -- An earlier rule sent texts; a node records its own counts only once a minute.
      insert into ridepulse.card_type_hours (attributes_type, field, json_type, count)
      values ('RideAttributes', 'content-state.status', 'string', 1200),
        ('RideAttributes', 'content-state.etaEpoch', 'string', 7),
        ('RideAttributes', 'content-state.etaEpoch', 'int', 1193);
      select ridepulse.register_push_to_start('customer', 'c-1', 'a1', 'RideAttribute')
      """)
    try await stage.settled()
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
        try await fleet(stage)
        try await driving(stage) {
          for scene in ["busy", "dark", "narrow"] { try await play(scene, url, stage) }
        }
        try await play("explain", url, stage)
      }
    }
  }

  @Test func `A paused lane and its resumption are shown`() async throws {
    try await Stage.run { stage in
      try await serving(stage) { _, url in
        try await fleet(stage)
        try await driving(stage) {
          try await play("paused", url, stage) { what in
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
        try await play("strange", url, stage, input: bad + "\n")
      }
    }
  }

  @Test func `The page of a story shows other screens with each switch, and is narrow`()
    async throws
  {
    try await Stage.run { stage in
      let file = stage.directory + "/story.html"
      let golden = Project.path("Tests/RidePulseTests/Golden")
      let result = try Command.ridepulse([
        "preview", "--story", golden + "/story.yaml", "--schedules", golden + "/story-rules",
        "--format", "html", "--output", file,
      ])
      #expect(result.status == 0, "\(result.errors)")
      try await play("story", "file://" + file, stage)
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
      try await play("inbox", String(address.dropLast()), stage) { what in
        let isPush = what == "push"
        let token = isPush ? Stage.customerToken : "zz"
        let isAccepted = try await push("While you wait", to: token, stage)
        #expect(isAccepted == isPush)
      }
    }
  }

  /// Writes a page that needs no server, and looks at it in two widths, in light and dark.
  private func look(
    at name: String, _ arguments: [String], _ environment: [String: String], _ stage: Stage
  ) async throws {
    let page = try Command.ridepulse(arguments + ["--format", "html"], environment)
    #expect(page.status == 0, "\(page.errors)")
    let path = stage.directory + "/\(name).html"
    try Data(page.output.utf8).write(to: URL(fileURLWithPath: path))
    try await play("offline", "file://" + path, stage)
  }

  @Test(.enabled(if: Browser.hasAxe, "axe-core is not installed; make browser-test installs it"))
  func `A page about a recorded ride is accessible, quiet, and fits`() async throws {
    try await Stage.run { stage in
      let recording = ["RIDEPULSE_RECORD": "100%"]
      let server = try Server(stage.environment.merging(recording) { $1 })
      try await fleet(stage)
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r-7'")
      try await stage.settled()
      #expect(server.stop() == 0)
      try await look(at: "ride", ["explain", "r-7"], stage.environment, stage)
    }
  }

  @Test func `A page whose service stops shows that, and reconnects by itself`() async throws {
    try await Stage.run { stage in
      // One that no other process is given while the service is down.
      let port = "\(try FreePorts.find(1)[0])"
      try await serving(stage, port: port) { server, url in
        var next: Server?
        defer { next?.stop() }
        try await play("lost", url, stage) { what in
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

private enum Browser {
  /// Whether the package of PyPI is there that has axe-core.
  static let hasAxe: Bool = {
    let code = "import importlib.util as i; exit(not i.find_spec('axe_playwright_python'))"
    return (try? Command.run("/usr/bin/python3", ["-c", code]))?.status == 0
  }()

  static let isInstalled = ["chromium", "chromedriver"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
  }
}
