/// The open streams of one connection in numbered slots, linked in the order of their deadlines.
///
/// nghttp2 keeps the slot number as user data of the stream, so an answer finds its push without a
/// search; a stream also leaves the list without a search.
struct StreamTable<Push> {
  struct Stream {
    var queued: QueuedRequest<Push>
    var id: Int32
    let openedAt: MonotonicTime
    var answer = PushResponse()

    /// The number of bytes that the connection had produced when this push's body began; nil
    /// before.
    ///
    /// If no byte of the body left, APNs can't have processed the push.
    var bodyStart: Int?

    /// The number of body bytes produced so far.
    var bodyOffset = 0

    fileprivate var earlier: Int = none
    fileprivate var later: Int = none

    fileprivate mutating func apply<Result>(_ change: (inout Self) -> Result) -> Result {
      change(&self)
    }
  }

  private static var none: Int { -1 }

  private var slots: [Stream?] = []
  private var free: [Int] = []
  private var oldest = none
  private var newest = none
  private(set) var count = 0

  /// The stream with the earliest deadline.
  var firstDue: (slot: Int, deadline: MonotonicTime)? {
    guard oldest != Self.none, let stream = slots[oldest] else { return nil }
    return (oldest, stream.queued.deadline)
  }

  /// The slots in use.
  var used: [Int] { slots.indices.filter { slots[$0] != nil } }

  /// Returns the number of a free slot, for `fill`.
  mutating func reserve() -> Int {
    if let slot = free.popLast() { return slot }
    slots.append(nil)
    return slots.count - 1
  }

  /// Returns a slot that was reserved and not filled.
  mutating func release(_ slot: Int) { free.append(slot) }

  mutating func fill(
    _ slot: Int, with queued: QueuedRequest<Push>, id: Int32, at now: MonotonicTime
  ) {
    var stream = Stream(queued: queued, id: id, openedAt: now)
    // Deadlines arrive in order, except that of a push that is sent again: it moves a few places
    // forward.
    var before = newest
    while before != Self.none, let other = slots[before], other.queued.deadline > queued.deadline {
      before = other.earlier
    }
    stream.earlier = before
    stream.later = before == Self.none ? oldest : slots[before]?.later ?? Self.none
    if before == Self.none { oldest = slot } else { slots[before]?.later = slot }
    if stream.later == Self.none { newest = slot } else { slots[stream.later]?.earlier = slot }
    slots[slot] = stream
    count += 1
  }

  /// Removes a stream; returns nil if the slot is free or already holds another stream.
  mutating func remove(_ slot: Int, id: Int32) -> Stream? {
    guard slots.indices.contains(slot), let stream = slots[slot], stream.id == id else {
      return nil
    }
    slots[slot] = nil
    free.append(slot)
    count -= 1
    if stream.earlier == Self.none {
      oldest = stream.later
    } else {
      slots[stream.earlier]?.later = stream.later
    }
    if stream.later == Self.none {
      newest = stream.earlier
    } else {
      slots[stream.later]?.earlier = stream.earlier
    }
    return stream
  }

  /// The stream in a slot; nil if it has ended.
  subscript(slot: Int) -> Stream? { slots.indices.contains(slot) ? slots[slot] : nil }

  /// Changes the stream in a slot in place, if the slot still holds that stream.
  mutating func update<Result>(
    _ slot: Int, id: Int32, _ change: (inout Stream) -> Result
  ) -> Result? {
    guard slots.indices.contains(slot), slots[slot]?.id == id else { return nil }
    return slots[slot]?.apply(change)
  }
}
