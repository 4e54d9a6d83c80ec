import RideCore

/// Between what another clock must lie, as far as its answers tell: it was read after the question
/// and before the answer.
///
/// A question that was long on its way, or an answer that lay there while the machine slept, leaves
/// wide bounds; those of other readings narrow them. Where the bounds of two readings have nothing in
/// common the clock was set, or has drifted: the later reading counts.
struct ClockBounds: Equatable {
  /// What it shows when the own clock, which is never set, stands at zero.
  private(set) var earliest: Timestamp
  private(set) var latest: Timestamp

  /// What one reading says, with when it was asked for and answered by the own clock.
  init(_ reading: Timestamp, asked: Duration, answered: Duration) {
    earliest = reading - answered
    latest = reading - min(asked, answered)
  }

  /// Takes another reading into account.
  mutating func learn(_ other: ClockBounds) {
    let both = (earliest: max(earliest, other.earliest), latest: min(latest, other.latest))
    if both.earliest <= both.latest {
      (earliest, latest) = both
    } else {
      self = other
    }
  }
}
