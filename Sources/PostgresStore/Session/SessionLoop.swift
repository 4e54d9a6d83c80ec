internal import CLibpq
internal import Glibc

/// The loop of a session's thread: it sleeps until an event or a deadline, handles it, and sleeps
/// again.
final class SessionLoop {
  let settings: ConnectionSettings
  let channels: [String]
  let mailbox: SessionMailbox
  let onEvent: @Sendable (SessionEvent) -> Void

  var lifecycle: Lifecycle
  var queue = TransactionQueue()
  var closeBy: ContinuousClock.Instant?
  var connection: Connection?
  var connecting: Connection.Progress = .wantsWrite
  /// Nil if the connection is idle, or there is none.
  var activity: InFlightTransaction?
  /// False for good once a pooler has shown that prepared statements do not persist.
  var usesNamedStatements = true
  var lastFailure = "no attempt to connect has ended yet"

  init(
    settings: ConnectionSettings, channels: [String], mailbox: SessionMailbox,
    onEvent: @escaping @Sendable (SessionEvent) -> Void
  ) {
    self.settings = settings
    self.channels = channels
    self.mailbox = mailbox
    self.onEvent = onEvent
    lifecycle = Lifecycle(now: .now, connectTimeout: settings.connectTimeout)
  }

  func run() {
    while !isDone(now: .now) {
      let ready = sleep()
      take(mailbox.collect())
      if ready { handleSocket() }
      let now = ContinuousClock.now
      expire(now: now)
      advance(now: now)
      startNext()
    }
    abandonAll()
  }

  private func isDone(now: ContinuousClock.Instant) -> Bool {
    guard let closeBy else { return false }
    return now >= closeBy || (queue.isEmpty && activity?.run == nil)
  }

  private func take(_ message: SessionMailbox.Message) {
    for run in message.runs { queue.append(run) }
    if let moment = message.closeBy { closeBy = min(closeBy ?? moment, moment) }
  }

  /// Fails transactions that are past their deadline: waiting ones alone, a running one together
  /// with its connection.
  private func expire(now: ContinuousClock.Instant) {
    for run in queue.removeExpired(now: now) {
      if case .ready = lifecycle.state {
        run.finish(.failure(PostgresError(.timeout(sent: false))))
      } else {
        run.finish(.failure(PostgresError(.unreachable(reason: lastFailure))))
      }
    }
    guard let inFlight = activity, let deadline = inFlight.deadline, deadline <= now else { return }
    activity = nil
    guard let run = inFlight.run else {
      return drop("no sign of life within \(Lifecycle.signOfLifeLimit)")
    }
    connection?.makeCanceller()?.cancelInBackground()
    run.finish(.failure(PostgresError(.timeout(sent: inFlight.isSent))))
    drop("a statement ran out of time")
  }

  private func advance(now: ContinuousClock.Instant) {
    switch lifecycle.tick(now: now) {
    case .none: break
    case .open: open()
    case .giveUp: drop("no answer within \(settings.connectTimeout)")
    }
  }

  private func abandonAll() {
    if let inFlight = activity, let run = inFlight.run {
      connection?.makeCanceller()?.cancelInBackground()
      let error = PostgresError(
        .connectionLost(sent: inFlight.isSent, reason: "the session was closed"))
      run.finish(.failure(error))
    }
    activity = nil
    connection = nil
    for run in queue.removeAll() + mailbox.end() {
      run.finish(.failure(PostgresError(.closed)))
    }
  }

  /// Waits for the eventfd, the socket or the next deadline; returns whether the socket is ready.
  private func sleep() -> Bool {
    var files = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
    if let connection {
      files.append(pollfd(fd: connection.socket, events: interest, revents: 0))
    }
    _ = unsafe poll(&files, nfds_t(files.count), timeoutMilliseconds(now: .now))
    return files.count > 1 && files[1].revents != 0
  }

  private var interest: Int16 {
    if let activity { return Int16(activity.isSent ? POLLIN : POLLIN | POLLOUT) }
    guard case .opening = lifecycle.state else { return Int16(POLLIN) }
    return Int16(connecting == .wantsRead ? POLLIN : POLLOUT)
  }

  /// Rounded up, so that the deadline has passed when the sleep ends; at most a minute.
  private func timeoutMilliseconds(now: ContinuousClock.Instant) -> Int32 {
    var moments = [lifecycle.wake, queue.nextDeadline, closeBy].compactMap(\.self)
    if let deadline = activity?.deadline { moments.append(deadline) }
    guard let first = moments.min() else { return 60_000 }
    let wait = min(max(first - now, .zero), .seconds(60))
    return Int32((wait / .milliseconds(1)).rounded(.up))
  }
}
