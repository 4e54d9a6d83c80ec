/// The outcomes that the pushes of a set of rules can have, counted from 0.
///
/// A counter that appears with its first event hides that event from `increase()`. Suppressed pushes
/// are listed only with the reasons that an alert watches: there are too many others.
package struct ExpectedOutcomes: Sendable {
  package struct Kind: Hashable, Sendable {
    package var app: App
    package var pushType: PushType
  }

  /// The push types of each app's rules, in order.
  package let kinds: [Kind]
  package let lines: [PushTally.Line]
  package let cards: [PushTally.CardLine]

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
      cardApps: rules.cardApps.sorted { $0.rawValue < $1.rawValue })
  }

  /// What an app's rules have besides pushes.
  private struct Other: Hashable {
    var app: App
    var kind: LedgerEntry.Kind
  }

  private static func others(of rule: Rule) -> [LedgerEntry.Kind] {
    if rule.what.emittedEvent != nil { return [.emit] }
    return rule.escalation == nil ? [] : [.escalation]
  }

  private init(kinds: [Kind], others: [Other], cardApps: [App]) {
    self.kinds = kinds
    let outcomes = Self.outcomes
    let unknown: [LedgerReason.Engine] = [.unknownEvent, .unknownState]
    lines =
      kinds.flatMap { kind in
        outcomes.map { status, reason in
          PushTally.Line(
            app: kind.app, pushType: kind.pushType.rawValue, status: status, reason: reason)
        }
      }
      + Set(others).sorted {
        ($0.app.rawValue, $0.kind.rawValue) < ($1.app.rawValue, $1.kind.rawValue)
      }
      .flatMap { other in
        let reasons: [LedgerReason.Engine] =
          other.kind == .escalation ? [.emitLimit, .noReceipts] : [.emitLimit]
        return reasons.map {
          PushTally.Line(
            app: other.app, pushType: other.kind.rawValue, status: .suppressed,
            reason: $0.rawValue)
        }
      }
      + unknown.map {
        // They concern no app.
        PushTally.Line(
          app: App(rawValue: ""), pushType: PushType.alert.rawValue, status: .suppressed,
          reason: $0.rawValue)
      }
    cards = cardApps.flatMap { app in
      CardEvent.allCases.flatMap { event in
        [PushPriority.immediate, .powerAware].map {
          PushTally.CardLine(app: app, event: event, priority: $0.rawValue)
        }
      }
    }
  }

  private static let outcomes: [(LedgerEntry.Status, String)] = {
    let unanswered: [LedgerReason.Engine] = [.noAnswer, .connectionLost, .streamReset]
    let unsent: [LedgerReason.Engine] = [
      .noConnection, .goAway, .refusedStream, .noFreeStream, .appPaused, .queuedBehind,
      .handedBack, .serviceStopped,
    ]
    let (rejected, again) = (
      reasons { $0 == .rejected }, reasons { $0 != .rejected } + words(unanswered + unsent)
    )
    let all: [(LedgerEntry.Status, [String])] = [
      (.accepted, [""]), (.pending, again), (.expired, again + words([.outOfTime])),
      (.uncertain, again + words([.outOfTime, .serviceEnded, .superseded])),
      (.superseded, words([.superseded])),
      (.rejected, rejected + words([.noCredential, .noBundleID, .invalidRequest, .unlisted])),
      (.suppressed, words([.noBundleID, .noCredential])),
    ]
    return all.flatMap { status, words in words.map { (status, $0) } }
  }()

  /// The reasons of APNs with this consequence for a push.
  private static func reasons(_ matches: (RefusalRule.Push) -> Bool) -> [String] {
    APNsReason.table.filter { $0.value.rule.map { matches($0.push) } ?? false }.keys.sorted()
  }

  private static func words(_ codes: [LedgerReason.Engine]) -> [String] { codes.map(\.rawValue) }
}
