/// An error of a database operation.
package struct PostgresError: Error, Hashable, Sendable {
  /// The kinds of failure.
  package enum Kind: Hashable, Sendable {
    /// The connection string is invalid; a retry cannot succeed.
    case invalidConninfo(reason: String)
    /// A parameter (`index` counts from 0) contains a NUL character; nothing was sent.
    case invalidParameter(statement: String, index: Int)
    /// No connection was made within the time limit; nothing was sent.
    case unreachable(reason: String)
    /// The connection was lost during the transaction, which may have committed if all was `sent`.
    case connectionLost(sent: Bool, reason: String)
    /// The time limit passed; the transaction may have committed if all of it was `sent`.
    case timeout(sent: Bool)
    /// PostgreSQL reported an error; the transaction is rolled back.
    case server(ServerError)
    /// The server's reply is one that this session does not support, such as COPY.
    case `protocol`(reason: String)
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
      case .unreachable(let reason): .unreachable(reason: Redaction.clean(reason))
      case .connectionLost(let sent, let reason):
        .connectionLost(sent: sent, reason: Redaction.clean(reason))
      case .protocol(let reason): .protocol(reason: Redaction.clean(reason))
      case .invalidParameter, .timeout, .server, .closed: kind
      }
  }

  /// Whether the same work may succeed a moment later.
  ///
  /// Whether it is safe to repeat is another question: see `mayHaveCommitted`.
  package var isTransient: Bool {
    switch kind {
    case .unreachable, .connectionLost, .timeout: true
    case .server(let error): error.isTransient
    case .invalidConninfo, .invalidParameter, .protocol, .closed: false
    }
  }

  /// Whether the transaction may have committed: its outcome is unknown.
  package var mayHaveCommitted: Bool {
    switch kind {
    case .connectionLost(let sent, _), .timeout(let sent): sent
    case .protocol: true
    case .invalidConninfo, .invalidParameter, .unreachable, .server, .closed: false
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
    case .invalidParameter(let statement, let index):
      "parameter $\(index + 1) of \(statement) holds a NUL character"
    case .unreachable(let reason): "no connection to Postgres: \(reason)"
    case .connectionLost(let sent, let reason):
      "the connection to Postgres was lost \(Self.fate(sent)): \(reason)"
    case .timeout(let sent): "Postgres did not answer in time, \(Self.fate(sent))"
    case .server(let error): error.description
    case .protocol(let reason): "Postgres answered out of turn: \(reason)"
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
    let place = [statement.map { " in \($0)" }, constraint.map { " (constraint \($0))" }]
    return Redaction.clean("\(sqlState): \(text)\(place.compactMap(\.self).joined())")
  }
}
