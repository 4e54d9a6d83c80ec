import RideCore

/// Decides which connection sends which push and when, and how many connections there are.
///
/// A value without clock, threads or network: each event returns what its caller has to do.
struct PoolStateMachine<Push: Routed> {
  /// The limits of one pool.
  struct Settings {
    var requestTimeout: Duration = .seconds(10)

    /// A push with less time than this left for its answer is not sent, because its fate would
    /// remain unknown.
    var leastWait: Duration { min(.milliseconds(500), requestTimeout / 10) }
    var maxConnections = 4
    var resendLimit = 3
    var idleTimeout: Duration = .seconds(300)

    /// With fewer queued pushes than this, another connection is not worth its handshake.
    var growAt = 100

    /// How long a new connection may lack a first answer before another is tried.
    var patience: Duration = .seconds(5)

    /// A connection that ends sooner counts as a failed one.
    var shortLife: Duration = .seconds(10)
  }

  /// The actions that an event requires.
  struct Orders: Hashable {
    /// Connections whose threads must ask for pushes.
    var wake: [Int] = []

    /// A new connection to open.
    var open: Int?

    /// The latest time at which `supervise` must be called.
    var superviseAt: MonotonicTime?
  }

  /// A push that ends without having been processed.
  typealias Rejected = (push: Push, cause: UnsentCause)

  let settings: Settings
  var queue = LaneQueue<Push>()
  var seats: [PooledConnection] = []
  var backoff: ConnectBackoff

  /// The earliest time of the next connect.
  var notBefore: MonotonicTime?

  /// The problem of the last failed connection.
  var lastTrouble: String?

  private(set) var isClosed = false
  private(set) var openedTotal = 0
  private var nextOrder: UInt64 = 0
  var nextID = 1

  init(settings: Settings, backoff: ConnectBackoff) {
    self.settings = settings
    self.backoff = backoff
  }

  // MARK: Pushes come

  /// Accepts pushes; returns nil if the pool is closed.
  ///
  /// - Parameter wall: The wall clock, which the validity of pushes refers to.
  mutating func enqueue(
    _ pushes: [Push], at now: MonotonicTime, wall: Timestamp = Timestamp(microseconds: 0)
  ) -> Orders? {
    guard !isClosed else { return nil }
    let deadline = now + settings.requestTimeout
    for push in pushes {
      let useful = Timestamp(microseconds: push.validUntil) - wall
      let latest = settings.requestTimeout - settings.leastWait
      let sendDeadline = now + min(max(.zero, useful), latest)
      queue.append(
        QueuedRequest(push: push, order: nextOrder, deadline: deadline, sendDeadline: sendDeadline))
      nextOrder += 1
    }
    return dispatch(at: now)
  }

  /// Takes back pushes that APNs provably did not process; they regain their place or end here.
  mutating func requeue(
    _ returned: [(waiting: QueuedRequest<Push>, cause: UnsentCause)], at now: MonotonicTime
  )
    -> (rejected: [Rejected], orders: Orders)
  {
    var rejected: [Rejected] = []
    var again: [QueuedRequest<Push>] = []
    for (returnedPush, cause) in returned {
      var waiting = returnedPush
      waiting.resends += 1
      if isClosed {
        rejected.append((waiting.push, .closed))
      } else if waiting.resends > settings.resendLimit || waiting.sendDeadline <= now {
        rejected.append((waiting.push, cause))
      } else {
        again.append(waiting)
      }
    }
    for waiting in again { queue.append(waiting) }
    return (rejected, dispatch(at: now))
  }

  // MARK: Pushes go

  /// The answer to a connection's thread that asks for pushes.
  struct Taken {
    var pushes: [QueuedRequest<Push>] = []
    var rejected: [Rejected] = []
    var orders = Orders()

    /// True if the connection is superfluous and must close.
    var retires = false
  }

  /// Records a connection's load and returns the pushes that it may send.
  ///
  /// A thread that gets none may sleep: the pool wakes it.
  mutating func take(by id: Int, load: PooledConnection.Load, at now: MonotonicTime) -> Taken {
    var taken = Taken()
    guard let seat = seats.firstIndex(where: { $0.id == id }), seats[seat].phase == .ready else {
      return taken
    }
    if load.isProved, now - seats[seat].since >= settings.shortLife { backoff.succeeded() }
    seats[seat].load = load
    if load.isProved { lastTrouble = nil }
    taken.rejected = expire(at: now)
    taken.pushes = queue.popFirst(load.spare)
    seats[seat].load.spare -= taken.pushes.count
    seats[seat].load.inFlight += taken.pushes.count
    seats[seat].isSignalled = !taken.pushes.isEmpty
    if seats[seat].load.inFlight > 0 { seats[seat].busyAt = now }
    if isSpare(seats[seat], at: now) {
      seats[seat].phase = .leaving
      taken.retires = true
    }
    taken.orders = dispatch(at: now)
    return taken
  }

  /// Ends pushes whose deadline has passed and opens connections that are due; to be called at
  /// `superviseAt`.
  mutating func supervise(at now: MonotonicTime) -> (rejected: [Rejected], orders: Orders) {
    (expire(at: now), dispatch(at: now))
  }

  private mutating func expire(at now: MonotonicTime) -> [Rejected] {
    let cause = whyQueued()
    return queue.expire(at: now).map { ($0.push, cause) }
  }

  private func whyQueued() -> UnsentCause {
    let stands = seats.contains { $0.phase != .connecting && !$0.load.isSuspect }
    if stands { return .queuedTooLong }
    return .noConnection(lastTrouble ?? "the connection was not open in time")
  }

  // MARK: The end

  /// Closes the pool and returns the queued pushes, which end unsent.
  mutating func close() -> [Push] {
    isClosed = true
    return queue.popFirst(queue.count).map(\.push)
  }

  mutating func countOpened() { openedTotal += 1 }
}
