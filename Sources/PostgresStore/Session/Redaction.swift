/// Takes passwords out of texts that may end in a log.
enum Redaction {
  /// The text on one line, without the password of any connection string or URL within it; rather
  /// hides too much than too little.
  static func clean(_ text: String) -> String {
    text
      .replacing(/password\s*=\s*('(?:[^'\\]|\\.)*'?|\S+)/.ignoresCase(), with: "password=***")
      .replacing(/(:\/\/[^\s\/?#:@]*):\S*@/) { "\($0.output.1):***@" }
      .split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }

  /// A parser's complaint about a connection string. It quotes what it stumbled over, which may be
  /// a piece of the password; only the names of unknown options pass.
  static func cleanParseError(_ text: String) -> String {
    let namesAnOption =
      text.hasPrefix("invalid connection option") || text.hasPrefix("invalid URI query parameter")
    return clean(namesAnOption ? text : text.replacing(/".*"/.dotMatchesNewlines(), with: "…"))
  }
}
