import Base
import RideCore

/// The pushes that a day has recorded, in figures.
struct RecordedSide {
  private(set) var figures = RehearsalFigures()
  /// The types of rules, for outcomes that do not state theirs.
  private let types: [String: PushType]

  init(_ rules: RuleSet) {
    types = Dictionary(
      rules.rules.map { ($0.name, $0.what.pushType) }, uniquingKeysWith: { first, _ in first })
  }

  /// Counts an outcome; returns it for comparison unless it is no rule's, or not the last one.
  mutating func add(_ outcome: RecordedOutcome, at now: Timestamp) -> SentPush? {
    let rule = outcome.push.rule
    guard outcome.status != .pending, !rule.isEmpty else { return nil }
    if outcome.isAcceptedPush {
      figures.byRule[rule, default: .init()].pushes += 1
      let type = outcome.kind?.rawValue ?? (outcome.type ?? types[rule])?.rawValue
      if let type { figures.byType[type, default: 0] += 1 }
      if let priority = outcome.priority {
        figures.byPriority[priority.rawValue, default: 0] += 1
      }
      figures.byMinute[now.epochSeconds / 60, default: 0] += 1
      if outcome.reason == LedgerReason.Engine.overBudget.rawValue {
        figures.overBudgetPushes += 1
      }
    } else {
      let reason = outcome.reason ?? outcome.status.rawValue
      figures.notSent[rule, default: [:]][reason, default: 0] += 1
    }
    return SentPush(
      at: now, rule: rule, address: outcome.push.token ?? "", status: outcome.status,
      reason: outcome.reason)
  }
}
