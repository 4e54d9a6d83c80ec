package import Base

/// A pause of a rule, an event or an app: what it would send waits until the pause ends.
package struct Pause: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case rule, event, app
  }

  package var kind: Kind
  package var name: String
  package var until: Timestamp
  package var since: Timestamp
  /// Who paused it.
  package var author: String
  package var reason: String?

  package init(
    _ kind: Kind, _ name: String, until: Timestamp, since: Timestamp, author: String,
    reason: String? = nil
  ) {
    (self.kind, self.name, self.until, self.since) = (kind, name, until, since)
    (self.author, self.reason) = (author, reason)
  }

  /// `rule eta`
  package var subject: String { "\(kind.rawValue) \(name)" }

  /// Whether something that a rule fired waits for its end.
  func concerns(_ entry: LedgerEntry) -> Bool {
    switch kind {
    case .rule: entry.rule == name
    case .event: entry.event.name == name
    // An event to emit concerns the ride, and no app.
    case .app: entry.app.rawValue == name && entry.kind != .emit
    }
  }
}

/// The pauses that a decision follows.
package struct Pauses: Hashable, Sendable {
  package var all: [Pause]

  package init(_ all: [Pause] = []) { self.all = all }

  var isEmpty: Bool { all.isEmpty }

  /// Those that have not ended.
  package func current(at now: Timestamp) -> [Pause] { all.filter { now < $0.until } }

  /// Returns the pause that lasts longest of those that concern something; nil if none does.
  func pause(of entry: LedgerEntry, at now: Timestamp) -> Pause? {
    // Nearly always there is none, and a decision asks for each push.
    if all.isEmpty { return nil }
    return all.filter { now < $0.until && $0.concerns(entry) }.max { $0.until < $1.until }
  }
}
