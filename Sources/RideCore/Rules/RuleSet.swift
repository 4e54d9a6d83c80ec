/// All that the rule files of one directory say.
package struct RuleSet: Sendable {
  /// The service's states that put a ride on the agenda.
  package let activeStates: Set<String>
  /// The states in which a ride is over.
  package let finalStates: Set<String>
  /// The events that are declared besides one for each state.
  package let events: Set<String>
  /// The rules, in the order of their files' names and of their lines.
  package let rules: [CompiledRule]

  /// The rules that speak by the clock, each with its timing, in the order of the files.
  let timed: [TimedRule]

  /// The rules whose cards have a life of their own, in the order of the files.
  let cards: [CardRule]

  private let rulesByEvent: [String: [CompiledRule]]
  private let rulesByName: [String: CompiledRule]

  /// The rules of a directory; where two bear one name the first is found by it.
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

  /// The same words with other rules.
  package func keeping(_ rules: [Rule]) -> RuleSet {
    RuleSet(activeStates: activeStates, finalStates: finalStates, events: events, rules: rules)
  }

  /// The rules that speak on an event of this name, in the order of the files.
  package func rules(on event: String) -> [CompiledRule] {
    rulesByEvent[event] ?? []
  }

  /// The rule of this name.
  package func rule(named name: String) -> CompiledRule? {
    rulesByName[name]
  }

  /// The same for sets whose rules speak at the same times, in whatever words; empty where none
  /// speaks by the clock.
  package var timingDigest: String {
    let texts =
      timed.map { "\($0.rule.rule.name) \($0.timing.digest)" }
      + cards.map { "\($0.rule.rule.name) \($0.life.digest)" }
    return texts.isEmpty ? "" : PushID(of: texts.sorted().joined(separator: "\n")).description
  }

  /// The apps that rules speak to, by their names.
  package var apps: [App] { Set(rules.map(\.rule.app)).sorted { $0.rawValue < $1.rawValue } }

  /// The apps that have cards.
  package var cardApps: [App] { Array(Set(cards.map(\.rule.rule.app))) }

  /// Whether a rule broadcasts.
  package var broadcasts: Bool { cards.contains { $0.life.broadcast != nil } }

  /// Whether a rule goes by when somebody was last heard from.
  package var asksForContacts: Bool { rules.contains { $0.rule.unlessContactWithin != nil } }

  /// The events on which a card is started.
  package var startEvents: [String] { Set(cards.flatMap(\.life.start)).sorted() }

  /// Whether a ride may be in a state of this name.
  func isState(_ name: String) -> Bool {
    activeStates.contains(name) || finalStates.contains(name)
  }

  /// Every event that a rule may name: one for each state, `ride_updated`, and the declared ones.
  package var knownEvents: Set<String> {
    activeStates.union(finalStates).union(events).union(["ride_updated"])
  }
}

/// A rule that speaks by the clock.
struct TimedRule: Sendable {
  let rule: CompiledRule
  let timing: Timing
}

/// A rule whose cards have a life of their own.
struct CardRule: Sendable {
  let rule: CompiledRule
  let life: LiveActivity
  let compiled: CompiledCard

  /// Nil where the rule has no card.
  init?(_ rule: CompiledRule) {
    guard case .liveActivity(let life) = rule.rule.what else { return nil }
    self.rule = rule
    self.life = life
    compiled = CompiledCard(life, data: rule.rule.data)
  }
}

/// A rule with its payload prepared: what is the same in every push is encoded once, at load.
package struct CompiledRule: Sendable {
  /// The rule, as a file states it.
  package let rule: Rule
  let payload: CompiledPayload

  init(_ rule: Rule) {
    self.rule = rule
    payload = CompiledPayload(Self.template(rule))
  }

  /// The payload before it is filled in.
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
