import PostgresStore

/// The database and the schema that a service works in.
struct Cell: Hashable, Sendable {
  /// Nil if the process has no other cell.
  var name: String?
  /// A libpq connection string or URL; empty for libpq's own `PG*` variables.
  var conninfo: String
  /// Nil for the schema of `RIDEPULSE_SCHEMA`.
  var schema: SchemaName?

  /// The cell that a command works in; nil if the environment names the only one.
  @TaskLocal static var current: Cell?

  /// Returns a line of text with the cell before it, if there are several.
  func line(_ text: String) -> String { name.map { "cell \($0): \(text)" } ?? text }

  /// Runs `body` in this cell: its sessions open there, and its texts name the cell's schema.
  func with<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    try await Self.$current.withValue(self) { try await body() }
  }

  /// Returns the environment of a command that works in this cell alone.
  func environment(_ environment: [String: String]) -> [String: String] {
    var own = environment
    own[CellFile.variable] = nil
    own["DATABASE_URL"] = conninfo
    return own
  }
}
