import Base
import RideCore

/// The state of one connection: what it may do, what it must do next, and how its streams end.
///
/// A value without clock or network; the caller always passes `now`.
struct ConnectionStateMachine<Push> {
  typealias Settings = ConnectionSettings

  enum Phase: Hashable {
    /// One stream at a time until APNs has answered one with a valid token, as Apple requires.
    ///
    /// Next: open or draining.
    case firstStream

    /// As many streams as the server allows.
    ///
    /// Next: draining.
    case open

    /// No new streams; ends after the last open stream. The text gives the reason.
    case draining(String)
  }

  private let settings: Settings
  private(set) var phase: Phase
  var streams = StreamTable<Push>()
  private(set) var peerLimit: Int

  /// The last stream that a GOAWAY marks as processed, and the reason in that frame.
  private var goAway: (lastStream: Int32, reason: String?)?

  private let connectedAt: MonotonicTime
  private var liveness: ConnectionLiveness

  /// Since when its streams present the present token.
  private var authorizedAt: MonotonicTime

  /// True while there is no token to present.
  private var lacksToken = false
  private var timeouts = 0
  private var isProved: Bool

  init(settings: Settings, at now: MonotonicTime) {
    self.settings = settings
    phase = settings.startsProved ? .open : .firstStream
    isProved = settings.startsProved
    connectedAt = now
    liveness = ConnectionLiveness(settings: settings, at: now)
    authorizedAt = now
    peerLimit = min(settings.streamsBeforeSettings ?? .max, settings.maxStreams)
  }

  // MARK: What may be done

  func isSuspect(at now: MonotonicTime) -> Bool { liveness.isSuspect(at: now) }

  /// Returns how many more streams may be opened now.
  func capacity(at now: MonotonicTime) -> Int {
    switch phase {
    case .firstStream: max(0, min(1, limit) - streams.count)
    case .open: lacksToken || isSuspect(at: now) ? 0 : max(0, limit - streams.count)
    case .draining: 0
    }
  }

  /// Returns the load that is reported to the pool.
  func load(at now: MonotonicTime) -> PooledConnection.Load {
    PooledConnection.Load(
      freeStreams: capacity(at: now), inFlight: streams.count, limit: isProved ? limit : 1,
      isProved: isProved, isSuspect: isSuspect(at: now))
  }

  private var limit: Int { min(peerLimit, settings.maxStreams) }

  /// True if the connection is draining and has no open stream.
  var isFinished: Bool {
    if case .draining = phase { return streams.count == 0 }
    return false
  }

  // MARK: What comes from the server

  /// Records that bytes arrived; any bytes prove that the connection is alive.
  mutating func received(at now: MonotonicTime) {
    liveness.received(hasStreams: streams.count > 0, at: now)
  }

  /// Records that the following streams present another token, or that there is none for now.
  mutating func authorized(by isThere: Bool, at now: MonotonicTime) {
    lacksToken = !isThere
    if isThere { authorizedAt = now }
  }

  /// Records `SETTINGS_MAX_CONCURRENT_STREAMS`, which may rise and fall.
  mutating func limited(to streams: Int) { peerLimit = streams }

  mutating func wentAway(lastStream: Int32, reason: String?) {
    goAway = (lastStream, reason)
    drain("GOAWAY" + (reason.map { " (\($0))" } ?? ""))
  }

  mutating func drain(_ why: String) {
    if case .draining = phase { return }
    phase = .draining(why)
  }

  /// Records an answer; returns true if it refuses the token that was presented.
  mutating func answered(_ outcome: PushOutcome) -> Bool {
    timeouts = 0
    liveness.answered()
    guard case .refused(let refusal) = outcome else {
      prove()
      return false
    }
    // A 403 means that the token is not valid; a 5xx proves nothing about it.
    if refusal.status != 403, refusal.status < 500 { prove() }
    if let reason = refusal.reason, refusal.rule.connection == .replaced { drain(reason) }
    return settings.provider.refusesToken(refusal)
  }

  private mutating func prove() {
    isProved = true
    if phase == .firstStream { phase = .open }
  }

  // MARK: Timers

  /// The actions due at a point in time.
  struct Due {
    var sendsPing = false

    /// If set, the connection is dead; the text gives the reason.
    var lost: String?
  }

  mutating func due(at now: MonotonicTime) -> Due {
    var due = Due()
    if liveness.isLost(at: now) {
      due.lost = "no answer to a ping within \(settings.pingTimeout)"
      return due
    }
    due.sendsPing = liveness.pings(waitsSince: waitsSince, at: now)
    if now - connectedAt >= settings.maxAge { drain("age") }
    if liveness.isIdle(waitsSince: waitsSince, at: now) { drain("idle") }
    return due
  }

  /// When the first of the open streams was opened, as far as the order of their deadlines shows it.
  private var waitsSince: MonotonicTime? {
    streams.firstDue.flatMap { streams.openedAt(in: $0.slot) }
  }

  /// Removes and returns the next stream whose deadline has passed.
  mutating func nextTimeout(at now: MonotonicTime, sent: Int) -> (id: Int32, ending: Ending)? {
    guard let due = streams.firstDue, due.deadline <= now, let id = streams.id(in: due.slot),
      let ended = streams.remove(due.slot, id: id)
    else { return nil }
    liveness.timedOut(at: now)
    if ended.queued.deadline - ended.openedAt >= settings.fairWait { timeouts += 1 }
    // Before the first answer one timeout is enough, because other pushes wait behind it.
    let limit = isProved ? settings.timeoutsInARow : 1
    if timeouts >= limit { drain("no answer in time, \(timeouts) in a row") }
    return (id, ending(of: ended, unanswered: .timeout, unsent: .queuedTooLong, sent: sent))
  }

  /// Returns the latest time at which `due` and `nextTimeout` must be called.
  func wakeAt() -> MonotonicTime {
    var next = connectedAt + settings.maxAge
    if case .draining = phase { next = .never }
    if let first = streams.firstDue { next = min(next, first.deadline) }
    return min(next, liveness.wakeAt(waitsSince: waitsSince))
  }

  // MARK: How streams end

  /// How the end of a stream affects its push.
  enum Ending {
    /// The push is done; the text is the ID that the server gave it.
    case report(Push, PushOutcome, uniqueID: String? = nil)

    /// APNs provably did not process the push: it may be sent again, up to the resend limit.
    case again(QueuedRequest<Push>, UnsentCause)
  }

  /// HTTP/2's `REFUSED_STREAM`: the request was not processed at all (RFC 9113, 8.7).
  private static var refusedStream: UInt32 { 0x7 }

  /// What follows from the close of a stream.
  ///
  /// A structure, because the runtime copies a tuple that holds references piece by piece.
  struct Closed {
    let ending: Ending
    var tokenExpired = false
    var refusal: Refusal?
  }

  /// Handles the close of a stream by the server; `errorName` is the HTTP/2 name of the code.
  mutating func closed(_ slot: Int, id: Int32, code: UInt32, errorName: String, wall: Timestamp)
    -> Closed?
  {
    guard let stream = streams.remove(slot, id: id) else { return nil }
    // A status that was received counts, however the stream ended afterwards.
    if let outcome = outcome(of: stream, at: wall) {
      let expired = answered(outcome)
      let report = report(of: stream, outcome)
      guard case .refused(let refusal) = outcome else { return Closed(ending: report) }
      // A stream of the token before shows nothing of the present one.
      let isOfToken = expired && stream.openedAt >= authorizedAt
      return Closed(
        ending: again(stream, after: refusal) ?? report, tokenExpired: isOfToken, refusal: refusal)
    }
    if code == Self.refusedStream {
      if let goAway, id > goAway.lastStream {
        return Closed(ending: .again(stream.queued, .goAway(reason: goAway.reason)))
      }
      return Closed(ending: .again(stream.queued, .refusedStream))
    }
    // With code 0 the server ended its answer without a status.
    let name = code == 0 ? "PROTOCOL_ERROR" : errorName
    return Closed(ending: .report(stream.queued.push, .unanswered(.reset(name))))
  }

  private func outcome(of stream: StreamTable<Push>.Stream, at wall: Timestamp) -> PushOutcome? {
    stream.answer.outcome(
      at: wall, from: settings.provider, after: liveness.lastReceived - stream.openedAt)
  }

  private func report(of stream: StreamTable<Push>.Stream, _ outcome: PushOutcome) -> Ending {
    .report(
      stream.queued.push, outcome, uniqueID: stream.answer.uniqueID(from: settings.provider))
  }

  /// Returns the ending of a push that may go by another connection, or with another token; nil if
  /// its refusal is final.
  private func again(_ stream: StreamTable<Push>.Stream, after refusal: Refusal) -> Ending? {
    var queued = stream.queued
    switch settings.provider {
    case .apns: if refusal.rule.push != .elsewhere { return nil }
    case .fcm:
      // What is wrong with the account has the same answer, and no token helps.
      if !settings.provider.refusesToken(refusal) || queued.hasChangedToken { return nil }
      queued.hasChangedToken = true
    }
    return .again(queued, .turnedAway(refusal))
  }

  /// Handles a stream whose headers were never sent because the server accepts no more streams.
  mutating func notSent(_ slot: Int, id: Int32) -> Ending? {
    guard let stream = streams.remove(slot, id: id) else { return nil }
    return .again(stream.queued, .goAway(reason: goAway?.reason))
  }

  /// Ends all streams of a lost connection.
  ///
  /// `sent` is the number of produced bytes that the socket accepted. If the server refused the
  /// client certificate, it processed none of them; an answer shows that it had accepted it.
  mutating func lost(
    _ why: String, refusesCertificate: Bool = false, sent: Int, wall: Timestamp
  ) -> [Ending] {
    drain(why)
    let refusesCertificate = refusesCertificate && !isProved
    return streams.used.compactMap { slot in
      guard let id = streams.id(in: slot), let stream = streams.remove(slot, id: id) else {
        return nil
      }
      if let outcome = outcome(of: stream, at: wall) {
        return report(of: stream, outcome)
      }
      if let goAway, id > goAway.lastStream {
        return .again(stream.queued, .goAway(reason: goAway.reason))
      }
      if refusesCertificate { return .again(stream.queued, .certificateRefused(why)) }
      guard Self.hasLeft(stream, sent: sent) else {
        return .again(stream.queued, .noConnection(why))
      }
      return .report(stream.queued.push, .unanswered(.connectionLost(why)))
    }
  }

  private func ending(
    of stream: StreamTable<Push>.Stream, unanswered: UnansweredCause, unsent: UnsentCause,
    sent: Int
  ) -> Ending {
    let left = Self.hasLeft(stream, sent: sent)
    return .report(stream.queued.push, left ? .unanswered(unanswered) : .unsent(unsent))
  }

  /// Returns whether the push may have been processed.
  ///
  /// A request is complete only with the end of its body, so APNs can't have processed a push if no
  /// byte of its body was handed to the socket.
  private static func hasLeft(_ stream: StreamTable<Push>.Stream, sent: Int) -> Bool {
    guard let bodyStart = stream.bodyStart else { return false }
    return sent > bodyStart
  }
}
