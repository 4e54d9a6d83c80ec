import Testing

/// Secrets that no log may contain, at any level.
enum Secrets {
  /// Returns the first line with a provider token, a private key or a whole device token; nil if
  /// there is none.
  static func leak(in log: String) -> String? {
    log.split(separator: "\n").map(String.init).first { line in
      // The start of a PKCS #8 key in base64; messages may quote the PEM line before it.
      line.contains(#/MIG[A-Z]AgEA/#) || line.contains(#/eyJ[A-Za-z0-9_-]{12,}/#)
        || line.contains(#/[0-9A-Fa-f]{64}/#)
        // Of Google: an RSA key, an access token, a whole registration token.
        || line.contains(#/MII[A-Za-z0-9+\/]{3}IBADAN/#) || line.contains(#/ya29\./#)
        || line.contains(#/:APA91b/#)
    }
  }

  /// Fails the test if its process logged a secret.
  static func expectNone(in log: String) {
    if let line = leak(in: log) { Issue.record("R60: a log line holds a secret: \(line)") }
  }
}
