/// What a caller wants done in one transaction, and where the answer goes.
struct Transaction: Sendable {
  enum Work: Sendable {
    /// Calls in one pipeline.
    case calls([Call])
    /// Text of several commands, without parameters or results.
    case script(String)
  }

  typealias Outcome = Result<[QueryResult], PostgresError>

  let work: Work
  let deadline: ContinuousClock.Instant
  /// Called exactly once, on the session's thread.
  let finish: @Sendable (Outcome) -> Void
  /// How often it was sent, and rolled back for a reason that lies in the session and not in it.
  var repeats = 0
}

/// The runs that wait for their turn, first come first served.
struct TransactionQueue: Sendable {
  // A slice, because it gives up its first element in constant time.
  private var runs: ArraySlice<Transaction> = []
  /// No run expires before this moment.
  private(set) var nextDeadline: ContinuousClock.Instant?

  var isEmpty: Bool { runs.isEmpty }

  mutating func append(_ run: Transaction) {
    runs.append(run)
    nextDeadline = min(nextDeadline ?? run.deadline, run.deadline)
  }

  /// Puts a run back that has to be sent again.
  mutating func prepend(_ run: Transaction) {
    runs = [run] + runs
    nextDeadline = min(nextDeadline ?? run.deadline, run.deadline)
  }

  mutating func popFirst() -> Transaction? {
    let run = runs.popFirst()
    if runs.isEmpty { nextDeadline = nil }
    return run
  }

  /// Takes out the runs whose time is over.
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
