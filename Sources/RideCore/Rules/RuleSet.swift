import Base

/// The contents of all rule files of one directory.
///
/// An object, because each decision passes it around.
package final class RuleSet: Sendable {
  /// The service's states that put a ride on the agenda.
  package let activeStates: Set<String>
  /// The states in which a ride is over.
  package let finalStates: Set<String>
  /// The declared events, without those named after a state.
  package let events: Set<String>
  /// The rules, ordered by file name and by line.
  package let rules: [Rule]

  let timed: TimedRules

  /// The rules whose cards have a life of their own, in the order of the files.
  package let cards: [CardRule]

  /// The SHA-256 of the files, in hexadecimal; empty for rules that were not read from files.
  package let digest: String

  /// `attributes`: those that rides have; nil if no file declares them.
  package let attributes: DeclaredAttributes?

  /// `defaults`: its quiet hours are already those of the rules that they are for.
  package let defaults: RuleDefaults

  /// Every event that a rule may name: one for each state, `ride_updated`, and the declared ones.
  package let knownEvents: Set<String>

  let permitWindows: PermitWindows

  /// The timing digest of rules of which each decides some of the rides.
  private let givenTimingDigest: String?

  private let rulesByEvent: [String: [CompiledRule]]
  private let rulesByName: [String: CompiledRule]

  /// Compiles the rules of a directory; if two have one name, a lookup by name returns the first.
  ///
  /// - Parameter timingDigest: That of rules of which each decides some of the rides; nil if all
  ///   decide all.
  package init(
    activeStates: Set<String>, finalStates: Set<String>, events: Set<String>, rules: [Rule],
    defaults: RuleDefaults = RuleDefaults(), attributes: DeclaredAttributes? = nil,
    digest: String = "", timingDigest: String? = nil
  ) {
    self.attributes = attributes
    self.digest = digest
    self.activeStates = activeStates
    self.finalStates = finalStates
    self.events = events
    self.rules = rules
    self.defaults = defaults
    knownEvents = activeStates.union(finalStates).union(events).union(["ride_updated"])
    let compiled = rules.map { CompiledRule($0, defaultLocale: defaults.locale) }
    var byEvent: [String: [CompiledRule]] = [:]
    var timed: [TimedRule] = []
    var cards: [CardRule] = []
    for (definition, rule) in zip(rules, compiled) {
      switch rule.when {
      case .on(let names, _): for name in Set(names) { byEvent[name, default: []].append(rule) }
      case .at(let timing):
        timed += TimedRule.all(rule, timing, activeStates: activeStates)
        for name in Set(timing.events) { byEvent[name, default: []].append(rule) }
      case .life:
        guard case .liveActivity(let life) = definition.what else { continue }
        let card = CompiledCard(
          life, data: definition.data, states: activeStates.union(finalStates),
          defaultLocale: defaults.locale)
        cards.append(CardRule(rule, life, card))
      }
    }
    self.cards = cards
    self.timed = TimedRules(timed)
    permitWindows = PermitWindows(of: rules)
    givenTimingDigest = timingDigest
    rulesByEvent = byEvent
    rulesByName = Dictionary(compiled.map { ($0.name, $0) }, uniquingKeysWith: { a, _ in a })
  }

  /// Returns a rule set with the same states and events, and other rules.
  package func keeping(_ rules: [Rule]) -> RuleSet {
    RuleSet(
      activeStates: activeStates, finalStates: finalStates, events: events, rules: rules,
      defaults: defaults, attributes: attributes)
  }

  /// Returns the rules that fire on an event of this name, in the order of the files.
  func rules(on event: String) -> [CompiledRule] {
    rulesByEvent[event] ?? []
  }

  func rule(named name: String) -> CompiledRule? {
    rulesByName[name]
  }

  /// A digest that is equal for sets whose rules fire at the same times, whatever their texts.
  ///
  /// Empty if the set has neither schedule rules nor cards.
  package var timingDigest: String {
    if let givenTimingDigest { return givenTimingDigest }
    let texts =
      rules.compactMap { rule in
        if case .at(let timing) = rule.when { "\(rule.name) \(timing.digest)" } else { nil }
      }
      + cards.map { "\($0.rule.name) \($0.life.digest)" }
    return texts.isEmpty ? "" : PushID(of: texts.sorted().joined(separator: "\n")).description
  }

  /// The apps whose phones rules address, by name.
  package var apps: [App] { Set(rules.flatMap(\.apps)).sorted { $0.rawValue < $1.rawValue } }

  /// The cards of an attributes-type: where each rule is, its app, and what starts it by push.
  package func cards(of type: String) -> [(source: String, app: App, startEvents: [String])] {
    rules.compactMap { rule in
      guard case .liveActivity(let life) = rule.what, life.attributesType == type else {
        return nil
      }
      return (rule.source, rule.app, life.start)
    }
  }

  /// Returns the attributes-type of a card rule; nil if no card rule has this name.
  package func attributesType(ofRule name: String) -> String? {
    cards.first { $0.name == name }?.life.attributesType
  }

  package var cardApps: [App] { Array(Set(cards.map(\.rule.app))) }

  /// The JSON form of each type of card, in the order of the files; of several rules with one type,
  /// the first rule's.
  package var contracts: [CardContract] {
    var names: Set<String> = []
    return cards.map(\.life.contract).filter { names.insert($0.typeName).inserted }
  }

  /// The JSON forms of an attributes-type: each set of rules that is joined here may have its own.
  package func contracts(of type: String) -> [CardContract] {
    cards.map(\.life.contract).filter { $0.typeName == type }
  }

  /// Whether any rule depends on when a ride entered a state.
  package var readsEntries: Bool {
    rules.contains { $0.condition?.readsEntries == true || !$0.enteredStates.isEmpty }
  }

  /// Whether any rule broadcasts.
  package var broadcasts: Bool { cards.contains { $0.life.broadcast != nil } }

  /// Whether any rule depends on when a phone was last in contact.
  package var asksForPhoneContacts: Bool {
    rules.contains { $0.condition?.readsPhoneContact == true }
  }

  /// The apps whose owners' last contacts rules read: by `at: contact`, or by `contact` in `if`.
  package var contactApps: [App] {
    let timed = timed.all.flatMap { $0.time?.isOfContact == true ? $0.rule.apps : [] }
    let conditional = rules.flatMap { $0.condition?.readsContact == true ? $0.apps : [] }
    return Set(timed + conditional).sorted { $0.rawValue < $1.rawValue }
  }

  /// The apps whose people rules post to, with or without a phone.
  package var postApps: [App] {
    Set(rules.filter { $0.what.post != nil }.flatMap(\.apps)).sorted { $0.rawValue < $1.rawValue }
  }

  /// Whether any post can be turned off.
  package var postsHaveTopics: Bool {
    rules.contains { $0.what.post != nil && $0.limits.topic != nil }
  }

  /// Whether any rule depends on what owners have turned off.
  package var asksForPreferences: Bool { rules.contains { $0.limits.topic != nil } }

  /// The names of the rules with `at-most`.
  package var cappedRules: Set<String> {
    Set(rules.filter { $0.limits.cap != nil }.map(\.name))
  }

  /// The longest time within which an `at-most` counts over all rides; nil if none does.
  package var longestCapTime: Duration? {
    rules.compactMap { rule in
      if case .time(let time)? = rule.limits.cap?.period { time } else { nil }
    }.max()
  }

  /// Whether any `at-most` counts within a ride.
  package var capsRides: Bool { rules.contains { $0.limits.cap?.period == .ride } }

  /// Whether any card can be turned off.
  package var cardsHaveTopics: Bool { cards.contains { $0.rule.limits?.topic != nil } }

  /// The events on which a card is started.
  package var startEvents: [String] { Set(cards.flatMap(\.life.start)).sorted() }

  /// Returns whether a ride may be in a state of this name.
  package func isState(_ name: String) -> Bool {
    activeStates.contains(name) || finalStates.contains(name)
  }

  /// Returns why no rule can name an event; nil if one can, or if RidePulse emitted it itself.
  func unknownWord(of event: RideEvent, state: String?) -> LedgerReason? {
    if knownEvents.contains(event.name) { return nil }
    // A raw push in a ride of the service was not committed by its function, and is not sent.
    if InternalEvent(rawValue: event.name) != nil, !InternalEvent.isRaw(event.name) { return nil }
    let isState = event.name == state
    return LedgerReason(
      isState ? .unknownState : .unknownEvent,
      "no rule file declares the \(isState ? "state" : "event") \(event.name.quotedBrief)")
  }
}
