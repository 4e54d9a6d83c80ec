import RideCore

/// Collects the problems of one file.
final class Diagnostics {
  let file: String
  private(set) var problems: [RuleProblem] = []

  init(file: String) {
    self.file = file
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
