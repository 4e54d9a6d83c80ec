/// Completing a transaction after its last reply.
extension SessionLoop {
  func finish(_ inFlight: InFlightTransaction, _ connection: Connection) {
    activity = nil
    lifecycle.heard(now: .now)
    guard case .run(let run) = inFlight.purpose else {
      if case .listen = inFlight.purpose { endGreeting(inFlight, connection) }
      return
    }
    if let error = inFlight.firstError {
      if repeats(run, inFlight, after: error) { return }
      run.finish(.failure(PostgresError(.server(error))))
    } else if connection.isOutsideTransaction {
      run.finish(.success(inFlight.results))
    } else {
      run.finish(.failure(PostgresError(.protocol(reason: "the run left a transaction open"))))
    }
    if let reason = reasonToReplace(connection, after: inFlight) { drop(reason) }
  }

  /// Returns why the connection must be replaced before the next transaction; nil if it need not
  /// be.
  private func reasonToReplace(_ connection: Connection, after inFlight: InFlightTransaction)
    -> String?
  {
    if !connection.isOutsideTransaction { return "replaced, because a transaction was left open" }
    if inFlight.firstError?.wantsAnotherServer == true {
      return "replaced, because the server is read-only"
    }
    if inFlight.isScript, !connection.endScript() { return connection.errorMessage }
    return nil
  }

  private func endGreeting(_ inFlight: InFlightTransaction, _ connection: Connection) {
    if let error = inFlight.firstError {
      drop("LISTEN was refused: \(error)")
    } else {
      becomeReady(connection)
    }
  }

  /// Sends a transaction again if it was rolled back because of its prepared statements and not
  /// because of its own content.
  private func repeats(
    _ run: Transaction, _ inFlight: InFlightTransaction, after error: ServerError
  ) -> Bool {
    // Up to twice: after preparing again because of an outdated plan, the transaction may find the
    // statement of another client of the pooler.
    guard inFlight.usesNamedStatements, run.repeats < 2 else { return false }
    guard error.saysPreparedStatementsAreShared || error.saysPlanIsOutdated else { return false }
    var again = run
    again.repeats += 1
    queue.prepend(again)
    if error.saysPreparedStatementsAreShared {
      usesNamedStatements = false
    } else {
      drop("replaced, because the tables changed under its prepared statements")
    }
    return true
  }
}
