import Foundation
import LocalStack
import PostgresStore
import Testing
import TestSupport

@testable import Base
@testable import RideCore
@testable import RidePulse

/// Text from outside controls neither terminal nor browser nor shell, whichever command shows it.
@Suite(.timeLimit(.minutes(60))) struct HostileTextTests {
  private static let rules = """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: "{{ride.attributes.driver_name}}" }
        data: { ride_id: "{{ride.id}}" }
        expires: 1h

    """

  private static let environment = ["APNS_CUSTOMER_BUNDLE_ID": "com.example.customer"]

  /// Creates a folder with these rule files.
  private func folder(_ files: [String: String]) throws -> String {
    let folder = "/tmp/ridepulse-hostile-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in files {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    return folder
  }

  private func preview(_ words: [String]) throws -> Tool {
    let (rules, rides) = (try folder(["a.yaml": Self.rules]), try HostileText.ridesFile())
    defer { for path in [rules, rides] { try? FileManager.default.removeItem(atPath: path) } }
    return try Command.ridepulse(
      [
        "preview", "--rides", rides, "--schedules", rules, "--from", "2026-11-21T08:00:00Z",
        "--for",
        "1h",
      ] + words, Self.environment)
  }

  // MARK: preview

  /// A browser's rules for what is an element, and for what the page's policy allows.
  private static let browser = #"""
    import base64, hashlib, json, sys
    from html.parser import HTMLParser
    class Page(HTMLParser):
        def __init__(self):
            super().__init__(convert_charrefs=True)
            self.open, self.tags, self.policy, self.texts = None, set(), "", {}
        def handle_starttag(self, tag, attributes):
            attributes = dict(attributes)
            if tag == "meta" and attributes.get("http-equiv", "").lower() == "content-security-policy":
                self.policy = attributes["content"]
            self.open = attributes.get("class", tag) if tag == "bdi" else tag
            self.tags.add(tag)
            self.texts.setdefault(self.open, []).append("")
        def handle_data(self, data):
            if self.open: self.texts[self.open][-1] += data
        def handle_endtag(self, tag): self.open = None
    page = Page()
    page.feed(open(sys.argv[1], encoding="utf-8", newline="").read())
    print("foreign", sorted(page.tags & {"script", "img", "iframe", "object", "a", "form"}))
    style = page.texts["style"][0]
    known = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    print("policy", page.policy.split(";")[0], "'sha256-" + known + "'" in page.policy,
      "script" in page.policy, "unsafe" in page.policy)
    for ride in page.texts["ride"]: print(json.dumps(ride))
    """#

  @Test func `The preview's page has no script and shows each text`() throws {
    let result = try preview(["--format", "html"])
    #expect(result.status == 0, "\(result.errors)")
    let page = try folder(["page.html": result.output])
    defer { try? FileManager.default.removeItem(atPath: page) }
    let seen = try Command.run("/usr/bin/python3", ["-c", Self.browser, page + "/page.html"])
    let lines = seen.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "foreign []", "\(seen)")
    #expect(lines.dropFirst().first == "policy default-src 'none' True False False", "\(seen)")
    let rides = lines.dropFirst(2).compactMap { line -> [Unicode.Scalar]? in
      guard case .string(let ride) = JSONValue(json: line.utf8) else { return nil }
      return Array(ride.unicodeScalars)
    }
    // Control characters have no place in a page.
    let texts = HostileText.texts.map { text in
      text.unicodeScalars.map { scalar -> Unicode.Scalar in
        scalar.properties.generalCategory == .control ? "\u{fffd}" : scalar
      }
    }
    #expect(Set(rides) == Set(texts))
  }

  @Test func `The preview's table, lines and comparison contain no control characters`() throws {
    for words in [[], ["--format", "json"]] {
      let result = try preview(words)
      #expect(result.status == 0, "\(result.errors)")
      HostileText.expectTame(result.output)
    }
    let json = try preview(["--format", "json"]).output.split(separator: "\n").dropLast()
    #expect(json.count == HostileText.texts.count)
    #expect(json.allSatisfy { JSONValue(json: $0.utf8) != nil })
    let other = try folder(["a.yaml": Self.rules.replacing("{{ride.id}}", with: "x")])
    defer { try? FileManager.default.removeItem(atPath: other) }
    for format in ["table", "json"] {
      let diff = try preview(["--diff", other, "--format", format])
      #expect(diff.status == 2)
      HostileText.expectTame(diff.output)
    }
  }

  // MARK: check

  @Test func `check escapes names and contents of rule files`() throws {
    for text in HostileText.texts where !text.contains("/") {
      let rules = try folder([
        "\(text).yaml":
          "rules:\n  - { name: a, on: \(String(decoding: JSONValue.string(text).json, as: UTF8.self)) }\n"
      ])
      defer { try? FileManager.default.removeItem(atPath: rules) }
      let result = try Command.ridepulse(["check", rules])
      #expect(result.status == 2)
      HostileText.expectTame(result.output)
      HostileText.expectTame(
        try Command.ridepulse(["trigger", text, "--ride", text, "--schedules", rules]).errors)
    }
  }

  // MARK: With a database

  @Test func `explain and trigger escape texts, and their printed commands are safe to paste`()
    async throws
  {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      for (index, text) in HostileText.texts.enumerated() {
        try await stage.sql(
          """
          select ridepulse.register_device('customer', 'c\(index)', '\(Self.token(index))');
          insert into ridepulse.rides (id, state, customer_id, attributes)
          values (\(SQLText.literal(text)), 'driver_assigned', 'c\(index)',
            jsonb_build_object('driver_name', \(SQLText.literal(text))))
          """)
        let dry = try Command.ridepulse(
          ["trigger", "driver_arrived", "--ride", text, "--dry-run"], environment)
        #expect(dry.status == 0, "\(dry.errors)")
        HostileText.expectTame(dry.output)
        HostileText.expectTame(
          try Command.ridepulse(["trigger", "driver_arrived", "--ride", text], environment).output)
        HostileText.expectTame(
          try Command.ridepulse(["explain", "no " + text], environment).errors)
      }
      let once = try Command.ridepulse(["serve", "--once"], environment)
      #expect(once.status == 0)
      HostileText.expectTame(once.errors)
      try await stage.sql(
        "update ridepulse.agenda set parked_reason = ride_id || E'\\n\\u001b[2J'")
      for text in HostileText.texts {
        let table = try Command.ridepulse(["explain", text], environment).output
        HostileText.expectTame(table)
        let json = try Command.ridepulse(["explain", text, "--format", "json"], environment).output
        HostileText.expectTame(json)
        #expect(JSONValue(json: json.utf8) != nil)
        let line = table.split(separator: "\n").last { $0.contains("ridepulse unpark") } ?? ""
        let words = try #require(line.components(separatedBy: "ridepulse unpark").last)
        let unparked = try Command.run(
          "/bin/bash", ["-c", "exec \(try Command.ridepulse) unpark \(words)"], environment)
        #expect(unparked.status == 0, "\(words): \(unparked.errors)")
        HostileText.expectTame(unparked.output)
      }
      let left = try await stage.value(
        "select count(*) from ridepulse.agenda where parked_reason is not null")
      #expect(left == "0")
    }
  }

  private static func token(_ index: Int) -> String {
    String(repeating: "a\(index % 10)b\(index / 10)", count: 16)
  }

  @Test func `channels escapes ride IDs`() async throws {
    try await Stage.run { stage in
      for text in HostileText.texts.prefix(8) {
        let words = ["channels", "create", "--app", "customer", "--ride", text]
        #expect(try Command.ridepulse(words, stage.environment).status == 0)
      }
      for format in ["table", "json"] {
        let list = try Command.ridepulse(
          ["channels", "list", "--app", "customer", "--format", format], stage.environment)
        #expect(list.status == 0, "\(list.errors)")
        HostileText.expectTame(list.output)
      }
    }
  }

  @Test func `doctor escapes texts, and its printed commands are safe to paste`()
    async throws
  {
    try await Stage.run { stage in
      for (index, text) in HostileText.texts.enumerated() {
        try await stage.sql(
          """
          insert into ridepulse.devices (app, owner_id, token)
          values (\(SQLText.literal(text)), 'c\(index)', '\(Self.token(index))');
          update ridepulse.devices set quarantined_at = now()
          """)
      }
      let environment = stage.environment.merging(
        ["APNS_PRIVATE_KEY_PATH": "/tmp/no\u{1b}[2J '$(touch /tmp/owned)\u{301}.p8"]) { $1 }
      for format in ["table", "json"] {
        let result = try Command.ridepulse(["doctor", "--format", format], environment)
        #expect(result.status == 2)
        HostileText.expectTame(result.output)
      }
    }
  }

  @Test(arguments: HostileText.texts) func `The demo's screen contains no control characters`(
    text: String
  ) {
    var board = DemoBoard()
    board.observe(.request(ride: "r1", customer: "c1", driver: "d1", attributes: "{}"))
    let entry = LedgerEntry(
      id: PushID(of: "x"), event: RideEvent(id: 1, name: text, at: Timestamp(epochSeconds: 1)),
      rule: text, app: App(rawValue: text), pushType: .alert, status: .rejected,
      reason: LedgerReason(.engine(.unlisted), text),
      attempts: 1)
    let lines = [board.observe(entry, of: "r1")] + board.screen(elapsed: .zero)
    for line in lines {
      HostileText.expectTame(line)
      #expect(!line.utf8.contains(0x0a), "each is one line")
    }
  }

  // MARK: Logs

  @Test func `A field of a log line cannot forge another`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let server = try Server(environment)
      let rules = try #require(environment["RIDEPULSE_SCHEDULES"])
      for (index, text) in HostileText.texts.enumerated() where !text.contains("/") {
        try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: "\(rules)/\(index)\(text).yaml"))
      }
      server.hangUp()
      try await server.waitForLog("APNs keys reloaded")
      #expect(server.stop() == 0)
      HostileText.expectTame(server.log)
      #expect(server.log.split(separator: "\n").allSatisfy { $0.hasPrefix("20") })
    }
  }

  @Test(arguments: HostileText.texts) func `A log record is one line and parses back`(
    text: String
  ) throws {
    func line(_ format: LogWriter.Format) -> String {
      LogWriter.line(
        format, at: Timestamp(epochSeconds: 1_780_000_000), level: .error, event: .serving,
        fields: [("a", text), ("b", "c")])
    }
    for format in LogWriter.Format.allCases {
      HostileText.expectTame(line(format))
      #expect(!line(format).utf8.contains(0x0a))
    }
    let record = try #require(JSONValue(json: line(.json).utf8))
    #expect(record.value(at: ["a"]) == .string(text))
    // A quoted value ends where its JSON string ends, and not at a quote followed by a combining
    // mark.
    let rest = try #require(line(.text).split(separator: " a=", maxSplits: 1).last)
    if rest.unicodeScalars.first == "\"" {
      let value = String(rest.dropLast(" b=c".count))
      #expect(JSONValue(json: value.utf8) == .string(text), "\(value)")
    }
  }
}
