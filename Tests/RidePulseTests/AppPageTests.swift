import Foundation
import LocalStack
import PostgresStore
import RuleFiles
import TestSupport
import Testing

@testable import RideCore

/// docs/app.md and docs/app/RidePulseApp.swift, which the page quotes: the file is compiled against
/// Apple's names and run against a service.
@Suite(.timeLimit(.minutes(60))) struct AppPageTests {
  private static let page = Project.path("docs/app.md")
  private static let source = Project.path("docs/app/RidePulseApp.swift")
  private static let stand = Project.path("Tests/RidePulseTests/App")

  @Test func `The page quotes the file, which has at most 150 lines`() throws {
    let source = try String(contentsOfFile: Self.source, encoding: .utf8)
    #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    #expect(
      try String(contentsOfFile: Self.page, encoding: .utf8).contains("```swift\n\(source)```\n"))
  }

  @Test func `The page's table of pushes is that of the shipped rules`() throws {
    let rules = try RuleDirectory.load(Stage.rules).get().ruleSet
    // A rule that emits an event sends nothing.
    let rows = rules.rules.filter { $0.what.emittedEvent == nil }.map { rule -> String in
      guard case .object(let members) = rule.payload, case .object(let aps)? = members["aps"] else {
        return "| `\(rule.name)` | ? | ? | ? |"
      }
      let keys = members.keys.filter { $0 != "aps" }.sorted().map { "`\($0)`" }
      let cells = [
        Self.text(aps["category"]), Self.text(aps["sound"]),
        keys.isEmpty ? "–" : keys.joined(separator: ", "),
      ]
      return "| `\(rule.name)` | \(cells.joined(separator: " | ")) |"
    }
    let table =
      (["| rule | category | sound | data |", "|---|---|---|---|"] + rows)
      .map { $0 + "\n" }.joined()
    var page = try String(contentsOfFile: Self.page, encoding: .utf8)
    let from = try #require(page.range(of: "<!-- pushes of the shipped rules -->\n")).upperBound
    let to = try #require(page.range(of: "<!-- end of pushes -->")).lowerBound
    page.replaceSubrange(from..<to, with: table)
    #expect(try Golden.difference(of: page, from: Self.page) == nil)
  }

  private static func text(_ template: PayloadTemplate?) -> String {
    switch template {
    case .value(let text): "`\(text.literalText ?? "…")`"
    case .visible(let texts): "`\(texts.texts.first?.text.literalText ?? "…")`"
    case .literal(let value): "`\(value.text)`"
    case nil: "–"
    default: "…"
    }
  }

  @Test func `R95, R96: the page's Swift registers, rotates and withdraws a real phone's tokens`()
    async throws
  {
    try await Stage.run { stage in
      let binary = try Self.compile(in: stage.directory)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let phone = try LineProcess(binary, [api.url, api.token ?? ""])
      defer { phone.stop() }
      try phone.write("sign-in c1")
      try phone.write("start-token 5a")
      try phone.write("device-token c1")
      let device = """
        select string_agg(d.owner_id || ' ' || d.environment || ' ' || d.installation_id, ',')
        from ridepulse.devices d where d.disabled_at is null
        """
      // The stand has no DEBUG.
      try await stage.until(device, is: "c1 production 0E1F2A3B-0000-4000-8000-000000000001")
      let start = """
        select string_agg(attributes_type || coalesce(' ' || disabled_reason, ''), ',')
        from ridepulse.push_to_start_tokens
        """
      try await stage.until(start, is: "RideAttributes")
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
        update ridepulse.rides set state = 'driver_assigned' where id = 'r1'
        """)
      try await stage.settled()
      #expect(try stage.arrivals().contains { $0.aps("event") == "start" })
      // iOS starts the card and passes its token; later it passes another.
      try phone.write("started-by-push r1")
      let card =
        "select right(token, 4) || coalesce(ended_reason, '') from ridepulse.live_activities"
      for byte in ["ca", "cb"] {
        try phone.write("card-token pushed \(byte)")
        try await stage.until(card, is: byte + byte)
      }
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      try await stage.settled()
      #expect(
        try stage.arrivals().last { $0.aps("event") == "update" }?.token.hasSuffix("cbcb") ?? false)
      try phone.write("dismiss pushed")
      try await stage.until(card, is: "cbcbdismissed")
      try phone.write("cards off")
      try await stage.until(start, is: "RideAttributes withdrawn")
      try phone.write("cards on")
      try await stage.until(start, is: "RideAttributes")
      try phone.write("sign-out")
      try await stage.until(
        "select disabled_reason from ridepulse.devices where disabled_at is not null",
        is: "signed_out")
      try await stage.until(start, is: "RideAttributes signed_out")
    }
  }

  /// Compiles the page's file with modules that have Apple's names; returns the program's path.
  private static func compile(in directory: String) throws -> String {
    func run(_ words: [String]) throws {
      let result = try Tool.run(
        "/usr/bin/env", ["swiftc", "-swift-version", "6", "-package-name", "stand"] + words,
        in: directory)
      if result.status != 0 { throw TestFailure("swiftc \(words): \(result.errors)") }
    }
    let modules = ["ActivityKit", "UIKit", "UserNotifications"]
    for module in modules {
      try run([
        "-parse-as-library", "-emit-module", "-emit-object", "-module-name", module,
        "-I", directory, "-o", "\(directory)/\(module).o", "\(stand)/\(module).swift",
      ])
    }
    try run(
      ["-I", directory, "-module-name", "Phone", "-o", "\(directory)/phone", source]
        + ["main", "RideAttributes"].map { "\(stand)/\($0).swift" }
        + modules.map { "\(directory)/\($0).o" })
    return "\(directory)/phone"
  }
}
