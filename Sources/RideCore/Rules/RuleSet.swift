/// The contents of all rule files of one directory.
package struct RuleSet: Sendable {
  /// The service's states that put a ride on the agenda.
  package let activeStates: Set<String>
  /// The states in which a ride is over.
  package let finalStates: Set<String>
  /// The declared events, without those named after a state.
  package let events: Set<String>
  /// The rules, ordered by file name and by line.
  package let rules: [CompiledRule]

  /// The schedule rules, each with its timing, in the order of the files.
  let timed: [TimedRule]

  /// The rules whose cards have a life of their own, in the order of the files.
  let cards: [CardRule]

  private let rulesByEvent: [String: [CompiledRule]]
  private let rulesByName: [String: CompiledRule]

  /// Compiles the rules of a directory; if two have one name, a lookup by name returns the first.
  package init(
    activeStates: Set<String>, finalStates: Set<String>, events: Set<String>, rules: [Rule]
  ) {
    self.activeStates = activeStates
    self.finalStates = finalStates
    self.events = events
    self.rules = rules.map(CompiledRule.init)
    var byEvent: [String: [CompiledRule]] = [:]
    var timed: [TimedRule] = []
    var cards: [CardRule] = []
    for rule in self.rules {
      switch rule.rule.when {
      case .on(let names): for name in Set(names) { byEvent[name, default: []].append(rule) }
      case .at(let timing): timed.append(TimedRule(rule: rule, timing: timing))
      case .life: cards += CardRule(rule).map { [$0] } ?? []
      }
    }
    self.cards = cards
    self.timed = timed
    rulesByEvent = byEvent
    rulesByName = Dictionary(self.rules.map { ($0.rule.name, $0) }, uniquingKeysWith: { a, _ in a })
  }

  /// Returns a rule set with the same states and events, and other rules.
  package func keeping(_ rules: [Rule]) -> RuleSet {
    RuleSet(activeStates: activeStates, finalStates: finalStates, events: events, rules: rules)
  }

  /// Returns the rules that fire on an event of this name, in the order of the files.
  package func rules(on event: String) -> [CompiledRule] {
    rulesByEvent[event] ?? []
  }

  package func rule(named name: String) -> CompiledRule? {
    rulesByName[name]
  }

  /// A digest that is equal for sets whose rules fire at the same times, whatever their texts.
  ///
  /// Empty if the set has neither schedule rules nor cards.
  package var timingDigest: String {
    let texts =
      timed.map { "\($0.rule.rule.name) \($0.timing.digest)" }
      + cards.map { "\($0.rule.rule.name) \($0.life.digest)" }
    return texts.isEmpty ? "" : PushID(of: texts.sorted().joined(separator: "\n")).description
  }

  /// The apps whose phones rules address, by name.
  package var apps: [App] { Set(rules.map(\.rule.app)).sorted { $0.rawValue < $1.rawValue } }

  package var cardApps: [App] { Array(Set(cards.map(\.rule.rule.app))) }

  /// Whether any rule broadcasts.
  package var broadcasts: Bool { cards.contains { $0.life.broadcast != nil } }

  /// Whether any rule depends on when an owner was last in contact.
  package var asksForContacts: Bool { rules.contains { $0.rule.unlessContactWithin != nil } }

  /// The events on which a card is started.
  package var startEvents: [String] { Set(cards.flatMap(\.life.start)).sorted() }

  /// Returns whether a ride may be in a state of this name.
  func isState(_ name: String) -> Bool {
    activeStates.contains(name) || finalStates.contains(name)
  }

  /// Every event that a rule may name: one for each state, `ride_updated`, and the declared ones.
  package var knownEvents: Set<String> {
    activeStates.union(finalStates).union(events).union(["ride_updated"])
  }
}

/// A schedule rule with its timing.
struct TimedRule: Sendable {
  let rule: CompiledRule
  let timing: Timing
}

/// A rule whose cards have a life of their own.
struct CardRule: Sendable {
  let rule: CompiledRule
  let life: LiveActivity
  let compiled: CompiledCard

  /// Returns nil if the rule has no card.
  init?(_ rule: CompiledRule) {
    guard case .liveActivity(let life) = rule.rule.what else { return nil }
    self.rule = rule
    self.life = life
    compiled = CompiledCard(life, data: rule.rule.data)
  }
}

/// A rule with its payload prepared: what all pushes share is encoded once, at load.
package struct CompiledRule: Sendable {
  package let rule: Rule
  let payload: CompiledPayload

  init(_ rule: Rule) {
    self.rule = rule
    payload = CompiledPayload(Self.template(rule))
  }

  /// Returns the payload as a template.
  static func template(_ rule: Rule) -> PayloadTemplate {
    var members = rule.data
    switch rule.what {
    case .alert(let alert, _): members["aps"] = alert.aps
    case .background: members["aps"] = .object(["content-available": .literal(.integer(1))])
    case .liveActivity(let life): return life.template(data: rule.data)
    }
    return .object(members)
  }
}
