import RideCore

/// What one connection may do, what it must do next, and what becomes of its streams.
///
/// A value without clock or network; `now` is always the caller's.
struct ConnectionStateMachine<Push> {
  struct Settings {
    var maxStreams = 1000
    var pingAfter: Duration = .seconds(30)
    var pingTimeout: Duration = .seconds(10)
    var maxAge: Duration = .seconds(24 * 3600)
    var timeoutsInARow = 3

    /// An answer that was awaited for less than this says nothing of the connection: its push had
    /// waited elsewhere.
    var fairWait: Duration = .seconds(3)

    /// A ping's answer that takes longer than this makes the connection suspect: no push is given
    /// to what may be dead.
    var suspectAfter: Duration = .seconds(1)
  }

  enum Phase: Hashable {
    /// One stream at a time until APNs has answered one with a valid token (Apple asks for it).
    /// Then: open, or draining.
    case firstStream

    /// As many streams as the server allows. Then: draining.
    case open

    /// No new stream; ends when the last one did.
    case draining(String)
  }

  let settings: Settings
  private(set) var phase = Phase.firstStream
  var streams = StreamTable<Push>()
  private(set) var peerLimit: Int

  /// The last stream that a GOAWAY names as processed, and its reason.
  private(set) var goAway: (lastStream: Int32, reason: String?)?

  private let connectedAt: MonotonicTime
  private var lastReceived: MonotonicTime
  private var pingSentAt: MonotonicTime?
  private var timeouts = 0
  private(set) var isProved = false

  init(settings: Settings, at now: MonotonicTime) {
    self.settings = settings
    connectedAt = now
    lastReceived = now
    peerLimit = settings.maxStreams
  }

  // MARK: What may be done

  func isSuspect(at now: MonotonicTime) -> Bool {
    guard let pingSentAt else { return false }
    return now - pingSentAt >= settings.suspectAfter
  }

  /// How many more streams may be opened now.
  func capacity(at now: MonotonicTime) -> Int {
    switch phase {
    case .firstStream: max(0, min(1, limit) - streams.count)
    case .open: isSuspect(at: now) ? 0 : max(0, limit - streams.count)
    case .draining: 0
    }
  }

  /// What the pool hears of this connection.
  func load(at now: MonotonicTime) -> PooledConnection.Load {
    PooledConnection.Load(
      spare: capacity(at: now), inFlight: streams.count, limit: isProved ? limit : 1,
      isProved: isProved, isSuspect: isSuspect(at: now))
  }

  private var limit: Int { min(peerLimit, settings.maxStreams) }

  /// Nothing is left to wait for.
  var isFinished: Bool {
    if case .draining = phase { return streams.count == 0 }
    return false
  }

  // MARK: What comes from the server

  /// Any bytes are a sign of life.
  mutating func received(at now: MonotonicTime) {
    lastReceived = now
    pingSentAt = nil
  }

  /// `SETTINGS_MAX_CONCURRENT_STREAMS`, which rises and falls.
  mutating func limited(to streams: Int) { peerLimit = streams }

  mutating func wentAway(lastStream: Int32, reason: String?) {
    goAway = (lastStream, reason)
    drain("GOAWAY" + (reason.map { " (\($0))" } ?? ""))
  }

  mutating func drain(_ why: String) {
    if case .draining = phase { return }
    phase = .draining(why)
  }

  /// An answer came; true where it says that the connection's provider token has expired.
  mutating func answered(_ outcome: PushOutcome) -> Bool {
    timeouts = 0
    guard case .refused(let refusal) = outcome else {
      prove()
      return false
    }
    // 403 says that the token is not valid, and 5xx says nothing about it.
    if refusal.status != 403, refusal.status < 500 { prove() }
    if let reason = refusal.reason, refusal.rule.connection == .replaced { drain(reason) }
    return refusal.rule.providerToken == .renewed
  }

  private mutating func prove() {
    isProved = true
    if phase == .firstStream { phase = .open }
  }

  // MARK: What comes with time

  /// What a moment asks for.
  struct Due {
    /// Streams that have had no answer in time.
    var timedOut: [Int] = []
    var sendsPing = false

    /// The connection is dead; the text says why.
    var lost: String?
  }

  mutating func due(at now: MonotonicTime) -> Due {
    var due = Due()
    if let pingSentAt {
      if now - pingSentAt >= settings.pingTimeout {
        due.lost = "no answer to a ping within \(settings.pingTimeout)"
        return due
      }
    } else if now - lastReceived >= settings.pingAfter {
      pingSentAt = now
      due.sendsPing = true
    }
    if now - connectedAt >= settings.maxAge { drain("age") }
    return due
  }

  /// Takes out the next stream whose time has passed.
  mutating func nextTimeout(at now: MonotonicTime, sent: Int) -> (id: Int32, ending: Ending)? {
    guard let due = streams.firstDue, due.deadline <= now, let stream = streams[due.slot] else {
      return nil
    }
    guard let ended = streams.remove(due.slot, id: stream.id) else { return nil }
    if ended.waiting.deadline - ended.openedAt >= settings.fairWait { timeouts += 1 }
    // Before the first answer one timeout is enough: other pushes wait behind it.
    let limit = isProved ? settings.timeoutsInARow : 1
    if timeouts >= limit { drain("no answer in time, \(timeouts) in a row") }
    return (ended.id, ending(of: ended, unanswered: .timeout, unsent: .queuedTooLong, sent: sent))
  }

  /// When `due` and `nextTimeout` must be called at the latest.
  func wakeAt() -> MonotonicTime {
    var next = connectedAt + settings.maxAge
    if case .draining = phase { next = .never }
    if let first = streams.firstDue { next = min(next, first.deadline) }
    guard let pingSentAt else { return min(next, lastReceived + settings.pingAfter) }
    return min(next, pingSentAt + settings.pingTimeout)
  }
}
