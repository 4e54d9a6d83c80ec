import Base
import RideCore

/// The last pushes of each rule whose pushes await a receipt.
struct Receipts {
  private struct Sent {
    var id: PushID
    var owner: OwnerID?
    var event: EventKey
  }

  private struct Firing {
    var event: EventKey
    /// By token.
    var sent: [String: Sent] = [:]
  }

  private let rules: Set<String>
  /// By the index of the ride and by rule.
  private var firings: [Int: [String: Firing]] = [:]

  init(for rules: RuleSet) {
    self.rules = Set(rules.rules.filter { $0.escalation != nil }.map(\.name))
  }

  /// Records the pushes of a pass that APNs accepted.
  mutating func record(_ settlement: Settlement, _ decision: Decision, ofRide ride: Int) {
    for push in decision.pushes where rules.contains(push.entry.rule) {
      let (entry, rule) = (push.entry, push.entry.rule)
      let isAccepted = settlement.entries.contains { $0.id == entry.id && $0.status == .accepted }
      guard isAccepted else { continue }
      let event = entry.event.key
      firings[ride, default: [:]][rule, default: Firing(event: event)].event = event
      firings[ride]?[rule]?.sent[push.address.text] = Sent(
        id: entry.id, owner: entry.owner, event: event)
    }
  }

  /// Returns the last push of a rule to a token; without a token all of its last firing, or those to
  /// an owner.
  func pushes(_ push: PushReference, ofRide ride: Int, by owner: OwnerID?) -> [PushID] {
    guard let firing = firings[ride]?[push.rule] else { return [] }
    if let token = push.token { return firing.sent[token].map { [$0.id] } ?? [] }
    return firing.sent.values.filter {
      $0.event == firing.event && (owner == nil || $0.owner == owner)
    }.map(\.id)
  }

  mutating func forget(_ ride: Int) {
    if !firings.isEmpty { firings[ride] = nil }
  }
}
