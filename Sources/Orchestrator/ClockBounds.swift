import RideCore

/// The bounds of another clock, derived from readings: each was taken between its request and its
/// answer.
///
/// A slow request, or an answer that waited while the machine slept, yields wide bounds; other
/// readings narrow them. If the bounds of two readings do not overlap, the clock was set or has
/// drifted, and the later reading replaces the earlier one.
struct ClockBounds: Equatable {
  /// The other clock's time at which the local monotonic clock was zero.
  private(set) var earliest: Timestamp
  private(set) var latest: Timestamp

  /// Creates the bounds of one reading; `asked` and `answered` are times of the local monotonic
  /// clock.
  init(_ reading: Timestamp, asked: Duration, answered: Duration) {
    earliest = reading - answered
    latest = reading - min(asked, answered)
  }

  /// Combines these bounds with those of a later reading.
  mutating func learn(_ other: ClockBounds) {
    let both = (earliest: max(earliest, other.earliest), latest: min(latest, other.latest))
    if both.earliest <= both.latest {
      (earliest, latest) = both
    } else {
      self = other
    }
  }
}
