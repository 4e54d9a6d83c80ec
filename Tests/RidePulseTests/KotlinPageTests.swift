import Foundation
import RuleFiles
import TestSupport
import Testing

@testable import RideCore
@testable import RidePulse

/// docs/android.md and clients/kotlin, whose files the page quotes.
@Suite struct KotlinPageTests {
  private static let page = Project.path("docs/android.md")

  @Test(arguments: KotlinPhone.kit)
  func `The page quotes what an app adapts, and names the rest; each file has at most 210 lines`(
    name: String
  ) throws {
    let source = try String(
      contentsOfFile: Project.path("clients/kotlin/\(name)"), encoding: .utf8)
    #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 211)
    let page = try String(contentsOfFile: Self.page, encoding: .utf8)
    #expect(page.contains("[\(name)](../clients/kotlin/\(name))"))
    #expect(
      page.contains("```kotlin\n\(source)```\n") == KotlinPhone.quoted.contains(name))
  }

  @Test func `The folder has no further file`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Project.path("clients/kotlin"))
    #expect(files.sorted() == KotlinPhone.kit.sorted())
  }

  @Test(.enabled(if: KotlinCompiler.isInstalled, KotlinCompiler.missing))
  func `The page's samples of an app compile, with the generated types`() throws {
    try ScratchFolder.with { directory in
      let page = try String(contentsOfFile: Self.page, encoding: .utf8)
      let samples = page.matches(of: /(?m)^```kotlin\n(class \w+ : Application[\s\S]*?)^```$/)
      #expect(samples.count == 2)
      let parts = try String(
        contentsOfFile: Project.path("Tests/RidePulseTests/Kotlin/App.kt"), encoding: .utf8)
      let app = parts + samples.map { String($0.1) }.joined(separator: "\n")
      try Data(app.utf8).write(to: URL(fileURLWithPath: directory + "/App.kt"))
      let rules = try RuleDirectory.load(Project.path("schedules")).get().ruleSet
      let types = KotlinSource(rules).file(rules.contracts)
      try Data(types.utf8).write(to: URL(fileURLWithPath: directory + "/Ride.kt"))
      let classes = try KotlinPhone.compile(in: directory)
      try KotlinCompiler.compile(
        ["App.kt", "Ride.kt"], to: directory + "/app.jar", classes: classes, in: directory)
    }
  }

  @Test func `The page's table of messages is that of the shipped rules`() throws {
    let rules = try RuleDirectory.load(Project.path("schedules")).get().ruleSet
    let rows = rules.rules.filter { $0.what.emittedEvent == nil }.map { rule -> String in
      guard case .object(let members) = rule.payload, case .object(let aps)? = members["aps"] else {
        return "| `\(rule.name)` | ? | ? | ? |"
      }
      let keys = members.keys.filter { $0 != "aps" }.sorted().map { "`\($0)`" }
      let cells = [
        Self.channel(of: rule), Self.drawing(of: rule, aps),
        keys.isEmpty ? "–" : keys.joined(separator: ", "),
      ]
      return "| `\(rule.name)` | \(cells.joined(separator: " | ")) |"
    }
    let table =
      (["| rule | channel | drawn by | data |", "|---|---|---|---|"] + rows)
      .map { $0 + "\n" }.joined()
    var page = try String(contentsOfFile: Self.page, encoding: .utf8)
    let from = try #require(page.range(of: "<!-- messages of the shipped rules -->\n")).upperBound
    let to = try #require(page.range(of: "<!-- end of messages -->")).lowerBound
    page.replaceSubrange(from..<to, with: table)
    #expect(try Golden.difference(of: page, from: Self.page) == nil)
  }

  private static func channel(of rule: Rule) -> String {
    switch rule.what {
    case .alert(let alert, _):
      return "`\(rule.android?.channel ?? AndroidChannel(alert).rawValue)`"
    case .liveActivity: return "`ride_live`"
    default: return "–"
    }
  }

  private static func drawing(of rule: Rule, _ aps: [String: PayloadTemplate]) -> String {
    switch rule.what {
    case .alert:
      let needsApp =
        rule.escalation != nil
        || ["category", "mutable-content", "content-available"].contains { aps[$0] != nil }
      let isApps = rule.android?.draw.map { $0 == .app } ?? needsApp
      return isApps ? "app" : "Android"
    case .liveActivity: return "app"
    default: return "–"
    }
  }
}
