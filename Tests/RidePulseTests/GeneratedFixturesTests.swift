import Base
import Foundation
import Testing
import TestSupport

/// `generate fixtures`: a shipped story as files, which the generated types decode and the simulator
/// accepts, without a phone.
@Suite("generate fixtures") struct GeneratedFixturesTests {
  private static let bundle = "com.example.customer"

  /// The files of the shipped story of a normal ride, for the customer's app.
  private struct Folder {
    let path: String
    let result: Tool

    init(
      _ path: String, _ words: [String] = [],
      story: String = Project.path("docs/stories/normal.yaml"),
      _ environment: [String: String] = ["APNS_CUSTOMER_BUNDLE_ID": bundle]
    ) throws {
      self.path = path
      result = try Command.ridepulse(
        [
          "generate", "fixtures", "--story", story, "--output", path + "/fixtures", "--app",
          "customer",
        ] + words,
        environment.merging(["RIDEPULSE_SCHEDULES": Project.path("schedules")]) { one, _ in one })
    }

    var fixtures: String { path + "/fixtures" }

    func names(_ folder: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "\(fixtures)/\(folder)").sorted()
    }

    func read(_ file: String) throws -> String {
      try String(contentsOfFile: "\(fixtures)/\(file)", encoding: .utf8)
    }

    /// The entries of `pushes.json`.
    func pushes() throws -> [[String: Any]] {
      let json = try JSONSerialization.jsonObject(with: Data(read("pushes.json").utf8))
      return try #require(json as? [[String: Any]])
    }

    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }

    func generate(_ language: String, to file: String, _ words: [String] = []) throws {
      let result = try Command.ridepulse(
        ["generate", language, "--output", "\(path)/\(file)"] + words,
        ["RIDEPULSE_SCHEDULES": Project.path("schedules")])
      try #require(result.status == 0, "\(result.errors)")
    }
  }

  private func with(_ words: [String] = [], _ body: (Folder) throws -> Void) throws {
    try ScratchFolder.with { path in
      let folder = try Folder(path, words)
      #expect(folder.result.errors == "" && folder.result.output == "")
      try #require(folder.result.status == 0)
      try body(folder)
    }
  }

  @Test func `each push is a file, sorted by time and rule, and equal rules give equal files`()
    throws
  {
    try with { folder in
      let names = try folder.names("ios")
      for name in [
        "00h00m15s-customer-ride-card-start.apns", "00h14m00s-customer-driver-arrived.apns",
        "00h14m00s-customer-ride-card-update.apns", "00h35m00s-customer-ride-card-end.apns",
      ] {
        #expect(names.contains(name), "\(name) in \(names)")
      }
      let pushes = try folder.pushes()
      let files = pushes.compactMap { $0["file"] as? String }
      let written = try names.map { "ios/" + $0 } + folder.names("android").map { "android/" + $0 }
      #expect(Set(files) == Set(written) && files.count == pushes.count)
      let times = pushes.compactMap { $0["at"] as? String }
      #expect(times == times.sorted() && times.count == pushes.count)
      for push in pushes {
        let hasToken = push["token"] is String
        #expect(hasToken == (push["file"] as? String)?.hasPrefix("ios/"), "\(push)")
      }
      try ScratchFolder.with { path in
        let again = try Folder(path)
        for file in files + ["pushes.json", "CardFixtureTests.swift", "CardFixtureTests.kt"] {
          #expect(try again.read(file) == folder.read(file), "\(file)")
        }
      }
    }
  }

  @Test func `fixtures are the messages that both kinds of phones receive on a ride`() throws {
    try ScratchFolder.with { path in
      let states = [
        "requested", "driver_assigned@2m", "driver_en_route", "driver_arrived", "ride_started",
        "ride_completed",
      ]
      let story = states.joined(separator: ",")
      let result = try Command.ridepulse(
        [
          "generate", "fixtures", "--story", story, "--output", path, "--app", "customer",
          "--schedules", Project.path("schedules"),
        ], ["APNS_CUSTOMER_BUNDLE_ID": "com.example.customer"])
      #expect(result.status == 0 && result.errors == "" && result.output == "")
      for (file, part) in [
        ("ios/00h02m00s-customer-ride-card-start.apns", #""event":"start""#),
        ("android/00h02m00s-customer-ride-card-start.json", #""rp_event":"start""#),
        ("android/00h22m00s-customer-ride-card-end.json", #""rp_event":"end""#),
        ("android/00h12m00s-customer-driver-arrived.json", #""rp_kind":"alert""#),
        ("android/00h22m00s-customer-ride-completed.json", #""rp_category":"RIDE_RATING""#),
      ] {
        let text = try? String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
        #expect(text?.contains(part) ?? false, "\(file): \(text ?? "is missing")")
      }
    }
  }

  @Test func `the data of a card is what its push has, byte for byte`() throws {
    try with { folder in
      let states = try folder.names("content-states/RideAttributes")
      #expect(states.count > 5 && states.allSatisfy { $0.contains("customer-ride-card") })
      for name in states {
        let state = try folder.read("content-states/RideAttributes/\(name)").dropLast()
        let push = try folder.read("ios/" + name.replacing(".json", with: ".apns"))
        #expect(push.contains("\"content-state\":\(state)"), "\(name): \(state) in \(push)")
        #expect(push.hasPrefix(#"{"Simulator Target Bundle":"\#(Self.bundle)",""#))
      }
      let start = "00h00m15s-customer-ride-card-start.json"
      #expect(try folder.names("attributes/RideAttributes").contains(start))
      #expect(try folder.read("attributes/RideAttributes/" + start) == "{\"rideId\":\"r1\"}\n")
    }
  }

  @Test func `generated Swift decodes all of them in an XCTest, and another contract none`() throws
  {
    try with(["--module", "Rides"]) { folder in
      try folder.generate("swift", to: "Rides.swift", ["--access", "public"])
      let run = try xctest(in: folder)
      #expect(run.status == 0, "\(run.output)\(run.errors)")
      #expect(run.output.contains("Executed 2 tests, with 0 failures"), "\(run.output)")
      let file =
        try "content-states/RideAttributes/" + #require(
          folder.names("content-states/RideAttributes").first)
      let text = try folder.read(file).replacing("\"status\":\"", with: "\"state\":\"")
      try folder.write(text, "fixtures/" + file)
      let failing = try xctest(in: folder)
      #expect(failing.status != 0 && failing.output.contains("status"), "\(failing.output)")
      #expect(failing.output.contains(file), "\(failing.output)")
    }
  }

  /// Compiles the types as a module, as an app's, and runs the generated tests with the toolchain's XCTest.
  private func xctest(in folder: Folder) throws -> Tool {
    let main = """
      import XCTest

      XCTMain([
        testCase([
          ("attributes", { (test: CardFixtureTests) in { try test.testAttributesOfRideAttributes() } }),
          ("states", { (test: CardFixtureTests) in { try test.testContentStatesOfRideAttributes() } }),
        ])
      ])

      """
    try folder.write(main, "main.swift")
    let compiled = try Tool.run(
      "/usr/bin/env",
      [
        "swiftc", "-swift-version", "6", "-parse-as-library", "-enable-testing", "-emit-module",
        "-emit-object", "-module-name", "Rides", "-o", "Rides.o", "Rides.swift",
      ], in: folder.path)
    try #require(compiled.status == 0, "\(compiled.errors)")
    let linked = try Tool.run(
      "/usr/bin/env",
      [
        // The generated test finds its files by the path that it was compiled from.
        "swiftc", "-I", ".", "-o", "tests", "main.swift",
        folder.fixtures + "/CardFixtureTests.swift", "Rides.o",
      ], in: folder.path)
    try #require(linked.status == 0, "\(linked.errors)\(linked.output)")
    return try Tool.run(folder.path + "/tests", [])
  }

  @Test(.enabled(if: KotlinCompiler.isInstalled, KotlinCompiler.missing))
  func `generated Kotlin decodes all of them, and another contract none`() throws {
    try with(["--package", "com.example.taxi"]) { folder in
      try folder.generate("kotlin", to: "Rides.kt", ["--package", "com.example.taxi"])
      try KotlinCompiler.compile(
        ["Rides.kt", "fixtures/CardFixtureTests.kt"], to: folder.path + "/tests.jar",
        in: folder.path)
      func run() throws -> Tool {
        try KotlinCompiler.run(
          "com.example.taxi.CardFixtures", [folder.fixtures], classes: [folder.path + "/tests.jar"])
      }
      let states = try folder.names("content-states/RideAttributes")
      let attributes = try folder.names("attributes/RideAttributes")
      #expect(try run().output == "\(states.count + attributes.count) files decoded\n")
      let file = "content-states/RideAttributes/\(states[0])"
      try folder.write("{}\n", "fixtures/" + file)
      let failing = try run()
      #expect(failing.status != 0 && failing.errors.contains("\(file): driverName is missing"))
    }
  }

  @Test func `the simulator accepts each push, and its inbox shows them`() async throws {
    let simulator = try SimulatorProcess("apns-simulator", ["--inbox", "127.0.0.1:0"])
    let inbox = try await InboxClient(simulator, "apns-simulator")
    try ScratchFolder.with { path in
      try Data(Self.storyOfNow().utf8).write(to: URL(fileURLWithPath: path + "/story.yaml"))
      let folder = try Folder(path, story: path + "/story.yaml")
      try #require(folder.result.status == 0, "\(folder.result.errors)")
      let pushes = try folder.pushes().filter { $0["token"] != nil }
      #expect(pushes.count > 8)
      for push in pushes {
        let file = try #require(push["file"] as? String)
        let tool = try Tool.run(
          SimulatorProcess.binary("apns-simulator").path,
          [
            "push", "\(folder.fixtures)/\(file)", "--port", String(simulator.port), "--state",
            simulator.directory.path, "--token", try #require(push["token"] as? String),
            "--priority", "\(push["priority"] ?? "")",
          ])
        #expect(tool.status == 0, "\(file): \(tool.output)\(tool.errors)")
      }
      let messages = try inbox.messages("?refused=false")
      #expect(messages.count == pushes.count)
      #expect(try inbox.messages("?refused=true").isEmpty)
      let headers = messages.compactMap { $0["headers"] as? [String: Any] }
      let topics = headers.compactMap { $0["apns-topic"] as? String }
      #expect(topics == pushes.compactMap { $0["topic"] as? String })
      let start = try #require(pushes.first?["token"] as? String)
      #expect(try inbox.messages("?token=\(start)&type=liveactivity&screen=true").count == 1)
    }
  }

  /// The shipped story, moved to the present: the simulator refuses a card's push of another day.
  private static func storyOfNow() throws -> String {
    let path = Project.path("docs/stories/normal.yaml")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let start = try #require(CivilTime.instant(iso: "2026-11-21T08:00:00Z"))
    let now = Timestamp(epochSeconds: Int64(Date().timeIntervalSince1970))
    return text.replacing("2026-11-21T08:00:00Z", with: CivilTime.iso(now))
      .replacing(/epoch: (\d+)/) { match in
        let time = (Int64(match.1) ?? 0) - start.epochSeconds + now.epochSeconds
        return "epoch: \(time)"
      }
  }

  @Test func `a missing bundle ID and the files of an earlier story are named`() throws {
    try ScratchFolder.with { path in
      #expect(try Folder(path).result.errors == "")
      let other = try Folder(path, story: "requested,driver_assigned@2m", [:])
      #expect(other.result.status == 0)
      #expect(other.result.errors.contains("APNS_CUSTOMER_BUNDLE_ID is not set"))
      #expect(other.result.errors.contains("of an earlier story, such as android/00h"))
    }
  }
}
