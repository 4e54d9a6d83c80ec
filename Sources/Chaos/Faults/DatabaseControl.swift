import Foundation
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

/// The role that the nodes connect as; it owns nothing, so that its privileges can be revoked.
enum EngineRole {
  static let name = "chaos_engine"

  /// Creates the role with every privilege on the schema's tables, sequences and functions.
  static let script = """
    create role \(name) login;
    grant pg_monitor to \(name);
    grant usage on schema ridepulse to \(name);
    grant select, insert, update, delete on all tables in schema ridepulse to \(name);
    grant usage, select, update on all sequences in schema ridepulse to \(name);
    grant execute on all routines in schema ridepulse to \(name);
    """

  /// Replaces the user of a connection string; libpq uses the last value of a repeated keyword.
  static func conninfo(_ conninfo: String) -> String { "\(conninfo) user=\(name)" }
}

/// The clock of the run's Postgres, which determines leases, due times and validity.
///
/// It can be changed while the server runs, but only ahead of the machine's clock and back to it:
/// the simulator uses the machine's clock, so a push that is still valid by a slower database clock
/// would arrive late.
struct DatabaseClock: Sendable {
  private let file: String
  private let library: String

  /// Returns nil if libfaketime is not installed.
  init?(directory: String) throws {
    let places = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map {
      "/usr/lib/\($0)/faketime/libfaketimeMT.so.1"
    }
    guard let library = places.first(where: FileManager.default.fileExists(atPath:)) else {
      return nil
    }
    self.library = library
    file = directory + "/clock"
    try set(ahead: 0)
  }

  /// The environment that Postgres must be started with.
  var environment: [String: String] {
    [
      "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_CACHE_DURATION": "1",
      // Waits use the monotonic clock, as they do on a machine whose wall clock is set.
      "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
    ]
  }

  /// Sets the clock this many seconds ahead; every server process adopts the change within a second.
  func set(ahead seconds: Int) throws {
    try Data("+\(seconds)\n".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
  }
}
