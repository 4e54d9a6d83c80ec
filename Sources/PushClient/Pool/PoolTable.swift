import Base
import RideCore
import Synchronization

/// What tells the pools of a client apart.
struct PoolName: Hashable {
  var network: PushNetwork

  /// True if the network's broadcasts use another endpoint than its pushes.
  var isForBroadcasts = false
  var credential: Credential
}

/// The pools of a client: one for each endpoint and credential.
///
/// A pool is created for its first push, and retired when its credential is replaced.
final class PoolTable: Sendable {
  typealias Rejected = PoolStateMachine<QueuedPush>.Rejected

  private struct State {
    var pools: [PoolName: Pool] = [:]

    /// Pools whose connections finish their last streams.
    var retired: [Pool] = []
    var isClosed = false
  }

  private let configuration: APNsConfiguration
  private let credentials: CredentialStore
  private let supervisor: Supervisor
  private let now: @Sendable () -> Timestamp
  private let events: @Sendable (TransportEvent) -> Void
  private let state = Mutex(State())

  init(
    configuration: APNsConfiguration, credentials: CredentialStore, supervisor: Supervisor,
    now: @escaping @Sendable () -> Timestamp, events: @escaping @Sendable (TransportEvent) -> Void
  ) {
    self.configuration = configuration
    self.credentials = credentials
    self.supervisor = supervisor
    self.now = now
    self.events = events
  }

  // MARK: Pushes

  /// Passes pushes to their pools; returns those that none accepts.
  func submit(_ pushes: [QueuedPush]) -> [Rejected] {
    state.withLock { state in
      route(pushes, { $0 }, &state) { pool, pushes in pool.submit(pushes) }
    }
  }

  /// Passes pushes of a retired pool to the pools of the present credentials.
  private func move(_ pushes: [QueuedRequest<QueuedPush>]) {
    let rejected = state.withLock { state in move(pushes, &state) }
    supervisor.reject(rejected)
  }

  private func move(_ pushes: [QueuedRequest<QueuedPush>], _ state: inout State) -> [Rejected] {
    route(pushes, \.push, &state) { pool, pushes in pool.adopt(pushes) }
      .map { ($0.push.push, $0.cause) }
  }

  /// Groups pushes by their pools and passes each group on; returns those that no pool accepts.
  private func route<Push>(
    _ pushes: [Push], _ queued: (Push) -> QueuedPush, _ state: inout State,
    _ accept: (Pool, [Push]) -> Bool
  ) -> [(push: Push, cause: UnsentCause)] {
    // A batch has few routes, so the search is short.
    var groups: [(route: Route, pushes: [Push])] = []
    for push in pushes {
      let route = Route(queued(push), configuration)
      if let last = groups.indices.last, groups[last].route == route {
        groups[last].pushes.append(push)
      } else if let known = groups.firstIndex(where: { $0.route == route }) {
        groups[known].pushes.append(push)
      } else {
        groups.append((route, [push]))
      }
    }
    let credentials = credentials.current
    var rejected: [(push: Push, cause: UnsentCause)] = []
    for (route, pushes) in groups {
      guard let name = route.pool(credentials) else {
        rejected += pushes.map { ($0, route.problem) }
        continue
      }
      if !state.isClosed, accept(pool(name, &state), pushes) { continue }
      rejected += pushes.map { ($0, .closed) }
    }
    return rejected
  }

  private func pool(_ name: PoolName, _ state: inout State) -> Pool {
    if let known = state.pools[name] { return known }
    let pool = Pool(
      name, configuration: configuration,
      authentication: credentials.authentication(with: name.credential), supervisor: supervisor,
      now: now, events: events, move: { [weak self] in self?.move($0) })
    state.pools[name] = pool
    return pool
  }

  // MARK: Credentials

  /// Replaces the credentials; returns the pushes that no pool accepts.
  ///
  /// Pools whose credential is still used keep their connections. The others finish the streams that
  /// they have, and what they had queued leaves by the new pools.
  func use(_ new: Credentials) -> [Rejected] {
    state.withLock { state in
      credentials.use(new)
      var moved: [QueuedRequest<QueuedPush>] = []
      for (name, pool) in state.pools
      where !new.all(of: name.network).contains(name.credential) {
        state.pools[name] = nil
        state.retired.append(pool)
        moved += pool.retire()
      }
      return move(moved, &state)
    }
  }

  // MARK: Supervision, by the supervisor's thread

  /// Ends pushes that waited too long and opens connections that are due.
  func supervise() {
    for pool in all { pool.supervise() }
  }

  /// Joins the threads that have ended and forgets retired pools; returns true if no thread is left.
  func reap() -> Bool {
    // Every pool must be reaped, because each may have threads to join.
    let isIdle = all.map { $0.reap() }.allSatisfy { $0 }
    // A retired pool opens no more connections, so an empty one stays empty.
    state.withLock { $0.retired.removeAll { $0.isEmpty } }
    return isIdle
  }

  func close(at limit: MonotonicTime) {
    let pools = state.withLock { state in
      state.isClosed = true
      return Array(state.pools.values) + state.retired
    }
    for pool in pools { pool.close(at: limit) }
  }

  private var all: [Pool] { state.withLock { Array($0.pools.values) + $0.retired } }

  // MARK: Reachability

  /// Opens a connection in each pool of a network that has none; creates the first pool.
  func connect(to network: PushNetwork) {
    state.withLock { state in
      if state.isClosed { return }
      var pools = state.pools.filter { $0.key.network == network }.map(\.value)
      let credentials = credentials.current.all(of: network)
      if pools.isEmpty, let first = credentials.min(by: { $0.name < $1.name }) {
        pools = [pool(PoolName(network: network, credential: first), &state)]
      }
      for pool in pools { pool.connect() }
    }
  }

  func reachability() -> [PushNetwork: Reachability] {
    var result: [PushNetwork: Reachability] = [:]
    for (name, pool) in state.withLock({ $0.pools }) where !name.isForBroadcasts {
      guard let found = pool.reachability else { continue }
      if found == .connected || result[name.network] == nil { result[name.network] = found }
    }
    return result
  }

  // MARK: Statistics

  /// Returns the statistics of all pools, except those used only for broadcasts, in a stable order.
  ///
  /// Credentials that no push has used yet are included.
  func statistics() -> [PoolStatistics] {
    var sums: [SeriesName: PoolStatistics] = [:]
    let credentials = credentials.current
    for network in PushNetwork.allCases {
      for credential in credentials.all(of: network) {
        let name = SeriesName(network, credential)
        sums[name] = PoolStatistics(
          network: network, credential: name.credential, connections: .none)
      }
    }
    let wall = now()
    for pool in all where !pool.name.isForBroadcasts {
      let connections = pool.statistics()
      let name = SeriesName(pool.name.network, pool.name.credential)
      let known = sums[name]?.connections ?? .none
      sums[name] = PoolStatistics(
        network: name.network, credential: name.credential,
        connections: known + connections,
        tokenAge: connections.openConnections == 0
          ? sums[name]?.tokenAge : pool.authentication.mint?.age(at: wall))
    }
    return sums.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Two credentials may have one name, such as a certificate and its successor.
  private struct SeriesName: Hashable, Comparable {
    var network: PushNetwork
    var credential: String

    init(_ network: PushNetwork, _ credential: Credential) {
      self.network = network
      self.credential = credential.name
    }

    static func < (left: Self, right: Self) -> Bool {
      (left.network.rawValue, left.credential) < (right.network.rawValue, right.credential)
    }
  }
}

/// What decides which pool sends a push.
private struct Route: Hashable {
  var lane: String
  var network: PushNetwork
  var type: PushType
  var isForBroadcasts = false

  // Reads single fields: a copy of the request would count references of all of them.
  init(_ push: QueuedPush, _ configuration: APNsConfiguration) {
    lane = push.lane
    network = push.submission.requests[push.index].network
    type = push.submission.requests[push.index].headers.pushType
    if case .channel = push.submission.requests[push.index].address {
      isForBroadcasts =
        configuration.broadcast(of: network) != configuration.endpoint(of: network)
    }
  }

  /// Nil if the credentials have nothing for the lane.
  func pool(_ credentials: Credentials) -> PoolName? {
    let choice = credentials[Credentials.Lane(App(rawValue: lane), network)]
    return choice.credential(for: type).map {
      PoolName(network: network, isForBroadcasts: isForBroadcasts, credential: $0)
    }
  }

  /// Why no pool sends its pushes.
  var problem: UnsentCause {
    if network == .android {
      return .noCredential(LedgerReason.noServiceAccount(of: App(rawValue: lane)).text)
    }
    let reason =
      type.needsProviderToken
      ? "\(type.rawValue) pushes need a signing key, and \(lane) has none"
      : "\(lane) has neither a signing key nor a client certificate"
    let name = "APNS_\(App(rawValue: lane).variableName)_PRIVATE_KEY_PATH"
    return .noCredential(
      "\(reason) for \(network.rawValue): set \(name) or APNS_PRIVATE_KEY_PATH")
  }
}
