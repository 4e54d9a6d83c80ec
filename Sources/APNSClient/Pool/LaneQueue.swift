import RideCore

/// A push that knows where it belongs among others.
protocol Routed {
  /// Whose push it is: the app's name.
  var lane: String { get }

  /// Until when it is of use, in microseconds since 1970.
  var usefulUntil: Int64 { get }
}

/// What waits for a stream. Apps take turns, so that none waits behind another's thousands; within
/// one, what is true for the shortest time goes first: an offer before an arrival time.
struct LaneQueue<Push: Routed> {
  private var lanes: [String: Heap<Waiting<Push>>] = [:]
  /// The lanes that have anything, in the order of their turns.
  private var turns: [String] = []
  private(set) var count = 0
  /// No push that waits must be reported before this; it may lie too early, never too late.
  private(set) var nextDeadline: Moment?

  var isEmpty: Bool { count == 0 }

  mutating func append(_ waiting: Waiting<Push>) {
    let lane = waiting.push.lane
    if lanes[lane]?.isEmpty ?? true { turns.append(lane) }
    lanes[lane, default: Heap()].insert(waiting)
    count += 1
    nextDeadline = min(nextDeadline ?? .never, waiting.deadline)
  }

  /// Takes the next ones, an app's after another's.
  mutating func popFirst(_ wanted: Int) -> [Waiting<Push>] {
    var taken: [Waiting<Push>] = []
    let limit = min(wanted, count)
    taken.reserveCapacity(max(0, limit))
    var next = 0
    while taken.count < limit {
      if next >= turns.count { next = 0 }
      let lane = turns[next]
      if let waiting = lanes[lane]?.popFirst() { taken.append(waiting) }
      if lanes[lane]?.isEmpty ?? true { turns.remove(at: next) } else { next += 1 }
    }
    // Whose turn it would be now begins the next time.
    if next < turns.count { turns = Array(turns[next...] + turns[..<next]) }
    count -= taken.count
    if count == 0 { nextDeadline = nil }
    return taken
  }

  /// Takes those whose deadline has passed, in the order in which they came.
  mutating func expire(at now: Moment) -> [Waiting<Push>] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    let all = lanes.values.flatMap(\.all).sorted { $0.order < $1.order }
    self = LaneQueue()
    for waiting in all where waiting.deadline > now { append(waiting) }
    return all.filter { $0.deadline <= now }
  }
}

extension LaneQueue: Sendable where Push: Sendable {}

extension Waiting: Equatable, Comparable where Push: Routed {
  static func < (left: Waiting, right: Waiting) -> Bool {
    let (one, other) = (left.push.usefulUntil, right.push.usefulUntil)
    return one == other ? left.order < right.order : one < other
  }

  static func == (left: Waiting, right: Waiting) -> Bool { left.order == right.order }
}
