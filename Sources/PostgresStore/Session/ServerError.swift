internal import CLibpq

/// The error report of PostgreSQL for a command that failed.
package struct ServerError: Hashable, Sendable {
  /// The five characters of the SQLSTATE, such as `23505`.
  package let sqlState: String
  /// The primary message; it may quote a value.
  package let message: String
  /// The detail, which often holds values of the row; not for logs.
  package let detail: String?
  /// PostgreSQL's hint.
  package let hint: String?
  /// The constraint that was violated, if any.
  package let constraint: String?
  /// The position of the error in the SQL text, in characters from 1.
  package let position: Int?
  /// The name of the statement that failed; nil in a script.
  package let statement: String?

  /// Creates an error report; fields that are left out are unknown.
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

  /// Whether the same work may succeed a moment later.
  ///
  /// This covers conflicts with other transactions, and a server that is full, starting, stopping,
  /// or read-only after a failover.
  package var isTransient: Bool {
    ["08", "40", "53"].contains(sqlState.prefix(2))
      || ["25006", "55P03", "57P01", "57P02", "57P03", "57P05", "58000", "58030"].contains(sqlState)
  }

  /// Whether the values themselves are refused: out of range, duplicate, or against a constraint.
  var isOfValues: Bool { ["21", "22", "23"].contains(sqlState.prefix(2)) }

  /// Whether the server lacks the statements that this session prepared, or has them already.
  ///
  /// A pooler has assigned the transaction to another of its server connections.
  var saysPreparedStatementsAreShared: Bool { sqlState == "26000" || sqlState == "42P05" }

  /// Whether a prepared statement outlived a change of its tables ("cached plan must not change
  /// result type"); a new connection prepares it again.
  var saysPlanIsOutdated: Bool { sqlState == "0A000" && message.contains("cached plan") }

  /// Whether the server is demoted: it accepts connections but no writes, so the session must
  /// connect again.
  var wantsAnotherServer: Bool { sqlState == "25006" }
}

extension ServerError {
  /// Reads a failed result; returns nil if the error is libpq's own, which means that the
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
  /// Whether the server ends the connection with this report.
  var isFatal: Bool { ["FATAL", "PANIC"].contains(errorField(86)) }
}
