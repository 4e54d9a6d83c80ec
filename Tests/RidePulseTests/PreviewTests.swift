import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

@Suite("The preview") struct PreviewTests {
  private static let golden = Project.root.appendingPathComponent("Tests/RidePulseTests/Golden")
  private static let words = [
    "preview", "--rides", golden.path + "/rides.jsonl", "--from", "2026-10-25T00:00:00Z", "--for",
    "100m", "--schedules", golden.path + "/rules",
  ]
  private static let environment = [
    "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer",
    "APNS_DRIVER_BUNDLE_ID": "com.example.driver",
  ]

  private func expect(
    _ words: [String], is name: String, status: Int32 = 0,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let result = try Command.ridepulse(Self.words + words, Self.environment)
    #expect(result.status == status, "\(result.errors)", sourceLocation: sourceLocation)
    let file = Self.golden.path + "/" + name
    #expect(
      try Golden.difference(of: result.output, from: file) == nil, sourceLocation: sourceLocation)
  }

  @Test func `The table`() throws { try expect([], is: "preview.table") }

  @Test func `JSON lines, the same bytes each time`() throws {
    try expect(["--format", "json"], is: "preview.jsonl")
    try expect(["--format", "json"], is: "preview.jsonl")
  }

  @Test func `The difference to other rule files`() throws {
    let other = Self.golden.path + "/other"
    try expect(["--diff", other], is: "preview.diff", status: 2)
    let same = try Command.ridepulse(Self.words + ["--diff", Self.golden.path + "/rules"])
    #expect(same.status == 0 && same.output.hasPrefix("no change:"))
  }

  @Test func `A rule of an event that changed is named, although no push of the window shows it`()
    throws
  {
    let folder = try ScratchFolder.create("rules")
    defer { ScratchFolder.remove(folder) }
    let (old, new) = (folder + "/old", folder + "/new")
    for (directory, title) in [(old, "Here"), (new, "There")] {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      let rule = "{ name: arrived, app: customer, on: driver_arrived, expires: 1m,"
      try Data("rules: [\(rule) alert: { title: \(title) } }]\n".utf8)
        .write(to: URL(fileURLWithPath: directory + "/a.yaml"))
    }
    let words = Self.words.filter { !$0.contains("/rules") && $0 != "--schedules" }
    let diff = ["--schedules", old, "--diff", new]
    let table = try Command.ridepulse(words + diff, Self.environment)
    #expect(table.status == 2, "\(table)")
    #expect(table.output.contains("changed, and not seen in this window: arrived\n"))
    #expect(!table.output.contains("no change"))
    let json = try Command.ridepulse(words + diff + ["--format", "json"], Self.environment)
    let summary = json.output.split(separator: "\n").last.flatMap { JSONValue(json: $0.utf8) }
    #expect(summary?.value(at: ["unseen", "changed"])?.texts == ["arrived"])
    let none = try Command.ridepulse(
      words + ["--schedules", old, "--diff", old], Self.environment)
    #expect(none.status == 0 && none.output.hasPrefix("no change:"), "\(none)")
  }

  @Test func `One ride, one rule, a limit`() throws {
    func lines(_ words: [String]) throws -> [JSONValue] {
      let result = try Command.ridepulse(
        Self.words + ["--format", "json"] + words, Self.environment)
      return result.output.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }.dropLast()
    }
    let rides = try lines(["--ride", "b"]).map { $0.value(at: ["ride_id"]) }
    #expect(rides == [.string("b")])
    let rules = try lines(["--rule", "night-shift"]).map { $0.value(at: ["rule"]) }
    #expect(rules == [.string("night-shift"), .string("night-shift")])
    #expect(try lines(["--limit", "3"]).count == 3)
  }

  /// Arguments, exit status, and a part of the error message.
  private static let mistakes: [([String], Int32, String)] = [
    (["--from", "yesterday"], 64, "--from yesterday is not a time"),
    (["--from", "2026-10-25T00:00:00"], 64, "one with a zone"),
    (["--for", "soon"], 64, "--for soon is not a duration"),
    (["--format", "jsn"], 64, "did you mean json?"),
    (["--limit", "0"], 64, "--limit 0 is not a whole number"),
    (["--rule", "heartbeet"], 64, "did you mean heartbeat?"),
    (["--rides", "/nope"], 1, "--rides: /nope can't be read"),
    (["--ride", "nobody"], 1, "has no ride nobody"),
    (["--output", "/nope/x"], 1, "--output: /nope/x can't be written"),
    (["--format", "html", "--diff", golden.path + "/other"], 64, "--diff has no html"),
  ]

  @Test(arguments: mistakes.indices)
  func `A mistake gets one message`(index: Int) throws {
    let (words, status, message) = Self.mistakes[index]
    let names = Set(words.filter { $0.hasPrefix("--") })
    var base: [String] = []
    var rest = Self.words[...]
    while let word = rest.popFirst() {
      if names.contains(word) { _ = rest.popFirst() } else { base.append(word) }
    }
    let result = try Command.ridepulse(base + words, Self.environment)
    #expect(result.status == status, "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
    #expect(result.output.isEmpty)
  }

  /// A line of a rides file, and a part of its error message.
  private static let lines: [(String, String)] = [
    ("{", "the line is not a JSON object"), ("[]", "the line is not a JSON object"),
    ("{}", "no id"), (#"{"id":5}"#, "id is not a text"),
    (#"{"id":"a","sate":"x"}"#, "unknown key sate in the line; did you mean state?"),
    (#"{"id":"a","pickup_at":"noon"}"#, "pickup_at is not a time such as"),
    (#"{"id":"a","pickup_at":"2026-10-25T00:00:00Zoo"}"#, "pickup_at is not a time such as"),
    (#"{"id":"a","attributes":[]}"#, "attributes is not an object"),
    (#"{"id":"a","phones":{}}"#, "phones is not a list"),
    (#"{"id":"a","participants":[{"app":"x"}]}"#, "a participant without app or owner_id"),
    (
      #"{"id":"a","participants":[{"app":"x","owner":"y"}]}"#,
      "unknown key owner in a participant"
    ),
    (#"{"id":"a","phones":[{"app":"x"}]}"#, "a phone without app or token"),
    (
      #"{"id":"a","phones":[{"app":"x","token":"aa","environment":"test"}]}"#,
      "environment is neither"
    ),
    (
      #"{"id":"a","phones":[{"app":"x","token":"aa","platform":"windows"}]}"#,
      "platform is neither ios nor android"
    ),
    (
      #"{"id":"a","phones":[{"app":"x","token":"a b","platform":"android"}]}"#,
      "token is not a registration of FCM"
    ),
    (
      #"{"id":"a","phones":[{"app":"x","token":"a","platform":"android","environment":"sandbox"}]}"#,
      "environment of an Android phone"
    ),
    ("{\"id\":\"a\"}\n{\"id\":\"a\"}", ":3: the ride a for the second time"),
  ]

  @Test(arguments: lines.indices)
  func `An unreadable line is named`(index: Int) throws {
    let (line, message) = Self.lines[index]
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("\n\(line)\n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var words = Self.words
    words[2] = file.path
    let result = try Command.ridepulse(words, Self.environment)
    #expect(result.status == 1)
    #expect(result.errors.contains("\(file.path):"), "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  @Test func `The page renders in a browser`() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("ridepulse-page-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let page = directory.appendingPathComponent("page.html")
    let result = try Command.ridepulse(
      Self.words + ["--format", "html", "--output", page.path], Self.environment)
    #expect(result.status == 0, "\(result.errors)")
    let html = try String(contentsOf: page, encoding: .utf8)
    #expect(!html.contains("<script") && html.firstMatch(of: /https?:/) == nil)
    let browser = "/usr/bin/chromium"
    guard FileManager.default.isExecutableFile(atPath: browser) else {
      print("no \(browser): the page was not looked at")
      try FileManager.default.removeItem(at: directory)
      return
    }
    let options = [
      "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
      "--user-data-dir=\(directory.path)/profile",
    ]
    let dom = try Command.run(
      browser, options + ["--dump-dom", page.absoluteString], ["HOME": directory.path])
    #expect(dom.output.components(separatedBy: "<li><time").count - 1 == 28)
    #expect(dom.output.contains("<details><summary>"))
    #expect(dom.output.contains("48 pushes about 7 rides"))
    #expect(dom.output.contains("the clocks go back at 2026-10-25T01:00:00Z"))
    let shot = FileManager.default.temporaryDirectory
      .appendingPathComponent("ridepulse-preview.png")
    _ = try Command.run(
      browser,
      options + ["--screenshot=\(shot.path)", "--window-size=1100,600", page.absoluteString],
      ["HOME": directory.path])
    let size = try FileManager.default.attributesOfItem(atPath: shot.path)[.size] as? Int ?? 0
    #expect(size > 10_000)
    print("screenshot of the preview: \(shot.path)")
    try FileManager.default.removeItem(at: directory)
  }

  @Test func `R52: from the database, with a read-only role and without APNs`()
    async throws
  {
    try await Stage.run { stage in
      // More than a page of rides, which are read in parts.
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd1', 'd1d1d1d1d1');
        insert into ridepulse.rides (id, state, driver_id)
        select 'ride-' || n, 'driver_en_route', 'd1' from generate_series(1, 2010) n;
        """)
      let before = try await stage.rows("select * from ridepulse.events order by id")
      // From the rides' start: from now, a slow machine would see a third heartbeat.
      let from = try #require(
        await stage.value(
          """
          select to_char(date_trunc('second', min(created_at)) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS"Z"') from ridepulse.events
          """))
      try await stage.asReader { environment in
        let result = try Command.ridepulse(
          [
            "preview", "--from", from, "--for", "11m", "--format", "json", "--schedules",
            Self.golden.path + "/rules",
          ], environment)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        // Heartbeats after 5 and 10 minutes, each slightly later.
        #expect(lines.count == 2 * 2010 + 1)
        #expect(lines.last?.contains(#""pushes":4020"#) == true)
      }
      #expect(try await stage.rows("select * from ridepulse.events order by id") == before)
      #expect(try await stage.value("select count(*) from ridepulse.agenda") == "0")
    }
  }
}
