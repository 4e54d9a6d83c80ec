/// What a connection is busy with: what was sent, what has come back.
final class InFlightTransaction {
  /// What for.
  enum Purpose {
    /// A caller's run.
    case run(Transaction)
    /// The session speaks for itself, to LISTEN.
    case listen
    /// The session asks whether anybody is there, and gives the connection up at this moment.
    case signOfLife(until: ContinuousClock.Instant)
  }

  let purpose: Purpose
  /// Relies on statements that were prepared on this connection.
  let usesNamedStatements: Bool
  var pipeline: PipelineStateMachine
  /// All of it was handed to the kernel. Before that the server cannot commit, because the end of
  /// the transaction is the last thing sent.
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

  /// When it must have ended; nil where the attempt to connect has a limit of its own.
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

  /// The name of the statement that is being answered.
  var currentStatement: String? {
    guard let run, case .calls(let calls) = run.work else { return nil }
    return switch pipeline.currentStep {
    case .prepare(let statement): statement.name
    case .executePrepared(let index), .execute(let index): calls[index].statement.name
    case nil: nil
    }
  }
}
