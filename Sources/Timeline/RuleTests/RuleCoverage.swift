import Base
package import RideCore

/// What the tests of a rule set have exercised, and what not.
package struct RuleCoverage: Sendable {
  /// One kind of thing to exercise, and those of its items that were.
  package struct Section: Sendable {
    /// Such as `rules fired`.
    package let name: String
    /// In the order of the rule files.
    package let items: [String]
    package fileprivate(set) var covered: Set<String> = []

    package var missing: [String] { items.filter { !covered.contains($0) } }
    package var count: Int { items.count - missing.count }

    fileprivate init(_ name: String, _ items: [String]) {
      self.name = name
      self.items = items
    }
  }

  private let byName: [String: Rule]
  private let fallbacks: [String: (locales: [String], fallback: LocaleFallback)]
  private var fired: Section
  private var notSent: Section
  private var locales: Section
  private var states: Section
  private var events: Section
  private var phases: Section
  private var branches: Section

  package init(of rules: RuleSet) {
    byName = Dictionary(rules.rules.map { ($0.name, $0) }) { first, _ in first }
    let names = rules.rules.map(\.name)
    fallbacks = Dictionary(
      rules.rules.map { rule in
        let locales = rule.locales
        return (
          rule.name, (locales, LocaleFallback(locales, default: rules.defaults.locale))
        )
      }
    ) { first, _ in first }
    fired = Section("rules fired", names)
    notSent = Section("rules not sent", names)
    locales = Section(
      "locales",
      rules.rules.flatMap { rule in
        rule.locales.filter { $0 != "default" }.map { "\(rule.name): \($0)" }
      })
    states = Section("states", rules.activeStates.union(rules.finalStates).sorted())
    events = Section("events", rules.events.sorted())
    phases = Section("card phases", rules.rules.flatMap(Self.phases))
    branches = Section(
      "branches of if",
      rules.rules.filter { $0.condition != nil }.flatMap { rule in
        ["\(rule.name): true", "\(rule.name): false"]
      })
  }

  private static func phases(of rule: Rule) -> [String] {
    guard case .liveActivity(let life) = rule.what else { return [] }
    let starts = life.start.isEmpty ? [] : [CardEvent.start]
    return (starts + [.update, .end]).map { "\(rule.name): \($0.rawValue)" }
  }

  package var sections: [Section] {
    [fired, notSent, locales, states, events, phases, branches].filter { !$0.items.isEmpty }
  }

  /// The share of all items that were exercised, in whole percent, rounded down.
  package var percent: Int {
    let all = sections.reduce(0) { $0 + $1.items.count }
    return all == 0 ? 100 : sections.reduce(0) { $0 + $1.count } * 100 / all
  }

  /// Counts what a test exercises: of rules only those that it compares.
  package mutating func add(_ run: RuleTestRun, of test: RuleTest) {
    for observation in run.observations {
      if case .emitted(let event) = observation.outcome { events.covered.insert(event) }
      if test.comparesRules, test.compares(observation.rule) { add(observation) }
      // What must not be sent is compared even if the rule is not among `only`.
      if test.notSent.contains(where: { $0.rule == observation.rule }) { add(observation) }
    }
    if let state = test.scenario.view.ride?.state { states.covered.insert(state) }
    for change in test.scenario.steps.flatMap(\.changes) {
      switch change {
      case .ride(let update): if let state = update.state ?? nil { states.covered.insert(state) }
      case .event(let event): events.covered.insert(event.name)
      default: continue
      }
    }
  }

  private mutating func add(_ observation: RuleTestRun.Observation) {
    let name = observation.rule
    guard let rule = byName[name] else { return }
    switch observation.outcome {
    case .emitted:
      fired.covered.insert(name)
      branches.covered.insert("\(name): true")
    case .notSent(let reason):
      notSent.covered.insert(name)
      if reason?.code == .engine(.conditionFalse) { branches.covered.insert("\(name): false") }
      if [.engine(.coveredByCard), .engine(.cardThere)].contains(reason?.code) {
        branches.covered.insert("\(name): true")
      }
    case .waits: break
    case .sent(let push):
      fired.covered.insert(name)
      branches.covered.insert("\(name): true")
      if let card = observation.card {
        phases.covered.insert("\(name): \(card.rawValue)")
        if !Self.showsTexts(push, of: rule) { return }
      }
      addLocale(of: observation)
    }
  }

  /// Records the locale whose texts a phone's push shows.
  private mutating func addLocale(of observation: RuleTestRun.Observation) {
    guard let (names, fallback) = fallbacks[observation.rule], !names.isEmpty else { return }
    let index = fallback.choice(for: observation.locale).index
    guard names.indices.contains(index) else { return }
    locales.covered.insert("\(observation.rule): \(names[index])")
  }

  /// Returns whether a card's push shows texts of the rule: only some have an alert.
  private static func showsTexts(_ push: PlannedPush, of rule: Rule) -> Bool {
    if ReadablePush(push).isAlert { return true }
    guard case .liveActivity(let life) = rule.what else { return true }
    return !PayloadTemplate.object(life.contentState).locales.isEmpty
  }
}
