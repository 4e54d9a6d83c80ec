/// Why work with the database failed.
package struct PostgresError: Error, Hashable, Sendable {
  /// The ways to fail.
  package enum Kind: Hashable, Sendable {
    /// The connection string cannot be read; trying again is of no use.
    case invalidConninfo(reason: String)
    /// A parameter (from 0) holds a NUL character; nothing was sent.
    case invalidParameter(statement: String, index: Int)
    /// No connection within the time limit; nothing was sent.
    case unreachable(reason: String)
    /// The connection died during this run. Where all of it was `sent`, it may have committed.
    case connectionLost(sent: Bool, reason: String)
    /// The time limit passed. Where all of it was `sent`, it may have committed.
    case timeout(sent: Bool)
    /// Postgres refused; the transaction is rolled back.
    case server(ServerError)
    /// The server answered with something that this session does not do, such as COPY.
    case `protocol`(reason: String)
    /// The session was closed before this run began.
    case closed
  }

  /// What happened.
  package let kind: Kind

  /// An error of a kind; passwords are taken out of its texts.
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

  /// True where the same work may well succeed a moment later; whether it may be repeated is
  /// another question, see `mayHaveCommitted`.
  package var isTransient: Bool {
    switch kind {
    case .unreachable, .connectionLost, .timeout: true
    case .server(let error): error.isTransient
    case .invalidConninfo, .invalidParameter, .protocol, .closed: false
    }
  }

  /// True where nobody can tell whether the run took effect.
  package var mayHaveCommitted: Bool {
    switch kind {
    case .connectionLost(let sent, _), .timeout(let sent): sent
    case .protocol: true
    case .invalidConninfo, .invalidParameter, .unreachable, .server, .closed: false
    }
  }

  /// What the server said, where it was the server.
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
  /// One line that is safe to log: state, message, statement and constraint, without the detail.
  package var description: String {
    // Class 22 complains about a value and quotes it. By bytes: the quote and a combining mark at the
    // start of the value are one Character.
    let quoted =
      sqlState.hasPrefix("22") ? message.utf8.firstRange(of: Array(": \"".utf8)) : nil
    let text = quoted.map { String(message[..<$0.lowerBound]) } ?? message
    let place = [statement.map { " in \($0)" }, constraint.map { " (constraint \($0))" }]
    return Redaction.clean("\(sqlState): \(text)\(place.compactMap(\.self).joined())")
  }
}
