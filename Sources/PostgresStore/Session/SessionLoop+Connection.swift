/// How a connection comes and goes.
extension SessionLoop {
  func open() {
    guard let connection = Connection(settings) else { return drop("out of memory") }
    // A unix socket that nobody serves is refused at once.
    guard connection.socket >= 0 else { return drop(connection.errorMessage) }
    self.connection = connection
    connecting = .wantsWrite
  }

  /// The socket can move: connects on, or reads and writes what there is.
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

  /// A connection counts as usable when it listens: the caller then looks for work, and from then
  /// on misses nothing.
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

  /// Gives the connection up, fails what it was doing, and plans the next attempt.
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
