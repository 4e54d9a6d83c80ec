import PostgresStore
import RideCore

/// What was seen of Postgres.
struct DatabaseFacts: Sendable {
  /// How the schema compares to this program's.
  enum Schema: Hashable, Sendable {
    case current
    case lacks([String])
    /// It belongs to another program than this one; the text says what to do.
    case foreign(String)
  }

  /// Something says where Postgres is, be it libpq's own variables.
  var isConfigured = true
  var server: Fact<ServerFacts> = .unasked
  var schema: Fact<Schema> = .unasked
  var rights: Fact<[MissingRight]> = .unasked
  /// `RIDEPULSE_LISTEN` is not off.
  var listens = true
  var listen: Fact<ListenProbe.Outcome> = .unasked
  var queue: Fact<NotifyQueue> = .unasked
  /// How many tables are attached, and what is wrong with them.
  var watched: Fact<WatchedTables> = .unasked
  /// How far the database's clock is ahead of this machine's.
  var lead: Fact<Duration> = .unasked
  var holder: Fact<RowHolder?> = .unasked
  var phones: Fact<[PhoneCount]> = .unasked
  var outcomes: Fact<TokenBacklog> = .unasked
}
