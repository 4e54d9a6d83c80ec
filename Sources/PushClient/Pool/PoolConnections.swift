import RideCore

/// The connections of one pool, and when another one is worth opening.
///
/// A value without clock, threads or network.
struct PoolConnections {
  private let settings: PoolSettings
  var all: [PooledConnection] = []
  private var backoff: ConnectBackoff

  /// The earliest time of the next connect.
  private(set) var notBefore: MonotonicTime?

  /// The problem of the last failed connection.
  private var lastProblem: UnsentCause?
  private var openedTotal = 0
  private var nextID = 1

  /// Whether the last attempt to connect failed.
  private var isUnreachable = false

  init(settings: PoolSettings, backoff: ConnectBackoff) {
    self.settings = settings
    self.backoff = backoff
  }

  // MARK: They come and go

  mutating func open(at now: MonotonicTime) -> Int {
    let id = nextID
    nextID += 1
    all.append(PooledConnection(id: id, since: now, busyAt: now))
    notBefore = nil
    return id
  }

  /// Records that a connection is open; its thread will ask for pushes.
  mutating func connected(_ id: Int, at now: MonotonicTime) {
    guard let index = index(of: id) else { return }
    openedTotal += 1
    isUnreachable = false
    all[index].phase = .ready
    all[index].since = now
    all[index].busyAt = now
    // Its thread asks for pushes at once, for one stream.
    all[index].isSignalled = true
    all[index].load.freeStreams = 1
  }

  /// Records that a connection takes no more pushes, for a reason given by the server; returns false
  /// if it took none before.
  mutating func leave(_ id: Int, problem: UnsentCause, at now: MonotonicTime) -> Bool {
    guard let index = readyIndex(of: id) else { return false }
    countLoss(of: all[index], problem: problem, at: now)
    all[index].phase = .leaving
    return true
  }

  /// Removes a connection that has ended or could not be opened; returns false if it is unknown.
  mutating func remove(_ id: Int, problem: UnsentCause?, at now: MonotonicTime) -> Bool {
    guard let index = index(of: id) else { return false }
    let old = all.remove(at: index)
    if old.phase == .connecting, case .noConnection? = problem { isUnreachable = true }
    if let problem, old.phase != .leaving { countLoss(of: old, problem: problem, at: now) }
    return true
  }

  /// Counts a connection that did not live long as a failure, whichever side ended it.
  ///
  /// Otherwise a server or proxy that drops each connection after its first push would cause a new
  /// connection for each push.
  private mutating func countLoss(
    of connection: PooledConnection, problem: UnsentCause, at now: MonotonicTime
  ) {
    lastProblem = problem
    let lived = connection.phase != .connecting && connection.load.isProved
    if lived, now - connection.since >= settings.minimumLifetime {
      backoff.succeeded()
    } else {
      notBefore = now + backoff.failed()
    }
  }

  // MARK: Load

  /// Records the load of a connection; returns its index, or nil if it takes no pushes.
  mutating func report(_ load: PooledConnection.Load, of id: Int, at now: MonotonicTime) -> Int? {
    guard let index = readyIndex(of: id) else { return nil }
    if load.isProved, now - all[index].since >= settings.minimumLifetime { backoff.succeeded() }
    all[index].load = load
    if load.isProved { lastProblem = nil }
    return index
  }

  /// Records the load of a connection whose thread will ask for pushes without being woken.
  mutating func willAsk(_ id: Int, load: PooledConnection.Load, at now: MonotonicTime) {
    if let index = report(load, of: id, at: now) { all[index].isSignalled = true }
  }

  /// Records that a connection took pushes.
  mutating func took(_ count: Int, _ index: Int, at now: MonotonicTime) {
    all[index].load.freeStreams -= count
    all[index].load.inFlight += count
    all[index].isSignalled = count > 0
    if all[index].load.inFlight > 0 { all[index].busyAt = now }
  }

  /// Marks connections that must wake for queued pushes, and returns their IDs.
  ///
  /// - Parameter uncovered: The number of queued pushes; afterwards, of those that none of them can
  ///   take.
  mutating func signal(for uncovered: inout Int) -> [Int] {
    for connection in all where connection.isSignalled && isUsable(connection) {
      uncovered -= connection.load.freeStreams
    }
    var wake: [Int] = []
    for index in all.indices where uncovered > 0 && !all[index].isSignalled {
      guard isUsable(all[index]), all[index].load.freeStreams > 0 else { continue }
      all[index].isSignalled = true
      uncovered -= all[index].load.freeStreams
      wake.append(all[index].id)
    }
    return wake
  }

  /// The connections that accept pushes.
  var ready: [Int] { all.filter { $0.phase == .ready }.map(\.id) }

  // MARK: Another one

  /// Returns whether another connection is worth opening.
  ///
  /// It is if none is usable, or if all are full and more pushes wait than one of them carries at a
  /// time.
  func wantsAnother(for uncovered: Int) -> Bool {
    let live = all.filter { $0.phase != .leaving }
    guard live.count < max(1, settings.maxConnections) else { return false }
    // Leaving connections count too, so that the total stays bounded while a server sends GOAWAY.
    guard all.count < 2 * max(1, settings.maxConnections) else { return false }
    let usable = live.filter { isUsable($0) }
    if usable.isEmpty { return !live.contains { $0.phase == .connecting } }
    if usable.allSatisfy({ !$0.load.isProved }) { return uncovered > 0 }
    return uncovered >= max(settings.growAt, usable.map(\.load.limit).max() ?? 1)
  }

  /// Whether no connection is open or being opened.
  var lacksAny: Bool {
    !all.contains { isUsable($0) || $0.phase == .connecting }
  }

  var reachability: Reachability? {
    if all.contains(where: { isUsable($0) }) { return .connected }
    return isUnreachable ? .unreachable : nil
  }

  /// Returns until when no connection may be opened.
  ///
  /// Connections are opened one at a time, each one proved before the next or given
  /// `firstResponseTimeout` to be, and none before the back-off ends.
  func mayNotOpenBefore(at now: MonotonicTime) -> MonotonicTime? {
    var latest = notBefore
    for connection in all {
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
  func isSuperfluous(_ index: Int, at now: MonotonicTime) -> Bool {
    let connection = all[index]
    guard connection.load.inFlight == 0, now - connection.busyAt >= settings.idleTimeout else {
      return false
    }
    return all.contains { $0.id != connection.id && isUsable($0) && $0.load.isProved }
  }

  /// Why queued pushes were not sent in time.
  var queueingCause: UnsentCause {
    let isAnyOpen = all.contains { $0.phase != .connecting && !$0.load.isSuspect }
    if isAnyOpen { return .queuedTooLong }
    return lastProblem ?? .noConnection("the connection was not open in time")
  }

  func statistics(queued: Int) -> TransportStatistics {
    let open = all.filter { $0.phase == .ready }
    return TransportStatistics(
      openConnections: open.count, inFlight: all.reduce(0) { $0 + $1.load.inFlight },
      queued: queued, streamLimits: open.map(\.load.limit), openedTotal: openedTotal)
  }

  private func isUsable(_ connection: PooledConnection) -> Bool {
    connection.phase == .ready && !connection.load.isSuspect
  }

  private func index(of id: Int) -> Int? { all.firstIndex { $0.id == id } }

  private func readyIndex(of id: Int) -> Int? {
    index(of: id).flatMap { all[$0].phase == .ready ? $0 : nil }
  }
}
