/// The work of a busy connection: what was sent, and the results so far.
final class InFlightTransaction {
  /// What the connection is busy with.
  enum Purpose {
    /// A caller's transaction.
    case run(Transaction)
    /// The session's own LISTEN commands.
    case listen
    /// The session's check that the server still answers; after this moment it drops the
    /// connection.
    case signOfLife(until: ContinuousClock.Instant)
  }

  let purpose: Purpose
  /// Whether it relies on statements prepared on this connection.
  let usesNamedStatements: Bool
  var pipeline: PipelineStateMachine
  /// Whether all of it was written to the socket.
  ///
  /// Before that the server cannot commit, because the end of the transaction is sent last.
  var isSent = false
  var results: [QueryResult] = []
  var firstError: ServerError?

  init(_ pipeline: PipelineStateMachine, for purpose: Purpose, usesNamedStatements: Bool = false) {
    self.pipeline = pipeline
    self.purpose = purpose
    self.usesNamedStatements = usesNamedStatements
  }

  var run: Transaction? {
    if case .run(let run) = purpose { run } else { nil }
  }

  /// When it must have ended; nil for LISTEN, which the limit for connecting covers.
  var deadline: ContinuousClock.Instant? {
    switch purpose {
    case .run(let run): run.deadline
    case .listen: nil
    case .signOfLife(let until): until
    }
  }

  var isScript: Bool {
    if case .script = run?.work { true } else { false }
  }

  /// The name of the statement whose result is expected next.
  var currentStatement: String? {
    guard let run, case .calls(let calls) = run.work else { return nil }
    return switch pipeline.currentStep {
    case .prepare(let statement): statement.name
    case .executePrepared(let index), .execute(let index): calls[index].statement.name
    case nil: nil
    }
  }
}
