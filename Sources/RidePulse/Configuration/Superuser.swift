import Base
import PostgresStore
import RideCore

/// Warns of a service that runs as a superuser.
enum Superuser {
  /// The commands that make a role for the service.
  static var remedy: String {
    Database.named(
      "ridepulse migrate --roles, then psql -c 'create role ridepulse_serve login in role "
        + "ridepulse_engine', and name that role in DATABASE_URL")
  }

  /// Logs it once, at the start of a service.
  static func warn(_ pool: SessionPool, _ log: Log) async {
    let server = try? await pool.with(.short) { try await ServerState.read($0) }
    guard let server, server.isSuperuser else { return }
    log(.warning, .runningAsSuperuser, ["role": server.role, "fix": remedy])
  }
}
