/// A schedule rule with its timing. A class: each decision passes some of them around.
final class TimedRule: Sendable {
  let rule: CompiledRule
  let timing: Timing

  init(_ rule: CompiledRule, _ timing: Timing) {
    self.rule = rule
    self.timing = timing
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
  private let byEvent: [String: [Int]]
  private let byName: [String: [Int]]

  init(_ rules: [TimedRule]) {
    all = rules
    func indices(_ names: (TimedRule) -> some Sequence<String>) -> [String: [Int]] {
      rules.enumerated().reduce(into: [:]) { result, rule in
        for name in names(rule.element) { result[name, default: []].append(rule.offset) }
      }
    }
    byState = indices(\.timing.states)
    byEvent = indices { [$0.timing.event].compactMap(\.self) }
    byName = indices { [$0.name] }
  }

  /// Returns the first rule with this name.
  func named(_ name: String) -> TimedRule? { byName[name]?.first.map { all[$0] } }

  /// Returns the rules of which a ride has a memo, and those in whose states it is, was or comes to
  /// be, or that one of its events concerns, in the order of the files.
  func concerning(_ view: RideView) -> [TimedRule] {
    if all.isEmpty { return [] }
    var matching = view.ride?.state.flatMap { byState[$0] } ?? []
    for event in view.events {
      matching += byState[event.name] ?? []
      matching += byEvent[event.name] ?? []
    }
    for name in view.memo.slots.keys { matching += byName[name] ?? [] }
    matching.sort()
    return matching.indices.compactMap { position in
      position > 0 && matching[position] == matching[position - 1] ? nil : all[matching[position]]
    }
  }
}
