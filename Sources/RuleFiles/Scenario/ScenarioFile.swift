package import Base
package import RideCore
package import Timeline

/// Reads stories: a ride, its phones, and what happens to it.
package enum ScenarioFile {
  /// Reads a story file; its words must be those of the rules.
  ///
  /// - Parameter start: When a story begins that states no time.
  package static func read(
    _ path: String, for rules: RuleSet, at start: Timestamp
  ) -> Result<Scenario, RuleProblems> {
    RuleDirectory.file(path).mapError { RuleProblems(problems: [$0]) }
      .flatMap { parse($0, named: path, for: rules, at: start) }
  }

  /// Reads a story that is already in memory.
  package static func parse(
    _ bytes: [UInt8], named name: String, for rules: RuleSet, at start: Timestamp
  ) -> Result<Scenario, RuleProblems> {
    let diagnostics = Diagnostics(file: name)
    let scenario = scenario(bytes, rules, start, diagnostics)
    if let scenario, diagnostics.problems.isEmpty { return .success(scenario) }
    return .failure(RuleProblems(problems: Set(diagnostics.problems).sorted()))
  }

  private static func scenario(
    _ bytes: [UInt8], _ rules: RuleSet, _ start: Timestamp, _ diagnostics: Diagnostics
  ) -> Scenario? {
    guard
      let root = YAMLNode.root(of: bytes, expected: "given and when", diagnostics: diagnostics),
      let fields = Fields(root, as: ScenarioKeys.file, diagnostics: diagnostics)
    else { return nil }
    let decoder = ScenarioDecoder(diagnostics: diagnostics, rules: rules)
    return decoder.story(fields, at: start)
  }
}

extension YAMLNode {
  /// Returns the root of a file; reports what makes it unreadable.
  static func root(
    of bytes: [UInt8], expected: String, diagnostics: Diagnostics
  ) -> YAMLNode? {
    do throws(YAMLFault) {
      var builder = try YAMLTreeBuilder(try SourceText(bytes), diagnostics: diagnostics)
      if let root = try builder.document() { return root }
      diagnostics.report(
        SourceLocation(line: 1, column: 1), "nothing in the file", expected: expected)
    } catch {
      diagnostics.report(error.location, error.found, expected: error.expected)
    }
    return nil
  }
}
