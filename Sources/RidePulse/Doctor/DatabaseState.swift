import PostgresStore
import RideCore

/// What was seen of Postgres.
struct DatabaseState: Sendable {
  /// How the schema compares to this program's.
  enum Schema: Hashable, Sendable {
    case current
    case lacks([String])
    /// It belongs to another program than this one; the text says what to do.
    case foreign(String)
  }

  /// Something says where Postgres is, be it libpq's own variables.
  var isConfigured = true
  var server: Probe<ServerState> = .unasked
  var schema: Probe<Schema> = .unasked
  var rights: Probe<[MissingRight]> = .unasked
  /// `RIDEPULSE_LISTEN` is not off.
  var listens = true
  var listen: Probe<ListenProbe.Outcome> = .unasked
  var queue: Probe<NotifyQueue> = .unasked
  /// How many tables are attached, and what is wrong with them.
  var watched: Probe<WatchedTables> = .unasked
  /// How far the database's clock is ahead of this machine's.
  var lead: Probe<Duration> = .unasked
  var holder: Probe<BlockingBackend?> = .unasked
  var phones: Probe<[PhoneCount]> = .unasked
  var outcomes: Probe<TokenBacklog> = .unasked
}
