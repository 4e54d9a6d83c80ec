/// What is kept of one rule's `if` from one decision about a ride to the next.
package struct ConditionMemo: Hashable, Sendable, Codable {
  /// The values that the rule remembered when it last fired, as a JSON object; nil if it never did.
  package var last: String?
  /// Why the condition could not be evaluated at the last change of the ride, as the ledger has it.
  package var complaint: String?

  var isEmpty: Bool { last == nil && complaint == nil }
}

/// A rule that does not fire on an event in any part of a split pass.
struct WithheldFiring: Hashable, Sendable, Codable {
  var rule: String
  var event: Int64
  var at: Timestamp
}

extension WithheldFiring {
  init(_ rule: CompiledRule, _ event: RideEvent) {
    self.init(rule: rule.name, event: event.id, at: event.at)
  }
}
