import RideCore

/// Gathers the problems of one file.
final class Diagnostics {
  let file: String
  private(set) var problems: [RuleProblem] = []

  init(file: String) {
    self.file = file
  }

  /// Reports one; where known words are given, the nearest of them to `word` is offered.
  func report(
    _ location: SourceLocation, _ found: String, expected: String, word: String = "",
    among known: [String] = []
  ) {
    report(location, found, expected: expected, nearest: nearestWord(to: word, among: known))
  }

  /// Reports one with the word that was probably meant.
  func report(_ location: SourceLocation, _ found: String, expected: String, nearest: String?) {
    problems.append(
      RuleProblem(
        file: file, location: location, found: found, expected: expected, nearest: nearest))
  }

  /// Reports a value of the wrong kind, unless it was reported already.
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
