import Base
internal import CLibpq
import RideCore

/// An error of a database operation.
package struct PostgresError: Error, Hashable, Sendable {
  /// The kinds of failure.
  package enum Kind: Hashable, Sendable {
    /// The connection string is invalid; a retry cannot succeed.
    case invalidConninfo(reason: String)
    /// `RIDEPULSE_SCHEMA` names no schema that this program can use.
    case invalidSchema(String)
    /// A parameter (`index` counts from 0) contains a NUL character; nothing was sent.
    case invalidParameter(statement: String, index: Int)
    /// No connection was made within the time limit; nothing was sent. It is final if another
    /// attempt cannot succeed, such as with a wrong password.
    case unreachable(reason: String, isFinal: Bool = false)
    /// The connection was lost during the transaction, which may have committed if all was `sent`.
    case connectionLost(sent: Bool, reason: String)
    /// The time limit passed; the transaction may have committed if all of it was `sent`.
    case timeout(sent: Bool)
    /// PostgreSQL reported an error; the transaction is rolled back.
    case server(ServerError)
    /// The server's reply is one that this session does not support, such as COPY.
    case `protocol`(reason: String)
    /// A row has NULL, or a value of another type, where a value is needed.
    case unreadable(column: String)
    /// The session was closed before the transaction began.
    case closed
  }

  /// The kind of failure, with its details.
  package let kind: Kind

  /// Creates an error and removes passwords from its texts.
  package init(_ kind: Kind) {
    self.kind =
      switch kind {
      case .invalidConninfo(let reason): .invalidConninfo(reason: Redaction.clean(reason))
      case .unreachable(let reason, let isFinal):
        .unreachable(reason: Redaction.clean(reason), isFinal: isFinal)
      case .connectionLost(let sent, let reason):
        .connectionLost(sent: sent, reason: Redaction.clean(reason))
      case .protocol(let reason): .protocol(reason: Redaction.clean(reason))
      case .invalidSchema, .invalidParameter, .timeout, .server, .unreadable, .closed: kind
      }
  }

  /// Whether the same work may succeed a moment later.
  ///
  /// Whether it is safe to repeat is another question: see `mayHaveCommitted`.
  package var isTransient: Bool {
    switch kind {
    case .unreachable, .connectionLost, .timeout: true
    case .server(let error): error.isTransient
    case .invalidConninfo, .invalidSchema, .invalidParameter, .protocol, .unreadable, .closed: false
    }
  }

  /// Whether the transaction may have committed: its outcome is unknown.
  package var mayHaveCommitted: Bool {
    switch kind {
    case .connectionLost(let sent, _), .timeout(let sent): sent
    case .protocol: true
    case .invalidConninfo, .invalidSchema, .invalidParameter, .unreachable, .server, .unreadable,
      .closed:
      false
    }
  }

  /// The server's error report, if the server reported one.
  package var server: ServerError? {
    if case .server(let error) = kind { error } else { nil }
  }
}

extension PostgresError: CustomStringConvertible {
  /// One line that is safe to log: no password and no values of rows.
  package var description: String {
    switch kind {
    case .invalidConninfo(let reason): "the connection string cannot be read: \(reason)"
    case .invalidSchema(let name):
      "RIDEPULSE_SCHEMA is \"\(Escape.line(name))\": expected at most 40 characters of a-z, 0-9 and _, "
        + "the first no digit, and no name that Postgres reserves"
    case .invalidParameter(let statement, let index):
      "parameter $\(index + 1)\(statement.isEmpty ? "" : " of \(statement)") holds a NUL character"
    case .unreachable(let reason, _): "no connection to Postgres: \(reason)"
    case .connectionLost(let sent, let reason):
      "the connection to Postgres was lost \(Self.fate(sent)): \(reason)"
    case .timeout(let sent): "Postgres did not answer in time, \(Self.fate(sent))"
    case .server(let error): error.description
    case .protocol(let reason): "Postgres answered out of turn: \(reason)"
    case .unreadable(let column): "column \(column) has no value that can be read"
    case .closed: "the database session is closed"
    }
  }

  private static func fate(_ sent: Bool) -> String {
    sent ? "after all was sent" : "before all was sent"
  }
}

extension ServerError: CustomStringConvertible {
  /// One line that is safe to log: SQLSTATE, message, statement and constraint, without the detail.
  package var description: String {
    // Errors of class 22 quote the value that they refuse. The search is by bytes, because the
    // quote and a combining mark at the start of the value are one Character.
    let quoted =
      sqlState.hasPrefix("22") ? message.utf8.firstRange(of: Array(": \"".utf8)) : nil
    let text = quoted.map { String(message[..<$0.lowerBound]) } ?? message
    let origin = [statement.map { " in \($0)" }, constraint.map { " (constraint \($0))" }]
    return Redaction.clean("\(sqlState): \(text)\(origin.compactMap(\.self).joined())")
  }
}

extension PostgresError {
  /// The error as the engine classifies it.
  var failure: StoreFailure { StoreFailure(cause, description) }

  private var cause: StoreFailure.Cause {
    switch kind {
    case .timeout(let sent): sent ? .timeout : .unavailable
    case .unreachable, .connectionLost, .closed, .protocol, .invalidConninfo, .invalidSchema:
      .unavailable
    case .invalidParameter, .unreadable: .values
    case .server(let error): error.cause
    }
  }
}

extension ServerError {
  /// What the SQLSTATE means for another attempt.
  var cause: StoreFailure.Cause {
    switch (sqlState.prefix(2), sqlState) {
    case (_, "57014"): .timeout
    case (_, "55P03"), ("40", _): .conflict
    // A disk that is full or fails, and a server that stops, affect every ride alike.
    case ("08", _), ("53", _), ("57", _), ("58", _), (_, "25006"): .unavailable
    case ("21", _), ("22", _), ("23", _): .values
    default: .refused
    }
  }
}

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
  /// The name of the statement that failed; nil in a script, and if the statement has none.
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
    self.statement = statement.flatMap { $0.isEmpty ? nil : $0 }
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
  var isSharedPreparedStatement: Bool { sqlState == "26000" || sqlState == "42P05" }

  /// Whether a prepared statement outlived a change of its tables ("cached plan must not change
  /// result type"); a new connection prepares it again.
  var isOutdatedPlan: Bool { sqlState == "0A000" && message.contains("cached plan") }

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
