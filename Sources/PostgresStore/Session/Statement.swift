/// One SQL command with numbered parameters (`$1`), known when the program is built.
package struct Statement: Hashable, Sendable {
  /// What errors call it: unique in the program, at most 46 bytes. An empty one is never prepared.
  package let name: String
  /// The command: exactly one, without a semicolon at its end being needed.
  package let sql: String
  /// The name that the server keeps the prepared form under. Behind a pooler, programs of several
  /// versions share a server's connection: a name means the same text to all of them.
  let preparedName: String

  /// A command and the name of its prepared form.
  package init(name: String, sql: String) {
    self.name = name
    self.sql = sql
    preparedName = name.isEmpty ? "" : "\(name)_\(Self.digest(of: sql))"
  }

  static func listen(to channel: String) -> Statement {
    Statement(name: "", sql: "LISTEN \(SQLText.identifier(channel))")
  }

  /// FNV-1a: it tells texts apart, and keeps no secret.
  private static func digest(of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}

/// A statement with the values for its parameters.
package struct Call: Hashable, Sendable {
  /// What to execute.
  package let statement: Statement
  /// The values for `$1`, `$2` … in Postgres' text form; nil is NULL.
  package let parameters: [String?]

  /// A call of a statement; `PostgresArray.literal` writes array parameters.
  package init(_ statement: Statement, _ parameters: [String?] = []) {
    self.statement = statement
    self.parameters = parameters
  }

  /// The first parameter that holds a NUL, which no Postgres text can carry and at which libpq
  /// would cut the value off without a word.
  var indexOfParameterWithNUL: Int? {
    parameters.firstIndex { $0?.containsByte { $0 == 0 } ?? false }
  }
}
