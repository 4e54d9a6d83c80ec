/// What a connection is busy with: what was sent, what has come back.
final class Exchange {
  /// What for.
  enum Errand {
    /// A caller's run.
    case run(Run)
    /// The session speaks for itself, to LISTEN.
    case listen
    /// The session asks whether anybody is there, and gives the connection up at this moment.
    case signOfLife(until: ContinuousClock.Instant)
  }

  let errand: Errand
  /// Relies on statements that were prepared on this connection.
  let usesNamedStatements: Bool
  var conversation: Conversation
  /// All of it was handed to the kernel. Before that the server cannot commit, because the end of
  /// the transaction is the last thing sent.
  var isSent = false
  var results: [QueryResult] = []
  var firstError: ServerError?

  init(_ conversation: Conversation, for errand: Errand, usesNamedStatements: Bool = false) {
    self.conversation = conversation
    self.errand = errand
    self.usesNamedStatements = usesNamedStatements
  }

  var run: Run? {
    if case .run(let run) = errand { run } else { nil }
  }

  /// When it must have ended; nil where the attempt to connect has a limit of its own.
  var deadline: ContinuousClock.Instant? {
    switch errand {
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
    return switch conversation.currentStep {
    case .prepare(let statement): statement.name
    case .executePrepared(let index), .execute(let index): calls[index].statement.name
    case nil: nil
    }
  }
}
