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
  /// How often it was sent and then rolled back for a reason in the session, not in the
  /// transaction.
  var repeats = 0
}

/// The waiting transactions, first in, first out.
struct TransactionQueue: Sendable {
  // A slice, because it removes its first element in constant time.
  private var runs: ArraySlice<Transaction> = []
  /// No transaction expires before this moment.
  private(set) var nextDeadline: ContinuousClock.Instant?

  var isEmpty: Bool { runs.isEmpty }

  mutating func append(_ run: Transaction) {
    runs.append(run)
    nextDeadline = min(nextDeadline ?? run.deadline, run.deadline)
  }

  /// Puts a transaction that has to be sent again at the front.
  mutating func prepend(_ run: Transaction) {
    runs = [run] + runs
    nextDeadline = min(nextDeadline ?? run.deadline, run.deadline)
  }

  mutating func popFirst() -> Transaction? {
    let run = runs.popFirst()
    if runs.isEmpty { nextDeadline = nil }
    return run
  }

  /// Removes and returns the transactions that are past their deadline.
  mutating func removeExpired(now: ContinuousClock.Instant) -> [Transaction] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    let expired = runs.filter { $0.deadline <= now }
    runs.removeAll { $0.deadline <= now }
    self.nextDeadline = runs.map(\.deadline).min()
    return Array(expired)
  }

  mutating func removeAll() -> [Transaction] {
    defer { self = TransactionQueue() }
    return Array(runs)
  }
}
