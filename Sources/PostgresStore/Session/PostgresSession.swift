internal import Foundation
internal import Synchronization

/// One connection to Postgres on a thread of its own, so that no caller's thread ever waits for it.
///
/// It connects when it is made and again whenever the connection is lost. Runs are handled one
/// after another, in the order of their coming.
package final class PostgresSession: Sendable {
  private let mailbox = SessionMailbox()
  private let watch = Mutex(StatementTimeouts())

  /// Begins to connect in the background.
  ///
  /// - Parameters:
  ///   - conninfo: a libpq connection string or URL; empty for libpq's own `PG*` variables.
  ///   - listen: channels to LISTEN on, on each connection anew.
  ///   - applicationName: shown in `pg_stat_activity` where the connection string names none.
  ///   - connectTimeout: the limit for one attempt to connect.
  ///   - onEvent: called on the session's thread, in order; has to return at once. Kept until the
  ///     session ends, so it must not hold the session.
  /// - Throws: `invalidConninfo`, or `unreachable` where the process may open no more files; never
  ///   anything about the server.
  package init(
    conninfo: String, listen: [String] = [], applicationName: String = "ridepulse",
    connectTimeout: Duration = .seconds(5),
    onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }
  ) throws(PostgresError) {
    let settings = try ConnectionSettings(
      conninfo: conninfo, applicationName: applicationName, connectTimeout: connectTimeout)
    guard mailbox.wakeup.isUsable else {
      throw PostgresError(.unreachable(reason: "this process may open no more files"))
    }
    let mailbox = mailbox
    let thread = Thread {
      SessionLoop(settings: settings, channels: listen, mailbox: mailbox, onEvent: onEvent).run()
    }
    thread.name = "postgres"
    thread.start()
  }

  deinit {
    mailbox.requestClose(by: .now)
  }

  /// Executes all calls in one round trip and one transaction, and returns their results in order.
  ///
  /// Cancelling the task does not cut a run short: its fate has to be known. A run is not repeated
  /// after a lost connection, because it may have committed; see `mayHaveCommitted`.
  ///
  /// - Parameter timeout: for waiting and executing together; what runs then is cancelled.
  /// - Throws: the error of the first call that fails; nothing of any call remains then.
  package func run(
    _ calls: [Call], timeout: Duration = .seconds(10)
  ) async throws(PostgresError) -> [QueryResult] {
    if calls.isEmpty { return [] }
    for call in calls {
      guard let index = call.indexOfParameterWithNUL else { continue }
      throw PostgresError(.invalidParameter(statement: call.statement.name, index: index))
    }
    return try await perform(.calls(calls), timeout: timeout)
  }

  /// Executes a text of several commands, in one transaction unless it says otherwise itself.
  ///
  /// - Parameter timeout: for waiting and executing together; what runs then is cancelled.
  /// - Throws: the error of the first command that fails, with its position in the text.
  package func script(
    _ sql: String, timeout: Duration = .seconds(10)
  ) async throws(PostgresError) {
    if sql.utf8.contains(0) {
      throw PostgresError(.invalidParameter(statement: "script", index: 0))
    }
    _ = try await perform(.script(sql), timeout: timeout)
  }

  /// Finishes the runs that wait, fails those that are left at the limit, and ends the thread.
  ///
  /// Runs that come later fail with `closed`. May be called more than once.
  package func close(limit: Duration = .seconds(5)) async {
    mailbox.requestClose(by: .now + limit)
    await mailbox.waitForEnd()
  }

  /// True where the last run had no answer of the server's, or one waits for so long: what needs
  /// this session stands still. Whoever asks must see to it that runs come.
  package func isStalled(for limit: Duration = .seconds(5)) -> Bool {
    watch.withLock { $0.isStalled(for: limit, now: .now) }
  }

  private func perform(
    _ work: Transaction.Work, timeout: Duration
  ) async throws(PostgresError) -> [QueryResult] {
    let now = ContinuousClock.now
    let deadline = now + timeout
    let number = watch.withLock { $0.asked(now: now) }
    let outcome: Transaction.Outcome = await withCheckedContinuation { continuation in
      let run = Transaction(work: work, deadline: deadline) { continuation.resume(returning: $0) }
      if !mailbox.submit(run) { run.finish(.failure(PostgresError(.closed))) }
    }
    watch.withLock { $0.ended(number, outcome) }
    return try outcome.get()
  }
}
