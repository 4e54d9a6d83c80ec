/// The outcomes that the pushes of a set of rules can have, counted from 0.
///
/// A counter that appears with its first event hides that event from `increase()`. `ReasonScope`
/// places each reason.
package struct ExpectedOutcomes: Sendable {
  package struct Kind: Hashable, Sendable {
    package var app: App
    package var pushType: PushType
  }

  /// The push types of each app's rules, in order.
  package let kinds: [Kind]
  package let lines: [PushTally.Line]
  package let cards: [PushTally.CardLine]
  /// The rules whose `if` may be false, and whose `while` a ride may be outside of, at a change of the
  /// ride.
  package let conditions: [String]
  package let states: [String]

  /// - Parameter apps: The configured apps, which get raw alerts without a rule.
  package init(of rules: RuleSet, apps: [App]) {
    let all: [Rule] = rules.rules
    let ofRules = all.filter { $0.what.isForPhones }.flatMap { rule in
      rule.apps.map { Kind(app: $0, pushType: rule.what.pushType) }
    }
    let kinds = Set(ofRules + apps.map { Kind(app: $0, pushType: .alert) })
    self.init(
      kinds: kinds.sorted {
        ($0.app.rawValue, $0.pushType.rawValue) < ($1.app.rawValue, $1.pushType.rawValue)
      },
      others: all.flatMap { rule in
        rule.apps.flatMap { app in Self.others(of: rule).map { Other(app: app, kind: $0) } }
      },
      cardApps: rules.cardApps.sorted { $0.rawValue < $1.rawValue }, updating: Self.updating(all))
  }

  /// Returns the rules that fire at changes of a ride, as far as their counters have a place in metrics.
  private static func updating(_ rules: [Rule]) -> [Rule] {
    let updating = rules.filter { rule in
      if case .on(let events, _) = rule.when { events.contains("ride_updated") } else { false }
    }
    return Array(updating.prefix(RuleTally.ruleLimit))
  }

  /// What an app's rules have besides pushes.
  private struct Other: Hashable {
    var app: App
    var kind: LedgerEntry.Kind

    func line(
      _ reason: String, _ status: LedgerEntry.Status = .suppressed
    ) -> PushTally.Line {
      PushTally.Line(app: app, pushType: kind.rawValue, status: status, reason: reason)
    }
  }

  private static func others(of rule: Rule) -> [LedgerEntry.Kind] {
    if rule.what.emittedEvent != nil { return [.emit] }
    return rule.escalation == nil ? [] : [.escalation]
  }

  private init(kinds: [Kind], others: [Other], cardApps: [App], updating: [Rule]) {
    self.kinds = kinds
    conditions = updating.filter { $0.condition != nil }.map(\.name)
    states = updating.filter { if case .on(_, .some) = $0.when { true } else { false } }.map(\.name)
    let others = Set(others).sorted {
      ($0.app.rawValue, $0.kind.rawValue) < ($1.app.rawValue, $1.kind.rawValue)
    }
    lines =
      kinds.map { $0.line(.accepted, "") }
      + Self.codes.flatMap { Self.lines(of: $0, kinds, others) }
    cards = cardApps.flatMap { app in
      CardEvent.allCases.flatMap { event in
        [PushPriority.immediate, .powerAware].map {
          PushTally.CardLine(app: app, event: event, priority: $0.rawValue)
        }
      }
    }
  }

  private static func lines(
    of code: LedgerReason.Code, _ kinds: [Kind], _ others: [Other]
  ) -> [PushTally.Line] {
    switch code.scope {
    case .pushes(let statuses):
      return kinds.flatMap { kind in statuses.map { kind.line($0, code.word) } }
    case .androidPushes(let statuses):
      return kinds.filter(\.isForAndroid).flatMap { kind in
        statuses.map { kind.line($0, code.word) }
      }
    case .events: return others.map { $0.line(code.word) }
    case .escalations:
      return others.filter { $0.kind == .escalation }.map { $0.line(code.word) }
    case .receipts:
      return others.filter { $0.kind == .escalation }.map { $0.line(code.word, .pending) }
    // They concern no app.
    case .service:
      return [Kind(app: App(rawValue: ""), pushType: .alert).line(.suppressed, code.word)]
    case .none: return []
    }
  }

  /// All codes that the ledger can hold, except the statuses of unknown answers.
  static let codes: [LedgerReason.Code] =
    LedgerReason.Engine.allCases.map { .engine($0) }
    + [APNsReason.table, FCMReason.table].flatMap { table in
      table.filter { $0.value.rule != nil }.keys.sorted().map { .service($0) }
    }
}

extension ExpectedOutcomes.Kind {
  /// Whether Android phones get such pushes: the others need a token of Apple's.
  fileprivate var isForAndroid: Bool { [.alert, .background, .liveactivity].contains(pushType) }

  fileprivate func line(_ status: LedgerEntry.Status, _ reason: String) -> PushTally.Line {
    PushTally.Line(app: app, pushType: pushType.rawValue, status: status, reason: reason)
  }
}
