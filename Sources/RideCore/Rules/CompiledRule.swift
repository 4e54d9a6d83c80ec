import Synchronization

/// A rule with its payload prepared: what all pushes share is encoded once, at load.
///
/// An object, because each decision copies the rules that it evaluates.
final class CompiledRule: Sendable {
  let name: String
  /// The first of its apps; a card rule has only this one.
  let app: App
  /// The apps for which it fires, in the order of the rule.
  let apps: [App]
  let when: Rule.When
  let pushType: PushType
  let priority: PushPriority
  /// Whether a phone shows it or sounds: a badge alone, or what only wakes the app, does neither.
  let isSeenOrHeard: Bool
  let expires: RuleExpiry
  /// `while`: the states in which its pushes may leave; nil allows any.
  let states: Set<String>?
  /// How long a push is sent after its event or slot.
  let validity: Duration
  let collapse: TextTemplate?
  let withCard: WithCard?
  let condition: Condition?
  /// Where `if` is decided; nil without one. Events to emit concern the ride, and have no phones.
  let conditionScope: Condition.Scope?
  let escalation: Escalation?
  /// The event that it emits in the place of a push.
  let emittedEvent: String?
  /// What it posts in the place of a push.
  let post: Post?
  /// Whether the payload carries the push's `apns-id`.
  let carriesID: Bool
  /// Nil for most rules, so that they are asked nothing.
  let limits: RuleLimits?
  let payload: CompiledPayload
  private let lazyMessage: Mutex<LazyMessage>

  init(_ rule: Rule, defaultLocale: String? = nil) {
    name = rule.name
    app = rule.app
    apps = rule.apps
    when = rule.when
    pushType = rule.what.pushType
    priority = rule.what.priority
    isSeenOrHeard =
      if case .alert(let alert, _) = rule.what { alert.isSeenOrHeard } else { false }
    expires = rule.expires
    states =
      switch rule.when {
      case .on(_, let states): states
      case .at(let timing): timing.states
      case .life: nil
      }
    validity = rule.validity
    collapse = rule.collapse
    withCard = rule.withCard
    condition = rule.condition
    conditionScope =
      rule.what.emittedEvent == nil ? condition?.scope : condition.map { _ in .event }
    escalation = rule.escalation
    emittedEvent = rule.what.emittedEvent
    post = rule.what.post
    carriesID = rule.carriesID
    limits = rule.limits.isEmpty ? nil : rule.limits
    payload = CompiledPayload(rule.payload, defaultLocale: defaultLocale)
    lazyMessage = Mutex(.rule(rule, defaultLocale: defaultLocale))
  }

  /// Its message to Android phones, prepared for the first of them: most services have none, and
  /// load as fast as before.
  var message: CompiledMessage {
    lazyMessage.withLock { state in
      switch state {
      case .message(let message): return message
      case .rule(let rule, let defaultLocale):
        let message = CompiledMessage(rule, defaultLocale: defaultLocale)
        state = .message(message)
        return message
      }
    }
  }

  private enum LazyMessage {
    case rule(Rule, defaultLocale: String?)
    case message(CompiledMessage)
  }
}

extension CompiledRule {
  /// Returns the times of `at` that an event of this name arms; empty for a rule with `on`.
  func times(after event: String) -> [RuleTime] {
    guard case .at(let timing) = when else { return [] }
    return timing.times.filter { $0.event == event }
  }

  /// Returns why nothing of the rule may leave now; nil if the ride is in one of its states.
  func leftStates(_ state: String?) -> LedgerReason? {
    guard let states, !states.contains(state ?? "") else { return nil }
    return .leftStates(state)
  }
}

/// A rule whose cards have a life of their own.
package final class CardRule: Sendable {
  let rule: CompiledRule
  package let life: LiveActivity
  let compiled: CompiledCard

  init(_ rule: CompiledRule, _ life: LiveActivity, _ compiled: CompiledCard) {
    self.rule = rule
    self.life = life
    self.compiled = compiled
  }

  var name: String { rule.name }
  package var app: App { rule.app }
  var validity: Duration { rule.validity }
}
