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

extension ScreenLimit {
  /// What `never` and `rehearse --fail-on` call a limit.
  package enum Word: String, CaseIterable, Sendable {
    case ringsBetween = "rings-between"
    case ringsPerRide = "rings-per-ride"
    case timeSensitivePerRide = "time-sensitive-per-ride"
    case staleCardFor = "stale-card-for"
    case lostBehind = "lost-behind"
  }
}

extension ScreenLimit.Kind {
  package var word: ScreenLimit.Word {
    switch self {
    case .ringsBetween: .ringsBetween
    case .ringsPerRide: .ringsPerRide
    case .timeSensitivePerRide: .timeSensitivePerRide
    case .staleCardFor: .staleCardFor
    case .lostBehind: .lostBehind
    }
  }

  private var value: String {
    switch self {
    case .ringsBetween(let from, let to): "\(from.text)-\(to.text)"
    case .ringsPerRide(let count), .timeSensitivePerRide(let count): "\(count)"
    case .staleCardFor(let duration): duration.rideText
    case .lostBehind(let type): type.rawValue
    }
  }

  /// The limit as `--fail-on` has it: `rings-per-ride=4`.
  package var text: String { "\(word.rawValue)=\(value)" }
}
