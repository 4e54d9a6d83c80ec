/// What a connection is busy with: what was sent, what has come back.
final class Exchange {
  /// Nil where the session speaks for itself, to LISTEN.
  let run: Run?
  /// Relies on statements that were prepared on this connection.
  let usesNamedStatements: Bool
  var conversation: Conversation
  /// All of it was handed to the kernel. Before that the server cannot commit, because the end of
  /// the transaction is the last thing sent.
  var isSent = false
  var results: [QueryResult] = []
  var firstError: ServerError?

  init(_ conversation: Conversation, of run: Run?, usesNamedStatements: Bool = false) {
    self.conversation = conversation
    self.run = run
    self.usesNamedStatements = usesNamedStatements
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
