import PostgresStore
import RideCore

/// A session of an administrator or another application, for triggers, grants and locks.
struct AdminSession: Sendable {
  let session: PostgresSession

  init(conninfo: String, listen: [String] = [], applicationName: String = "chaos-admin") throws {
    session = try PostgresSession(
      conninfo: conninfo, listen: listen, applicationName: applicationName)
  }

  /// Repeats an idempotent script until Postgres has executed it.
  func executeUntilDone(_ sql: String) async throws {
    while true {
      do {
        return try await session.script(sql)
      } catch {
        // XX000: a concurrent GRANT or ALTER of the same table.
        let isConflict = error.server?.sqlState == "XX000"
        if !error.isTransient && !error.mayHaveCommitted && !isConflict { throw error }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// Returns the first value of a query; nil while Postgres is unavailable.
  func value(_ sql: String) async throws -> String? {
    do {
      return try await session.run([Call(Statement(name: "", sql: sql))])[0].string(0, 0)
    } catch {
      if !error.isTransient && !error.mayHaveCommitted { throw error }
      return nil
    }
  }

  func close(limit: Duration = .seconds(5)) async { await session.close(limit: limit) }
}
