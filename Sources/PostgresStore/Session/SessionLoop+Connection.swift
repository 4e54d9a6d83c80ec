/// Opening and dropping connections.
extension SessionLoop {
  func open() {
    guard let connection = Connection(settings) else { return drop("out of memory") }
    // A connection to a Unix socket without a server is refused at once.
    guard connection.socket >= 0 else { return drop(connection.errorMessage) }
    self.connection = connection
    connecting = .wantsWrite
  }

  /// Handles a ready socket: continues connecting, or reads and writes what is pending.
  func handleSocket() {
    guard let connection else { return }
    if case .opening = lifecycle.state, activity == nil {
      keepConnecting(connection)
    } else {
      converse(connection)
    }
  }

  private func keepConnecting(_ connection: Connection) {
    connecting = connection.advance()
    switch connecting {
    case .wantsRead, .wantsWrite: break
    case .failed: drop(connection.errorMessage)
    case .open:
      guard connection.enterPipelineMode() else { return drop(connection.errorMessage) }
      greet(connection)
    }
  }

  /// Sends LISTEN before the connection counts as usable: the caller then checks for work, and
  /// misses no notification from then on.
  private func greet(_ connection: Connection) {
    guard !channels.isEmpty else { return becomeReady(connection) }
    let calls = channels.map { Call(Statement.listen(to: $0)) }
    let steps = PipelineStep.plan(calls, known: [:], named: false)
    guard connection.send(steps, of: calls) else { return drop(connection.errorMessage) }
    activity = InFlightTransaction(PipelineStateMachine(pipeline: steps), for: .listen)
    pushOut(connection)
  }

  func becomeReady(_ connection: Connection) {
    lifecycle.opened(now: .now)
    onEvent(
      .connected(serverVersion: connection.serverVersion, backendPID: connection.backendPID))
  }

  /// Drops the connection, fails its transaction, and schedules the next attempt.
  func drop(_ reason: String) {
    connection = nil
    let reason = Redaction.clean(settings.secrets.removed(from: reason))
    let wasReady = if case .ready = lifecycle.state { true } else { false }
    lifecycle.lost(now: .now, random: Double.random(in: 0..<1))
    lastFailure = reason
    if let inFlight = activity, let run = inFlight.run {
      run.finish(
        .failure(PostgresError(.connectionLost(sent: inFlight.isSent, reason: reason))))
    }
    activity = nil
    onEvent(wasReady ? .disconnected(reason: reason) : .unreachable(reason: reason))
  }
}
