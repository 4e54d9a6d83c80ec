import Base
import RideCore
import Timeline

/// Writes times of a story next to another one: `09:15:00`, or with the date if it is another day.
struct StoryClock {
  let zone: ZoneTimes?
  let start: Timestamp

  func callAsFunction(_ instant: Timestamp) -> String {
    // Without the offset, which the head of the story has.
    String(CivilTime.clock(instant, zone, nextTo: start).dropLast(7))
  }

  func at(_ start: Timestamp) -> StoryClock { StoryClock(zone: zone, start: start) }
}

/// Words for what a story shows.
enum StoryWords {
  /// `ride r4`, or what a story without a ride is about.
  static func subject(_ scenario: Scenario) -> String {
    scenario.view.ride.map { "ride \($0.id)" } ?? "events about no ride"
  }

  /// The same as a heading.
  static func heading(_ scenario: Scenario) -> String {
    let subject = subject(scenario)
    return subject.prefix(1).uppercased() + subject.dropFirst()
  }

  /// `alert`, `card update`
  static func kind(_ row: Story.Row) -> String {
    LedgerText.kind(row.entry.typeName, row.entry.cardEvent?.rawValue)
  }

  /// Why nothing was sent, and until when a push waits; nil if it was sent.
  static func fate(_ row: Story.Row, _ clock: StoryClock) -> String? {
    if row.isSent { return nil }
    guard row.entry.status == .pending else { return LedgerText.outcome(row.entry) { clock($0) } }
    let reason = row.entry.reason
    let text = reason?.text { clock($0) }
    if let text, let due = row.due, reason?.states(due) == true { return text }
    return "waits" + (row.due.map { " until \(clock($0))" } ?? "") + (text.map { ": \($0)" } ?? "")
  }

  /// The headers that a person notices: how urgent a push is, and how long it is valid.
  static func delivery(_ row: Story.Row, _ clock: StoryClock) -> String {
    guard let push = row.push else { return "" }
    let validity =
      switch push.headers.expiration {
      case .neverStore: "never stored"
      case .at(let instant): "valid until \(clock(instant))"
      }
    return [priority(row), validity].compactMap(\.self).joined(separator: ", ")
  }

  /// How urgent a push is, or where a post goes; nil if nothing was sent.
  static func priority(_ row: Story.Row) -> String? {
    row.push.map { push in
      push.entry.receiver.map { "to \($0)" } ?? "priority \(push.headers.priority.rawValue)"
    }
  }

  /// What a push without visible parts does.
  static func silence(_ row: Story.Row) -> String {
    if row.entry.kind == .post { return "not seen: a post without text" }
    return switch row.entry.pushType {
    case .widgets: "not seen: reloads widgets"
    case .controls: "not seen: reloads a control"
    case .location: "not seen: asks for the position"
    default: "not seen: wakes the app"
    }
  }

  /// How an alert draws attention.
  static func manner(_ shown: ReadablePush) -> [String] {
    var words = [shown.level, shown.sound.map { "sound \($0)" }].compactMap(\.self)
    if shown.android != nil { words = [android(shown)].compactMap(\.self) }
    if let badge = shown.badge { words.append("badge \(badge)") }
    return words
  }

  /// `Android · ride_now · HIGH`; nil for an iPhone.
  static func android(_ shown: ReadablePush) -> String? {
    shown.android.map { android in
      [Platform.android.title, android.channel, android.isHighPriority ? "HIGH" : "NORMAL"]
        .compactMap(\.self).joined(separator: " · ")
    }
  }

  /// What an Android phone shows of a card without code of the app, such as `Your car is here · 3 of 4`;
  /// nil if that is nothing.
  static func look(_ shown: ReadablePush, _ clock: StoryClock) -> String? {
    guard let look = shown.android?.look, look != .null else { return nil }
    func text(_ key: String) -> String? {
      if case .string(let text)? = look[key] { text } else { nil }
    }
    var parts = ["title", "text", "short"].compactMap(text)
    if case .integer(let seconds)? = look["countdown"] {
      parts.append("counts down to \(clock(Timestamp(epochSeconds: seconds)))")
    }
    if case .integer(let steps)? = look["steps"] {
      let step: Int64? = if case .integer(let step)? = look["step"] { step + 1 } else { nil }
      parts.append("step \(step.map { "\($0)" } ?? "none") of \(steps)")
    }
    return parts.joined(separator: " · ")
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

  /// `3 alerts: customer 2, driver 1`, by app; a passive one only joins the list.
  static func alerts(_ story: Story) -> String {
    var counts: [String: Int] = [:]
    for row in story.moments.flatMap(\.rows) where row.interrupts {
      counts[row.entry.app.rawValue, default: 0] += row.phones
    }
    let parts = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let total = counts.values.reduce(0, +)
    return counted(total, "alert") + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
  }
}
