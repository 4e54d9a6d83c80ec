import Foundation
import RideCore
import RuleFiles

/// `ridepulse preview --story`: an invented ride, and what its people would read on the way.
enum StoryPreview {
  /// How long a ride is followed after the last step, if the story states no length.
  private static let usualTail: Duration = .seconds(15 * 60)

  /// Options that concern real rides.
  private static let foreign = ["--rides", "--ride", "--limit", "--diff"]

  /// - Parameters:
  ///   - text: a list of states, or the path of a story file.
  ///   - from: when the story begins; nil if the option is not given.
  static func run(
    _ text: String, _ format: PreviewFormat, _ configuration: EngineConfiguration,
    from: Timestamp?, _ arguments: Arguments
  ) throws -> ExitStatus {
    if let other = foreign.first(where: arguments.has) {
      throw arguments.error("\(other) next to --story, which invents its ride; expected one of them")
    }
    let scenario = try scenario(text, configuration.rules, from, arguments)
    let length = try arguments.duration("--for") ?? scenario.length
    let last = scenario.steps.last?.at ?? scenario.start
    let end = length.map { scenario.start + $0 } ?? last + usualTail
    let story = Story(scenario, by: configuration, until: end)
    let output = try PreviewOutput(path: arguments.value("--output"))
    switch format {
    case .table: try output.write(StoryTable(story).text)
    case .json: try output.write(StoryJSON(story).text)
    case .html: try output.write(StoryPage(story).html)
    }
    try output.flush()
    return .done
  }

  private static func scenario(
    _ text: String, _ rules: RuleSet, _ from: Timestamp?, _ arguments: Arguments
  ) throws -> Scenario {
    let start = from ?? Timestamp(epochSeconds: Int64(Date().timeIntervalSince1970) / 60 * 60)
    guard isPath(text) else {
      do throws(InventedRide.Problem) {
        return try InventedRide(for: rules, at: start).scenario(of: text)
      } catch {
        throw arguments.error("--story: \(error)")
      }
    }
    switch ScenarioFile.read(text, for: rules, at: start) {
    case .failure(let problems): throw CommandFailure(problems.description)
    case .success(let scenario):
      if from != nil, scenario.start != start {
        throw arguments.error(
          "--from next to a story that states its start in given.at; expected one of them")
      }
      let invented = InventedRide(for: rules, at: scenario.start)
      return invented.filled(invented.completed(scenario, withCards: false))
    }
  }

  /// Returns whether the value is the path of a file: no state's name has a slash or ends so.
  private static func isPath(_ text: String) -> Bool {
    text.contains("/") || text.hasSuffix(".yaml") || text.hasSuffix(".yml")
  }
}

/// Words for what a story shows.
enum StoryWords {
  /// `alert`, `card update`
  static func kind(_ row: Story.Row) -> String {
    LedgerText.kind(row.entry.pushType.rawValue, row.entry.cardEvent?.rawValue)
  }

  /// Why nothing was sent, and until when a push waits; nil if it was sent.
  static func fate(_ row: Story.Row, _ zone: ZoneTimes?) -> String? {
    if row.isSent { return nil }
    let reason = row.entry.reason.map { ": \($0.text)" } ?? ""
    guard row.entry.status == .pending else { return "\(row.entry.status.rawValue)\(reason)" }
    return "waits" + (row.due.map { " until \(clock($0, zone))" } ?? "") + reason
  }

  /// The headers that a person notices: how urgent a push is, and how long it is valid.
  static func delivery(_ row: Story.Row, _ zone: ZoneTimes?) -> String {
    guard let push = row.push else { return "" }
    let validity =
      push.headers.expiration == .neverStore
      ? "never stored" : "valid until \(clock(push.validUntil, zone))"
    return "priority \(push.headers.priority.rawValue), \(validity)"
  }

  /// What a push without visible parts does.
  static func silence(_ row: Story.Row) -> String {
    switch row.entry.pushType {
    case .widgets: "not seen: reloads widgets"
    case .controls: "not seen: reloads a control"
    case .location: "not seen: asks for the position"
    default: "not seen: wakes the app"
    }
  }

  /// How an alert draws attention.
  static func manner(_ shown: ReadablePush) -> [String] {
    var words = [shown.level, shown.sound.map { "sound \($0)" }].compactMap(\.self)
    if let badge = shown.badge { words.append("badge \(badge)") }
    return words
  }

  /// The steps of a moment, such as `driver_arrived`; nil if only time passed.
  static func title(_ moment: Story.Moment) -> String? {
    moment.steps.isEmpty ? nil : moment.steps.map(\.title).joined(separator: ", ")
  }

  /// The languages of a text; `all` if there is no other text.
  static func languages(_ text: Story.Text, _ story: Story, of row: Story.Row) -> String {
    row.texts.count == 1 && story.languages.count != 1
      ? "all" : text.languages.joined(separator: ", ")
  }

  /// Formats as `09:15:00`, in the ride's zone.
  static func clock(_ instant: Timestamp, _ zone: ZoneTimes?) -> String {
    String(CivilTime.local(instant, zone).dropFirst(11).prefix(8))
  }

  /// `3 alerts: customer 2, driver 1`, by app.
  static func alerts(_ story: Story) -> String {
    var counts: [String: Int] = [:]
    for row in story.moments.flatMap(\.rows) where row.isSent {
      if row.texts.contains(where: \.shown.isAlert) {
        counts[row.entry.app.rawValue, default: 0] += row.phones
      }
    }
    let parts = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let total = counts.values.reduce(0, +)
    return counted(total, "alert") + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
  }
}
