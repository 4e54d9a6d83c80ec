package import Base
package import RideCore

/// What RidePulse decided for one person by one rule, on all phones of the person.
package struct NewPush: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// A service accepted it for a phone, or it may have arrived.
    case sent
    /// A card shows it.
    case covered
    /// Nothing was sent: a status and a reason code of the ledger.
    case notSent(status: String, reasonCode: String?)
  }

  package var at: Timestamp
  package var person: OwnerID
  package var app: App
  package var ride: RideID
  package var rule: String
  package var event: String
  /// When the event happened or the slot was due.
  package var eventAt: Timestamp
  package var outcome: Outcome
  /// Whether the rules at hand decided it, so that deciding again gives its text.
  package var isOfTheseRules: Bool

  package init(
    at: Timestamp, person: OwnerID, app: App, ride: RideID, rule: String, event: String,
    eventAt: Timestamp, outcome: Outcome, isOfTheseRules: Bool = true
  ) {
    self.at = at
    self.person = person
    self.app = app
    self.ride = ride
    self.rule = rule
    self.event = event
    self.eventAt = eventAt
    self.outcome = outcome
    self.isOfTheseRules = isOfTheseRules
  }

  /// Whether the person was shown something.
  package var isShown: Bool {
    if case .notSent = outcome { false } else { true }
  }
}

/// Which kinds of an old sender's pushes the rules took over.
package struct KindMap: Sendable {
  private var kinds: [String: String] = [:]
  private let unmapped: Set<String>
  private let mapped: Set<String>

  /// - Parameters:
  ///   - pairs: A kind and a rule that it became; a kind may have several.
  ///   - kinds: All kinds of the log. One without a pair is the name of a rule or of an event.
  package init(_ pairs: [(kind: String, rule: String)], kinds: Set<String>) {
    for pair in pairs { self.kinds[pair.rule] = pair.kind }
    mapped = Set(pairs.map(\.kind))
    unmapped = kinds.subtracting(mapped)
  }

  /// The rules and events by which the ledger is searched, next to alerts.
  package var names: [String] { Set(kinds.keys).union(unmapped).sorted() }

  /// Returns the kind of a rule's push; the rule's name if the old sender has none.
  package func kind(of push: NewPush) -> String {
    if let kind = kinds[push.rule] { return kind }
    if unmapped.contains(push.rule) { return push.rule }
    if unmapped.contains(push.event) { return push.event }
    // A kind of that name became other rules.
    return mapped.contains(push.rule) ? "rule \(push.rule)" : push.rule
  }
}
