/// How long a statement of the engine waits for a lock that another session holds.
///
/// The engine holds its own locks for milliseconds. A session that holds one for longer, such as an
/// app's transaction or CREATE INDEX, must not block all work behind it.
enum LockLimit {
  /// An expression for a SELECT that precedes the statement in the same transaction.
  static let setting = "set_config('lock_timeout', '1s', true)"

  /// A shorter limit, for statements that can skip any single row or table.
  static let short = Statement(
    name: "lock_limit", sql: "select set_config('lock_timeout', '100ms', true)")
}
