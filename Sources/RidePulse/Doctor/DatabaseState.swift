import PostgresStore
import RideCore

/// The probe results of Postgres.
struct DatabaseState: Sendable {
  /// The state of the schema compared with the migrations of this program.
  enum Schema: Hashable, Sendable {
    case current
    case lacks([String])
    /// The schema belongs to another version of the program; the text describes what to do.
    case foreign(String)
  }

  /// Whether the environment configures the server, if only by libpq's own variables.
  var isConfigured = true
  var server: Probe<ServerState> = .unasked
  var schema: Probe<Schema> = .unasked
  var rights: Probe<[MissingRight]> = .unasked
  /// Whether LISTEN is used: `RIDEPULSE_LISTEN` is not off.
  var listens = true
  var listen: Probe<ListenProbe.Outcome> = .unasked
  var queue: Probe<NotifyQueue> = .unasked
  /// The number of attached tables, and their problems.
  var watched: Probe<WatchedTables> = .unasked
  /// How far the database's clock is ahead of the local one.
  var lead: Probe<Duration> = .unasked
  var holder: Probe<BlockingBackend?> = .unasked
  var phones: Probe<[PhoneCount]> = .unasked
  var outcomes: Probe<TokenBacklog> = .unasked
}
