import Base

/// What a push of type `liveactivity` does: `aps.event`.
package enum CardEvent: String, StoredAsRaw, CaseIterable, Hashable, Sendable {
  /// A card appears.
  case start
  /// The card's content changes.
  case update
  /// The card shows its last content, and goes.
  case end
}
