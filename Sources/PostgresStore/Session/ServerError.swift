internal import CLibpq

/// What Postgres said about a command that it refused.
package struct ServerError: Hashable, Sendable {
  /// The five characters of the SQLSTATE, such as `23505`.
  package let sqlState: String
  /// The primary message; may quote a value.
  package let message: String
  /// More about it, often with values of the row; not for logs.
  package let detail: String?
  /// What Postgres suggests.
  package let hint: String?
  /// The constraint that was violated, where it is one.
  package let constraint: String?
  /// The position of the mistake in the SQL text, in characters from 1.
  package let position: Int?
  /// The name of the statement that failed; nil in a script.
  package let statement: String?

  /// An error as Postgres reports it; the fields left out are unknown.
  package init(
    sqlState: String, message: String, detail: String? = nil, hint: String? = nil,
    constraint: String? = nil, position: Int? = nil, statement: String? = nil
  ) {
    self.sqlState = sqlState
    self.message = message
    self.detail = detail
    self.hint = hint
    self.constraint = constraint
    self.position = position
    self.statement = statement
  }

  /// True where the same work may well succeed a moment later: conflicts with other transactions,
  /// a server that is full, starting, stopping or read-only after a failover.
  package var isTransient: Bool {
    ["08", "40", "53"].contains(sqlState.prefix(2))
      || ["25006", "55P03", "57P01", "57P02", "57P03", "57P05", "58000", "58030"].contains(sqlState)
  }

  /// The values themselves are refused: out of range, twice the same, or against a constraint.
  var isOfValues: Bool { ["21", "22", "23"].contains(sqlState.prefix(2)) }

  /// The server does not hold the prepared statements that this session made: a pooler handed the
  /// transaction to another of its connections.
  var saysPreparedStatementsAreShared: Bool { sqlState == "26000" || sqlState == "42P05" }

  /// A prepared statement outlived a change of its tables ("cached plan must not change result
  /// type"); a fresh connection prepares anew.
  var saysPlanIsOutdated: Bool { sqlState == "0A000" && message.contains("cached plan") }

  /// A demoted server accepts connections but no writes; only another connection helps.
  var wantsAnotherServer: Bool { sqlState == "25006" }
}

extension ServerError {
  /// Reads a failed result; nil where the complaint is libpq's own, which means that the
  /// connection is lost.
  init?(_ result: QueryResult, statement: String?) {
    guard let state = result.errorField(67) else { return nil }
    self.init(
      sqlState: state, message: result.errorField(77) ?? "", detail: result.errorField(68),
      hint: result.errorField(72), constraint: result.errorField(110),
      position: result.errorField(80).flatMap { Int($0) }, statement: statement)
  }
}

extension QueryResult {
  /// The server ends the connection with this report.
  var isFatal: Bool { ["FATAL", "PANIC"].contains(errorField(86)) }
}
