import Base
import RideCore
import Synchronization
import SystemSupport

/// The connections to one endpoint with one credential: a state machine behind a lock, and its
/// threads.
final class Pool: Sendable {
  typealias Machine = PoolStateMachine<QueuedPush>

  /// What other threads need of a connection: enough to wake and to stop it.
  private struct Handle {
    let wake: EventFD
    let verifier: TLSVerifier
    let thread: WorkerThread
  }

  private struct Guarded {
    var machine: Machine
    var handles: [Int: Handle] = [:]
    var finished: [WorkerThread] = []
    var closeAt: MonotonicTime?
  }

  let name: PoolName
  let endpoint: APNsEndpoint
  let configuration: APNsConfiguration
  let authentication: Authentication
  let now: @Sendable () -> Timestamp
  private let supervisor: Supervisor
  private let events: @Sendable (TransportEvent) -> Void
  private let move: @Sendable ([QueuedRequest<QueuedPush>]) -> Void
  private let state: Mutex<Guarded>

  /// - Parameter move: Sends pushes by another pool after this one was retired; called without a
  ///   lock.
  init(
    _ name: PoolName, configuration: APNsConfiguration, authentication: Authentication,
    supervisor: Supervisor, now: @escaping @Sendable () -> Timestamp,
    events: @escaping @Sendable (TransportEvent) -> Void,
    move: @escaping @Sendable ([QueuedRequest<QueuedPush>]) -> Void
  ) {
    self.name = name
    endpoint =
      name.isForBroadcasts
      ? configuration.broadcast(of: name.network) : configuration.endpoint(of: name.network)
    self.configuration = configuration
    self.authentication = authentication
    self.supervisor = supervisor
    self.now = now
    self.events = events
    self.move = move
    let backoff = ConnectBackoff(
      base: configuration.backoffBase, cap: configuration.backoffCap, seed: .random(in: 0 ... .max))
    state = Mutex(Guarded(machine: Machine(settings: .init(configuration), backoff: backoff)))
    guard case .accessToken(let mint) = authentication else { return }
    mint?.whenChanged { [weak self] in self?.tokenChanged() }
    tokenChanged()
  }

  /// The path of all pushes; nil if each has its own.
  var path: String? {
    guard case .serviceAccount(let account) = name.credential else { return nil }
    return "/v1/projects/\(account.project)/messages:send"
  }

  func notify(_ id: Int, _ kind: TransportEvent.Kind) {
    events(
      TransportEvent(
        network: name.network, credential: name.credential.name, connection: id, kind: kind)
    )
  }

  // MARK: Pushes

  /// Accepts pushes; returns false if the pool is closed.
  func submit(_ pushes: [QueuedPush]) -> Bool {
    let wall = now()
    return state.withLock { state in
      guard let actions = state.machine.enqueue(pushes, at: .now(), wall: wall) else {
        return false
      }
      perform(actions, &state)
      return true
    }
  }

  /// Accepts pushes of a retired pool; returns false if this one is closed.
  func adopt(_ pushes: [QueuedRequest<QueuedPush>]) -> Bool {
    state.withLock { state in
      guard let actions = state.machine.adopt(pushes, at: .now()) else { return false }
      perform(actions, &state)
      return true
    }
  }

  /// Returns the pushes for a connection, called by its thread.
  func take(by id: Int, load: PooledConnection.Load, at now: MonotonicTime)
    -> (pushes: [QueuedRequest<QueuedPush>], retires: String?, closeAt: MonotonicTime?)
  {
    let (taken, closeAt) = state.withLock { state in
      let taken = state.machine.take(by: id, load: load, at: now)
      perform(taken.actions, &state)
      return (taken, state.closeAt)
    }
    supervisor.reject(taken.rejected)
    return (taken.pushes, taken.retires, closeAt)
  }

  /// Records a connection's load before its reports are delivered, called by its thread.
  func willAsk(_ id: Int, load: PooledConnection.Load, at now: MonotonicTime) {
    state.withLock { $0.machine.willAsk(id, load: load, at: now) }
  }

  /// Takes back pushes that APNs did not process; returns those that are not sent again.
  func requeue(_ returned: [(queued: QueuedRequest<QueuedPush>, cause: UnsentCause)])
    -> [Machine.Rejected]
  {
    let result = state.withLock { state in
      let result = state.machine.requeue(returned, at: .now())
      perform(result.actions, &state)
      return result
    }
    if !result.moved.isEmpty { move(result.moved) }
    return result.rejected
  }

  func leaving(_ id: Int, problem: String, refusesCertificate: Bool) {
    state.withLock { state in
      let actions = state.machine.leaving(
        id, problem: problem, refusesCertificate: refusesCertificate, at: .now())
      perform(actions, &state)
    }
  }

  /// Opens a connection without a push, unless there is one.
  func connect() {
    state.withLock { state in perform(state.machine.connect(at: .now()), &state) }
  }

  /// Whether APNs can be reached; nil if nothing has been tried.
  var reachability: Reachability? { state.withLock { $0.machine.reachability } }

  // MARK: Access tokens

  /// Wakes the connections that wait for another access token, and opens one if pushes do.
  private func tokenChanged() {
    // Read under the lock: another thread must not put an older one in its place.
    state.withLock { state in perform(state.machine.block(block, at: .now()), &state) }
  }

  /// What blocks the pool for want of an access token; nil if there is one, or none is needed.
  private var block: Machine.Block? {
    guard case .accessToken(let mint) = authentication, mint?.token() == nil else { return nil }
    guard let problem = mint?.problem else {
      return .init(cause: .noConnection("no access token: Google has not answered yet"))
    }
    if problem.isOfConfiguration {
      var refusal = Refusal(status: problem.status ?? 400, reason: Refusal.tokenEndpoint)
      refusal.detail = problem.text
      return .init(cause: .turnedAway(refusal))
    }
    return .init(cause: .noConnection("no access token: \(problem.text)"), isUnreachable: true)
  }

  // MARK: Supervision

  /// Ends pushes that waited too long and opens connections that are due.
  func supervise() {
    let rejected = state.withLock { state in
      let block = block
      if state.machine.blocked != block {
        perform(state.machine.block(block, at: .now()), &state)
      }
      let (rejected, actions) = state.machine.supervise(at: .now())
      perform(actions, &state)
      return rejected
    }
    supervisor.reject(rejected)
  }

  /// Joins the threads that have ended; returns true if none is left.
  func reap() -> Bool {
    let (finished, isEmpty) = state.withLock { state in
      let finished = state.finished
      state.finished = []
      return (finished, state.handles.isEmpty)
    }
    for thread in finished { thread.join() }
    return isEmpty
  }

  /// True if it has no connection and no thread.
  var isEmpty: Bool { state.withLock { $0.handles.isEmpty && $0.finished.isEmpty } }

  /// Lets the connections finish their streams; returns the queued pushes for another pool.
  func retire() -> [QueuedRequest<QueuedPush>] {
    state.withLock { state in
      let (moved, actions) = state.machine.retire()
      perform(actions, &state)
      return moved
    }
  }

  func close(at limit: MonotonicTime) {
    let queued = state.withLock { state in
      state.closeAt = min(limit, state.closeAt ?? .never)
      for handle in state.handles.values {
        handle.verifier.cancel()
        handle.wake.signal()
      }
      return state.machine.close()
    }
    supervisor.reject(queued.map { ($0, .closed) })
  }

  func statistics() -> TransportStatistics {
    state.withLock { $0.machine.statistics() }
  }

  // MARK: Threads

  private func perform(_ actions: Machine.Actions, _ state: inout Guarded) {
    for id in actions.wake { state.handles[id]?.wake.signal() }
    if let id = actions.open { open(id, &state) }
    if let time = actions.superviseAt { supervisor.wake(by: time) }
  }

  // The thread is created under the lock, so that its handle is stored before it can end.
  private func open(_ id: Int, _ state: inout Guarded) {
    let verifier = TLSVerifier(
      caFile: authentication.provider == .fcm ? configuration.fcmCAFile : configuration.caFile,
      certificate: authentication.certificate)
    guard let wake = EventFD(),
      let thread = WorkerThread({ self.serve(id, wake, verifier) })
    else {
      let (_, actions) = state.machine.ended(
        id, problem: "the system gives no more threads or file descriptors", at: .now())
      if let time = actions.superviseAt { supervisor.wake(by: time) }
      return
    }
    state.handles[id] = Handle(wake: wake, verifier: verifier, thread: thread)
  }

  private func serve(_ id: Int, _ wake: EventFD, _ verifier: TLSVerifier) {
    var isOpen = false
    let why: CurlError
    do {
      let connection = try PushConnection(pool: self, id: id, wake: wake, verifier: verifier)
      isOpen = true
      state.withLock { $0.machine.connected(id, at: .now()) }
      notify(id, .connected)
      why = connection.run()
    } catch {
      why = error
    }
    let wait = ended(id, why)
    notify(id, isOpen ? .closed(why.text) : .connectFailed(why.text, wait: wait ?? .zero))
    finish(id)
  }

  private func ended(_ id: Int, _ why: CurlError) -> Duration? {
    state.withLock { state in
      let (wait, actions) = state.machine.ended(
        id, problem: why.text, refusesCertificate: why.refusesCertificate, at: .now())
      perform(actions, &state)
      return wait
    }
  }

  private func finish(_ id: Int) {
    state.withLock { state in
      if let handle = state.handles.removeValue(forKey: id) {
        state.finished.append(handle.thread)
      }
    }
    supervisor.signal()
  }
}

extension PoolSettings {
  init(_ configuration: APNsConfiguration) {
    requestTimeout = configuration.requestTimeout
    maxConnections = max(1, configuration.maxConnections)
    resendLimit = max(0, configuration.resendLimit)
    idleTimeout = configuration.idleTimeout
    firstResponseTimeout = configuration.connectTimeout
  }
}
