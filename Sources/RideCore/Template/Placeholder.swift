/// What stands between `{{` and `}}`: a path into the ride or the event, and filters.
package struct Placeholder: Hashable, Sendable {
  /// Where the value comes from.
  package enum Source: Hashable, Sendable {
    /// A column of `ridepulse.rides`.
    case ride(RideField)
    /// `ride.attributes`, or a path of keys below it.
    case attributes([String])
    /// `event.name`.
    case eventName
    /// `event.at`: when the event was emitted.
    case eventTime
    /// `event.data`, or a path of keys below it.
    case eventData([String])
  }

  /// The columns of a ride that a placeholder may name, in their own words.
  package enum RideField: String, CaseIterable, Hashable, Sendable {
    /// `ride.id`.
    case id
    /// `ride.state`.
    case state
    /// `ride.customer_id`.
    case customerID = "customer_id"
    /// `ride.driver_id`.
    case driverID = "driver_id"
    /// `ride.pickup_at`.
    case pickupAt = "pickup_at"
    /// `ride.time_zone`.
    case timeZone = "time_zone"
    /// `ride.updated_at`.
    case updatedAt = "updated_at"
  }

  /// Where the value comes from.
  package var source: Source
  /// What is done with it, in order.
  package var filters: [Filter]
  /// The path as it was written, for messages: `ride.attributes.plate`.
  package var path: String

  /// Whether its value is the event's, and not the ride's.
  package var isOfEvent: Bool {
    switch source {
    case .eventName, .eventTime, .eventData: true
    case .ride, .attributes: false
    }
  }

  /// The paths that can be written, for messages; those that end in a dot go on with keys.
  static let knownPaths =
    RideField.allCases.map { "ride." + $0.rawValue }
    + ["ride.attributes", "event.name", "event.at", "event.data"]

  /// The path that was probably meant: a near word, or else the key of an attribute or of data.
  static func nearestPath(to path: String) -> String? {
    let words = path.split(separator: ".").map(String.init)
    let below = words.dropFirst()
    for (start, home) in [("ride", "ride.attributes"), ("event", "event.data")]
    where words.first == start && !below.isEmpty {
      let known = knownPaths.filter { $0.hasPrefix(start + ".") }
      let ends = known.map { String($0.dropFirst(start.count + 1)) }
      let near = nearestWord(to: below.joined(separator: "."), among: ends)
      return near.map { "\(start).\($0)" } ?? ([home] + below).joined(separator: ".")
    }
    return nearestWord(to: path, among: knownPaths)
  }

  /// Reads a path; nil where it is not among `knownPaths`.
  static func source(of path: String) -> Source? {
    let words = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard words.count >= 2, !words.contains("") else { return nil }
    let below = Array(words.dropFirst(2))
    switch (words[0], words[1]) {
    case ("ride", "attributes"): return .attributes(below)
    case ("event", "data"): return .eventData(below)
    case ("event", "name") where below.isEmpty: return .eventName
    case ("event", "at") where below.isEmpty: return .eventTime
    case ("ride", let field) where below.isEmpty:
      return RideField(rawValue: field).map { .ride($0) }
    default: return nil
    }
  }
}

/// One step after a `|` in a placeholder.
package enum Filter: Hashable, Sendable {
  /// `default: 'text'`: stands in where the value is missing, null or empty.
  case fallback(JSONValue)
  /// `time`: hours and minutes in the ride's zone, `08:05`.
  case time
  /// `date`: the day in the ride's zone, `2026-11-21`.
  case date
  /// `epoch`: whole seconds since 1970, as a number.
  case epoch
  /// `upper`: in capitals.
  case upper
  /// `lower`: in small letters.
  case lower

  /// The words of the filters that take no argument.
  static let plain: [String: Filter] = [
    "time": .time, "date": .date, "epoch": .epoch, "upper": .upper, "lower": .lower,
  ]
  /// All words that may follow a `|`.
  static let names = plain.keys.sorted() + ["default"]
}
