@testable import RideCore

extension Rule {
  /// Makes a rule with `on` one with `at` that fires so much later; nil undoes that.
  mutating func delay(by offset: Duration?) {
    switch (when, offset) {
    case (.on(let events, let states), let offset?):
      when = .at(Timing(.times(events.map { RuleTime(.event($0), by: offset) }), while: states))
    case (.at(let timing), nil) where !timing.events.isEmpty:
      when = .on(timing.events, while: timing.states)
    default: break
    }
  }
}
