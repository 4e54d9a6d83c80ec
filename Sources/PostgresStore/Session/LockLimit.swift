/// How long a statement of the engine waits for a lock that another session holds.
///
/// Locks of the engine's own are held for milliseconds. Whoever holds one for longer, such as an
/// app's transaction or CREATE INDEX, must not hold up everything behind it.
enum LockLimit {
  /// An expression for a SELECT before the statement, in the same transaction.
  static let setting = "set_config('lock_timeout', '1s', true)"

  /// The same for statements that can do without any one row or table.
  static let short = Statement(
    name: "lock_limit", sql: "select set_config('lock_timeout', '100ms', true)")
}
