import RideCore

/// A push with the properties that order it in a queue.
protocol Routed {
  /// The name of the push's app.
  var lane: String { get }

  /// When the push stops being of use, in microseconds since 1970.
  var validUntil: Int64 { get }
}

/// The pushes that wait for a stream.
///
/// Apps take turns, so that none waits behind thousands of pushes of another. Within one app, the
/// push with the shortest validity goes first: an offer before an arrival time.
struct LaneQueue<Push: Routed> {
  /// The queued pushes of one app.
  ///
  /// Most pushes arrive in the order in which they leave; only the others are sorted.
  fileprivate struct Lane {
    let name: String
    var inOrder = FIFO<QueuedRequest<Push>>()
    var early = Heap<QueuedRequest<Push>>()

    var isEmpty: Bool { inOrder.isEmpty && early.isEmpty }
    var all: [QueuedRequest<Push>] { Array(inOrder.all) + early.all }

    mutating func append(_ waiting: QueuedRequest<Push>) {
      if let last = inOrder.last, waiting < last {
        early.insert(waiting)
      } else {
        inOrder.append(waiting)
      }
    }

    mutating func popFirst(_ wanted: Int) -> [QueuedRequest<Push>] {
      if early.isEmpty { return inOrder.popFirst(wanted) }
      var taken: [QueuedRequest<Push>] = []
      while taken.count < wanted, let next = popFirst() { taken.append(next) }
      return taken
    }

    private mutating func popFirst() -> QueuedRequest<Push>? {
      guard let first = early.first else { return inOrder.popFirst(1).first }
      if let other = inOrder.first, other < first { return inOrder.popFirst(1).first }
      return early.popFirst()
    }
  }

  private var lanes: [Lane] = []
  /// The index of the lane that is next.
  private var turn = 0
  private(set) var count = 0
  /// The earliest time by which a queued push must be sent or reported; it may be too early, never
  /// too late.
  private(set) var nextDeadline: MonotonicTime?

  var isEmpty: Bool { count == 0 }

  mutating func append(_ waiting: QueuedRequest<Push>) {
    lanes[lane(named: waiting.push.lane)].append(waiting)
    count += 1
    nextDeadline = min(nextDeadline ?? .never, waiting.sendDeadline)
  }

  /// There are as many lanes as apps: a handful.
  private mutating func lane(named name: String) -> Int {
    if let index = lanes.firstIndex(where: { $0.name == name }) { return index }
    lanes.append(Lane(name: name))
    return lanes.count - 1
  }

  /// Removes the next pushes, an equal share of each app.
  mutating func popFirst(_ wanted: Int) -> [QueuedRequest<Push>] {
    let limit = min(wanted, count)
    if limit <= 0 { return [] }
    var taken: [QueuedRequest<Push>] = []
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

  /// Removes the pushes whose send deadline has passed, in the order in which they were queued.
  mutating func expire(at now: MonotonicTime) -> [QueuedRequest<Push>] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    let all = lanes.flatMap(\.all).sorted { $0.order < $1.order }
    self = LaneQueue()
    for waiting in all where waiting.sendDeadline > now { append(waiting) }
    return all.filter { $0.sendDeadline <= now }
  }
}

extension LaneQueue.Lane: Sendable where Push: Sendable {}

extension LaneQueue: Sendable where Push: Sendable {}

extension QueuedRequest: Equatable, Comparable where Push: Routed {
  static func < (left: QueuedRequest, right: QueuedRequest) -> Bool {
    left.validUntil == right.validUntil
      ? left.order < right.order : left.validUntil < right.validUntil
  }

  static func == (left: QueuedRequest, right: QueuedRequest) -> Bool { left.order == right.order }
}
