import Base

/// The zone in which a push shows times and keeps quiet hours.
///
/// This is the only place that chooses it: the ride's zone; for an event about no ride, the phone's;
/// then `defaults.time-zone`; otherwise UTC.
struct WallClock: Sendable {
  /// Whose clock a time is of.
  enum Owner: Sendable {
    /// The ride's, or for an event about no ride the phone's.
    case ride
    /// `phone`: the phone's, or for a phone without a zone the ride's.
    case phone
  }

  let zone: ZoneTimes
  /// The zone that was to be used, if the tz database has none of this name and another takes its
  /// place.
  let unknown: (owner: Owner, name: String)?

  /// - Parameters:
  ///   - ride: Nil for an event about no ride.
  ///   - phone: The zone that the phone has registered.
  ///   - fallback: `defaults.time-zone`.
  init(_ owner: Owner = .ride, of ride: Ride?, phone: String? = nil, otherwise fallback: ZoneTimes?)
  {
    var named: [(owner: Owner, name: String)] = []
    if owner == .phone || ride == nil, let phone { named.append((.phone, phone)) }
    if let ride { named.append((.ride, ride.timeZone)) }
    let known = named.lazy.compactMap { ZoneTimes(identifier: $0.name) }.first
    zone = known ?? fallback ?? .utc
    unknown = named.first.flatMap { ZoneTimes(identifier: $0.name) == nil ? $0 : nil }
  }

  /// The zone for the ledger, with the reason if it is not the one that was to be used.
  var name: String {
    unknown.map { owner, name in
      let whose = owner == .ride ? "ride's" : "phone's"
      return "\(zone.identifier), because the \(whose) zone \(name.quotedBrief) is unknown"
    } ?? zone.identifier
  }

  /// The ledger's reason of a push that was sent with times in another zone than was to be used.
  var doubt: LedgerReason? {
    unknown.map { _, name in
      LedgerReason(
        .unknownTimeZone, "unknown time zone \(name.quotedBrief): times are in \(zone.identifier)")
    }
  }
}

/// What a phone determines of the texts that are made for it.
struct PhoneTexts: Hashable, Sendable {
  var locale: String?
  /// The zone that it has registered, which may be unknown.
  var timeZone: String?

  /// The texts of a phone about which nothing is registered.
  static let unknown = PhoneTexts()
}

extension Phone {
  var texts: PhoneTexts { PhoneTexts(locale: locale, timeZone: timeZone) }
}
