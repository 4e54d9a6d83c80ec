import Foundation
import Testing
import TestSupport

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `strings/<locale>.yaml`, and what rules make of them.
@Suite struct StringsTests {
  static let english = """
    arrived:
      title: Your driver is here
      body: "{{ride.attributes.driver_name | default: 'Your driver'}} is waiting"
    bye.now: See you
    """
  static let german = """
    arrived:
      title: Dein Fahrer ist da
      body: "{{ride.attributes.driver_name | default: 'Dein Fahrer'}} wartet"
    """

  static func load(
    _ rule: String, _ strings: [(String, String)] = [("en", english), ("de", german)]
  ) -> Result<LoadedRules, RuleProblems> {
    RuleDirectory.parse(
      files: [("a.yaml", Array(rule.utf8))],
      strings: strings.map { ("strings/\($0.0).yaml", Array($0.1.utf8)) })
  }

  private func problems(_ rule: String, _ strings: [(String, String)]? = nil) -> [String] {
    let loaded = strings.map { Self.load(rule, $0) } ?? Self.load(rule)
    switch loaded {
    case .success: return []
    case .failure(let failure): return failure.problems.map(\.description)
    }
  }

  /// Returns the payload of the file's rule for a phone of this locale.
  private func payload(
    _ change: String, _ locale: String?, file: String = ""
  ) throws -> JSONValue {
    let rules = try Self.load(file + ruleFile(changing: change)).get().ruleSet
    let ride = Ride(id: "r1", state: "ride_started")
    let context = TemplateContext(
      ride: ride, attributes: JSONValue(json: #"{"driver_name":"Ana"}"#.utf8),
      event: RideEvent(id: 1, name: "ride_started", at: Timestamp(epochSeconds: 1_800_000_000)))
    let rule = try #require(rules.rule(named: "r"))
    let json = try rule.payload.render(in: context, locale: locale)
    return try #require(JSONValue(json: json))
  }

  @Test(
    arguments: [
      ("title: '{{strings.arrived.title}}'", "de-AT", "Dein Fahrer ist da"),
      ("title: '{{strings.arrived.title}}'", "en-GB", "Your driver is here"),
      ("title: '{{ strings.arrived.title }}'", "fr", "Dein Fahrer ist da"),
      ("title: '{{strings.arrived.body}}'", "de", "Ana wartet"),
      ("title: '{{ride.id}}: {{strings.arrived.body}}!'", "de", "r1: Ana wartet!"),
      (
        "title: '{{strings.arrived.title}}, {{strings.arrived.body}}'", "en",
        "Your driver is here, Ana is waiting"
      ),
      // A language that one of the two lacks.
      (
        "title: '{{strings.arrived.title}}. {{strings.bye.now}}'", "de",
        "Dein Fahrer ist da. See you"
      ),
      ("title: { de: Hallo, en: '{{strings.arrived.title}}' }", "de", "Hallo"),
      ("title: { de: Hallo, en: '{{strings.arrived.title}}' }", "en", "Your driver is here"),
      (
        "title: { de-AT: 'Servus. {{strings.arrived.title}}', en: x }", "de-AT",
        "Servus. Dein Fahrer ist da"
      ),
      ("title: { en: x, default: '{{strings.arrived.title}}' }", "fr", "Dein Fahrer ist da"),
    ])
  func `R93: strings in a text`(title: String, locale: String, expected: String) throws {
    let payload = try payload("alert: { \(title) }", locale)
    #expect(payload.value(at: ["aps", "alert", "title"]) == .string(expected))
  }

  @Test(arguments: [
    ("fr", "Your driver is here"), ("de", "Dein Fahrer ist da"), (nil, "Your driver is here"),
  ])
  func `R93: defaults.locale is for phones of any other language`(
    locale: String?, expected: String
  ) throws {
    let payload = try payload(
      "alert: { title: '{{strings.arrived.title}}' }", locale, file: "defaults: { locale: en }\n")
    #expect(payload.value(at: ["aps", "alert", "title"]) == .string(expected))
  }

  @Test(arguments: [("de", "Dein Fahrer ist da", "Tor"), ("en-US", "Your driver is here", "Gate")])
  func `R93: localised values in data`(locale: String, string: String, map: String) throws {
    let payload = try payload(
      """
      data:
        a: "{{strings.arrived.title}}"
        b: [{ value: { en: Gate, de: Tor }, type: string }]
        c: { value: { en: 1 }, type: int }
        d: { value: { engine: x }, type: string }
      """, locale)
    #expect(payload.value(at: ["a"]) == .string(string))
    #expect(payload.value(at: ["b"]) == .array([.string(map)]))
    #expect(payload.value(at: ["c", "value", "en"]) == .integer(1))
    #expect(payload.value(at: ["d", "value", "engine"]) == .string("x"))
  }

  @Test(arguments: [
    ("name: arrived\nalert: {}", "de", #"{"body":"Ana wartet","title":"Dein Fahrer ist da"}"#),
    (
      "name: arrived\nalert: { sound: default }", "en",
      #"{"body":"Ana is waiting","title":"Your driver is here"}"#
    ),
    // A text of its own, or a key of the app's, and nothing by its name.
    ("name: arrived\nalert: { title: Here }", "en", #"{"title":"Here"}"#),
    ("name: arrived\nalert: { loc-key: HERE }", "en", #"{"loc-key":"HERE"}"#),
    ("name: arrived\nalert: { subtitle: x, badge: 1 }", "en", #"{"subtitle":"x"}"#),
    // A sound alone.
    ("name: r\nalert: { sound: default }", "en", nil),
    // Two apps have the texts of one rule.
    (
      "name: arrived\napp: [customer, fleet]\nalert: {}", "en",
      #"{"body":"Ana is waiting","title":"Your driver is here"}"#
    ),
    // A language without a title gets that of defaults.locale.
    ("name: bye\nalert: {}", "fr", #"{"body":"Bis bald","subtitle":"Bye","title":"Bye"}"#),
  ])
  func `R93: an alert without texts has the strings of its rule's name`(
    change: String, locale: String, expected: String?
  ) throws {
    let bye = [
      ("en", Self.english + "\nbye: { title: Bye, subtitle: Bye, body: Bye }"),
      ("de", Self.german + "\nbye: { body: Bis bald }"), ("fr", "bye: { body: Bis bald }"),
    ]
    let file = "defaults: { locale: en }\n" + ruleFile(changing: change)
    let rules = try Self.load(file, bye).get().ruleSet
    let name = try #require(rules.rules.first?.name)
    let rule = try #require(rules.rule(named: name))
    let ride = Ride(id: "r1", state: "ride_started")
    let context = TemplateContext(
      ride: ride, attributes: JSONValue(json: #"{"driver_name":"Ana"}"#.utf8),
      event: RideEvent(id: 1, name: "ride_started", at: Timestamp(epochSeconds: 1_800_000_000)))
    let json = try #require(JSONValue(json: try rule.payload.render(in: context, locale: locale)))
    let alert = json.value(at: ["aps", "alert"])
    #expect(alert == expected.flatMap { JSONValue(json: $0.utf8) })
  }

  @Test func `R93: strings/default.yaml has the texts of defaults.locale, too`() {
    let file =
      "defaults: { locale: en }\n" + ruleFile(changing: "name: bye\nalert: { sound: default }")
    #expect(problems(file, [("default", "bye: { title: Bye }")]) == [])
    #expect(problems(file, [("de", "bye: { title: Bis bald }")]).count == 1)
  }

  @Test(arguments: GoldenCase.all(in: "strings.txt"))
  func `R93: mistakes in rules and strings`(row: GoldenCase) {
    #expect(Self.messages(of: row) == row.expected)
  }

  /// A case is a rule file, and after lines `# LOCALE.yaml` the strings.
  static func messages(of row: GoldenCase) -> [String] {
    let parts = row.input.split(separator: "# ", omittingEmptySubsequences: false)
    let strings = parts.dropFirst().map { part -> (name: String, bytes: [UInt8]) in
      let cut = part.firstIndex(of: "\n") ?? part.endIndex
      return ("strings/\(part[..<cut])", Array(part[cut...].dropFirst().utf8))
    }
    let change = String(parts[0])
    let file =
      change.hasPrefix("rules:") || change.hasPrefix("defaults:")
      ? change : ruleFile(changing: change)
    switch RuleDirectory.parse(files: [("a.yaml", Array(file.utf8))], strings: strings) {
    case .success: return []
    case .failure(let failure): return failure.problems.map(\.description)
    }
  }

  @Test func `a broken strings file is reported once, not as unknown strings`() {
    let found = problems(
      ruleFile(changing: "alert: { title: '{{strings.a}}' }"), [("en", "a: [x"), ("de", "a: x")])
    #expect(found.count == 1 && found[0].hasPrefix("strings/en.yaml:"), "\(found)")
  }

  @Test func `R115: strings are part of the digest, as sha256sum computes it`() throws {
    let path = try ScratchFolder.create("strings")
    defer { ScratchFolder.remove(path) }
    func write(_ text: String, _ name: String) throws {
      try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
    }
    try FileManager.default.createDirectory(
      atPath: "\(path)/strings", withIntermediateDirectories: false)
    try write(ruleFile(changing: "alert: { title: '{{strings.arrived.title}}' }"), "z.yaml")
    try write(Self.english, "strings/en.yaml")
    try write("broken: [", "strings/_draft.yaml")
    try write("not read", "strings/README.md")
    let first = try RuleDirectory.load(path).get().ruleSet.digest
    try write(Self.german, "strings/de.yaml")
    let digest = try RuleDirectory.load(path).get().ruleSet.digest
    #expect(digest != first)
    let sum = try Tool.run(
      "/bin/sh",
      [
        "-c",
        "cd \(path) && LC_ALL=C sha256sum -- [!_.]*.yaml strings/[!_.]*.yaml | sha256sum | cut -d ' ' -f 1",
      ])
    #expect(sum.output == digest + "\n")
    try write("x: y", "strings/fr.yml")
    let failure = #expect(throws: RuleProblems.self) { try RuleDirectory.load(path).get() }
    #expect(failure?.problems.map(\.file) == ["\(path)/strings/fr.yml"])
  }

  @Test func `a file named strings is not a folder of them`() throws {
    let path = try ScratchFolder.create("strings-file")
    defer { ScratchFolder.remove(path) }
    try ruleFile().write(toFile: "\(path)/a.yaml", atomically: false, encoding: .utf8)
    try "x".write(toFile: "\(path)/strings", atomically: false, encoding: .utf8)
    #expect(try RuleDirectory.load(path).get().ruleCount == 1)
  }
}
