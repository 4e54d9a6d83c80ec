/// One SQL command with numbered parameters (`$1`), fixed when the program is built.
package struct Statement: Hashable, Sendable {
  /// The name used in errors: unique in the program, at most 46 bytes.
  ///
  /// A statement with an empty name is never prepared.
  package let name: String
  /// Exactly one command; a semicolon at the end is not needed.
  package let sql: String
  /// The name of the prepared statement on the server, which depends on the text.
  ///
  /// Behind a pooler, programs of several versions share a server connection, so that a name must
  /// mean the same text to all of them.
  let preparedName: String

  package init(name: String, sql: String) {
    self.name = name
    self.sql = sql
    preparedName = name.isEmpty ? "" : "\(name)_\(Self.digest(of: sql))"
  }

  static func listen(to channel: String) -> Statement {
    Statement(name: "", sql: "LISTEN \(SQLText.identifier(channel))")
  }

  /// FNV-1a: it distinguishes texts, and protects no secret.
  private static func digest(of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}

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
