import Base
import RideCore

/// Collects the problems of one file.
final class Diagnostics {
  let file: String
  /// The texts of the file's directory.
  let texts: TextCatalog
  /// The attributes that the directory declares; nil if none, and then any may be named.
  var attributes: DeclaredAttributes?
  private(set) var problems: [RuleProblem] = []

  /// Takes what is reported about a mapping that is absent.
  static var unused: Diagnostics { Diagnostics(file: "") }

  init(file: String, texts: TextCatalog = TextCatalog()) {
    self.file = file
    self.texts = texts
  }

  /// Reports a problem; if known words are given, it suggests the one nearest to `word`.
  func report(
    _ location: SourceLocation, _ found: String, expected: String, word: String = "",
    among known: [String] = []
  ) {
    report(location, found, expected: expected, nearest: nearestWord(to: word, among: known))
  }

  /// Reports a problem with the word that was probably meant.
  func report(_ location: SourceLocation, _ found: String, expected: String, nearest: String?) {
    problems.append(
      RuleProblem(
        file: file, location: location, found: found, expected: expected, nearest: nearest))
  }

  /// Reports a value of the wrong type, unless it was already reported.
  func reportType(
    of node: YAMLNode, for key: String, expected: String, nearest: String? = nil,
    among known: [String] = []
  ) {
    if node.isRefused { return }
    report(
      node.location, "\(key) is \(node.summary)", expected: expected,
      nearest: nearest ?? nearestWord(to: node.string ?? "", among: known))
  }
}

/// Returns text of a file for a message: in quotes, short, and always on one line.
func quoted(_ text: some StringProtocol) -> String {
  "\"\(shortened(text))\""
}

/// Returns the start of a text with control characters escaped.
func shortened(_ text: some StringProtocol) -> String {
  let limit = 60
  let start = text.unicodeScalars.prefix(limit + 1)
  var short = ""
  for scalar in start.prefix(limit) {
    switch scalar {
    case "\n": short += "\\n"
    case "\t": short += "\\t"
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
        short += "\\u{\(String(scalar.value, radix: 16))}"
      default: short.unicodeScalars.append(scalar)
      }
    }
  }
  return start.count > limit ? short + "…" : short
}

/// Returns the words as `a, b or c`.
func alternatives(_ words: [String]) -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " or " + last
}
