/// A schedule rule with its timing, or one time of its `at`. A class: each decision passes some of
/// them around.
final class TimedRule: Sendable {
  let rule: CompiledRule
  let timing: Timing
  /// The time of `at`, a time of the ride or contact; nil for other rules.
  let time: RuleTime?
  let states: Set<String>
  /// Identifies it in a ride's memo; no rule's name contains a space.
  let key: String

  init(_ rule: CompiledRule, _ timing: Timing, _ time: RuleTime?, states: Set<String>, index: Int) {
    self.rule = rule
    self.timing = timing
    self.time = time
    self.states = states
    key = index == 0 ? rule.name : "\(rule.name) \(index)"
  }

  /// Returns the timed rules of a rule: one for each time that no event arms.
  static func all(
    _ rule: CompiledRule, _ timing: Timing, activeStates: Set<String>
  ) -> [TimedRule] {
    let states = timing.states ?? activeStates
    guard case .times(let times) = timing.slots else {
      return [TimedRule(rule, timing, nil, states: states, index: 0)]
    }
    return times.indices.filter { times[$0].event == nil }.map {
      TimedRule(rule, timing, times[$0], states: states, index: $0)
    }
  }

  var name: String { rule.name }
}

/// The schedule rules of a set, found by the names that can make them due.
///
/// A ride meets few of them, so that a decision does not ask each rule.
struct TimedRules: Sendable {
  /// In the order of the files.
  let all: [TimedRule]
  private let byState: [String: [Int]]
  private let byKey: [String: [Int]]

  init(_ rules: [TimedRule]) {
    all = rules
    func indices(_ names: (TimedRule) -> some Sequence<String>) -> [String: [Int]] {
      rules.enumerated().reduce(into: [:]) { result, rule in
        for name in names(rule.element) { result[name, default: []].append(rule.offset) }
      }
    }
    byState = indices(\.states)
    byKey = indices { [$0.key] }
  }

  /// Returns the first rule with this key.
  func rule(key: String) -> TimedRule? { byKey[key]?.first.map { all[$0] } }

  /// Returns the rules of which a ride has a memo, and those in whose states it is, was or comes to
  /// be, in the order of the files.
  func concerning(_ view: RideView) -> [TimedRule] {
    if all.isEmpty { return [] }
    var matching = view.ride?.state.flatMap { byState[$0] } ?? []
    for event in view.events {
      matching += byState[event.name] ?? []
    }
    for key in view.memo.slots.keys { matching += byKey[key] ?? [] }
    matching.sort()
    return matching.indices.compactMap { position in
      position > 0 && matching[position] == matching[position - 1] ? nil : all[matching[position]]
    }
  }
}
