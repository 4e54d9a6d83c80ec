import Base
import RideCore
import Timeline

/// What differs between two sets of rules, as parts of a page: alerts first, all else folded.
struct ChangeSections {
  let text: ChangeText
  /// What each rule sends; a rule that is missing is among the others.
  let types: [String: PushType]

  private typealias Change = (
    rule: String, kind: RehearsalChanges.Kind, group: RehearsalChanges.Group
  )

  var html: String {
    let groups = text.groups
    let alerts = groups.filter { types[$0.rule] == .alert }
    let cards = groups.filter { types[$0.rule] == .liveactivity }
    let others = groups.filter { ![.alert, .liveactivity].contains(types[$0.rule]) }
    return """
      <section aria-labelledby="changes">
      <h2 id="changes">What changes</h2>
      <p class="note">The same: \(text.unchanged).</p>
      \(section("Alerts", alerts, isOpen: true))
      \(section("Cards", cards, isOpen: false))
      \(section("What only wakes an app, and others", others, isOpen: false))
      </section>
      """
  }

  private func section(_ title: String, _ changes: [Change], isOpen: Bool) -> String {
    if changes.isEmpty { return "<p>\(title): no change.</p>" }
    let counts = RehearsalChanges.Kind.allCases.compactMap { kind -> String? in
      let count = changes.filter { $0.kind == kind }.reduce(0) { $0 + $1.group.count }
      return count == 0 ? nil : "\(count) \(kind.rawValue)"
    }
    return """
      <details\(isOpen ? " open" : "")><summary>\(title): \(counts.joined(separator: ", "))</summary>
      \(changes.map(block).joined(separator: "\n"))
      </details>
      """
  }

  private func block(_ change: Change) -> String {
    let title = "\(change.rule): \(change.group.count) \(change.kind.rawValue)"
    var lines = ["<h3>\(HTML.text(title))</h3>"]
    for example in change.group.examples {
      lines.append(
        "<article><p>\(HTML.text("\(CivilTime.exact(example.at)) ride \(example.ride)"))</p>")
      if let before = example.before {
        lines.append("<pre class=\"minus\">\(HTML.text(before))</pre>")
      }
      if let after = example.after {
        lines.append("<pre class=\"plus\">\(HTML.text(after))</pre>")
      }
      lines.append("</article>")
    }
    return lines.joined(separator: "\n")
  }
}
