import Testing

/// What no log may hold, at any level.
enum Secrets {
  /// The first line that holds a provider token, a private key or a whole device token; nil where
  /// none does.
  static func leak(in log: String) -> String? {
    log.split(separator: "\n").map(String.init).first { line in
      // A key as PKCS #8 begins so in base64; messages may name the line before it.
      line.contains(#/MIG[A-Z]AgEA/#) || line.contains(#/eyJ[A-Za-z0-9_-]{12,}/#)
        || line.contains(#/[0-9A-Fa-f]{64}/#)
    }
  }

  /// Fails the test whose process has said something secret.
  static func expectNone(in log: String) {
    if let line = leak(in: log) { Issue.record("R60: a log line holds a secret: \(line)") }
  }
}
