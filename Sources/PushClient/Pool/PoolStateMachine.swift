import Base
import RideCore

/// Decides which connection sends which push and when.
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
  private var connections: PoolConnections

  /// Why nothing can be sent, although connections could be opened: there is no access token.
  struct Block: Hashable {
    /// How pushes end that can't wait for a token.
    var cause: UnsentCause

    /// Whether the server that gives tokens can't be reached.
    var isUnreachable = false
  }

  private(set) var blocked: Block?

  private enum Service { case open, retired, closed }

  private var service = Service.open
  private var nextOrder: UInt64 = 0

  init(settings: Settings, backoff: ConnectBackoff) {
    self.settings = settings
    connections = PoolConnections(settings: settings, backoff: backoff)
  }

  // MARK: Queueing

  /// Accepts pushes; returns nil if the pool is closed.
  ///
  /// - Parameter wall: The wall clock, which the validity of pushes refers to.
  mutating func enqueue(
    _ pushes: [Push], at now: MonotonicTime, wall: Timestamp = Timestamp(microseconds: 0)
  ) -> Actions? {
    guard service == .open else { return nil }
    for push in pushes {
      let remaining = Timestamp(microseconds: push.validUntil) - wall
      let longest = settings.requestTimeout - settings.leastWait
      let latest = max(.zero, min(longest, push.sendWithin ?? longest))
      queue.append(
        QueuedRequest(
          push: push, order: nextOrder, deadline: now + latest + settings.leastWait,
          sendDeadline: now + min(max(.zero, remaining), latest),
          freshUntil: Self.freshUntil(push, at: now, wall: wall)))
      nextOrder += 1
    }
    return dispatch(at: now)
  }

  private static func freshUntil(
    _ push: Push, at now: MonotonicTime, wall: Timestamp
  ) -> MonotonicTime {
    if push.freshUntil == .max { return .never }
    // The wall clock may be set back.
    let left = min(Timestamp(microseconds: push.freshUntil) - wall, PushRequest.freshness)
    return now + max(.zero, left)
  }

  /// Accepts pushes of a retired pool, with the deadlines that they have; returns nil if this pool
  /// accepts none.
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
    guard let connection = connections.report(load, of: id, at: now) else { return taken }
    if service == .retired {
      connections.all[connection].phase = .leaving
      taken.retires = "its key or certificate was replaced"
      return taken
    }
    taken.rejected = expire(at: now)
    taken.pushes = queue.popFirst(load.freeStreams)
    connections.took(taken.pushes.count, connection, at: now)
    if connections.isSuperfluous(connection, at: now) {
      connections.all[connection].phase = .leaving
      taken.retires = "idle"
    }
    taken.actions = dispatch(at: now)
    return taken
  }

  /// Records the load of a connection whose thread is awake and will ask for pushes.
  ///
  /// To be called before the reports of answered pushes are delivered: what follows them would
  /// otherwise count on streams that are still in use, and open another connection.
  mutating func willAsk(_ id: Int, load: PooledConnection.Load, at now: MonotonicTime) {
    connections.willAsk(id, load: load, at: now)
  }

  /// Ends pushes whose deadline has passed and opens connections that are due; to be called at
  /// `superviseAt`.
  mutating func supervise(at now: MonotonicTime) -> (rejected: [Rejected], actions: Actions) {
    (expire(at: now), dispatch(at: now))
  }

  private mutating func expire(at now: MonotonicTime) -> [Rejected] {
    let cause = blocked?.cause ?? connections.queueingCause
    return queue.expire(at: now).map { queued in
      let left = queued.sendDeadline - now
      return (queued.push, left > .zero && cause.mayPass ? .outdated(left: left) : cause)
    }
  }

  // MARK: The end

  /// Ends the pool's service because its credential was replaced.
  ///
  /// Connections finish their streams and take no more. Returns the queued pushes, which another
  /// pool must send, and the connections to wake.
  mutating func retire() -> (moved: [QueuedRequest<Push>], actions: Actions) {
    guard service == .open else { return ([], Actions()) }
    service = .retired
    return (queue.popFirst(queue.count), Actions(wake: connections.all.map(\.id)))
  }

  /// Closes the pool and returns the queued pushes, which end unsent.
  mutating func close() -> [Push] {
    service = .closed
    return queue.popFirst(queue.count).map(\.push)
  }

  // MARK: Connections come and go

  /// Records that a connection is open; its thread will ask for pushes.
  mutating func connected(_ id: Int, at now: MonotonicTime) {
    connections.connected(id, at: now)
  }

  /// Handles a connection that finishes its streams and takes no more, for a reason given by the
  /// server.
  mutating func leaving(
    _ id: Int, problem: String, refusesCertificate: Bool = false, at now: MonotonicTime
  ) -> Actions {
    let cause = Self.cause(problem, refusesCertificate)
    guard connections.leave(id, problem: cause, at: now) else { return Actions() }
    return dispatch(at: now)
  }

  /// Removes a connection that has ended or could not be opened; `problem` gives the reason.
  ///
  /// Returns how long no other connection is opened.
  mutating func ended(
    _ id: Int, problem: String?, refusesCertificate: Bool = false, at now: MonotonicTime
  ) -> (wait: Duration?, Actions) {
    let cause = problem.map { Self.cause($0, refusesCertificate) }
    guard connections.remove(id, problem: cause, at: now) else { return (nil, Actions()) }
    return (connections.notBefore.map { $0 - now }, dispatch(at: now))
  }

  private static func cause(_ problem: String, _ refusesCertificate: Bool) -> UnsentCause {
    refusesCertificate ? .certificateRefused(problem) : .noConnection(problem)
  }

  /// Opens a connection without a push, unless there is one.
  ///
  /// It does not wait for the back-off: the caller spaces its attempts.
  mutating func connect(at now: MonotonicTime) -> Actions {
    guard service == .open, blocked == nil, connections.lacksAny else { return Actions() }
    return Actions(open: connections.open(at: now))
  }

  /// Records whether something blocks the pool: then no connection is opened, and those that are
  /// open wait.
  mutating func block(_ block: Block?, at now: MonotonicTime) -> Actions {
    blocked = block
    var actions = dispatch(at: now)
    // Those that lack a token report no free stream, so nothing else wakes them.
    actions.wake = connections.ready
    return actions
  }

  /// Whether the server can be reached; nil if nothing has been tried.
  var reachability: Reachability? {
    if blocked?.isUnreachable == true { return .unreachable }
    return connections.reachability
  }

  // MARK: What to do now

  /// Wakes connections that can take queued pushes, and opens another if they are not enough.
  private mutating func dispatch(at now: MonotonicTime) -> Actions {
    var actions = Actions()
    guard service == .open, !queue.isEmpty else { return actions }
    actions.superviseAt = queue.nextDeadline
    if blocked != nil { return actions }
    var uncovered = queue.count
    actions.wake = connections.signal(for: &uncovered)
    if connections.wantsAnother(for: uncovered) {
      if let opensAt = connections.mayNotOpenBefore(at: now) {
        actions.superviseAt = min(opensAt, actions.superviseAt ?? .never)
      } else {
        actions.open = connections.open(at: now)
      }
    }
    return actions
  }

  func statistics() -> TransportStatistics {
    connections.statistics(queued: queue.count)
  }
}

extension UnsentCause {
  /// Whether a push may still be sent within its deadline: a credential that is refused stays so
  /// until it is replaced.
  fileprivate var mayPass: Bool {
    switch self {
    case .turnedAway, .certificateRefused: false
    default: true
    }
  }
}
