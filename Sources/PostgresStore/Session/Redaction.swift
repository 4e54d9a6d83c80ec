internal import RideCore

/// Removes passwords from texts that may end in a log.
enum Redaction {
  /// Returns the text on one line, without the password of any connection string or URL in it.
  ///
  /// It removes too much rather than too little: a password may contain blanks and `@`.
  static func clean(_ text: String) -> String {
    // Matched by scalars: a character before a combining mark is one Character with it, which no
    // pattern would match.
    let setting =
      /(?:password|client_secret|client_key)["']?\s*[=:]\s*('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|(?:\\.|\S)+)/
      .ignoresCase().dotMatchesNewlines().matchingSemantics(.unicodeScalar)
    // Up to the last @ of the line: what libpq takes for the host may still be part of the
    // password.
    let credentials = /(:\/\/[^\n:@]*):[^\n]*@/.matchingSemantics(.unicodeScalar)
    return
      text
      .replacing(setting, with: "password=***")
      .replacing(credentials) { "\($0.output.1):***@" }
      .split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }

  /// Returns libpq's error about a connection string, without what it quotes.
  ///
  /// A quoted text may be part of the password. Only the names of options are kept, and only if
  /// they are a single word.
  static func cleanParseError(_ text: String) -> String {
    let option = /^invalid (?:connection option|URI query parameter):? "[a-z_]{1,40}"\s*$/
    if text.firstMatch(of: option) != nil { return clean(text) }
    return clean(
      text.replacing(
        /".*"/.dotMatchesNewlines().matchingSemantics(.unicodeScalar), with: "…"))
  }
}

/// The passwords of one connection, which can be removed from any text because they are known.
///
/// Messages of libpq and the server quote their input in forms of their own.
struct KnownSecrets: Sendable {
  /// Sorted with longer ones first, because one may be part of another.
  private let secrets: [String]

  /// - Parameter values: the passwords, decoded and as written. Those of up to three characters are
  ///   ignored: they are part of too many words, and no message names them.
  init(_ values: [String]) {
    secrets = Set(values).filter { $0.unicodeScalars.count > 3 }
      .sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
  }

  /// Returns the text without any of the passwords.
  func removed(from text: String) -> String {
    secrets.reduce(text) { text, secret in
      Self.replaced(secret, in: text)
    }
  }

  private static func replaced(_ secret: String, in text: String) -> String {
    let (needle, bytes) = (Array(secret.utf8), Array(text.utf8))
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index...].starts(with: needle) {
        result += Array("***".utf8)
        index += needle.count
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
