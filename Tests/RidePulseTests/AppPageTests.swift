import Foundation
import LocalStack
import PostgresStore
import RuleFiles
import TestSupport
import Testing

@testable import RideCore

/// docs/app.md and RidePulseKit, which it describes: the kit and the page's code are compiled against Apple's
/// names, and the kit runs against a service.
@Suite(.timeLimit(.minutes(60))) struct AppPageTests {
  private static let page = Project.path("docs/app.md")

  @Test func `The page's code compiles with the kit`() throws {
    try ScratchFolder.with { directory in
      let page = try String(contentsOfFile: Self.page, encoding: .utf8)
      let blocks = page.components(separatedBy: "<!-- kit -->\n```swift\n").dropFirst()
      try #require(blocks.count == 2)
      for (index, block) in blocks.enumerated() {
        let code = block.components(separatedBy: "\n```")[0]
        let file = "\(directory)/page\(index).swift"
        try code.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try Tool.run(
          "\(KitPhone.kit)/check-apple",
          [file] + ["AppOfThePage", "RideAttributes"].map { "\(KitPhone.stand)/\($0).swift" },
          in: directory)
        #expect(result.status == 0, "block \(index): \(result.errors)")
      }
    }
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

  @Test
  func
    `R95, R96: the kit registers, rotates and withdraws a real phone's tokens, with kills and holes`()
    async throws
  {
    try await Stage.run { stage in
      let binary = try KitPhone.compile(in: stage.directory)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let arguments = [api.url, api.token ?? "", "\(stage.directory)/queue"]
      var phone = try LineProcess(binary, arguments)
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
      // The answer to another card's token is lost, and the app ends: it is sent again, and counts once.
      try phone.write("network unanswered")
      try phone.write("book r1")
      try phone.write("card-token activity-1 cc")
      try await stage.until(card + " where activity_id = 'activity-1'", is: "cccc")
      try phone.write("network lost")
      try phone.write("sign-out")
      let first = phone
      try await wait(until: "the sign-out is stored") { first.printed.contains("sign-out") }
      _ = first.terminate()
      let signedOut = "select coalesce(disabled_reason, 'enabled') from ridepulse.devices"
      try await stage.until(signedOut, is: "enabled")
      // Nobody is signed in any more, and the sign-out still arrives.
      phone = try LineProcess(binary, arguments)
      try phone.write("active")
      try await stage.until(signedOut, is: "signed_out")
      try await stage.until(start, is: "RideAttributes signed_out")
      try await stage.until(
        "select count(*) from ridepulse.live_activities where ended_at is null", is: "0")
    }
  }
}
