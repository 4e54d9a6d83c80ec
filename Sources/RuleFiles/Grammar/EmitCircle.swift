import RideCore

/// Finds rules that emit each other's events without a pause: one event would fire them forever.
enum EmitCircle {
  /// Reports the circle that a rule closes, with all of its rules.
  ///
  /// A rule with `at` ends the search, and so does a slot or an escalation: they come later, the ride
  /// may have changed by then, and `RuleLint` warns of them.
  static func report(
    _ rule: Rule, at name: LocatedWord?, among rules: [Rule], _ diagnostics: Diagnostics
  ) {
    guard let name, let event = emitted(by: rule),
      let circle = path(from: event, to: rule, among: rules)
    else { return }
    let steps = ([rule] + circle).map { next in
      "\(next.name) emits \(next.what.emittedEvent ?? "")"
    }
    diagnostics.report(
      name.location, "rules that fire each other forever: \(steps.joined(separator: ", "))",
      expected:
        "at in one of them, such as at: \(event) + 10s, or an event that none of them fires on")
  }

  /// The event that a rule emits at once; nil if it emits none, or later.
  private static func emitted(by rule: Rule) -> String? {
    guard case .on = rule.when else { return nil }
    return rule.what.emittedEvent
  }

  /// Returns the rules through which an event leads back to a rule; nil if none do.
  private static func path(from event: String, to rule: Rule, among rules: [Rule]) -> [Rule]? {
    var paths: [(event: String, rules: [Rule])] = [(event, [])]
    var reached: Set<String> = [event]
    while let path = paths.popLast() {
      if fires(rule, on: path.event) { return path.rules }
      for next in rules where next.name != rule.name && fires(next, on: path.event) {
        guard let emitted = emitted(by: next), reached.insert(emitted).inserted else { continue }
        paths.append((emitted, path.rules + [next]))
      }
    }
    return nil
  }

  private static func fires(_ rule: Rule, on event: String) -> Bool {
    if case .on(let events, _) = rule.when { events.contains(event) } else { false }
  }
}
