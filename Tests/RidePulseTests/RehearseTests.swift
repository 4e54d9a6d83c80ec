import Foundation
import LocalStack
import RideCore
import TestSupport
import Testing

/// `ridepulse rehearse`: its reports, exit codes and mistakes.
@Suite("The rehearsal of a day") struct RehearseTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden")
  private static let rules = golden + "/rehearsal-rules"
  private static let day = ["rehearse", golden + "/day.jsonl", "--schedules", rules]

  /// Returns a copy of the rules with one text replaced.
  private static func changedRules(
    _ old: String = "every: 20m", _ new: String = "every: 30m"
  ) throws -> String {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let text = try String(contentsOfFile: rules + "/rules.yaml", encoding: .utf8)
    try text.replacing(old, with: new).write(
      to: directory.appending(path: "rules.yaml"), atomically: true, encoding: .utf8)
    return directory.path
  }

  private static func withChangedRules(_ body: (String) throws -> Void) throws {
    let directory = try changedRules()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
  }

  @Test func `The table of one set of rules`() throws {
    let result = try Command.ridepulse(Self.day)
    #expect(result.status == 0, "\(result.errors)")
    let output = result.output.replacing(Self.rules, with: "RULES")
    #expect(try Golden.difference(of: output, from: Self.golden + "/rehearsal.table") == nil)
  }

  @Test func `A changed rule is named, with examples, and exits with 2`() throws {
    try Self.withChangedRules { other in
      let result = try Command.ridepulse(
        ["rehearse", Self.golden + "/day.jsonl", "--schedules", other, "--against", Self.rules])
      #expect(result.status == 2, "\(result.errors)")
      #expect(result.output.contains("beat: 1 removed") && result.output.contains("failed: "))
      let chosen = try Command.ridepulse(
        ["rehearse", Self.golden + "/day.jsonl", "--schedules", other, "--against", Self.rules]
          + ["--fail-on", "added,broken-promise"])
      #expect(chosen.status == 0, "\(chosen.errors)")
    }
  }

  @Test(arguments: ["table", "json", "html", "junit"])
  func `Equal input gives equal bytes on any number of cores`(format: String) throws {
    try Self.withChangedRules { other in
      func output(_ jobs: String) throws -> String {
        try Command.ridepulse(
          Self.day + ["--against", other, "--format", format, "--jobs", jobs, "--seed", "3"]
        ).output
      }
      let one = try output("1")
      #expect(try !one.isEmpty && output("1") == one && output("2") == one && output("3") == one)
    }
  }

  /// A pause ends within the pushes' validity; a 410 later takes what follows it.
  @Test func `A bad hour at APNs changes the day as a faults file states`() throws {
    let faults = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: faults) }
    try """
    when:
      - { at: 9m, apns: { status: 503, for: 90s } }
      - { at: 2026-11-21T09:10:00Z, apns: { status: 410, for: 1h } }
    """.write(to: faults, atomically: true, encoding: .utf8)
    let result = try Command.ridepulse(Self.day + ["--apns", faults.path])
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n").map { $0.split(separator: " ") }
    for (name, count) in [("rule arrived", "2"), ("beat, HTTP 410", "1"), ("card, HTTP 410", "1")] {
      let words = name.split(separator: " ")
      #expect(
        lines.contains { $0.dropLast().suffix(words.count) == words[...] && $0.last == count[...] },
        "\(result.output)")
    }
    try "when:\n  - { at: 9m, apns: { status: 5030 } }\n".write(
      to: faults, atomically: true, encoding: .utf8)
    let wrong = try Command.ridepulse(Self.day + ["--apns", faults.path])
    #expect(wrong.status == 1 && wrong.errors.contains("\(faults.path):2:"), "\(wrong.errors)")
  }

  @Test func `A former report stands in for the other rules`() throws {
    let report = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: report) }
    let made = try Command.ridepulse(Self.day + ["--format", "json", "--output", report])
    #expect(made.status == 0, "\(made.errors)")
    let same = try Command.ridepulse(Self.day + ["--against", report])
    #expect(same.status == 0 && same.output.contains("no change"), "\(same.errors)")
    try Self.withChangedRules { other in
      let result = try Command.ridepulse(
        ["rehearse", Self.golden + "/day.jsonl", "--schedules", other, "--against", report])
      #expect(result.status == 2 && result.output.contains("beat: "), "\(result.errors)")
    }
  }

  @Test func `The page has no script, what people notice first, and both days`() throws {
    try Self.withChangedRules { other in
      let limit = ["--fail-on", "rings-per-ride=0"]
      let html = try Command.ridepulse(
        Self.day + limit + ["--against", other, "--format", "html"]
      ).output
      let parts = ["What people notice", "rings-per-ride=0", "Alerts: no change", "What is sent"]
      let places = parts.map { html.range(of: $0)?.lowerBound }
      let known = places.compactMap(\.self)
      #expect(known.count == parts.count && known == known.sorted(), "\(html)")
      // Two days by minute, and the hours of the one app that shows anything.
      #expect(html.components(separatedBy: "<svg").count == 4)
      #expect(html.contains("<details><summary>What only wakes an app, and others: "))
      #expect(!html.contains("<script") && html.firstMatch(of: /https?:/) == nil)
    }
  }

  @Test func `A limit that a phone breaks exits with 2, and the screen is shown`() throws {
    let limits = ["--fail-on", "rings-per-ride=0,rings-per-ride=1"]
    let result = try Command.ridepulse(Self.day + limits)
    #expect(result.status == 2, "\(result.errors)")
    for part in [
      "limit rings-per-ride=0: broken by 2 phones\n", "limit rings-per-ride=1: kept\n",
      "ride r1: the phone of customer u1 rang too often: 1, at most 0\n",
      "    | \"Your driver is here\", rang at ", "failed: rings-per-ride (2)",
    ] { #expect(result.output.contains(part), "\(part): \(result.output)") }
    // The other rules break it as often.
    try Self.withChangedRules { other in
      let known = try Command.ridepulse(Self.day + limits + ["--against", other])
      #expect(known.status == 0, "\(known.output)")
      let line = "rings-per-ride=0: broken by 2 phones, 0 of them new (\(other): 2)"
      #expect(known.output.contains(line))
    }
  }

  @Test func `A limit without a value is that of the test files`() throws {
    let directory = try Self.changedRules()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try "never: { rings-per-ride: 0 }\n".write(
      toFile: directory + "/a.test.yaml", atomically: true, encoding: .utf8)
    let day = ["rehearse", Self.golden + "/day.jsonl", "--schedules", directory]
    for words in [[], ["--fail-on", "rings-per-ride"]] {
      let result = try Command.ridepulse(day + words)
      #expect(result.status == 2 && result.output.contains("rings-per-ride (2)"), "\(result)")
    }
    #expect(try Command.ridepulse(day + ["--fail-on", "added"]).status == 0)
  }

  /// Arguments after the day and the rules, exit status, and a part of the error message.
  private static let mistakes: [([String], Int32, String)] = [
    (["--against", "/nope"], 64, "--against /nope does not exist"),
    (["--against", "recorded"], 64, "the day was not recorded by ridepulse"),
    (["--against", golden + "/day.jsonl"], 1, "is not an output of rehearse --format json"),
    (["--fail-on", "aded"], 64, "did you mean added?"),
    (["--fail-on", "added=3"], 64, "added takes no value"),
    (["--fail-on", "rings-per-ride"], 64, "expected one such as rings-per-ride=4"),
    (["--fail-on", "rings-per-ride=x"], 64, "rings-per-ride=x: rings-per-ride is the text"),
    (["--apns", "/nope.yaml"], 1, "/nope.yaml: the file can't be read"),
    (["--jobs", "0"], 64, "--jobs 0"),
  ]

  @Test(arguments: mistakes.indices) func `A mistake gets one message`(index: Int) throws {
    let (words, status, message) = Self.mistakes[index]
    let result = try Command.ridepulse(Self.day + words)
    #expect(result.status == status && result.output.isEmpty, "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  @Test func `A broken day is reported with file, line and path`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try #"{"day":9}"#.write(to: URL(filePath: path), atomically: true, encoding: .utf8)
    let result = try Command.ridepulse(["rehearse", path, "--schedules", Self.rules])
    #expect(result.status == 1)
    #expect(result.errors.contains("\(path):1: day: a day of format 9"), "\(result.errors)")
  }
}
