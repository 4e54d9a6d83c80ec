import Base

/// Warnings about rules that fire each other again and again.
///
/// `check` refuses a circle of rules that emit at once. One with `at`, an escalation or a slot goes
/// on in time, and ends with the states of its rules: without `while`, not even with the ride.
enum EmitLint {
  /// Warns about a circle, at the first of its rules.
  static func circle(_ rule: Rule, in rules: RuleSet) -> [String] {
    guard let first = rules.rules.firstIndex(where: { $0.name == rule.name }) else { return [] }
    let others = rules.rules[first...].filter { !ends($0, in: rules) }
    guard others.first?.name == rule.name, let circle = path(from: rule, among: others) else {
      return []
    }
    let steps = circle.map { "\($0.rule.name) emits \($0.event)" }.joined(separator: ", ")
    return [
      "rules that fire each other again and again: \(steps); write while with active states in one of "
        + "them, or they end only at \(EmitTally.limit) events within "
        + "\(EmitTally.period.rideText), and \(EmitTally.limitAfterEnd) after the ride's end"
    ]
  }

  private typealias Step = (rule: Rule, event: String)

  /// Returns the rules through which a rule fires itself, from this one on; nil if it does not.
  private static func path(from rule: Rule, among rules: [Rule]) -> [Step]? {
    var paths = events(of: rule).map { [Step(rule, $0)] }
    var reached = Set(events(of: rule))
    while let path = paths.popLast() {
      guard let event = path.last?.event else { continue }
      if fires(rule, on: event) { return path }
      for next in rules where fires(next, on: event) {
        for emitted in events(of: next) where reached.insert(emitted).inserted {
          paths.append(path + [Step(next, emitted)])
        }
      }
    }
    return nil
  }

  private static func events(of rule: Rule) -> [String] {
    [rule.what.emittedEvent, rule.escalation?.event].compactMap(\.self)
  }

  private static func fires(_ rule: Rule, on event: String) -> Bool {
    switch rule.when {
    case .on(let events, _): events.contains(event)
    case .at(let timing): timing.events.contains(event)
    case .life: false
    }
  }

  /// Whether the ride leaves the rule's states, or its `if` may become false.
  private static func ends(_ rule: Rule, in rules: RuleSet) -> Bool {
    if rule.condition != nil { return true }
    switch rule.when {
    case .on(_, let states): return states?.isSubset(of: rules.activeStates) == true
    // All active states are what a time of the ride has without while.
    case .at(let timing): return timing.states?.isStrictSubset(of: rules.activeStates) == true
    case .life: return true
    }
  }
}
