import PostgresStore

/// Describes what keeps the start of a service from using the database.
struct StartObstacle {
  enum Awaited: String, CustomStringConvertible {
    case postgres = "Postgres"
    case schema = "the schema"

    var description: String { rawValue }
  }

  /// What the service can wait for.
  let awaited: Awaited
  let reason: String
  /// The message of a command that does not wait.
  let message: String
  /// Whether waiting cannot help.
  let isFinal: Bool

  /// Returns nil for an error that is of no database.
  init?(_ error: any Error) {
    switch error {
    case let lack as MissingMigrations:
      // `ridepulse migrate` may run at the same time, as it does when a cluster is installed.
      self.init(
        awaited: .schema, reason: lack.description, message: lack.description, isFinal: false)
    case MigrationError.database(let failure): self.init(failure)
    case let failure as PostgresError: self.init(failure)
    default: return nil
    }
  }

  init(_ failure: PostgresError) {
    let reason =
      if case .unreachable(let reason, _) = failure.kind { reason } else { failure.description }
    let message =
      if case .server = failure.kind {
        "the database can't be used: \(failure); ridepulse doctor explains it"
      } else {
        "the database can't be reached: \(failure); see DATABASE_URL or the PG* variables"
      }
    self.init(awaited: .postgres, reason: reason, message: message, isFinal: failure.isFinal)
  }

  private init(awaited: Awaited, reason: String, message: String, isFinal: Bool) {
    (self.awaited, self.reason) = (awaited, reason)
    (self.message, self.isFinal) = (message, isFinal)
  }
}
