package import RideCore

/// Collects the problems of one file.
final class Diagnostics {
  let file: String
  /// The texts of the file's directory.
  let texts: TextCatalog
  private(set) var problems: [RuleProblem] = []

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

/// One problem of the rule files, described in one line.
package struct RuleProblem: Error, Hashable, Sendable {
  /// The file's path, or the directory's if the problem is not in one file.
  package let file: String
  /// The location in the file; nil if the problem concerns the file or directory as a whole.
  package let location: SourceLocation?
  /// What was found there.
  package let found: String
  /// What was expected instead.
  package let expected: String
  /// The known word that was probably meant.
  package let nearest: String?

  init(
    file: String, location: SourceLocation?, found: String, expected: String, nearest: String? = nil
  ) {
    self.file = file
    self.location = location
    self.found = found
    self.expected = expected
    self.nearest = nearest
  }

  /// The problem without its location: `FOUND; expected EXPECTED; did you mean "NEAREST"?`.
  package var message: String {
    let message = "\(found); expected \(expected)"
    return nearest.map { "\(message); did you mean \"\($0)\"?" } ?? message
  }
}

extension RuleProblem: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: FOUND; expected EXPECTED; did you mean "NEAREST"?`, always one line.
  package var description: String {
    let location = location.map { ":\($0)" } ?? ""
    return Escape.line("\(file)\(location): \(message)")
  }
}

extension RuleProblem: Comparable {
  /// Orders by file, line and column; a problem of the whole file comes first.
  package static func < (left: RuleProblem, right: RuleProblem) -> Bool {
    if left.file != right.file { return left.file < right.file }
    if left.location != right.location {
      return left.location ?? SourceLocation(line: 0, column: 0) < right.location
        ?? SourceLocation(line: 0, column: 0)
    }
    return left.message < right.message
  }
}

/// All problems of a rule directory, found in one run.
package struct RuleProblems: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problems, by file, line and column; at least one.
  package let problems: [RuleProblem]

  /// One line for each problem.
  package var description: String {
    problems.map(\.description).joined(separator: "\n")
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
