import RideCore

/// Decides which connection sends which push and when, and how many connections there are.
///
/// A value without clock, threads or network: each event returns what its caller has to do.
struct PoolStateMachine<Push: PrioritizedPush> {
  typealias Settings = PoolSettings

  /// The actions that an event requires.
  struct Actions: Hashable {
    /// Connections whose threads must ask for pushes.
    var wake: [Int] = []

    /// A new connection to open.
    var open: Int?

    /// The latest time at which `supervise` must be called.
    var superviseAt: MonotonicTime?
  }

  /// A push that ends without having been processed.
  typealias Rejected = (push: Push, cause: UnsentCause)

  private let settings: Settings
  private var queue = LaneQueue<Push>()
  private var connections: [PooledConnection] = []
  private var backoff: ConnectBackoff

  /// The earliest time of the next connect.
  private var notBefore: MonotonicTime?

  /// The problem of the last failed connection.
  private var lastProblem: String?

  private enum Service { case open, retired, closed }

  private var service = Service.open
  private var openedTotal = 0
  private var nextOrder: UInt64 = 0
  private var nextID = 1

  init(settings: Settings, backoff: ConnectBackoff) {
    self.settings = settings
    self.backoff = backoff
  }

  // MARK: Queueing

  /// Accepts pushes; returns nil if the pool is closed.
  ///
  /// - Parameter wall: The wall clock, which the validity of pushes refers to.
  mutating func enqueue(
    _ pushes: [Push], at now: MonotonicTime, wall: Timestamp = Timestamp(microseconds: 0)
  ) -> Actions? {
    guard service == .open else { return nil }
    let deadline = now + settings.requestTimeout
    for push in pushes {
      let remaining = Timestamp(microseconds: push.validUntil) - wall
      let latest = settings.requestTimeout - settings.leastWait
      let sendDeadline = now + min(max(.zero, remaining), latest)
      queue.append(
        QueuedRequest(push: push, order: nextOrder, deadline: deadline, sendDeadline: sendDeadline))
      nextOrder += 1
    }
    return dispatch(at: now)
  }

  /// Accepts pushes of a retired pool, with the deadlines that they have; returns false if this
  /// pool accepts none.
  mutating func adopt(_ pushes: [QueuedRequest<Push>], at now: MonotonicTime) -> Actions? {
    guard service == .open else { return nil }
    for queued in pushes {
      queue.append(queued)
      nextOrder = max(nextOrder, queued.order + 1)
    }
    return dispatch(at: now)
  }

  /// The consequences of pushes that came back.
  struct Returned {
    var rejected: [Rejected] = []

    /// Pushes that another pool must send, because this one is retired.
    var moved: [QueuedRequest<Push>] = []
    var actions = Actions()
  }

  /// Takes back pushes that APNs provably did not process; they regain their place, move to another
  /// pool or end here.
  mutating func requeue(
    _ returned: [(queued: QueuedRequest<Push>, cause: UnsentCause)], at now: MonotonicTime
  ) -> Returned {
    var result = Returned()
    var again: [QueuedRequest<Push>] = []
    for (returnedPush, cause) in returned {
      var queued = returnedPush
      queued.resends += 1
      if service == .closed {
        result.rejected.append((queued.push, .closed))
      } else if queued.resends > settings.resendLimit || queued.sendDeadline <= now {
        result.rejected.append((queued.push, cause))
      } else {
        again.append(queued)
      }
    }
    if service == .retired {
      result.moved = again
    } else {
      for queued in again { queue.append(queued) }
    }
    result.actions = dispatch(at: now)
    return result
  }

  // MARK: Dispatch

  /// The answer to a connection's thread that asks for pushes.
  struct Taken {
    var pushes: [QueuedRequest<Push>] = []
    var rejected: [Rejected] = []
    var actions = Actions()

    /// If set, the connection must close; the text gives the reason.
    var retires: String?
  }

  /// Records a connection's load and returns the pushes that it may send.
  ///
  /// A thread that gets none may sleep: the pool wakes it.
  mutating func take(by id: Int, load: PooledConnection.Load, at now: MonotonicTime) -> Taken {
    var taken = Taken()
    guard let connection = connections.firstIndex(where: { $0.id == id }),
      connections[connection].phase == .ready
    else {
      return taken
    }
    if load.isProved, now - connections[connection].since >= settings.minimumLifetime {
      backoff.succeeded()
    }
    connections[connection].load = load
    if load.isProved { lastProblem = nil }
    if service == .retired {
      connections[connection].phase = .leaving
      taken.retires = "its key or certificate was replaced"
      return taken
    }
    taken.rejected = expire(at: now)
    taken.pushes = queue.popFirst(load.freeStreams)
    connections[connection].load.freeStreams -= taken.pushes.count
    connections[connection].load.inFlight += taken.pushes.count
    connections[connection].isSignalled = !taken.pushes.isEmpty
    if connections[connection].load.inFlight > 0 { connections[connection].busyAt = now }
    if isSuperfluous(connections[connection], at: now) {
      connections[connection].phase = .leaving
      taken.retires = "idle"
    }
    taken.actions = dispatch(at: now)
    return taken
  }

  /// Ends pushes whose deadline has passed and opens connections that are due; to be called at
  /// `superviseAt`.
  mutating func supervise(at now: MonotonicTime) -> (rejected: [Rejected], actions: Actions) {
    (expire(at: now), dispatch(at: now))
  }

  private mutating func expire(at now: MonotonicTime) -> [Rejected] {
    let cause = queueingCause()
    return queue.expire(at: now).map { ($0.push, cause) }
  }

  private func queueingCause() -> UnsentCause {
    let isAnyOpen = connections.contains { $0.phase != .connecting && !$0.load.isSuspect }
    if isAnyOpen { return .queuedTooLong }
    return .noConnection(lastProblem ?? "the connection was not open in time")
  }

  // MARK: The end

  /// Ends the pool's service because its credential was replaced.
  ///
  /// Connections finish their streams and take no more. Returns the queued pushes, which another
  /// pool must send, and the connections to wake.
  mutating func retire() -> (moved: [QueuedRequest<Push>], actions: Actions) {
    guard service == .open else { return ([], Actions()) }
    service = .retired
    return (queue.popFirst(queue.count), Actions(wake: connections.map(\.id)))
  }

  /// Closes the pool and returns the queued pushes, which end unsent.
  mutating func close() -> [Push] {
    service = .closed
    return queue.popFirst(queue.count).map(\.push)
  }

  // MARK: Connections come and go

  /// Records that a connection is open; its thread will ask for pushes.
  mutating func connected(_ id: Int, at now: MonotonicTime) {
    guard let connection = connections.firstIndex(where: { $0.id == id }) else { return }
    openedTotal += 1
    connections[connection].phase = .ready
    connections[connection].since = now
    connections[connection].busyAt = now
    // Its thread asks for pushes at once, for one stream.
    connections[connection].isSignalled = true
    connections[connection].load.freeStreams = 1
  }

  /// Handles a connection that finishes its streams and takes no more, for a reason given by the
  /// server.
  mutating func leaving(_ id: Int, problem: String, at now: MonotonicTime) -> Actions {
    guard let connection = connections.firstIndex(where: { $0.id == id }),
      connections[connection].phase == .ready
    else {
      return Actions()
    }
    countLoss(of: connections[connection], problem: problem, at: now)
    connections[connection].phase = .leaving
    return dispatch(at: now)
  }

  /// Removes a connection that has ended or could not be opened; `problem` gives the reason.
  ///
  /// Returns how long no other connection is opened.
  mutating func ended(_ id: Int, problem: String?, at now: MonotonicTime) -> (
    wait: Duration?, Actions
  ) {
    guard let connection = connections.firstIndex(where: { $0.id == id }) else {
      return (nil, Actions())
    }
    let old = connections.remove(at: connection)
    if let problem, old.phase != .leaving { countLoss(of: old, problem: problem, at: now) }
    return (notBefore.map { $0 - now }, dispatch(at: now))
  }

  /// Counts a connection that did not live long as a failure, whichever side ended it.
  ///
  /// Otherwise a server or proxy that drops each connection after its first push would cause a new
  /// connection for each push.
  private mutating func countLoss(
    of connection: PooledConnection, problem: String, at now: MonotonicTime
  ) {
    lastProblem = problem
    let lived = connection.phase != .connecting && connection.load.isProved
    if lived, now - connection.since >= settings.minimumLifetime {
      backoff.succeeded()
    } else {
      notBefore = now + backoff.failed()
    }
  }

  // MARK: What to do now

  /// Wakes connections that can take queued pushes, and opens another if they are not enough.
  private mutating func dispatch(at now: MonotonicTime) -> Actions {
    var actions = Actions()
    guard service == .open, !queue.isEmpty else { return actions }
    var uncovered = queue.count
    for connection in connections where connection.isSignalled && isUsable(connection) {
      uncovered -= connection.load.freeStreams
    }
    for index in connections.indices where uncovered > 0 && !connections[index].isSignalled {
      guard isUsable(connections[index]), connections[index].load.freeStreams > 0 else { continue }
      connections[index].isSignalled = true
      uncovered -= connections[index].load.freeStreams
      actions.wake.append(connections[index].id)
    }
    var blockedUntil: MonotonicTime?
    if wantsAnother(for: uncovered) {
      blockedUntil = mayNotOpenBefore(at: now)
      if blockedUntil == nil { actions.open = open(at: now) }
    }
    actions.superviseAt = queue.nextDeadline
    if let blockedUntil { actions.superviseAt = min(blockedUntil, actions.superviseAt ?? .never) }
    return actions
  }

  private mutating func open(at now: MonotonicTime) -> Int {
    let id = nextID
    nextID += 1
    connections.append(PooledConnection(id: id, since: now, busyAt: now))
    notBefore = nil
    return id
  }

  private func isUsable(_ connection: PooledConnection) -> Bool {
    connection.phase == .ready && !connection.load.isSuspect
  }

  /// Returns whether another connection is worth opening.
  ///
  /// It is if none is usable, or if all are full and more pushes wait than one of them carries at a
  /// time.
  private func wantsAnother(for uncovered: Int) -> Bool {
    let live = connections.filter { $0.phase != .leaving }
    guard live.count < max(1, settings.maxConnections) else { return false }
    // Leaving connections count too, so that the total stays bounded while a server sends GOAWAY.
    guard connections.count < 2 * max(1, settings.maxConnections) else { return false }
    let usable = live.filter { isUsable($0) }
    if usable.isEmpty { return !live.contains { $0.phase == .connecting } }
    if usable.allSatisfy({ !$0.load.isProved }) { return uncovered > 0 }
    return uncovered >= max(settings.growAt, usable.map(\.load.limit).max() ?? 1)
  }

  /// Returns until when no connection may be opened.
  ///
  /// Connections are opened one at a time, each one proved before the next or given
  /// `firstResponseTimeout` to be, and none before the back-off ends.
  private func mayNotOpenBefore(at now: MonotonicTime) -> MonotonicTime? {
    var latest = notBefore
    for connection in connections {
      switch connection.phase {
      case .connecting: return .never
      case .ready where !connection.load.isProved && !connection.load.isSuspect:
        latest = max(latest ?? connection.since, connection.since + settings.firstResponseTimeout)
      case .ready, .leaving: break
      }
    }
    guard let latest, latest > now else { return nil }
    return latest
  }

  /// Returns whether a connection is superfluous: idle for long while another, proved one is open.
  private func isSuperfluous(_ connection: PooledConnection, at now: MonotonicTime) -> Bool {
    guard connection.load.inFlight == 0, now - connection.busyAt >= settings.idleTimeout else {
      return false
    }
    return connections.contains { $0.id != connection.id && isUsable($0) && $0.load.isProved }
  }

  func statistics() -> TransportStatistics {
    let open = connections.filter { $0.phase == .ready }
    return TransportStatistics(
      openConnections: open.count, inFlight: connections.reduce(0) { $0 + $1.load.inFlight },
      queued: queue.count, streamLimits: open.map(\.load.limit), openedTotal: openedTotal)
  }
}
