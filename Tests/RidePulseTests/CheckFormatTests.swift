import Base
import Foundation
import RideCore
import RuleFiles
import TestSupport
import Testing

@testable import RidePulse

/// Tests of what `ridepulse check --format` prints for programs.
@Suite("Formats of check") struct CheckFormatTests {
  private static let mistake = """
    states: { active: [requested], final: [done] }
    rules:
      - name: arrived
        app: customer
        on: requested
        alert: { title: "Here, at 100%", titel: x }
        expires: 5m

    """

  /// A rule that is valid and fires on a state that its `while` excludes.
  private static let warning = """
    states: { active: [requested, waiting], final: [done] }
    rules:
      - name: arrived
        app: customer
        on: requested
        while: [waiting]
        alert: { title: "Here" }
        expires: 5m

    """

  private func check(
    _ rules: String, _ format: String, name: String = "rules", _ words: [String] = []
  ) throws -> Tool {
    try ScratchFolder.with { folder in
      let directory = "\(folder)/\(name)"
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      try Data(rules.utf8).write(to: URL(fileURLWithPath: directory + "/a.yaml"))
      return try Command.ridepulse(["check", name, "--format", format] + words, in: folder)
    }
  }

  private func json(_ tool: Tool) throws -> JSONValue {
    let lines = tool.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 2 && lines.last == "", "\(tool)")
    return try #require(JSONValue(json: tool.output.utf8), "\(tool)")
  }

  @Test func `a problem in JSON has its file, line and column`() throws {
    let found = try check(Self.mistake, "json")
    #expect(found.status == 2)
    let report = try json(found)
    #expect(report["problems"] == .integer(1) && report["digest"] == .null)
    let finding = try #require(report["findings"]?.elements.first)
    #expect(finding["file"] == .string("rules/a.yaml"))
    #expect(finding["line"] == .integer(6) && finding["column"] == .integer(38))
    #expect(finding["severity"] == .string("error") && finding["kind"] == .string("rule-file"))
    #expect(finding["message"]?.texts.first?.contains("titel") == true, "\(finding)")
  }

  @Test func `a warning in JSON has its rule, and the rules their digest and numbers`() throws {
    let found = try check(Self.warning, "json")
    #expect(found.status == 0, "\(found)")
    let report = try json(found)
    #expect(report["problems"] == .integer(0))
    #expect(report["rules"] == .integer(1) && report["files"] == .integer(1))
    #expect(report["digest"]?.texts.first?.utf8.count == 64)
    let finding = try #require(
      report["findings"]?.elements.first {
        $0["message"]?.texts.first?.contains("can't fire") == true
      })
    #expect(finding["severity"] == .string("warning") && finding["rule"] == .string("arrived"))
    #expect(finding["file"] == .string("rules/a.yaml") && finding["line"] == .integer(3))
  }

  @Test func `SARIF has what code scanning requires`() throws {
    let log = try json(try check(Self.mistake, "sarif"))
    #expect(log["version"] == .string("2.1.0"))
    #expect(log["$schema"]?.texts.first?.contains("sarif-2.1.0") == true)
    let run = try #require(log["runs"]?.elements.first)
    let rules = run.value(at: ["tool", "driver", "rules"])?.elements.compactMap { $0["id"] } ?? []
    #expect(run.value(at: ["tool", "driver", "name"]) == .string("ridepulse"))
    let results = run["results"]?.elements ?? []
    #expect(results.count == 1)
    for result in results {
      #expect(rules.contains(result["ruleId"] ?? .null), "\(result)")
      #expect(["error", "warning", "note"].contains(result["level"]?.texts.first))
      #expect(result.value(at: ["message", "text"])?.texts.first?.isEmpty == false)
      let place = try #require(result["locations"]?.elements.first?["physicalLocation"])
      #expect(place.value(at: ["artifactLocation", "uri"]) == .string("rules/a.yaml"))
      #expect(place.value(at: ["region", "startLine"]) == .integer(6))
      #expect(place.value(at: ["region", "startColumn"]) == .integer(38))
    }
    let fine = Self.warning.replacing("[waiting]", with: "[requested]")
    let none = try json(try check(fine, "sarif"))["runs"]?.elements.first?["results"]
    // A run without results has an empty list: null would mean that it did not run.
    guard case .array(let warnings)? = none else { throw TestFailure("no results: \(fine)") }
    #expect(!warnings.contains { $0["level"] == .string("error") })
  }

  @Test(
    arguments: [
      ("rules/a.yaml", "rules/a.yaml"), ("./rules/a.yaml", "rules/a.yaml"),
      ("/etc/rules/a.yaml", "file:///etc/rules/a.yaml"), ("a:b/c d%.yaml", "a%3Ab/c%20d%25.yaml"),
      ("ü.yaml", "%C3%BC.yaml"),
    ])
  func `a path becomes a URI`(path: String, uri: String) {
    #expect(SARIF.uri(path) == uri)
  }

  @Test func `annotations of GitHub escape what a workflow command can't have`() throws {
    let found = try check(Self.mistake, "github", name: "a,b:c%")
    #expect(found.status == 2)
    let lines = found.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && lines.last == "ridepulse check: 1 problem, 0 warnings and notes")
    let line = try #require(lines.first)
    #expect(
      line.hasPrefix(
        "::error file=a%2Cb%3Ac%25/a.yaml,line=6,col=38,title=ridepulse check%2C rule-file::"),
      "\(line)")
    #expect(
      GitHubAnnotations([CheckFinding(variable: "V", "100%\nsure")]).text.hasPrefix(
        "::warning title=ridepulse check%2C environment::V: 100%25%0Asure\n"))
  }

  @Test func `what the app's texts lack is in the same report`() throws {
    let catalog = try ScratchFile(Data(#"{"sourceLanguage":"en","strings":{}}"#.utf8))
    let rules = Self.warning.replacing(
      #"{ title: "Here" }"#, with: #"{ title: "Here", loc-key: HERE }"#)
    let path = catalog.url.path + ".xcstrings"
    try FileManager.default.copyItem(atPath: catalog.url.path, toPath: path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let found = try check(rules, "json", ["--strings", path])
    #expect(found.status == 2)
    let report = try json(found)
    let problem = try #require(
      report["findings"]?.elements.first { $0["severity"] == .string("error") })
    #expect(problem["kind"] == .string("strings") && problem["line"] == .integer(7))
    #expect(report["problems"] == .integer(1))
  }
}
