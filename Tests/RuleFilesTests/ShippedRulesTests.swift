import Foundation
import Testing
import TestSupport

@testable import Base
@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// The tables of `docs/shipped-rules.md`: stories replayed with the shipped rules.
///
/// With `RECORD_GOLDEN=1` they are written anew; read the diff before you commit it.
@Suite struct ShippedRulesTests {
  private static let page = Project.path("docs/shipped-rules.md")

  private let rules: RuleSet

  init() throws {
    rules = try RuleDirectory.load(ScheduleTests.directory).get().ruleSet
  }

  @Test func `Each table is what the rules send`() throws {
    let text = try String(contentsOfFile: Self.page, encoding: .utf8)
    var result = ""
    var rest = Substring(text)
    var count = 0
    while let start = rest.range(of: "<!-- story: "), let close = rest.range(of: " -->\n") {
      let name = String(rest[start.upperBound..<close.lowerBound])
      let end = try #require(rest.range(of: "<!-- end -->"), "no end of \(name)")
      result += rest[..<close.upperBound] + (try table(name)) + "\n"
      rest = rest[end.lowerBound...]
      let after = try #require(rest.range(of: "-->"))
      result += rest[..<after.upperBound]
      rest = rest[after.upperBound...]
      count += 1
    }
    #expect(count == 7)
    #expect(try Golden.difference(of: result + rest, from: Self.page) == nil)
  }

  @Test func `U5: APNs stores no heartbeat, which would replace an arrival`() {
    let heartbeats = rules.rules.filter { $0.what == .background }
    #expect(heartbeats.map(\.name) == ["customer-heartbeat", "driver-heartbeat"])
    #expect(heartbeats.allSatisfy { !$0.expires.isStored })
  }

  private enum Column: CaseIterable {
    case customer, customerWithCard, driver

    var title: String {
      switch self {
      case .customer: "customer without a card"
      case .customerWithCard: "customer with a card"
      case .driver: "driver"
      }
    }
  }

  /// Returns a table with a line for each time at which anything happens or is sent.
  private func table(_ name: String) throws -> String {
    let path = Project.path("docs/stories/\(name).yaml")
    let plain = try ScenarioFile.read(path, for: rules, at: Timestamp(epochSeconds: 0)).get()
    let stories = [Column.customer, .customerWithCard].map { story(plain, $0) }
    var lines = [
      "| after | what happens | \(Column.allCases.map(\.title).joined(separator: " | ")) |",
      "|---|---|---|---|---|",
    ]
    let seconds = Set(stories.flatMap(\.moments).map(\.at.epochSeconds)).sorted()
    for second in seconds {
      let moments = stories.map { story in
        story.moments.first { $0.at.epochSeconds == second }
      }
      let cells = Column.allCases.map { column in
        cell(moments[column == .customerWithCard ? 1 : 0], column)
      }
      let what = moments.compactMap { $0 }.flatMap(\.steps).first.map { _ in
        moments.compactMap { $0 }.max { $0.steps.count < $1.steps.count }?.steps.map(\.title)
          .joined(separator: ", ") ?? ""
      }
      let isQuiet = moments.compactMap { $0 }.flatMap(\.steps).allSatisfy(\.isOnlyContact)
      if isQuiet, cells.allSatisfy(\.isEmpty) { continue }
      let after = Duration.seconds(second - plain.start.epochSeconds)
      lines.append(
        "| \(after.rideText) | \(what ?? "") | \(cells.joined(separator: " | ")) |")
    }
    let counts = Column.allCases.map { column in
      "\(column.title) \(interruptions(stories[column == .customerWithCard ? 1 : 0], column))"
    }
    lines.append("")
    lines.append("Alerts that light the screen: \(counts.joined(separator: ", ")).")
    return lines.joined(separator: "\n")
  }

  private func story(_ plain: Scenario, _ column: Column) -> Story {
    let invented = InventedRide(for: rules, at: plain.start)
    var scenario = invented.filled(invented.completed(plain, withCards: false))
    for index in scenario.view.phones.indices { scenario.view.phones[index].locale = "en" }
    if column == .customerWithCard,
      let phone = scenario.view.phones.first(where: { $0.app == .customer })
    {
      var card = Card(
        .activity(1), app: .customer, ownerID: phone.ownerID,
        token: InventedRide.token("card", .customer, 1), registeredAt: scenario.start)
      card.installationID = phone.installationID
      scenario.view.cards = [card]
    }
    let bundles = Dictionary(uniqueKeysWithValues: rules.apps.map { ($0, "com.example.\($0)") })
    let configuration = EngineConfiguration(rules: rules, bundleIDs: bundles)
    let length = plain.length ?? .seconds(3600)
    return Story(scenario, by: configuration, until: plain.start + length)
  }

  private func interruptions(_ story: Story, _ column: Column) -> Int {
    story.moments.flatMap(\.rows).filter { concerns($0, column) && $0.interrupts }.count
  }

  private func concerns(_ row: Story.Row, _ column: Column) -> Bool {
    (row.entry.app == .driver) == (column == .driver)
  }

  private func cell(_ moment: Story.Moment?, _ column: Column) -> String {
    let rows = moment?.rows ?? []
    return rows.filter { concerns($0, column) }.compactMap { text($0, column) }
      .joined(separator: "<br>")
  }

  /// Returns what a person sees, or why nothing is sent; nil for what concerns only its rule, and for
  /// what waits, because its outcome has a line of its own.
  private func text(_ row: Story.Row, _ column: Column) -> String? {
    guard row.isSent, let shown = row.texts.first?.shown else {
      let reason = row.entry.reason
      let hidden: [LedgerReason.Code] = [
        .engine(.setTooLate), .engine(.noStartToken), .engine(.conditionFalse),
      ]
      if let reason, hidden.contains(reason.code) { return nil }
      if row.entry.status == .pending { return nil }
      return "*\(row.entry.rule): \(reason?.text ?? row.entry.status.rawValue)*"
    }
    if !shown.isSeen { return "wakes the app" }
    var parts: [String] = []
    if shown.isAlert {
      let words = [shown.title.map { "**\($0)**" }, shown.body].compactMap(\.self)
      let mark = shown.level.map { $0 == "active" ? "" : " (\($0))" } ?? ""
      parts.append(words.joined(separator: " ") + mark)
    }
    if let event = shown.cardEvent {
      let state = shown.fields.first { $0.name == "status" }?.value ?? ""
      let again =
        row.repeats > 0 ? ", sent again \(row.repeats == 1 ? "once" : "\(row.repeats) times")" : ""
      parts.append("card \(event == .end ? "ends" : "shows") `\(state)`\(again)")
    }
    return parts.joined(separator: "<br>").replacing("|", with: "\\|")
  }
}

extension ScenarioStep {
  /// Whether an app makes contact, and nothing else happens.
  fileprivate var isOnlyContact: Bool {
    changes.allSatisfy { if case .contact = $0 { true } else { false } }
  }
}
