import Base
import RideCore
import Timeline

/// Writes what each rule sent, or why it did not, for the page of a story.
struct StoryRows {
  private let story: Story
  private let clock: StoryClock

  init(_ story: Story) {
    self.story = story
    clock = StoryClock(
      zone: ZoneTimes(identifier: story.scenario.zoneName), start: story.scenario.start)
  }

  func json(_ row: Story.Row, _ at: Timestamp) -> JSONValue {
    let own = clock.at(at)
    return .object([
      "rule": .string(LedgerText.rule(row.entry.rule)), "app": .string(row.entry.app.rawValue),
      "due": row.due.map { .integer($0.epochSeconds) } ?? .null, "head": .string(head(row, own)),
      "sent": .bool(row.isSent), "waits": .bool(row.due != nil),
      "seen": .bool(row.texts.contains(where: \.shown.isSeen)),
      "notes": .array(notes(row, own).map { .string($0) }),
      "texts": .array(row.texts.map(text)),
    ])
  }

  /// `to customer, alert: suppressed: if is false`
  private func head(_ row: Story.Row, _ clock: StoryClock) -> String {
    let what = "to \(row.entry.app), \(StoryWords.kind(row))"
    return StoryWords.fate(row, clock).map { "\(what): \($0)" }
      ?? [what, StoryWords.priority(row)].compactMap(\.self).joined(separator: ", ")
  }

  private func notes(_ row: Story.Row, _ clock: StoryClock) -> [String] {
    var notes = [cause(row), delivery(row, clock)].compactMap(\.self)
    if row.push != nil, !row.texts.contains(where: \.shown.isSeen) {
      notes.append(StoryWords.silence(row))
    }
    if let last = row.repeatedAt {
      notes.append(
        "sent again \(counted(row.repeats, "time")), last at \(clock(last)), so that it stays "
          + "fresh")
    }
    return notes
  }

  /// What a reason is due to: the rule's condition, or the phones of the story.
  private func cause(_ row: Story.Row) -> String? {
    guard let reason = row.entry.reason else { return nil }
    if reason == .conditionFalse {
      let rule = story.rules.rules.first { $0.name == row.entry.rule }
      return rule?.condition.map { "if: \($0.text)" }
    }
    guard reason.code == .engine(.noStartToken) else { return nil }
    return story.scenario.hasCards
      ? "the phone has registered none"
      : "this ride is shown without cards: the switch Card has it with one"
  }

  /// How long APNs or FCM tries: what has arrived stays on the screen.
  private func delivery(_ row: Story.Row, _ clock: StoryClock) -> String? {
    guard row.isSent, let push = row.push else { return nil }
    switch push.headers.expiration {
    case .neverStore: return "delivered at once, or not at all"
    case .at(let instant): return "delivered until \(clock(instant)), or not at all"
    }
  }

  private func text(_ text: Story.Text) -> JSONValue {
    .object([
      "languages": .array(text.languages.map { .string($0) }),
      "text": .string(words(text)),
      "manner": .string(StoryWords.manner(text.shown).joined(separator: ", ")),
    ])
  }

  /// The whole story as plain HTML, for browsers without scripts.
  var html: String {
    story.moments.map { moment in
      let title = StoryWords.title(moment).map { " \($0)" } ?? ""
      let items = moment.rows.map { item($0, clock.at(moment.at)) }.joined(separator: "\n")
      return "<h2>\(HTML.text(clock(moment.at) + title))</h2>\n<ul>\(items)</ul>"
    }.joined(separator: "\n")
  }

  private func item(_ row: Story.Row, _ clock: StoryClock) -> String {
    let texts = row.texts.compactMap { text -> String? in
      let words = self.words(text)
      if words.isEmpty { return nil }
      let languages = HTML.text(StoryWords.languages(text, story, of: row))
      return "<li>\(languages): <bdi>\(HTML.text(words))</bdi></li>"
    }
    let list = texts.isEmpty ? "" : "<ul>\(texts.joined())</ul>"
    let words = ["\(LedgerText.rule(row.entry.rule)) \(head(row, clock))"] + notes(row, clock)
    return "<li>\(HTML.text(words.joined(separator: "; ")))\(list)</li>"
  }

  /// The texts of a push in one line.
  private func words(_ text: Story.Text) -> String {
    [text.shown.title, text.shown.subtitle, text.shown.body].compactMap { $0 }
      .joined(separator: " · ")
  }
}
