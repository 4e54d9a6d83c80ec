import Base
import RideCore

/// A push with the properties that order it in a queue.
protocol PrioritizedPush {
  /// The name of the push's app.
  var lane: String { get }

  /// The number of its sender, if several share the pool.
  var sender: Int { get }

  /// When the push stops being of use, in microseconds since 1970.
  var validUntil: Int64 { get }

  /// Until when its sender relies on what it knows of the recipient, in microseconds since 1970.
  var freshUntil: Int64 { get }

  /// How long it may still wait for a stream; nil for the pool's own limit.
  var sendWithin: Duration? { get }
}

extension PrioritizedPush {
  var sender: Int { 0 }
  var freshUntil: Int64 { .max }
  var sendWithin: Duration? { nil }
}

/// The pushes that wait for a stream.
///
/// Apps take turns, and so do the senders of one app, so that none waits behind thousands of pushes
/// of another. Within one app and sender, the push with the shortest validity goes first: an offer
/// before an arrival time.
struct LaneQueue<Push: PrioritizedPush> {
  /// The queued pushes of one app and sender.
  ///
  /// Most pushes arrive in the order in which they leave; only the others are sorted.
  fileprivate struct Lane {
    let name: String
    let sender: Int
    var inOrder = FIFO<QueuedRequest<Push>>()
    var early = Heap<QueuedRequest<Push>>()

    var isEmpty: Bool { inOrder.isEmpty && early.isEmpty }
    var all: [QueuedRequest<Push>] { Array(inOrder.all) + early.all }

    mutating func append(_ queued: QueuedRequest<Push>) {
      if let last = inOrder.last, queued < last {
        early.insert(queued)
      } else {
        inOrder.append(queued)
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

  mutating func append(_ queued: QueuedRequest<Push>) {
    lanes[lane(of: queued.push)].append(queued)
    count += 1
    nextDeadline = min(nextDeadline ?? .never, queued.leavesBy)
  }

  /// There are as many lanes as apps, times the senders: a handful, or a few dozen.
  private mutating func lane(of push: Push) -> Int {
    let (name, sender) = (push.lane, push.sender)
    if let index = lanes.firstIndex(where: { $0.sender == sender && $0.name == name }) {
      return index
    }
    lanes.append(Lane(name: name, sender: sender))
    return lanes.count - 1
  }

  /// Removes the next pushes, an equal share of each app and sender.
  mutating func popFirst(_ wanted: Int) -> [QueuedRequest<Push>] {
    let limit = min(wanted, count)
    if limit <= 0 { return [] }
    var taken: [QueuedRequest<Push>] = []
    while taken.count < limit {
      if turn >= lanes.count { turn = 0 }
      if lanes[turn].isEmpty {
        turn += 1
        continue
      }
      let queued = lanes.count { !$0.isEmpty }
      let share = max(1, (limit - taken.count) / queued)
      let next = lanes[turn].popFirst(min(share, limit - taken.count))
      if taken.isEmpty { taken = next } else { taken += next }
      turn += 1
    }
    count -= taken.count
    if count == 0 { nextDeadline = nil }
    return taken
  }

  /// Removes the pushes that may not be sent any more, in the order in which they were queued.
  mutating func expire(at now: MonotonicTime) -> [QueuedRequest<Push>] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    let all = lanes.flatMap(\.all).sorted { $0.order < $1.order }
    self = LaneQueue()
    for queued in all where queued.leavesBy > now { append(queued) }
    return all.filter { $0.leavesBy <= now }
  }
}

extension LaneQueue.Lane: Sendable where Push: Sendable {}

extension LaneQueue: Sendable where Push: Sendable {}

extension QueuedRequest: Equatable, Comparable where Push: PrioritizedPush {
  static func < (left: QueuedRequest, right: QueuedRequest) -> Bool {
    left.validUntil == right.validUntil
      ? left.order < right.order : left.validUntil < right.validUntil
  }

  static func == (left: QueuedRequest, right: QueuedRequest) -> Bool { left.order == right.order }
}

/// A push that is queued for a connection or in flight on one.
struct QueuedRequest<Push> {
  let push: Push

  /// Its position among all pushes of the pool; a push that is sent again keeps it.
  let order: UInt64

  /// When it must have been reported.
  let deadline: MonotonicTime

  /// When it stops being of use, in microseconds since 1970.
  let validUntil: Int64

  /// When it must have been sent; a push that is of no more use is not sent.
  let sendDeadline: MonotonicTime

  /// Until when its sender relies on what it knows of the recipient.
  let freshUntil: MonotonicTime

  /// How many times a connection has returned it unprocessed.
  var resends: UInt8 = 0

  /// True if it was sent again because its access token was refused.
  var hasChangedToken = false
}

extension QueuedRequest where Push: PrioritizedPush {
  init(
    push: Push, order: UInt64, deadline: MonotonicTime, sendDeadline: MonotonicTime? = nil,
    freshUntil: MonotonicTime = .never
  ) {
    self.init(
      push: push, order: order, deadline: deadline, validUntil: push.validUntil,
      sendDeadline: min(deadline, sendDeadline ?? deadline), freshUntil: freshUntil)
  }

  /// The earlier of the two limits of its wait for a stream.
  var leavesBy: MonotonicTime { min(sendDeadline, freshUntil) }
}

extension QueuedRequest: Sendable where Push: Sendable {}

/// A queue that removes from the front without moving the rest.
struct FIFO<Element> {
  private var storage: [Element] = []
  private var head = 0

  var count: Int { storage.count - head }
  var isEmpty: Bool { head == storage.count }
  var first: Element? { isEmpty ? nil : storage[head] }
  var last: Element? { isEmpty ? nil : storage[storage.count - 1] }
  var all: ArraySlice<Element> { storage[head...] }

  mutating func append(_ element: Element) { storage.append(element) }

  mutating func popFirst(_ wanted: Int) -> [Element] {
    let taken = min(wanted, count)
    guard taken > 0 else { return [] }
    let result = Array(storage[head..<head + taken])
    head += taken
    compact()
    return result
  }

  // Removed elements are discarded when they are more than half of all, so that each element moves
  // once on average.
  private mutating func compact() {
    if head == storage.count {
      storage.removeAll(keepingCapacity: storage.capacity <= 4096)
      head = 0
    } else if head > 256, head > storage.count / 2 {
      storage.removeFirst(head)
      head = 0
    }
  }
}

extension FIFO: Sendable where Element: Sendable {}
