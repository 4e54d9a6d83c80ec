/// When a rule speaks by the clock: at which instants, and in which states of a ride.
public struct Timing: Hashable, Sendable {
  /// At which instants.
  public var slots: Slots
  /// `while`: the states in which the rule speaks; slots of other times are none.
  public var states: Set<String>

  /// Slots of time in some states.
  public init(_ slots: Slots, while states: Set<String>) {
    self.slots = slots
    self.states = states
  }

  /// The instants, in the words of the rule files.
  public enum Slots: Hashable, Sendable {
    /// `every`: one period after the ride entered the states, and again each period.
    case every(Duration)
    /// `before` and `after` with `by`: once, this long before (negative) or after a time of the ride.
    case relative(to: RideTime, by: Duration)
  }

  /// The key of the rule file that states it; `event.name` in the rule's own texts, and the
  /// ledger's `event`.
  public var keyword: String {
    switch slots {
    case .every: "every"
    case .relative(_, let offset): offset < .zero ? "before" : "after"
    }
  }
}

/// A time that a ride's row holds.
public enum RideTime: Hashable, Sendable {
  /// The column `pickup_at`.
  case pickupAt
  /// `attributes.KEY`: seconds since 1970, or ISO 8601.
  case attribute([String])

  /// How rule files write it: `pickup_at`, `attributes.dropoff_at`.
  public init?(_ text: String) {
    if text == "pickup_at" {
      self = .pickupAt
      return
    }
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard keys.count > 1, keys[0] == "attributes", !keys.contains("") else { return nil }
    self = .attribute(Array(keys.dropFirst()))
  }
}
