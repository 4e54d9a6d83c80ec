import Base
import RideCore
import Timeline

/// What other rule files would change in the window of a preview: a rehearsal of its rides by both.
struct PreviewDiff {
  private let text: ChangeText
  /// What differs in the files and in no push of the window, such as rules of events.
  private let unseen: RuleChanges

  /// Replays the rides one at a time, so that no ride is kept in memory once it is compared.
  init(
    _ views: [RideView], _ window: PreviewWindow, by configuration: EngineConfiguration,
    with other: EngineConfiguration
  ) {
    var changes = RehearsalChanges()
    var progress = ProgressLine()
    defer { progress.end() }
    for (index, view) in views.enumerated() {
      progress.show("\(index) of \(views.count) rides")
      changes.add(
        ride: view.rideID, before: window.replay([view], by: configuration),
        after: window.replay([view], by: other), until: window.to, shownAt: window.shownTime)
    }
    text = ChangeText(changes: changes)
    unseen = RuleChanges(from: configuration.rules, to: other.rules)
      .leavingOut(Set(changes.groups.keys))
  }

  var isEmpty: Bool { text.changes.isEmpty && unseen.isEmpty }

  var table: String {
    var lines = text.lines
    if !unseen.isEmpty {
      // They begin with "no change" if no push differs.
      if text.changes.isEmpty { lines = ["the same: \(text.unchanged)"] }
      lines += unseen.groups.map { word, names in
        "\(word), and not seen in this window: \(names.joined(separator: ", "))"
      }
      lines.append("ridepulse test and ridepulse rehearse show what rules of events do")
    }
    return lines.map { Escape.line($0) + "\n" }.joined()
  }

  /// JSON lines, the last of which is a summary.
  var json: String {
    let summary = JSONValue.object([
      "summary": .bool(true), "unchanged": .integer(Int64(text.changes.unchanged)),
      "unseen": unseen.json,
    ])
    return (text.json + [summary]).map { Escape.json($0.text) + "\n" }.joined()
  }
}
