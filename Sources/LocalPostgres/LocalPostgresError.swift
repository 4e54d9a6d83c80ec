/// The reason why a private Postgres cannot be started.
package enum LocalPostgresError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server's programs are not installed.
  case missingBinaries(lookedIn: [String])
  /// PgBouncer is not installed.
  case missingPgBouncer(lookedIn: [String])
  /// The directory of the cluster cannot be created, or its owner cannot be changed.
  case directory(reason: String)
  /// A program of Postgres failed; `output` is its last output.
  case failed(program: String, output: String)
  /// The server did not accept connections, or did not end, in time.
  case tooSlow(what: String, output: String)

  /// What happened, and what to do about it if that is known.
  package var description: String {
    switch self {
    case .missingBinaries(let places):
      "Postgres is not installed (no initdb in \(places.joined(separator: ", "))): "
        + "install the Debian package `postgresql`"
    case .missingPgBouncer(let places):
      "PgBouncer is not installed (not in \(places.joined(separator: ", "))): "
        + "install the Debian package `pgbouncer`"
    case .directory(let reason): "no directory for a private Postgres: \(reason)"
    case .failed(let program, let output): "\(program) failed: \(output)"
    case .tooSlow(let what, let output): "\(what) took too long: \(output)"
    }
  }
}
