/// What happens when all replies to a run are there.
extension SessionLoop {
  func finish(_ exchange: Exchange, _ connection: Connection) {
    activity = nil
    lifecycle.heard(now: .now)
    guard case .run(let run) = exchange.errand else {
      if case .listen = exchange.errand { endGreeting(exchange, connection) }
      return
    }
    if let error = exchange.firstError {
      if repeats(run, exchange, after: error) { return }
      run.finish(.failure(PostgresError(.server(error))))
    } else if connection.isOutsideTransaction {
      run.finish(.success(exchange.results))
    } else {
      run.finish(.failure(PostgresError(.protocol(reason: "the run left a transaction open"))))
    }
    if let reason = reasonToReplace(connection, after: exchange) { drop(reason) }
  }

  /// Why the next run shall not go over the same connection.
  private func reasonToReplace(_ connection: Connection, after exchange: Exchange) -> String? {
    if !connection.isOutsideTransaction { return "replaced, because a transaction was left open" }
    if exchange.firstError?.wantsAnotherServer == true {
      return "replaced, because the server is read-only"
    }
    if exchange.isScript, !connection.endScript() { return connection.errorMessage }
    return nil
  }

  private func endGreeting(_ exchange: Exchange, _ connection: Connection) {
    if let error = exchange.firstError {
      drop("LISTEN was refused: \(error)")
    } else {
      becomeReady(connection)
    }
  }

  /// Sends a run once more whose transaction was rolled back for a reason that lies in prepared
  /// statements and not in the run.
  private func repeats(_ run: Run, _ exchange: Exchange, after error: ServerError) -> Bool {
    // Twice: prepared anew because of an outdated plan, it may meet that of a pooler's other client.
    guard exchange.usesNamedStatements, run.repeats < 2 else { return false }
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
