import AdminServer
import PostgresStore

extension APIError {
  /// Creates the response for a call that failed in Postgres.
  init(_ error: PostgresError) {
    if error.mayHaveCommitted {
      self.init(
        .unknownOutcome,
        "the database's answer was lost, so this may be done or not; repeat it with its Idempotency-Key"
      )
    } else if error.isTransient {
      self.init(
        .databaseUnavailable, "the database does not answer; nothing was done, repeat it later")
    } else if let server = error.server, Self.isOfValues(server.sqlState) {
      // The description quotes no value.
      self.init(.refused, "Postgres refuses this: \(server)")
    } else if error.refusesRights {
      self.init(
        .databaseNotReady,
        "the service's role lacks a right in Postgres; nothing was done. ridepulse doctor names it"
      )
    } else {
      self.init(
        .databaseNotReady, "the service can't do this with its database now: \(error)")
    }
  }

  /// Returns whether the state is an error of the caller's values: a wrong type, a violated
  /// constraint, an exceeded limit, or an error raised by a trigger.
  private static func isOfValues(_ state: String) -> Bool {
    ["22", "23", "54", "P0"].contains(state.prefix(2))
  }
}
