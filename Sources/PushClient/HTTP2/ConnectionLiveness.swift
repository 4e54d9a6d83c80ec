/// When a connection is pinged, when it counts as dead, and when it is closed as idle.
///
/// A value without clock or network.
struct ConnectionLiveness {
  private let settings: ConnectionSettings
  private(set) var lastReceived: MonotonicTime
  private var pingSentAt: MonotonicTime?
  private var hasPingedSinceAnswer = false

  /// When the connection last had a stream.
  private var busyAt: MonotonicTime

  init(settings: ConnectionSettings, at now: MonotonicTime) {
    self.settings = settings
    lastReceived = now
    busyAt = now
  }

  /// Records that bytes arrived; any bytes prove that the connection is alive.
  mutating func received(hasStreams: Bool, at now: MonotonicTime) {
    lastReceived = now
    pingSentAt = nil
    if hasStreams { busyAt = now }
  }

  mutating func answered() { hasPingedSinceAnswer = false }

  mutating func timedOut(at now: MonotonicTime) { busyAt = now }

  func isSuspect(at now: MonotonicTime) -> Bool {
    guard let pingSentAt else { return false }
    return now - pingSentAt >= settings.suspectAfter
  }

  func isLost(at now: MonotonicTime) -> Bool {
    guard let pingSentAt else { return false }
    return now - pingSentAt >= settings.pingTimeout
  }

  /// Returns whether a ping is to be sent now.
  ///
  /// - Parameter waitsSince: When the first of the open streams was opened; nil if there is none.
  mutating func pings(waitsSince: MonotonicTime?, at now: MonotonicTime) -> Bool {
    guard pingSentAt == nil, now >= pingAt(waitsSince) else { return false }
    pingSentAt = now
    hasPingedSinceAnswer = true
    return true
  }

  /// Returns whether the connection is to be closed, because it has been idle for long.
  func isIdle(waitsSince: MonotonicTime?, at now: MonotonicTime) -> Bool {
    now >= idleAt(waitsSince)
  }

  /// Returns the latest time at which the others must be asked again.
  func wakeAt(waitsSince: MonotonicTime?) -> MonotonicTime {
    min(idleAt(waitsSince), pingSentAt.map { $0 + settings.pingTimeout } ?? pingAt(waitsSince))
  }

  private func pingAt(_ waitsSince: MonotonicTime?) -> MonotonicTime {
    if settings.pingsIdle { return lastReceived + settings.pingAfter }
    guard let waitsSince, !hasPingedSinceAnswer else { return .never }
    return max(lastReceived, waitsSince) + settings.pingAfter
  }

  private func idleAt(_ waitsSince: MonotonicTime?) -> MonotonicTime {
    guard let limit = settings.idleTimeout, waitsSince == nil else { return .never }
    return busyAt + limit
  }
}
