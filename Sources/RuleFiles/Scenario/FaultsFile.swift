package import Base
import RideCore
package import Timeline

/// Reads what APNs answers in a rehearsal: `when` with `at` and `apns`, as in a story.
package enum FaultsFile {
  /// Reads a faults file.
  ///
  /// - Parameter start: What durations of `at` are counted from: the beginning of the day.
  package static func read(_ path: String, from start: Timestamp)
    -> Result<[ScenarioStep], RuleProblems>
  {
    RuleDirectory.file(path).mapError { RuleProblems(problems: [$0]) }
      .flatMap { parse($0, named: path, from: start) }
  }

  /// Reads a faults file that is already in memory.
  package static func parse(_ bytes: [UInt8], named name: String, from start: Timestamp)
    -> Result<[ScenarioStep], RuleProblems>
  {
    let diagnostics = Diagnostics(file: name)
    let steps = steps(bytes, start, diagnostics)
    if diagnostics.problems.isEmpty { return .success(steps) }
    return .failure(RuleProblems(problems: Set(diagnostics.problems).sorted()))
  }

  private static func steps(
    _ bytes: [UInt8], _ start: Timestamp, _ diagnostics: Diagnostics
  ) -> [ScenarioStep] {
    guard let root = YAMLNode.root(of: bytes, expected: "when", diagnostics: diagnostics),
      let fields = Fields(root, as: ScenarioKeys.faults, diagnostics: diagnostics)
    else { return [] }
    let steps = ScenarioDecoder(diagnostics: diagnostics, rules: .none).faults(fields, from: start)
    for step in steps {
      for change in step.changes {
        if case .answers = change { continue }
        diagnostics.report(
          root.location, "an entry at \(CivilTime.exact(step.at)) with more than at and apns",
          expected: "the answers of APNs only: what rides do is in the day")
      }
    }
    return steps
  }
}
