/// The open streams of one connection in numbered slots, linked in the order of their deadlines.
///
/// nghttp2 keeps the slot number as user data of the stream, so an answer finds its push without a
/// search; a stream also leaves the list without a search.
struct StreamTable<Push> {
  struct Stream {
    let queued: QueuedRequest<Push>
    let openedAt: MonotonicTime
    var answer = PushResponse()

    /// The number of bytes that the connection had produced when this push's body began; nil
    /// before.
    ///
    /// If no byte of the body left, APNs can't have processed the push.
    var bodyStart: Int?

    /// The number of body bytes produced so far.
    var bodyOffset = 0

    fileprivate mutating func apply<Result>(_ change: (inout Self) -> Result) -> Result {
      change(&self)
    }
  }

  /// The position of a slot's stream in the list, apart from the stream itself: it is compared and
  /// changed for each push, and reading it counts no references.
  private struct Link {
    /// Nil if the slot is free.
    var id: Int32?
    var deadline = MonotonicTime.never
    var earlier = none
    var later = none
  }

  private static var none: Int { -1 }

  private var links: [Link] = []
  private var streams: [Stream?] = []
  private var free: [Int] = []
  private var oldest = none
  private var newest = none
  private(set) var count = 0

  /// The stream with the earliest deadline.
  var firstDue: (slot: Int, deadline: MonotonicTime)? {
    oldest == Self.none ? nil : (oldest, links[oldest].deadline)
  }

  /// The slots in use.
  var used: [Int] { links.indices.filter { links[$0].id != nil } }

  /// Returns the number of a free slot, for `fill`.
  mutating func reserve() -> Int {
    if let slot = free.popLast() { return slot }
    links.append(Link())
    streams.append(nil)
    return links.count - 1
  }

  /// Returns a slot that was reserved and not filled.
  mutating func release(_ slot: Int) { free.append(slot) }

  mutating func fill(
    _ slot: Int, with queued: QueuedRequest<Push>, id: Int32, at now: MonotonicTime
  ) {
    // Deadlines arrive in order, except that of a push that is sent again: it moves a few places
    // forward.
    let deadline = queued.deadline
    var before = newest
    while before != Self.none, links[before].deadline > deadline { before = links[before].earlier }
    let after = before == Self.none ? oldest : links[before].later
    links[slot] = Link(id: id, deadline: deadline, earlier: before, later: after)
    if before == Self.none { oldest = slot } else { links[before].later = slot }
    if after == Self.none { newest = slot } else { links[after].earlier = slot }
    streams[slot] = Stream(queued: queued, openedAt: now)
    count += 1
  }

  /// Removes a stream; returns nil if the slot is free or already holds another stream.
  mutating func remove(_ slot: Int, id: Int32) -> Stream? {
    guard self.id(in: slot) == id else { return nil }
    let link = links[slot]
    if link.earlier == Self.none {
      oldest = link.later
    } else {
      links[link.earlier].later = link.later
    }
    if link.later == Self.none {
      newest = link.earlier
    } else {
      links[link.later].earlier = link.earlier
    }
    links[slot] = Link()
    free.append(slot)
    count -= 1
    // Moved out instead of copied.
    var stream: Stream?
    swap(&stream, &streams[slot])
    return stream
  }

  /// The HTTP/2 number of the stream in a slot; nil if it has ended.
  func id(in slot: Int) -> Int32? { links.indices.contains(slot) ? links[slot].id : nil }

  /// When the stream in a slot was opened; nil if it has ended.
  func openedAt(in slot: Int) -> MonotonicTime? {
    streams.indices.contains(slot) ? streams[slot]?.openedAt : nil
  }

  /// The stream in a slot; nil if it has ended.
  subscript(slot: Int) -> Stream? { streams.indices.contains(slot) ? streams[slot] : nil }

  /// Changes the stream in a slot in place, if the slot still holds that stream.
  mutating func update<Result>(
    _ slot: Int, id: Int32, _ change: (inout Stream) -> Result
  ) -> Result? {
    guard self.id(in: slot) == id else { return nil }
    return streams[slot]?.apply(change)
  }
}
