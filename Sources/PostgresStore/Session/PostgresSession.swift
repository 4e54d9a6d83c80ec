internal import Synchronization
internal import SystemSupport

/// A connection to PostgreSQL on its own thread, so that no caller's thread ever blocks.
///
/// It connects when it is created, and reconnects whenever the connection is lost. Transactions are
/// executed one after another, in the order in which they were submitted.
package final class PostgresSession: Sendable {
  /// The schema that takes the place of `ridepulse` in every text that is sent.
  package let schema: SchemaName
  private let mailbox: SessionMailbox
  private let leastTimeout: Duration
  private let responses = Mutex(ResponseTracker())
  private let connection = ConnectionFlag()
  /// The statements for another schema, by their original text.
  private let renamed = Mutex<[String: Statement]>([:])

  /// Begins to connect in the background.
  ///
  /// - Parameters:
  ///   - conninfo: a libpq connection string or URL; empty for libpq's own `PG*` variables.
  ///   - schema: the schema of all tables; nil for that of `RIDEPULSE_SCHEMA`.
  ///   - listen: the channels to LISTEN on, for every new connection.
  ///   - applicationName: shown in `pg_stat_activity` if the connection string sets none.
  ///   - connectTimeout: the limit for one attempt to connect.
  ///   - leastTimeout: the limit of transactions with a shorter one: where the machine may stall.
  ///   - onEvent: called on the session's thread, in order; must return at once. It is kept until
  ///     the session ends, so it must not retain the session.
  /// - Throws: `invalidConninfo`, `invalidSchema`, or `unreachable` if the process can open no more files; never an
  ///   error of the server.
  package init(
    conninfo: String, schema: SchemaName? = nil, listen: [String] = [],
    applicationName: String = "ridepulse", connectTimeout: Duration = .seconds(5),
    leastTimeout: Duration = .zero,
    onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }
  ) throws(PostgresError) {
    let settings = try ConnectionSettings(
      conninfo: conninfo, applicationName: applicationName, connectTimeout: connectTimeout)
    let schema = if let schema { schema } else { try SchemaName.ofProcess() }
    let channels = listen.map { schema.applied(to: $0) }
    guard let mailbox = SessionMailbox() else {
      throw PostgresError(.unreachable(reason: "this process may open no more files"))
    }
    let connection = connection
    let thread = WorkerThread(named: "postgres") {
      SessionLoop(
        settings: settings, channels: channels, mailbox: mailbox,
        onEvent: { event in
          connection.handle(event)
          onEvent(event)
        }
      ).run()
    }
    guard let thread else {
      throw PostgresError(.unreachable(reason: "this process may start no more threads"))
    }
    thread.detach()
    self.schema = schema
    self.mailbox = mailbox
    self.leastTimeout = leastTimeout
  }

  /// Whether a connection string names several hosts and accepts a standby among them.
  package static func mayReachStandby(_ conninfo: String) -> Bool {
    let settings = try? ConnectionSettings(
      conninfo: conninfo, applicationName: "", connectTimeout: .zero)
    return settings?.mayReachStandby ?? false
  }

  deinit {
    mailbox.requestClose(by: .now)
  }

  /// Executes all calls in one round trip and one transaction, and returns their results in order.
  ///
  /// Cancelling the task does not interrupt the transaction, because its outcome must be known. A
  /// transaction is not repeated after a lost connection, because it may have committed; see
  /// `mayHaveCommitted`.
  ///
  /// - Parameter timeout: the limit for waiting and executing together; a statement that is still
  ///   running then is cancelled.
  /// - Throws: the error of the first call that fails; no call has taken effect then.
  package func run(
    _ calls: [Call], timeout: Duration = .seconds(10)
  ) async throws(PostgresError) -> [QueryResult] {
    if calls.isEmpty { return [] }
    for call in calls {
      guard let index = call.indexOfParameterWithNUL else { continue }
      throw PostgresError(.invalidParameter(statement: call.statement.name, index: index))
    }
    return try await perform(.calls(calls.map(forSchema)), timeout: timeout)
  }

  /// Waits until the connection is usable or an attempt to connect fails.
  ///
  /// It may be called again after a failure; the session itself paces the attempts.
  ///
  /// - Throws: the error of that attempt; nothing was sent.
  package func connect(timeout: Duration = .seconds(10)) async throws(PostgresError) {
    let ping = Call(Statement(name: "", sql: "select 1"))
    _ = try await perform(.calls([ping]), timeout: timeout, isImpatient: true)
  }

  /// Executes a text of several commands, in one transaction unless the text itself begins and ends
  /// transactions.
  ///
  /// - Parameter timeout: the limit for waiting and executing together; a command that is still
  ///   running then is cancelled.
  /// - Throws: the error of the first command that fails, with its position in the text.
  package func script(
    _ sql: String, timeout: Duration = .seconds(10)
  ) async throws(PostgresError) {
    if sql.utf8.contains(0) {
      throw PostgresError(.invalidParameter(statement: "script", index: 0))
    }
    _ = try await perform(.script(schema.applied(to: sql)), timeout: timeout)
  }

  /// Finishes the waiting transactions, fails those that are left at the limit, and ends the
  /// thread.
  ///
  /// Transactions submitted later fail with `closed`. It may be called more than once.
  package func close(limit: Duration = .seconds(5)) async {
    mailbox.requestClose(by: .now + limit)
    await mailbox.waitForEnd()
    connection.end()
  }

  /// Whether the last transaction got no answer from the server, or one has waited for `limit`.
  ///
  /// Work that needs this session makes no progress then. The result is current only while
  /// transactions are being submitted.
  package func isStalled(for limit: Duration = .seconds(5)) -> Bool {
    responses.withLock { $0.isStalled(for: limit, now: .now) }
  }

  /// Whether it has a usable connection.
  package var isConnected: Bool { connection.isOpen }

  /// Whether a transaction waits for an answer, or for its turn.
  package var isBusy: Bool { responses.withLock { $0.isAwaited } }

  /// The name of the prepared statement follows from the text: behind a pooler, sessions of several
  /// schemas share a server connection.
  private func forSchema(_ call: Call) -> Call {
    if schema == .standard { return call }
    let statement = call.statement
    let own = renamed.withLock { renamed in
      if let known = renamed[statement.sql] { return known }
      let own = Statement(name: statement.name, sql: schema.applied(to: statement.sql))
      if !statement.name.isEmpty { renamed[statement.sql] = own }
      return own
    }
    return Call(own, call.parameters)
  }

  private func perform(
    _ work: Transaction.Work, timeout: Duration, isImpatient: Bool = false
  ) async throws(PostgresError) -> [QueryResult] {
    let now = ContinuousClock.now
    let deadline = now + max(timeout, leastTimeout)
    let number = responses.withLock { $0.asked(now: now) }
    let outcome: Transaction.Outcome = await withCheckedContinuation { continuation in
      let transaction = Transaction(
        work: work, deadline: deadline,
        finish: { continuation.resume(returning: $0) }, isImpatient: isImpatient)
      if !mailbox.submit(transaction) { transaction.finish(.failure(PostgresError(.closed))) }
    }
    responses.withLock { $0.ended(number, outcome) }
    return try outcome.get()
  }
}

/// An event of a session, apart from the results of its transactions.
package enum SessionEvent: Hashable, Sendable {
  /// A connection is usable and its LISTENs are in effect.
  ///
  /// Notifications sent before this moment may have been missed, so the receiver must check for
  /// work. The version is in the form of `server_version_num`.
  case connected(serverVersion: Int, backendPID: Int32)
  /// A usable connection was lost; the session reconnects.
  case disconnected(reason: String)
  /// An attempt to connect failed; the session keeps trying.
  case unreachable(reason: String)
  /// A NOTIFY arrived on a channel that the session listens to.
  case notification(channel: String, payload: String)
}

/// Tracks whether the server answers a session's transactions; it reads no clock of its own.
struct ResponseTracker: Sendable {
  typealias Instant = ContinuousClock.Instant

  private var waiting: [Int: Instant] = [:]
  private var count = 0
  /// Whether the last transaction ended without an answer from the server.
  private var isCut = false

  /// Whether a transaction has not ended.
  var isAwaited: Bool { !waiting.isEmpty }

  /// Records that a transaction was submitted; returns the number to end it by.
  mutating func asked(now: Instant) -> Int {
    count += 1
    waiting[count] = now
    return count
  }

  /// Records that a transaction has ended. An error that the server reports is an answer, too.
  mutating func ended(_ number: Int, _ outcome: Transaction.Outcome) {
    waiting[number] = nil
    switch outcome {
    case .success: isCut = false
    case .failure(let error):
      switch error.kind {
      case .server: isCut = false
      case .unreachable, .connectionLost, .timeout, .protocol: isCut = true
      case .invalidConninfo, .invalidSchema, .invalidParameter, .unreadable, .closed: break
      }
    }
  }

  /// Whether the last transaction got no answer, or one has waited for `limit`.
  func isStalled(for limit: Duration, now: Instant) -> Bool {
    isCut || waiting.values.contains { now - $0 >= limit }
  }
}
