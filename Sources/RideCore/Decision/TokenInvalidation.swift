package import Base

/// A token to invalidate, because APNs reports it as gone or its card has ended.
package struct TokenInvalidation: Hashable, Sendable {
  /// What a token reaches.
  package enum Kind: String, Hashable, Sendable {
    /// A phone: `Phone.id`.
    case phone
    /// A card: a row of `ridepulse.live_activities`.
    case activity
    /// A phone on which a card can be started: `StartToken.id`.
    case start
    /// All who watch a ride's channel: `RideChannel.id`.
    case channel
  }

  package var kind: Kind
  /// The row's ID.
  package var id: Int64
  /// Since when APNs reports it as gone; a later registration overrides that.
  ///
  /// Nil invalidates the token whatever was registered since.
  package var since: Timestamp?
  /// Apple's reason; `ended` or `expired` for a card that is over.
  package var reason: String

  /// Returns whether it invalidates a token that was registered at this time.
  package func ends(registeredAt registered: Timestamp) -> Bool {
    since.map { registered <= $0 } ?? true
  }
}

extension TokenInvalidation {
  /// Returns the invalidation of what a card's pushes are sent to: its token, the channel that takes
  /// its place, or its Android phone.
  static func ofCard(
    _ target: CardTarget, since: Timestamp?, reason: String
  ) -> TokenInvalidation {
    switch target {
    case .activity(let id):
      TokenInvalidation(kind: .activity, id: id, since: since, reason: reason)
    case .channel(let id):
      TokenInvalidation(kind: .channel, id: id, since: since, reason: reason)
    case .phone(let id):
      TokenInvalidation(kind: .phone, id: id, since: since, reason: reason)
    }
  }
}
