internal import RideCore

/// Takes passwords out of texts that may end in a log.
enum Redaction {
  /// The text on one line, without the password of any connection string or URL within it. It hides
  /// too much rather than too little: a password may hold blanks and `@`.
  static func clean(_ text: String) -> String {
    // Scalars: a sign before a combining mark is one Character, which no pattern would match.
    let setting =
      /(?:password|client_secret|client_key)["']?\s*[=:]\s*('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|(?:\\.|\S)+)/
      .ignoresCase().dotMatchesNewlines().matchingSemantics(.unicodeScalar)
    // Up to the last @ of the line: what libpq takes for the host may still be password.
    let credentials = /(:\/\/[^\n:@]*):[^\n]*@/.matchingSemantics(.unicodeScalar)
    return
      text
      .replacing(setting, with: "password=***")
      .replacing(credentials) { "\($0.output.1):***@" }
      .split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }

  /// A parser's complaint about a connection string. It quotes what it met, which may be a piece of
  /// the password; only names of options pass, and only such that are one word.
  static func cleanParseError(_ text: String) -> String {
    let option = /^invalid (?:connection option|URI query parameter):? "[a-z_]{1,40}"\s*$/
    if text.firstMatch(of: option) != nil { return clean(text) }
    return clean(
      text.replacing(
        /".*"/.dotMatchesNewlines().matchingSemantics(.unicodeScalar), with: "…"))
  }
}

/// The passwords of one connection, which are known, and so can be taken out of any text: libpq and
/// the server quote what they were given in words of their own.
struct KnownSecrets: Sendable {
  /// Longer ones first: one may be a part of another.
  private let secrets: [String]

  /// - Parameter values: passwords as they are and as they were written. Short ones are left out: a
  ///   password of three letters is a part of too many words, and no text shows it by name.
  init(_ values: [String]) {
    secrets = Set(values).filter { $0.unicodeScalars.count > 3 }
      .sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
  }

  /// The text without any of them.
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
