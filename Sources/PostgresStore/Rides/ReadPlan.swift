/// The order in which claimed rides are read: all at once, and by halves where that fails.
///
/// A state machine without clock or I/O. Every ride ends in exactly one of `isRead`, `alone` and
/// `left`.
struct ReadPlan<Ride> {
  private var portions: [[Ride]]
  /// Rides that could not be read even alone, and why.
  private(set) var alone: [(ride: Ride, reason: String)] = []
  /// Rides that were not read because the reads were stopped.
  private(set) var left: [Ride] = []
  /// Bytes of JSON that were read.
  private(set) var bytes = 0
  private(set) var hasRead = false

  init(_ rides: [Ride]) {
    portions = rides.isEmpty ? [] : [rides]
  }

  /// What to read next; nil: nothing is left.
  var next: [Ride]? { portions.last }

  /// The portion was read, except rides that did not fit in: those come next, by themselves.
  mutating func read(bytes: Int, beyond: [Ride]) {
    guard let portion = portions.popLast() else { return }
    self.bytes += bytes
    if beyond.count < portion.count { hasRead = true }
    // One that does not even fit in alone would be tried for ever.
    if beyond.count == portion.count, portion.count == 1 {
      alone += beyond.map { ($0, "it does not fit into a read") }
    } else if beyond.count == portion.count {
      split(portion)
    } else if !beyond.isEmpty {
      portions.append(beyond)
    }
  }

  /// The portion could not be read.
  mutating func failed(_ reason: String) {
    guard let portion = portions.popLast() else { return }
    if portion.count == 1 {
      alone += portion.map { ($0, reason) }
    } else {
      split(portion)
    }
  }

  /// Nothing more is read: there is no time or no memory left.
  mutating func stop() {
    left += portions.flatMap(\.self)
    portions = []
  }

  private mutating func split(_ portion: [Ride]) {
    let half = portion.count / 2
    portions.append(Array(portion[half...]))
    portions.append(Array(portion[..<half]))
  }
}
