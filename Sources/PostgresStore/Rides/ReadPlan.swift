/// A state machine for reading claimed rides: all at once, then those with large values, and by halves
/// if that fails.
///
/// It has no clock and does no I/O. Every ride ends in exactly one of: read, `unreadable`,
/// `unread`.
struct ReadPlan<Ride> {
  private var portions: [[Ride]]
  /// Rides that could not be read even alone, with the reason.
  private(set) var unreadable: [(ride: Ride, reason: String)] = []
  /// Rides that were not read because the reads were stopped.
  private(set) var unread: [Ride] = []
  /// The bytes of JSON read so far.
  private(set) var bytes = 0
  private(set) var hasRead = false
  /// Whether some rides are read, and those that have large values were tried: what is left now can
  /// wait for the next claim.
  var mayStop: Bool { hasRead && reads > 1 }
  private var reads = 0
  /// What to read next of rides.
  private(set) var size = ReadSize.small

  init(_ rides: [Ride]) {
    portions = rides.isEmpty ? [] : [rides]
  }

  /// The rides to read next; nil if none are left.
  var next: [Ride]? { portions.last }

  /// Records that the rides were read, except those that did not fit: those are read next, on their
  /// own.
  mutating func read(bytes: Int, oversized: [Ride]) {
    guard let portion = portions.popLast() else { return }
    self.bytes += bytes
    reads += 1
    if oversized.count < portion.count { hasRead = true }
    if size == .small {
      size = .bounded
      portions += oversized.isEmpty ? [] : [oversized]
      return
    }
    // A single ride that does not fit would be tried forever.
    if oversized.count == portion.count, portion.count == 1 {
      unreadable += oversized.map { ($0, "it does not fit into a read") }
    } else if oversized.count == portion.count {
      split(portion)
    } else if !oversized.isEmpty {
      portions.append(oversized)
    }
  }

  /// Records that the rides could not be read.
  mutating func failed(_ reason: String) {
    guard let portion = portions.popLast() else { return }
    reads += 1
    size = .bounded
    if portion.count == 1 {
      unreadable += portion.map { ($0, reason) }
    } else {
      split(portion)
    }
  }

  /// Stops reading, because no time or memory is left.
  mutating func stop() {
    unread += portions.flatMap(\.self)
    portions = []
  }

  private mutating func split(_ portion: [Ride]) {
    let half = portion.count / 2
    portions.append(Array(portion[half...]))
    portions.append(Array(portion[..<half]))
  }
}
