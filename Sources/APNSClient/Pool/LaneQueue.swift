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
  /// Most pushes come in the order in which they go; only the others are worth sorting.
  fileprivate struct Lane {
    let name: String
    var inOrder = FIFO<Waiting<Push>>()
    var early = Heap<Waiting<Push>>()

    var isEmpty: Bool { inOrder.isEmpty && early.isEmpty }
    var all: [Waiting<Push>] { Array(inOrder.all) + early.all }

    mutating func append(_ waiting: Waiting<Push>) {
      if let last = inOrder.last, waiting < last {
        early.insert(waiting)
      } else {
        inOrder.append(waiting)
      }
    }

    mutating func popFirst(_ wanted: Int) -> [Waiting<Push>] {
      if early.isEmpty { return inOrder.popFirst(wanted) }
      var taken: [Waiting<Push>] = []
      while taken.count < wanted, let next = popFirst() { taken.append(next) }
      return taken
    }

    private mutating func popFirst() -> Waiting<Push>? {
      guard let first = early.first else { return inOrder.popFirst(1).first }
      if let other = inOrder.first, other < first { return inOrder.popFirst(1).first }
      return early.popFirst()
    }
  }

  private var lanes: [Lane] = []
  /// The lane whose turn it is.
  private var turn = 0
  private(set) var count = 0
  /// No push that waits must be reported before this; it may lie too early, never too late.
  private(set) var nextDeadline: Moment?

  var isEmpty: Bool { count == 0 }

  mutating func append(_ waiting: Waiting<Push>) {
    lanes[lane(named: waiting.push.lane)].append(waiting)
    count += 1
    nextDeadline = min(nextDeadline ?? .never, waiting.sendBy)
  }

  /// There are as many as apps: a handful.
  private mutating func lane(named name: String) -> Int {
    if let index = lanes.firstIndex(where: { $0.name == name }) { return index }
    lanes.append(Lane(name: name))
    return lanes.count - 1
  }

  /// Takes the next ones, an equal share of each app's.
  mutating func popFirst(_ wanted: Int) -> [Waiting<Push>] {
    let limit = min(wanted, count)
    if limit <= 0 { return [] }
    var taken: [Waiting<Push>] = []
    while taken.count < limit {
      let waiting = lanes.count { !$0.isEmpty }
      let share = max(1, (limit - taken.count) / max(1, waiting))
      if turn >= lanes.count { turn = 0 }
      let next = lanes[turn].popFirst(min(share, limit - taken.count))
      if taken.isEmpty { taken = next } else { taken += next }
      turn += 1
    }
    count -= taken.count
    if count == 0 { nextDeadline = nil }
    return taken
  }

  /// Takes those that must have left by now, in the order in which they came.
  mutating func expire(at now: Moment) -> [Waiting<Push>] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    let all = lanes.flatMap(\.all).sorted { $0.order < $1.order }
    self = LaneQueue()
    for waiting in all where waiting.sendBy > now { append(waiting) }
    return all.filter { $0.sendBy <= now }
  }
}

extension LaneQueue.Lane: Sendable where Push: Sendable {}

extension LaneQueue: Sendable where Push: Sendable {}

extension Waiting: Equatable, Comparable where Push: Routed {
  static func < (left: Waiting, right: Waiting) -> Bool {
    left.usefulUntil == right.usefulUntil
      ? left.order < right.order : left.usefulUntil < right.usefulUntil
  }

  static func == (left: Waiting, right: Waiting) -> Bool { left.order == right.order }
}
