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
  var connection: LibpqConnection?
  var connecting: LibpqConnection.Progress = .wantsWrite
  /// The host that an attempt tries first: the one after a host that used up the time of another.
  var firstHost = 0
  /// Nil if the connection is idle, or there is none.
  var activity: InFlightTransaction?
  /// False for good once a pooler has shown that prepared statements do not persist.
  var usesNamedStatements = true
  var lastFailure = ConnectFailure("no attempt to connect has ended yet")

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
    return now >= closeBy || (queue.isEmpty && activity?.transaction == nil)
  }

  private func take(_ message: SessionMailbox.Message) {
    for transaction in message.transactions { queue.append(transaction) }
    if let moment = message.closeBy { closeBy = min(closeBy ?? moment, moment) }
  }

  /// Fails transactions that are past their deadline: waiting ones alone, a running one together
  /// with its connection.
  private func expire(now: ContinuousClock.Instant) {
    for transaction in queue.removeExpired(now: now) {
      if case .ready = lifecycle.state {
        transaction.finish(.failure(PostgresError(.timeout(sent: false))))
      } else {
        transaction.finish(.failure(unreachable))
      }
    }
    guard let inFlight = activity, let deadline = inFlight.deadline, deadline <= now else { return }
    activity = nil
    guard let transaction = inFlight.transaction else {
      return drop("no answer within \(Lifecycle.livenessCheckLimit)")
    }
    connection?.makeCanceller()?.cancelInBackground()
    transaction.finish(.failure(PostgresError(.timeout(sent: inFlight.isSent))))
    drop("a statement ran out of time")
  }

  private var unreachable: PostgresError {
    PostgresError(.unreachable(reason: lastFailure.reason, isFinal: lastFailure.isFinal))
  }

  private func advance(now: ContinuousClock.Instant) {
    switch lifecycle.tick(now: now) {
    case .none: break
    case .open: open()
    case .giveUp:
      let next = connection.flatMap { connection in
        settings.hostPosition(after: connection.endpoint.host, port: connection.endpoint.port)
      }
      firstHost = next ?? firstHost + 1
      drop("no answer within \(settings.connectTimeout)")
    }
  }

  private func abandonAll() {
    if let inFlight = activity, let transaction = inFlight.transaction {
      connection?.makeCanceller()?.cancelInBackground()
      let error = PostgresError(
        .connectionLost(sent: inFlight.isSent, reason: "the session was closed"))
      transaction.finish(.failure(error))
    }
    activity = nil
    connection = nil
    for transaction in queue.removeAll() + mailbox.end() {
      transaction.finish(.failure(PostgresError(.closed)))
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

/// Opening and dropping connections.
extension SessionLoop {
  func open() {
    guard let connection = LibpqConnection(settings, first: firstHost) else {
      return drop("out of memory")
    }
    // A connection to a Unix socket without a server is refused at once.
    guard connection.socket >= 0 else { return drop(connection.connectFailure) }
    self.connection = connection
    connecting = .wantsWrite
  }

  /// Handles a ready socket: continues connecting, or reads and writes what is pending.
  func handleSocket() {
    guard let connection else { return }
    if case .opening = lifecycle.state, activity == nil {
      keepConnecting(connection)
    } else {
      advancePipeline(connection)
    }
  }

  private func keepConnecting(_ connection: LibpqConnection) {
    connecting = connection.advance()
    switch connecting {
    case .wantsRead, .wantsWrite: break
    case .failed: drop(connection.connectFailure)
    case .open:
      guard connection.enterPipelineMode() else { return drop(connection.errorMessage) }
      sendSetup(connection)
    }
  }

  /// Sets variables, and sends LISTEN before the connection counts as usable: the caller then checks
  /// for work, and misses no notification from then on.
  private func sendSetup(_ connection: LibpqConnection) {
    let calls = [Call(SessionVariables.statement)] + channels.map { Call(Statement.listen(to: $0)) }
    let steps = PipelineStep.plan(calls, known: [:], named: false)
    guard connection.send(steps, of: calls) else { return drop(connection.errorMessage) }
    activity = InFlightTransaction(PipelineStateMachine(pipeline: steps), for: .setup)
    pushOut(connection)
  }

  func becomeReady(_ connection: LibpqConnection) {
    lifecycle.opened(now: .now)
    onEvent(
      .connected(serverVersion: connection.serverVersion, backendPID: connection.backendPID))
  }

  /// Drops the connection, fails its transaction, and schedules the next attempt.
  func drop(_ reason: String) { drop(ConnectFailure(reason)) }

  private func drop(_ failure: ConnectFailure) {
    connection = nil
    let failure = failure.cleaned { Redaction.clean(settings.secrets.removed(from: $0)) }
    let reason = failure.reason
    let wasReady = if case .ready = lifecycle.state { true } else { false }
    lifecycle.lost(now: .now, random: Double.random(in: 0..<1))
    lastFailure = failure
    if let inFlight = activity, let transaction = inFlight.transaction {
      transaction.finish(
        .failure(PostgresError(.connectionLost(sent: inFlight.isSent, reason: reason))))
    }
    activity = nil
    if !wasReady {
      for transaction in queue.removeImpatient() { transaction.finish(.failure(unreachable)) }
    }
    onEvent(wasReady ? .disconnected(reason: reason) : .unreachable(reason: reason))
  }
}

/// Completing a transaction after its last reply.
extension SessionLoop {
  func finish(_ inFlight: InFlightTransaction, _ connection: LibpqConnection) {
    activity = nil
    lifecycle.heard(now: .now)
    guard case .transaction(let transaction) = inFlight.purpose else {
      if case .setup = inFlight.purpose { finishSetup(inFlight, connection) }
      if case .rollback = inFlight.purpose, !connection.isOutsideTransaction {
        drop("replaced, because a transaction was left open")
      }
      return
    }
    if let error = inFlight.firstError {
      if repeats(transaction, inFlight, after: error) { return }
      transaction.finish(.failure(PostgresError(.server(error))))
    } else if connection.isOutsideTransaction {
      transaction.finish(.success(inFlight.results))
    } else {
      transaction.finish(
        .failure(PostgresError(.protocol(reason: "the call left a transaction open"))))
    }
    if let reason = reasonToReplace(connection, after: inFlight) { drop(reason) }
  }

  /// Returns why the connection must be replaced before the next transaction; nil if it need not
  /// be.
  private func reasonToReplace(_ connection: LibpqConnection, after inFlight: InFlightTransaction)
    -> String?
  {
    // After an error the session rolls back, and keeps the connection.
    if !connection.isOutsideTransaction, inFlight.firstError == nil || inFlight.isScript {
      return "replaced, because a transaction was left open"
    }
    if inFlight.firstError?.wantsAnotherServer == true {
      return "replaced, because the server is read-only"
    }
    if inFlight.isScript, !connection.endScript() { return connection.errorMessage }
    return nil
  }

  private func finishSetup(_ inFlight: InFlightTransaction, _ connection: LibpqConnection) {
    if let error = inFlight.firstError {
      drop("the session was refused its settings or LISTEN: \(error)")
    } else {
      becomeReady(connection)
    }
  }

  /// Sends a transaction again if it was rolled back because of its prepared statements and not
  /// because of its own content.
  private func repeats(
    _ transaction: Transaction, _ inFlight: InFlightTransaction, after error: ServerError
  ) -> Bool {
    // Up to twice: after preparing again because of an outdated plan, the transaction may find the
    // statement of another client of the pooler.
    guard inFlight.usesNamedStatements, transaction.repeats < 2 else { return false }
    guard error.isSharedPreparedStatement || error.isOutdatedPlan else { return false }
    var again = transaction
    again.repeats += 1
    queue.prepend(again)
    if error.isSharedPreparedStatement {
      usesNamedStatements = false
    } else {
      drop("replaced, because the tables changed under its prepared statements")
    }
    return true
  }
}
