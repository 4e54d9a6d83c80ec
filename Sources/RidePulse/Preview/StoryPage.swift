import Base
import Foundation
import RideCore
import Timeline

/// Formats a story as one HTML page without scripts: each push as a mock-up of the lock screen, in
/// each language, light or dark.
struct StoryPage {
  private let story: Story
  private let clock: StoryClock
  private let zoneName: String

  init(_ story: Story) {
    self.story = story
    zoneName = story.scenario.zoneName
    clock = StoryClock(zone: ZoneTimes(identifier: zoneName), start: story.scenario.start)
  }

  var html: String {
    let style = StoryStyle.css(languages: story.languages.count)
    let body = """
      <h1>\(HTML.text(StoryWords.heading(story.scenario)))</h1>
      <p>\(HTML.text(CivilTime.local(story.scenario.start, clock.zone))) to \
      \(clock(story.end)) (\(HTML.text(zoneName))); \
      \(HTML.text(StoryWords.alerts(story)))</p>
      \(choices)
      \(story.moments.map(section).joined(separator: "\n"))
      """
    return HTMLPage(title: "story", style: style, body: body).text
  }

  /// The choice of light or dark, and of a language; the style sheet acts on it.
  private var choices: String {
    func choice(_ group: String, _ id: String, _ label: String, isChosen: Bool) -> String {
      "<label><input type=\"radio\" name=\"\(group)\" id=\"\(id)\"\(isChosen ? " checked" : "")>"
        + "\(HTML.text(label))</label>"
    }
    var lines = ["<form><fieldset><legend>Appearance</legend>"]
    for (index, name) in ["automatic", "light", "dark"].enumerated() {
      lines.append(choice("scheme", name, name.capitalized, isChosen: index == 0))
    }
    lines.append("</fieldset>")
    if story.languages.count > 1 {
      lines.append("<fieldset><legend>Language</legend>")
      lines.append(choice("language", "every", "All", isChosen: true))
      for (index, language) in story.languages.enumerated() {
        lines.append(choice("language", "l\(index)", language, isChosen: false))
      }
      lines.append("</fieldset>")
    }
    return lines.joined(separator: "\n") + "\n</form>"
  }

  private func section(_ moment: Story.Moment) -> String {
    let title = StoryWords.title(moment).map { " <strong>\(HTML.text($0))</strong>" } ?? ""
    let body =
      moment.rows.isEmpty
      ? "<p class=\"none\">Nothing is sent.</p>"
      : moment.rows.map { block($0, clock.at(moment.at)) }.joined(separator: "\n")
    return """
      <section>
      <h2><time>\(clock(moment.at))</time>\(title)</h2>
      \(body)
      </section>
      """
  }

  private func block(_ row: Story.Row, _ clock: StoryClock) -> String {
    let fate = StoryWords.fate(row, clock)
    let what = "\(row.entry.app), \(StoryWords.kind(row))"
    let detail = fate.map { ": \($0)" } ?? ", \(StoryWords.delivery(row, clock))"
    let head =
      "<p class=\"head\"><b>\(HTML.text(LedgerText.rule(row.entry.rule)))</b> "
      + "\(HTML.text("to \(what)\(detail)"))</p>"
    if row.push == nil { return "<article class=\"unsent\">\(head)</article>" }
    let isSeen = row.texts.contains(where: \.shown.isSeen)
    if !isSeen {
      return "<article class=\"silent\">\(head)<p class=\"note\">"
        + "\(HTML.text(StoryWords.silence(row).capitalizedFirst)).</p></article>"
    }
    let again = row.repeatedAt.map {
      "<p class=\"note\">Sent again \(counted(row.repeats, "time")), last at "
        + "\(clock($0)), so that it stays fresh.</p>"
    }
    let phones = row.texts.map { phone($0, row, clock) }.joined(separator: "\n")
    return "<article\(fate == nil ? "" : " class=\"unsent\"")>\(head)\n<div class=\"phones\">\n"
      + "\(phones)\n</div>\(again ?? "")</article>"
  }

  /// Returns the part of a lock screen that shows one text.
  private func phone(_ text: Story.Text, _ row: Story.Row, _ clock: StoryClock) -> String {
    let shown = text.shown
    let language = text.languages.first ?? ""
    let isRightToLeft = FoundationFormats.isRightToLeft(language)
    let classes = story.languages.indices.filter {
      text.languages.contains(story.languages[$0])
    }.map { " in\($0)" }.joined()
    var parts: [String] = []
    if shown.isAlert { parts.append(notification(shown, row)) }
    if shown.cardEvent != nil { parts.append(card(shown, clock)) }
    if let look = StoryWords.look(shown, clock) {
      parts.append("<p class=\"quiet\">\(HTML.text(look))</p>")
    }
    if !shown.isAlert, let badge = shown.badge {
      parts.append("<p class=\"quiet\">badge \(badge)</p>")
    }
    let manner = StoryWords.manner(shown)
    let label = [StoryWords.languages(text, story, of: row), manner.joined(separator: ", ")]
      .filter { !$0.isEmpty }.joined(separator: " · ")
    return """
      <figure class="phone\(classes)">
      <div class="lock" lang="\(HTML.text(language))" dir="\(isRightToLeft ? "rtl" : "ltr")">
      \(parts.joined(separator: "\n"))
      </div>
      <figcaption>\(HTML.text(label))</figcaption>
      </figure>
      """
  }

  private func notification(_ shown: ReadablePush, _ row: Story.Row) -> String {
    let app = row.entry.app.rawValue
    let level = shown.level == "time-sensitive" ? "<span class=\"level\">Time sensitive</span>" : ""
    let texts = [("title", shown.title), ("subtitle", shown.subtitle), ("body", shown.body)]
      .compactMap { name, text in
        text.map { "<p class=\"\(name)\">\(HTML.text($0))</p>" }
      }
    return """
      <div class="notification\(shown.level == "passive" ? " passive" : "")">
      <span class="icon \(app == "driver" ? "driver" : "rider")">\(HTML.text(String(app.prefix(1)).uppercased()))</span>
      <div>\(level)\(texts.joined())</div>
      </div>
      """
  }

  /// Returns a card: only its fields are known, the app draws them.
  private func card(_ shown: ReadablePush, _ clock: StoryClock) -> String {
    let state: String
    switch shown.cardEvent {
    case .start: state = "card appears"
    case .end:
      state =
        shown.dismissedAt.map { "card ends, leaves at \(clock($0))" }
        ?? "card ends"
    default: state = "card"
    }
    let fields = shown.fields.map {
      "<dt>\(HTML.text($0.name))</dt><dd>\(HTML.text($0.value))</dd>"
    }.joined()
    return """
      <div class="card\(shown.cardEvent == .end ? " ended" : "")">
      <p class="state">\(state)</p><dl dir="ltr">\(fields)</dl>
      </div>
      """
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
