import Base
import RideCore
import TestSupport
import Timeline

@testable import RuleFiles

/// The test files of a directory of rules next to the Swift tests.
struct RuleTestDirectory {
  let files: [RuleTestFile]

  /// - Parameters:
  ///   - path: The directory, relative to `Tests/RuleFilesTests`.
  ///   - rules: The rule directory; nil means the same one.
  init(_ path: String, rules: String? = nil) throws {
    let directory = Project.path("Tests/RuleFilesTests/" + path)
    var loader = RuleTestLoader(override: rules ?? directory, standard: directory)
    files = try RuleTestLoader.files(at: directory).get().map { try loader.load($0).get() }
  }

  var tests: [RuleTest] { files.flatMap(\.tests) }

  /// Runs all tests and returns what was not met.
  func unmet() -> [String] {
    files.flatMap { file in
      file.tests.flatMap { test in
        let run = RuleTestRun(test, by: file.configuration)
        return test.unmet(by: run, of: file.rules.ruleSet)
          .map { file.description(of: $0, in: test) }
      }
    }
  }
}
