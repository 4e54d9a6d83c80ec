import Base
internal import Foundation
package import RideCore
package import Timeline

/// A file of tests, with the rules that it tests.
package struct RuleTestFile: Sendable {
  /// What the names of such files end in.
  package static let suffix = ".test.yaml"

  package let path: String
  /// The rule directory.
  package let directory: String
  package let rules: LoadedRules
  package let tests: [RuleTest]
  /// The file's bytes.
  let bytes: [UInt8]

  /// The configuration of its tests: they need no bundle IDs of the environment.
  package var configuration: EngineConfiguration {
    var configuration = EngineConfiguration(rules: rules.ruleSet, bundleIDs: [:])
    configuration.fillBundleIDs()
    return configuration
  }

  /// Returns an unmet expectation of one of its tests for people: `FILE:LINE:COLUMN: TEST: …`.
  package func description(of unmet: UnmetExpectation, in test: RuleTest) -> String {
    Escape.line("\(path):\(unmet.location): \(test.name): ") + unmet.text
  }
}

/// Finds and reads test files.
package struct RuleTestLoader {
  /// The rule directory of the command line, which wins over that of a file.
  private let override: String?
  /// The rule directory of files that name none.
  private let standard: String
  private let allowsIncomplete: Bool
  var loaded: [String: Result<LoadedRules, RuleProblems>] = [:]

  /// - Parameter allowsIncomplete: Whether tests that expect nothing are accepted, to be completed.
  package init(override: String?, standard: String, allowsIncomplete: Bool = false) {
    self.override = override
    self.standard = standard
    self.allowsIncomplete = allowsIncomplete
  }

  /// Returns the test files at a path, by name: the file itself, or all below a directory.
  package static func files(at path: String) -> Result<[String], RuleProblems> {
    var files: [String] = []
    do {
      try collect(path, into: &files, depth: 0)
      return .success(files)
    } catch {
      return .failure(
        RuleProblems(problems: [
          RuleProblem(
            file: path, location: nil, found: "it can't be read: \(error.localizedDescription)",
            expected: "a test file, or a directory")
        ]))
    }
  }

  /// Links to directories are not followed, so that no link leads in a circle.
  private static func collect(_ path: String, into files: inout [String], depth: Int) throws {
    let real = depth == 0 ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
    let type = try FileManager.default.attributesOfItem(atPath: real)[.type] as? FileAttributeType
    guard type == .typeDirectory else {
      if depth == 0 || path.hasSuffix(RuleTestFile.suffix) { files.append(path) }
      return
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    where !name.hasPrefix(".") {
      let separator = path.hasSuffix("/") ? "" : "/"
      try collect(path + separator + name, into: &files, depth: depth + 1)
    }
  }

  /// Reads a test file and the rules that it tests.
  package mutating func load(_ path: String) -> Result<RuleTestFile, RuleProblems> {
    switch RuleDirectory.file(path) {
    case .success(let bytes): parse(bytes, named: path)
    case .failure(let problem): .failure(RuleProblems(problems: [problem]))
    }
  }

  /// Reads a test file that is already in memory.
  package mutating func parse(
    _ bytes: [UInt8], named path: String
  ) -> Result<RuleTestFile, RuleProblems> {
    let diagnostics = Diagnostics(file: path)
    var file: RuleTestFile?
    if let root = YAMLNode.root(of: bytes, expected: "tests", diagnostics: diagnostics),
      let fields = Fields(root, as: RuleTestKeys.file, diagnostics: diagnostics)
    {
      let named = Self.schedules(fields).map { Self.path($0, from: path) }
      let directory = override ?? named ?? standard
      switch rules(of: directory) {
      case .failure(let problems): return .failure(problems)
      case .success(let rules):
        let decoder = RuleTestDecoder(
          diagnostics: diagnostics, rules: rules.ruleSet, allowsIncomplete: allowsIncomplete)
        file = RuleTestFile(
          path: path, directory: directory, rules: rules, tests: decoder.tests(fields),
          bytes: bytes)
      }
    }
    if let file, diagnostics.problems.isEmpty { return .success(file) }
    return .failure(RuleProblems(problems: Set(diagnostics.problems).sorted()))
  }

  /// Decodes the rule directory, which is relative to the file's own directory.
  static func schedules(_ fields: Fields) -> String? { fields.value("schedules", .plainText) }

  private mutating func rules(of directory: String) -> Result<LoadedRules, RuleProblems> {
    if let known = loaded[directory] { return known }
    let rules = RuleDirectory.load(directory)
    loaded[directory] = rules
    return rules
  }

  /// Returns a path that is relative to a file's directory; `schedules/tests/..` is `schedules`.
  static func path(_ path: String, from file: String) -> String {
    var parts: [Substring] = []
    let isAbsolute = path.hasPrefix("/") || file.hasPrefix("/")
    if !path.hasPrefix("/") { parts = file.split(separator: "/").dropLast() }
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else {
        parts.append(part)
      }
    }
    let joined = parts.joined(separator: "/")
    return isAbsolute ? "/" + joined : joined.isEmpty ? "." : joined
  }
}
