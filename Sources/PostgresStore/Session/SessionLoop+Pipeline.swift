internal import CLibpq

/// Sending a transaction and reading its replies.
extension SessionLoop {
  /// Sends the next waiting transaction if the connection is free.
  func startNext() {
    guard case .ready = lifecycle.state, activity == nil, let connection else { return }
    if !connection.isOutsideTransaction { return sendRollback(connection) }
    if queue.isEmpty { return }
    if lifecycle.isDoubtful(now: .now) { return sendLivenessCheck(connection) }
    guard let transaction = queue.popFirst() else { return }
    let isBuffered: Bool
    switch transaction.work {
    case .script(let sql):
      activity = InFlightTransaction(.script, for: .transaction(transaction))
      isBuffered = connection.send(script: sql)
    case .calls(let calls):
      let steps = PipelineStep.plan(
        calls, known: connection.prepared, named: usesNamedStatements)
      activity = InFlightTransaction(
        PipelineStateMachine(pipeline: steps), for: .transaction(transaction),
        usesNamedStatements: usesNamedStatements)
      isBuffered = connection.send(steps, of: calls)
    }
    if isBuffered { pushOut(connection) } else { drop(connection.errorMessage) }
  }

  /// Ends a transaction that the calls began and an error kept from ending.
  private func sendRollback(_ connection: LibpqConnection) {
    let calls = [Call(Statement(name: "", sql: "rollback"))]
    let steps = PipelineStep.plan(calls, known: [:], named: false)
    activity = InFlightTransaction(
      PipelineStateMachine(pipeline: steps),
      for: .rollback(until: .now + Lifecycle.livenessCheckLimit))
    guard connection.send(steps, of: calls) else { return drop(connection.errorMessage) }
    pushOut(connection)
  }

  /// Checks that the server still answers, by a bare Sync.
  ///
  /// A Sync is no transaction: it costs the server almost nothing, and the waiting transactions can
  /// still use another connection.
  private func sendLivenessCheck(_ connection: LibpqConnection) {
    activity = InFlightTransaction(
      PipelineStateMachine(pipeline: []),
      for: .livenessCheck(until: .now + Lifecycle.livenessCheckLimit))
    guard connection.send([], of: []) else { return drop(connection.errorMessage) }
    pushOut(connection)
  }

  /// Writes as many bytes to the socket as it accepts.
  func pushOut(_ connection: LibpqConnection) {
    guard let isSent = connection.flush() else { return drop(connection.errorMessage) }
    activity?.isSent = isSent
  }

  /// Reads before it writes: a server that is blocked on sending replies reads no more requests.
  func advancePipeline(_ connection: LibpqConnection) {
    let isAlive = connection.consumeInput()
    // Results that arrived before the end are valid, and an error report among them states the
    // reason.
    readResults(connection)
    guard self.connection === connection else { return }
    while let (channel, payload) = connection.nextNotification() {
      onEvent(.notification(channel: channel, payload: payload))
    }
    guard isAlive else { return drop(connection.errorMessage) }
    if let activity, !activity.isSent { pushOut(connection) }
  }

  private func readResults(_ connection: LibpqConnection) {
    while let inFlight = activity, !connection.isBusy {
      let result = connection.nextResult()
      switch inFlight.pipeline.receive(reply(result)) {
      case .goOn: break
      case .keep: if let result { inFlight.results.append(result) }
      case .prepared(let statement): connection.prepared[statement.name] = statement.sql
      case .failed: if let result { record(result, in: inFlight) }
      case .finished: finish(inFlight, connection)
      case .broken(let what): breakOff(inFlight, what)
      }
    }
  }

  private func reply(_ result: QueryResult?) -> PipelineStateMachine.Reply {
    guard let result else { return .endOfStep }
    return switch result.status {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: .success
    case PGRES_FATAL_ERROR: .failure
    case PGRES_PIPELINE_ABORTED: .aborted
    case PGRES_PIPELINE_SYNC: .sync
    default: .foreign(result.statusName)
    }
  }

  private func record(_ result: QueryResult, in inFlight: InFlightTransaction) {
    guard let error = ServerError(result, statement: inFlight.currentStatement) else {
      return drop(result.errorMessage)
    }
    if result.isFatal { return drop(error.description) }
    if inFlight.firstError == nil { inFlight.firstError = error }
  }

  private func breakOff(_ inFlight: InFlightTransaction, _ what: String) {
    activity = nil
    inFlight.transaction?.finish(.failure(PostgresError(.protocol(reason: what))))
    drop("replaced, because the server answered out of turn: \(what)")
  }
}
