import Base

/// The zone in which a push shows times and keeps quiet hours.
///
/// This is the only place that chooses it: the ride's zone; for an event about no ride, and for a
/// ride whose zone is unknown, `defaults.time-zone`; otherwise UTC.
struct WallClock: Sendable {
  let zone: ZoneTimes
  /// The ride's zone, if the tz database has none of this name and another takes its place.
  let unknown: String?

  /// - Parameters:
  ///   - ride: Nil for an event about no ride.
  ///   - fallback: `defaults.time-zone`.
  init(of ride: Ride?, otherwise fallback: ZoneTimes?) {
    let own = ride.flatMap { ZoneTimes(identifier: $0.timeZone) }
    zone = own ?? fallback ?? .utc
    unknown = own == nil ? ride?.timeZone : nil
  }

  /// The zone for the ledger, with the reason if it is not the ride's.
  var name: String {
    unknown.map { "\(zone.identifier), because the ride's zone \($0.quotedBrief) is unknown" }
      ?? zone.identifier
  }

  /// The ledger's reason of a push that was sent with times in another zone than the ride's.
  var doubt: LedgerReason? {
    unknown.map {
      LedgerReason(
        .unknownTimeZone, "unknown time zone \($0.quotedBrief): times are in \(zone.identifier)")
    }
  }
}
