package import Base
import RideCore

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

  package init(problems: [RuleProblem]) { self.problems = problems }

  /// One line for each problem.
  package var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}
