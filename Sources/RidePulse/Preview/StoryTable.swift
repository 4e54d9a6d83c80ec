import Base
import RideCore
import Timeline

/// Formats a story for people: what happens, and below it each push as its reader sees it.
struct StoryTable {
  private let story: Story
  private let clock: StoryClock
  private let zoneName: String
  private let width: Int

  init(_ story: Story) {
    self.story = story
    zoneName = story.scenario.zoneName
    clock = StoryClock(zone: ZoneTimes(identifier: zoneName), start: story.scenario.start)
    width = story.languages.map(\.count).max().map { max(3, $0) } ?? 3
  }

  var text: String {
    var lines = [head]
    for moment in story.moments {
      lines.append("")
      lines.append(clock(moment.at) + (StoryWords.title(moment).map { "  \($0)" } ?? ""))
      if moment.rows.isEmpty { lines.append("  nothing is sent") }
      lines += moment.rows.flatMap { self.lines($0, clock.at(moment.at)) }
    }
    lines += ["", StoryWords.alerts(story)]
    // Marks of direction are left out of the table: a terminal that honours them moves other words.
    return lines.map { Escape.line($0) }.joined(separator: "\n") + "\n"
  }

  private var head: String {
    let languages = story.languages.isEmpty ? "" : ", in \(story.languages.joined(separator: ", "))"
    return
      "\(StoryWords.subject(story.scenario)), \(CivilTime.local(story.scenario.start, clock.zone)) to "
      + "\(clock(story.end)) (\(zoneName))\(languages)"
  }

  private func lines(_ row: Story.Row, _ clock: StoryClock) -> [String] {
    let name = LedgerText.rule(row.entry.rule)
    let start = "  \(name) to \(row.entry.app), \(StoryWords.kind(row))"
    if let fate = StoryWords.fate(row, clock) {
      let shown = row.push == nil ? [] : row.texts
      return [start + ": " + fate] + shown.flatMap { texts($0, row, clock) }
    }
    let manner = row.texts.first.map { StoryWords.manner($0.shown) } ?? []
    let head = ([start] + manner + [StoryWords.delivery(row, clock)]).joined(separator: ", ")
    let again = row.repeatedAt.map {
      "    sent again \(counted(row.repeats, "time")), last at \(clock($0)), so that "
        + "it stays fresh"
    }
    guard row.texts.contains(where: \.shown.isSeen) else {
      return [head + ": " + StoryWords.silence(row)]
    }
    return [head] + row.texts.flatMap { texts($0, row, clock) } + content(row, clock)
      + [again].compactMap(\.self)
  }

  /// Returns what a card shows in all languages, and when an ended one leaves.
  private func content(_ row: Story.Row, _ clock: StoryClock) -> [String] {
    guard let shown = row.texts.first?.shown, shown.cardEvent != nil else { return [] }
    var lines = row.hasOneContent && !shown.fields.isEmpty ? [fields(shown)] : []
    if shown.cardEvent == .end {
      lines.append(
        shown.dismissedAt.map { "leaves the screen at \(clock($0))" }
          ?? "leaves the screen when iOS decides")
    }
    return lines.map { "    card: \($0)" }
  }

  private func fields(_ shown: ReadablePush) -> String {
    shown.fields.map { "\($0.name): \($0.value)" }.joined(separator: " · ")
  }

  /// Returns the lines of one text: its languages, and what the person sees.
  private func texts(
    _ text: Story.Text, _ row: Story.Row, _ clock: StoryClock
  ) -> [String] {
    let shown = text.shown
    let words = [shown.title, shown.subtitle, shown.body].compactMap(\.self)
    var lines = words.isEmpty ? [] : [words.joined(separator: " · ")]
    // A row of both systems has the manner of iPhones in its head.
    let isMixed = row.texts.contains { $0.shown.android == nil }
    if let android = StoryWords.android(shown), isMixed || shown.android?.channel == nil {
      lines = [([android] + lines).joined(separator: ": ")]
    }
    lines += [StoryWords.look(shown, clock)].compactMap(\.self)
    if !row.hasOneContent, !shown.fields.isEmpty { lines.append(fields(shown)) }
    let label = StoryWords.languages(text, story, of: row)
    return lines.enumerated().map { index, line in
      "    " + padded(index == 0 ? label : "", to: width) + "  " + line
    }
  }
}
