package import Base
import RideCore

/// A card on the lock screen: a Live Activity, or the notification that stands for it on Android.
package struct ScreenCard: Hashable, Sendable {
  /// The card, as pushes name it.
  package var name: String
  /// The content; null until the first push of a card that the app started.
  package internal(set) var state = JSONValue.null
  /// What Android shows without code of the app: the rule's title, text, chip and bar; null on an iPhone.
  package internal(set) var look = JSONValue.null
  /// From then on its content is stale; nil if it never is.
  package internal(set) var staleAt: Timestamp?
  package internal(set) var endedAt: Timestamp?
  /// When it leaves the screen; nil while that is open.
  package internal(set) var goneAt: Timestamp?
  /// When it last changed.
  package internal(set) var changedAt: Timestamp
  /// Whether the content is what was sent last.
  package internal(set) var isKnown = true
  let startedAt: Timestamp
  /// `timestamp` of its last push.
  var timestamp: Int64?

  /// iOS ends an activity after this time.
  static let longestLife: Duration = .seconds(8 * 3600)
  /// And removes an ended one after this time at the latest; without a dismissal date it decides
  /// itself, here as late as it may.
  static let longestStay: Duration = .seconds(4 * 3600)

  init(_ name: String, at now: Timestamp) {
    self.name = name
    startedAt = now
    changedAt = now
  }

  package var isEnded: Bool { endedAt != nil }

  /// When iOS ends it at the latest.
  var lastEnd: Timestamp { startedAt + Self.longestLife }

  /// Returns whether it shows content that is too old. An ended card is final, not stale.
  package func isStale(at now: Timestamp) -> Bool {
    !isEnded && staleAt.map { $0 <= now } ?? false
  }

  /// When it becomes stale, ends or leaves, as far as that is known.
  var changes: [Timestamp] { [staleAt, goneAt, isEnded ? nil : lastEnd].compactMap(\.self) }

  /// The fields and their values, such as `status: driver_arrived`.
  package var text: String {
    guard case .object(let members) = state else { return "the app's own content" }
    return members.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.text)" }.joined(separator: ", ")
  }

  mutating func show(_ state: JSONValue?, staleAt: Timestamp?, at now: Timestamp) {
    if let state { self.state = state }
    self.staleAt = staleAt
    changedAt = now
  }

  /// Ends an activity of iOS.
  mutating func end(at now: Timestamp, dismissal: Timestamp?) {
    endedAt = now
    let latest = now + Self.longestStay
    goneAt = dismissal.map { min($0, latest) } ?? latest
  }
}
