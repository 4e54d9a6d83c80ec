package import Base
package import RideCore

/// What must never be seen or heard on any phone, whatever a test is about.
package struct ScreenLimit: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Nothing rings in these hours of the ride's day.
    case ringsBetween(QuietHours.TimeOfDay, QuietHours.TimeOfDay)
    /// No phone rings more often.
    case ringsPerRide(Int)
    /// No phone receives more time-sensitive alerts.
    case timeSensitivePerRide(Int)
    /// No card of a phone that is on is stale for longer.
    case staleCardFor(Duration)
    /// No push that a service keeps for a phone is kept in the place of an alert, if it is of this type.
    case lostBehind(PushType)
  }

  package var kind: Kind
  package var location: SourceLocation

  package init(_ kind: Kind, location: SourceLocation) {
    self.kind = kind
    self.location = location
  }
}
