import Base
import RideCore

/// Reports placeholders that can never have a value: entries into states that no rule file declares,
/// and `me` where no single person is addressed.
struct PersonAndEntryCheck {
  let diagnostics: Diagnostics
  let vocabulary: Vocabulary

  /// - Parameter node: the rule in its file.
  func check(_ rule: Rule, _ node: YAMLNode) {
    if vocabulary.isComplete {
      let known = vocabulary.states
      for state in Set(rule.enteredStates).subtracting(known).sorted() {
        diagnostics.report(
          location("ride.entered.\(state)", in: node),
          "{{ride.entered.\(state)}}, which names an unknown state",
          expected: "one of \(known.joined(separator: ", "))", word: state, among: known)
      }
    }
    if rule.what.emittedEvent != nil, rule.condition?.readsMe == true {
      diagnostics.report(
        node.pairs.first { $0.key == "if" }?.value.location ?? node.location,
        "me in the if of an emit",
        expected: "values of the ride: an event that a rule emits is addressed to no single person")
    }
    guard let placeholder = rule.placeholders.first(where: \.isOfPerson) ?? emitted(rule),
      let reason = lackOfPerson(rule)
    else { return }
    diagnostics.report(
      location(placeholder.path, in: node), "{{\(placeholder.path)}} \(reason)",
      expected: "values of the ride: me is the participant whom a push addresses")
  }

  private func emitted(_ rule: Rule) -> Placeholder? {
    rule.data.values.lazy.flatMap(\.placeholders).first(where: \.isOfPerson)
  }

  /// Why nothing of a rule addresses a single person; nil if it does.
  private func lackOfPerson(_ rule: Rule) -> String? {
    if rule.what.emittedEvent != nil { return "in the data of an event" }
    if case .liveActivity(let life) = rule.what, life.broadcast != nil {
      return "next to broadcast"
    }
    return nil
  }

  /// Returns where a path is written in a rule; where the rule begins, if it is in a file of strings.
  private func location(_ path: String, in node: YAMLNode) -> SourceLocation {
    find(path, in: node) ?? node.location
  }

  private func find(_ path: String, in node: YAMLNode) -> SourceLocation? {
    switch node.kind {
    case .scalar(let scalar):
      guard let range = scalar.text.firstRange(of: path) else { return nil }
      let before = scalar.text[..<range.lowerBound].unicodeScalars.count
      return scalar.textLocation.map {
        SourceLocation(line: $0.line, column: $0.column + before)
      } ?? node.location
    case .sequence(let elements):
      return elements.lazy.compactMap { find(path, in: $0) }.first
    case .mapping(let pairs):
      return pairs.lazy.compactMap { find(path, in: $0.value) }.first
    case .refused: return nil
    }
  }
}
