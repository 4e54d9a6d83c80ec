import Base

/// One time of `at`: a base, and how long before or after it the rule fires.
package struct RuleTime: Hashable, Sendable {
  package var base: Base
  package var offset: Offset

  package init(_ base: Base, by offset: Offset) {
    self.base = base
    self.offset = offset
  }

  /// Creates a time a fixed duration after its base, or before it if the duration is negative.
  package init(_ base: Base, by offset: Duration) { self.init(base, by: .fixed(offset)) }

  package enum Base: Hashable, Sendable {
    /// A time of the ride, whose changes the firing follows.
    case ride(RideTime)
    /// An event: each occurrence arms a firing for the people it concerns.
    case event(String)
    /// The owner's last contact, or the entry into the states if that is later.
    case contact
  }

  package enum Offset: Hashable, Sendable {
    /// Negative before the base.
    case fixed(Duration)
    /// `attributes.KEY`: a number of seconds in the ride's row.
    case attribute([String], isBefore: Bool)
  }

  /// The event that arms it; nil for other bases.
  package var event: String? { if case .event(let event) = base { event } else { nil } }

  /// Whether it counts from contacts.
  var isOfContact: Bool { base == .contact }

  /// A text of everything that determines when it fires.
  var digest: String { "\(base) \(offset)" }
}

extension RuleTime {
  /// Returns the offset by the ride's row; nil if the row has no value for it.
  func offset(in attributes: JSONValue?) throws(RenderingError) -> Duration? {
    guard case .attribute(let keys, let isBefore) = offset else {
      if case .fixed(let duration) = offset { return duration }
      return nil
    }
    guard let value = attributes?.value(at: keys), value != .null, value != .string("") else {
      return nil
    }
    let path = (["attributes"] + keys).joined(separator: ".")
    let seconds: Double? =
      switch value {
      case .integer(let number): Double(number)
      case .number(let number): number
      case .string(let text): Double(text)
      default: nil
      }
    // A year is more than any ride needs, and no time overflows by it.
    guard let seconds, seconds >= 0, seconds <= 366 * 86_400 else {
      throw .notANumber(path, value)
    }
    let duration = Duration.microseconds(Int64(seconds * 1e6))
    return isBefore ? .zero - duration : duration
  }
}

/// A time in a ride's row.
package enum RideTime: Hashable, Sendable {
  /// The column `pickup_at`.
  case pickupAt
  /// `attributes.KEY`: seconds since 1970, or ISO 8601.
  case attribute([String])

  /// Parses the notation of rule files: `pickup_at`, `attributes.dropoff_at`.
  package init?(_ text: String) {
    if text == "pickup_at" {
      self = .pickupAt
      return
    }
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard keys.count > 1, keys[0] == "attributes", !keys.contains("") else { return nil }
    self = .attribute(Array(keys.dropFirst()))
  }
}
