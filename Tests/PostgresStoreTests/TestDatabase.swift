import LocalStack
import StoreTestSupport
import TestSupport
import Testing

@testable import PostgresStore

/// Creates an empty database on the process's shared cluster.
func makeDatabase() async throws -> String {
  try await LocalCluster.shared().freshDatabase()
}

/// Creates a database with the schema in it on the process's shared cluster.
func migratedDatabase() async throws -> String {
  try await LocalCluster.shared().migratedDatabase()
}

/// The number of sessions of this database that wait for an advisory lock.
let waitingForAdvisoryLock = """
  select count(*) from pg_locks join pg_database d on d.oid = database
  where locktype = 'advisory' and not granted and datname = current_database()
  """

/// A log of a session's events that a test can wait for.
struct EventLog: Sendable {
  let stream: AsyncStream<SessionEvent>
  let record: @Sendable (SessionEvent) -> Void

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: SessionEvent.self)
    self.stream = stream
    record = { continuation.yield($0) }
  }

  /// Waits for a matching event and discards those before it; nil only if the test is cancelled.
  func first(where matches: @Sendable (SessionEvent) -> Bool) async -> SessionEvent? {
    await stream.first { matches($0) }
  }

  func nextConnection() async -> Int32? {
    let event = await first { if case .connected = $0 { true } else { false } }
    guard case .connected(_, let pid) = event else { return nil }
    return pid
  }

  func nextDisconnection() async -> String? {
    let event = await first { if case .disconnected = $0 { true } else { false } }
    guard case .disconnected(let reason) = event else { return nil }
    return reason
  }
}

/// Calls of tests without a limit of their own: that of the service is too short on a busy machine.
extension PostgresSession {
  /// A session for tests that measure no limit: those of the code under test do not hold either.
  convenience init(conninfo: String) throws(PostgresError) {
    try self.init(conninfo: conninfo, leastTimeout: patience)
  }

  func run(_ calls: [Call]) async throws(PostgresError) -> [QueryResult] {
    try await run(calls, timeout: patience)
  }

  func script(_ sql: String) async throws(PostgresError) {
    try await script(sql, timeout: patience)
  }

  /// Returns the value in the first row and column of a statement that is not prepared.
  func value(
    _ sql: String, _ parameters: [String?] = [], timeout: Duration = patience
  ) async throws(PostgresError) -> String? {
    let call = Call(Statement(name: "", sql: sql), parameters)
    return try await run([call], timeout: timeout).first?.string(0, 0)
  }

  /// Returns each row of a statement's result, its values between spaces.
  func rows(_ sql: String) async throws -> [String] {
    let result = try await run([direct(sql)])[0]
    return (0..<result.rowCount).map { row in
      (0..<result.columnCount).map { result.string(row, $0) ?? "-" }.joined(separator: " ")
    }
  }

  /// Returns the SQLSTATE and message with which the server refuses a statement; nil if it does not.
  func refusal(_ sql: String) async throws -> String? {
    do throws(PostgresError) {
      _ = try await run([direct(sql)])
      return nil
    } catch {
      return error.server.map { "\($0.sqlState) \($0.message)" }
    }
  }
}

func direct(_ sql: String, _ parameters: [String?] = []) -> Call {
  Call(Statement(name: "", sql: sql), parameters)
}

extension PostgresSession {
  /// Runs a statement concurrently with the test.
  func begin(_ sql: String) -> Task<Result<String?, PostgresError>, Never> {
    Task {
      do throws(PostgresError) {
        return .success(try await value(sql))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Waits until the other backend executes `pg_sleep`.
  func waitUntilSleeping(_ pid: String) async throws {
    let sleeping = """
      select count(*) from pg_stat_activity
      where pid = $1::int and wait_event = 'PgSleep'
      """
    try await wait(until: sleeping, [pid], is: "1")
  }

  /// Waits until the single value of a query is as expected; records an issue if it never is.
  func wait(
    until query: String, _ parameters: [String?] = [], is expected: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    var last: String?
    do {
      try await TestSupport.wait(until: "\(query) is \(expected); it is \(last ?? "null")") {
        last = try await value(query, parameters)
        return last == expected
      }
    } catch let failure as TestFailure {
      Issue.record(failure, sourceLocation: sourceLocation)
    }
  }

  /// Waits until the oldest holder of dead rows is as expected.
  ///
  /// Autovacuum may be the oldest holder for a time.
  func rowHolder(where isExpected: (BlockingBackend) -> Bool) async throws -> BlockingBackend? {
    var found: BlockingBackend?
    try await TestSupport.wait(until: "the expected backend holds rows back") {
      found = try await BlockingBackend.oldest(self)
      return found.map(isExpected) ?? false
    }
    return found
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
