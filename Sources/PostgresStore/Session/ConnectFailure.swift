internal import RideCore

/// Why an attempt to connect failed.
struct ConnectFailure: Hashable, Sendable {
  /// libpq's message without SQLSTATE codes, as other clients show it.
  let reason: String
  /// Whether another attempt cannot succeed before the configuration changes.
  let isFinal: Bool

  private init(reason: String, isFinal: Bool) {
    self.reason = reason
    self.isFinal = isFinal
  }

  func cleaned(_ clean: (String) -> String) -> ConnectFailure {
    ConnectFailure(reason: clean(reason), isFinal: isFinal)
  }

  /// A failure that may pass.
  init(_ reason: String) {
    self.reason = reason
    isFinal = false
  }

  /// Reads libpq's message about an attempt whose verbosity was `verbose`.
  ///
  /// libpq has no call that returns the SQLSTATE of a refused connection. At that verbosity the code
  /// follows the severity, in every language of the server. If several hosts were tried, the last
  /// one counts: libpq goes on to the next host unless the refusal is about the user or database.
  ///
  /// - Parameter needsPassword: Whether the server asked for a password and there is none.
  init(verbose message: String, needsPassword: Bool) {
    let code = #/:  ([0-9A-Z]{5}): /#
    var lines: [String] = []
    var last: String?
    for line in message.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("LOCATION:  ") { continue }
      if let match = line.firstMatch(of: code) { last = String(match.output.1) }
      lines.append(String(line.replacing(code, with: ":  ", maxReplacements: 1)))
    }
    reason = lines.joined(separator: "\n")
    isFinal = needsPassword || last.map(ServerError.isFinal) ?? false
  }
}

extension ServerError {
  /// Whether only a change of the configuration, the schema or the rights can remove this error: a
  /// server that starts, stops or is full gives others.
  var isFinal: Bool { Self.isFinal(sqlState) }

  /// Classes: 0A unsupported, 22 values, 28 authorization, 3D no such database, 3F no such schema,
  /// 42 names and rights.
  static func isFinal(_ sqlState: String) -> Bool {
    ["0A", "22", "28", "3D", "3F", "42"].contains(sqlState.prefix(2))
  }
}

extension PostgresError {
  /// Whether waiting cannot help.
  package var isFinal: Bool {
    switch kind {
    case .invalidConninfo, .invalidSchema, .invalidParameter, .unreadable, .closed: true
    case .unreachable(_, let isFinal): isFinal
    case .server(let error): error.isFinal
    case .connectionLost, .timeout, .protocol: false
    }
  }
}
