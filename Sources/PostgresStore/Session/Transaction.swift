/// The work of one transaction, and the callback for its outcome.
struct Transaction: Sendable {
  enum Work: Sendable {
    /// Calls in one pipeline.
    case calls([Call])
    /// A text of several commands, without parameters or results.
    case script(String)
  }

  typealias Outcome = Result<[QueryResult], PostgresError>

  let work: Work
  let deadline: ContinuousClock.Instant
  /// Called exactly once: on the session's thread, or on the caller's if the session is closed.
  let finish: @Sendable (Outcome) -> Void
  /// Whether the next failed attempt to connect fails it, instead of its deadline.
  var isImpatient = false
  /// How often it was sent and then rolled back for a reason in the session, not in the
  /// transaction.
  var repeats = 0
}

/// The waiting transactions, first in, first out.
struct TransactionQueue: Sendable {
  // A slice, because it removes its first element in constant time.
  private var transactions: ArraySlice<Transaction> = []
  /// No transaction expires before this moment.
  private(set) var nextDeadline: ContinuousClock.Instant?

  var isEmpty: Bool { transactions.isEmpty }

  mutating func append(_ transaction: Transaction) {
    transactions.append(transaction)
    nextDeadline = min(nextDeadline ?? transaction.deadline, transaction.deadline)
  }

  /// Puts a transaction that has to be sent again at the front.
  mutating func prepend(_ transaction: Transaction) {
    transactions = [transaction] + transactions
    nextDeadline = min(nextDeadline ?? transaction.deadline, transaction.deadline)
  }

  mutating func popFirst() -> Transaction? {
    let transaction = transactions.popFirst()
    if transactions.isEmpty { nextDeadline = nil }
    return transaction
  }

  /// Removes and returns the transactions that are past their deadline.
  mutating func removeExpired(now: ContinuousClock.Instant) -> [Transaction] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    let expired = transactions.filter { $0.deadline <= now }
    transactions.removeAll { $0.deadline <= now }
    self.nextDeadline = transactions.map(\.deadline).min()
    return Array(expired)
  }

  /// Removes and returns the transactions that wait for one attempt to connect.
  mutating func removeImpatient() -> [Transaction] {
    let impatient = transactions.filter(\.isImpatient)
    if impatient.isEmpty { return [] }
    transactions.removeAll(where: \.isImpatient)
    nextDeadline = transactions.map(\.deadline).min()
    return Array(impatient)
  }

  mutating func removeAll() -> [Transaction] {
    defer { self = TransactionQueue() }
    return Array(transactions)
  }
}

/// The work of a busy connection: what was sent, and the results so far.
final class InFlightTransaction {
  /// What the connection is busy with.
  enum Purpose {
    /// A caller's transaction.
    case transaction(Transaction)
    /// The session's own settings and LISTEN commands.
    case setup
    /// The session's check that the server still answers; after this moment it drops the
    /// connection.
    case livenessCheck(until: ContinuousClock.Instant)
    /// The session's rollback of a transaction that failed; after this moment it drops the
    /// connection.
    case rollback(until: ContinuousClock.Instant)
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

  var transaction: Transaction? {
    if case .transaction(let transaction) = purpose { transaction } else { nil }
  }

  /// When it must have ended; nil for the setup, which the limit for connecting covers.
  var deadline: ContinuousClock.Instant? {
    switch purpose {
    case .transaction(let transaction): transaction.deadline
    case .setup: nil
    case .livenessCheck(let until), .rollback(let until): until
    }
  }

  var isScript: Bool {
    if case .script = transaction?.work { true } else { false }
  }

  /// The name of the statement whose result is expected next.
  var currentStatement: String? {
    guard let transaction, case .calls(let calls) = transaction.work else { return nil }
    return switch pipeline.currentStep {
    case .prepare(let statement): statement.name
    case .executePrepared(let index), .execute(let index): calls[index].statement.name
    case nil: nil
    }
  }
}
