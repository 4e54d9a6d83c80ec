package import Base

/// A warning about something that rule files allow and that is probably a mistake.
///
/// `check` and the preview print these warnings; no rule is refused because of one.
package struct RuleLint: Hashable, Sendable {
  /// The rule's name; nil if the warning concerns all rules.
  package var rule: String?
  /// The location of the rule, such as `schedules/driver.yaml:12`.
  package var source: String?
  /// The same for programs, with the column; nil if it concerns no file, or that is not known.
  package var fileLocation: FileLocation?
  /// What may go wrong, and how to avoid it.
  package var text: String
  /// The keys of the rule that lead to it; empty if it is about the rule as a whole.
  package var path: [String] = []

  package init(rule: String? = nil, source: String? = nil, text: String) {
    (self.rule, self.source, self.text) = (rule, source, text)
  }

  package init(rule: String?, at fileLocation: FileLocation, text: String) {
    self.init(rule: rule, source: fileLocation.description, text: text)
    self.fileLocation = fileLocation
  }

  /// Returns all warnings, in the order of the rules.
  ///
  /// - Parameter hasFCM: whether the service has settings of FCM; without them, warnings about Android
  ///   only come if a rule has `android`.
  package static func all(about rules: RuleSet, hasFCM: Bool = false) -> [RuleLint] {
    let advice = rules.rules.flatMap { rule in
      lints.flatMap { $0(rule, rules) }
        .map { RuleLint(rule: rule.name, source: rule.source, text: $0) }
    }
    return advice + heartbeats(in: rules) + unmatchedStates(in: rules)
      + (hasFCM || rules.namesAndroid ? AndroidLint.all(about: rules) : [])
  }

  /// What is examined about a rule; the result is its warnings.
  private static let lints: [@Sendable (_ rule: Rule, _ rules: RuleSet) -> [String]] = [
    { rule, _ in one(lost(rule)) }, { rule, _ in one(silence(rule)) },
    { rule, rules in one(exclusion(rule, in: rules)) }, { rule, _ in one(overflow(rule)) },
    { rule, _ in truncation(rule) }, { rule, _ in card(rule) },
    { rule, _ in DeliveryLint.lateness(rule) },
    { rule, rules in DeliveryLint.displacement(rule, in: rules) },
    { rule, _ in DeliveryLint.interruption(rule) },
    { rule, _ in DeliveryLint.content(rule) }, { rule, _ in DeliveryLint.receipt(rule) },
    { rule, rules in one(unheard(rule, in: rules)) }, { rule, _ in LimitLint.quiet(rule) },
    { rule, rules in DeliveryLint.doubles(rule, in: rules) },
    { rule, rules in EmitLint.circle(rule, in: rules) },
    { rule, rules in one(LimitLint.zone(rule, in: rules)) },
  ]

  private static func one(_ text: String?) -> [String] { text.map { [$0] } ?? [] }

  private static func unmatchedStates(in rules: RuleSet) -> [RuleLint] {
    let silent = rules.activeStates.union(rules.finalStates).subtracting(rules.namedStates)
    if silent.isEmpty { return [] }
    return [RuleLint(text: "no rule matches \(silent.sorted().joined(separator: ", "))")]
  }

  /// Warns about background pushes that are too frequent for Apple to deliver: those of a single
  /// rule, and those of an app's rules together, at the last of these.
  package static func heartbeats(in rules: RuleSet) -> [RuleLint] {
    rules.rules.compactMap { rule in
      heartbeat(rule).map { RuleLint(rule: rule.name, source: rule.source, text: $0) }
    } + rules.apps.compactMap { total(of: $0, in: rules) }
  }

  private static func heartbeat(_ rule: Rule) -> String? {
    guard case .at(let timing) = rule.when, case .every(let period) = timing.slots,
      rule.what == .background, period < .seconds(1200)
    else { return nil }
    return "every \(period.rideText): Apple delivers two or three background pushes an hour at "
      + "best; 20m is the shortest period that makes sense"
  }

  private static func total(of app: App, in rules: RuleSet) -> RuleLint? {
    let beats = rules.rules.filter { $0.apps.contains(app) && $0.what == .background }
      .compactMap(Heartbeats.init)
    let worst = rules.activeStates.sorted().map { state in
      (state: state, beats: beats.filter { $0.states.contains(state) })
    }.max { $0.beats.perHour < $1.beats.perHour }
    guard let worst, worst.beats.count > 1, worst.beats.perHour > Heartbeats.limit,
      let last = worst.beats.last?.rule
    else { return nil }
    let names = worst.beats.map { "\($0.rule.name) at \($0.rule.source)" }
    return RuleLint(
      rule: last.name, source: last.source,
      text: "each phone of the \(app) gets \(worst.beats.perHour) background pushes an hour while "
        + "\(worst.state): \(names.joined(separator: ", ")); APNs delivers two or three, "
        + "so combine the rules or lengthen their periods")
  }

  /// Warns about a rule that stops before its first slot unless the ride changes.
  static func lost(_ rule: Rule) -> String? {
    guard case .at(let timing) = rule.when, case .every(let period) = timing.slots,
      timing.lostAfter < period
    else { return nil }
    return "lost-after \(timing.lostAfter.rideText) is shorter than every \(period.rideText): "
      + "it does not fire for a ride that does not change"
  }

  /// Warns about a schedule rule that needs event data, which a slot never has.
  private static func silence(_ rule: Rule) -> String? {
    guard case .at(let timing) = rule.when, timing.events.isEmpty else { return nil }
    let missing = rule.payload.placeholders.first { placeholder in
      guard case .eventData = placeholder.source else { return false }
      return !placeholder.filters.contains { if case .fallback = $0 { true } else { false } }
    }
    return missing.map {
      "it can never fire: a slot of \(timing.keyword) has no data, and {{\($0.path)}} has no default"
    }
  }

  /// Warns about a rule whose `while` excludes the state that its event leads to.
  private static func exclusion(_ rule: Rule, in rules: RuleSet) -> String? {
    guard case .on(let events, let states?) = rule.when else { return nil }
    let excluded = events.filter { rules.isState($0) && !states.contains($0) }
    if excluded.isEmpty { return nil }
    return "it can't fire on \(excluded.joined(separator: ", ")): while does not name this state, "
      + "in which the event leaves the ride"
  }

  /// Warns about an event that a rule emits and no rule fires on.
  private static func unheard(_ rule: Rule, in rules: RuleSet) -> String? {
    guard let event = rule.what.emittedEvent ?? rule.escalation?.event else { return nil }
    let isMatched = rules.rules.contains { other in
      switch other.when {
      case .on(let events, _): events.contains(event)
      case .at(let timing): timing.events.contains(event)
      case .life:
        if case .liveActivity(let life) = other.what {
          (life.start + life.end + life.urgent).contains(event) || life.alerts[event] != nil
        } else {
          false
        }
      }
    }
    return isMatched ? nil : "it emits \(event), which no rule matches"
  }

  /// Returns the size of the largest payload. A broadcast card is never started, which is all that
  /// attributes are for.
  private static func payloadSize(_ rule: Rule, ofPlaceholder bytes: Int) -> Int {
    let size = rule.payload.size(ofPlaceholder: bytes)
    guard case .liveActivity(let life) = rule.what, life.broadcast != nil else { return size }
    return size - PayloadTemplate.object(life.attributes).size(ofPlaceholder: bytes)
  }

  /// Warns about a payload that exceeds Apple's limit if its values are long.
  private static func overflow(_ rule: Rule) -> String? {
    let limit = rule.what.payloadLimit
    let size = payloadSize(rule, ofPlaceholder: plausible.value)
    guard size > limit else { return nil }
    let bare = payloadSize(rule, ofPlaceholder: 0)
    if bare > limit {
      return "it can never be sent: its payload has \(bare) bytes before anything is filled in, "
        + "\(limit) are allowed"
    }
    return "its payload has about \(size) bytes if values have \(plausible.value); "
      + "\(limit) are allowed"
  }

  /// Warns about a card that may show outdated content, or that starts without an alert of its own.
  private static func card(_ rule: Rule) -> [String] {
    guard case .liveActivity(let life) = rule.what else { return [] }
    var texts: [String] = []
    if life.staleAfter == nil, life.staleAfterByState.isEmpty {
      texts.append(
        "live-activity has no stale-after: a card that is not reached looks current for "
          + "\(life.freshness.rideText); 2m suits a ride")
    }
    if life.minInterval < .seconds(5) {
      texts.append(
        "min-interval \(life.minInterval.rideText): iOS redraws a card every 5 to 15 seconds at "
          + "best; 15s is the shortest that makes sense")
    }
    for event in life.start where life.alerts[event] == nil {
      texts.append(
        "start on \(event) without an alert: Apple requires one, so the phone shows the name of the "
          + "event; define it under alerts")
    }
    texts += life.contract.untypedFields.map {
      "the type of \($0) can't be inferred, so the app may receive values that it can't decode: "
        + "write { value: …, type: int } or another type"
    }
    let size = PayloadTemplate.object(life.contentState).size(ofPlaceholder: plausible.value)
    // The whole payload of other cards has this limit, and its own warning.
    if life.broadcast != nil, size > LiveActivity.dataLimit {
      texts.append(
        "content-state has about \(size) bytes if values have \(plausible.value); ActivityKit takes "
          + "\(LiveActivity.dataLimit), and such a card is not sent")
    }
    return texts
  }

  /// Warns about texts that a lock screen truncates.
  private static func truncation(_ rule: Rule) -> [String] {
    guard case .alert(let alert, _) = rule.what else { return [] }
    let texts = [
      ("title", alert.title, 50), ("subtitle", alert.subtitle, 50), ("body", alert.body, 180),
    ]
    return texts.flatMap { key, localized, limit -> [String] in
      (localized?.texts ?? []).compactMap { locale, text in
        let length = text.length(ofPlaceholder: plausible.name)
        guard length > limit else { return nil }
        let path = locale.isEmpty ? key : "\(key).\(locale)"
        return "\(path) comes to \(length) letters if values have \(plausible.name); a lock "
          + "screen shows about \(limit)"
      }
    }
  }

  /// The assumed length of a filled-in value: a name on the screen, and a value in the data.
  static let plausible = (name: 20, value: 200)
}

/// The background pushes of a schedule rule.
private struct Heartbeats {
  /// The most background pushes an hour that Apple may deliver.
  static let limit = 3

  let rule: Rule
  let states: Set<String>
  /// The number of slots in the fullest hour.
  let perHour: Int

  init?(_ rule: Rule) {
    guard case .at(let timing) = rule.when else { return nil }
    self.rule = rule
    states = timing.states ?? []
    switch timing.slots {
    case .times: return nil
    case .every(let period):
      perHour = max(1, Int(Duration.seconds(3600).microseconds / max(1, period.microseconds)))
    case .cron(let schedule, _, _):
      guard let zone = ZoneTimes(identifier: "UTC") else { return nil }
      // A week has every minute, hour and weekday of an expression.
      let monday = Timestamp(epochSeconds: 1_795_392_000)
      perHour =
        (0..<7 * 24).map { hour in
          let last = monday + .seconds(3600 * hour - 1)
          return schedule.count(after: last, through: last + .seconds(3600), in: zone)
        }.max() ?? 0
    }
  }
}

extension [Heartbeats] {
  fileprivate var perHour: Int { reduce(0) { $0 + $1.perHour } }
}

extension RuleSet {
  /// The states that at least one rule names.
  fileprivate var namedStates: Set<String> {
    rules.reduce(into: []) { states, rule in
      switch rule.when {
      case .on(let events, _): states.formUnion(events)
      case .at(let timing): states.formUnion((timing.states ?? []).union(timing.events))
      case .life:
        if case .liveActivity(let life) = rule.what {
          states.formUnion(life.start + life.end + life.urgent)
          states.formUnion(life.alerts.keys)
          states.formUnion(life.relevance.keys)
        }
      }
    }
  }
}

extension TextTemplate {
  fileprivate func length(ofPlaceholder length: Int) -> Int {
    segments.reduce(0) { sum, segment in
      if case .literal(let text) = segment { sum + text.count } else { sum + length }
    }
  }
}
