import Base
import RideCore
package import Timeline

/// Reads what phones may never show outside of tests: `never` of test files, and words of a command.
package enum NeverWords {
  /// Returns the limits that the test files below a rule directory state, each once.
  package static func limits(inTestsBelow directory: String)
    -> Result<[ScreenLimit.Kind], RuleProblems>
  {
    var limits: [ScreenLimit.Kind] = []
    do {
      for path in try RuleTestLoader.files(at: directory).get()
      where path.hasSuffix(RuleTestFile.suffix) {
        for limit in try self.limits(of: path).get() where !limits.contains(limit) {
          limits.append(limit)
        }
      }
    } catch { return .failure(error) }
    return .success(limits)
  }

  /// Reads `never` alone: what else is wrong with a test file concerns `test`.
  private static func limits(of path: String) -> Result<[ScreenLimit.Kind], RuleProblems> {
    RuleDirectory.file(path).mapError { RuleProblems(problems: [$0]) }.flatMap { bytes in
      let diagnostics = Diagnostics(file: path)
      guard let root = YAMLNode.root(of: bytes, expected: "tests", diagnostics: diagnostics) else {
        return .failure(RuleProblems(problems: Set(diagnostics.problems).sorted()))
      }
      guard let node = root.pairs.first(where: { $0.key == "never" })?.value else {
        return .success([])
      }
      return limits(node, diagnostics)
    }
  }

  /// Reads the value of one limit, such as `4` of `rings-per-ride`.
  ///
  /// - Parameter option: What messages call the command's option.
  package static func limit(
    _ word: ScreenLimit.Word, _ text: String, of option: String
  ) -> Result<[ScreenLimit.Kind], RuleProblems> {
    let start = SourceLocation(line: 1, column: 1)
    let number = Int64(text).map { JSONValue.integer($0) }
    let scalar = YAMLScalar(text: text, value: number ?? .string(text), textLocation: nil)
    let pair = YAMLNode.Pair(
      key: word.rawValue, keyLocation: start,
      value: YAMLNode(location: start, kind: .scalar(scalar)))
    return limits(
      YAMLNode(location: start, kind: .mapping([pair])), Diagnostics(file: option))
  }

  private static func limits(
    _ node: YAMLNode, _ diagnostics: Diagnostics
  ) -> Result<[ScreenLimit.Kind], RuleProblems> {
    let fields = Fields(node, as: RuleTestKeys.never, diagnostics: diagnostics)
    let limits = fields.map(NeverDecoder.limits) ?? []
    if diagnostics.problems.isEmpty { return .success(limits.map(\.kind)) }
    return .failure(RuleProblems(problems: Set(diagnostics.problems).sorted()))
  }
}
