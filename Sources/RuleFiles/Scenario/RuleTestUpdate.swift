import Base
import RideCore
import Timeline

/// Writes `then` into tests that expect nothing yet.
package struct RuleTestUpdate {
  private let file: RuleTestFile

  package init(_ file: RuleTestFile) {
    self.file = file
  }

  /// The bytes of the file with `then`, and the names of the tests that it was written into.
  package struct Result: Sendable {
    package let bytes: [UInt8]
    package let names: [String]
  }

  /// Returns the completed file; nil if no test lacks what it expects. Every other byte stays.
  ///
  /// - Throws: the location where nothing can be inserted.
  package func result() throws(RuleProblem) -> Result? {
    let open = file.tests.filter { !$0.isComplete }
    if open.isEmpty { return nil }
    var lines = file.bytes.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    ).map(Array.init)
    // From the end, so that the locations of earlier tests stay.
    for test in open.sorted(by: { $0.location > $1.location }) {
      let run = RuleTestRun(test, by: file.configuration)
      try insert(test.lines(for: run), of: test, into: &lines)
    }
    let bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    if let test = open.first, !passes(bytes) { throw refusal(test) }
    return Result(bytes: bytes, names: open.map(\.name))
  }

  /// Returns whether a completed file has the same tests, and those that were completed pass: what
  /// breaks `never` is not what was inserted, and the next run reports it.
  private func passes(_ bytes: [UInt8]) -> Bool {
    var loader = RuleTestLoader(override: file.directory, standard: file.directory)
    loader.loaded[file.directory] = .success(file.rules)
    guard case .success(let completed) = loader.parse(bytes, named: file.path),
      completed.tests.map(\.name) == file.tests.map(\.name)
    else { return false }
    return zip(file.tests, completed.tests).allSatisfy { before, test in
      before.isComplete
        || test.unmet(by: RuleTestRun(test, by: file.configuration), of: file.rules.ruleSet)
          .allSatisfy { $0.kind == .never }
    }
  }

  private func insert(
    _ entries: [String], of test: RuleTest, into lines: inout [[UInt8]]
  ) throws(RuleProblem) {
    let first = test.location.line - 1
    let indent = test.location.column - 1
    guard lines.indices.contains(first), lines[first].count > indent,
      lines[first].prefix(indent).allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") })
    else { throw refusal(test) }
    // A mapping in braces has no line of its own for another key.
    if lines[first][indent] == UInt8(ascii: "{") { throw refusal(test) }
    var last = first
    for index in lines.indices.dropFirst(first + 1) {
      let content = lines[index].drop { $0 == UInt8(ascii: " ") }
      if content.isEmpty || content.elementsEqual([UInt8(ascii: "\r")])
        || content.first == UInt8(ascii: "#")
      {
        continue
      }
      if lines[index].count - content.count < indent { break }
      last = index
    }
    let end: [UInt8] = lines[last].last == UInt8(ascii: "\r") ? [UInt8(ascii: "\r")] : []
    let space = String(repeating: " ", count: indent)
    var added = entries.map { "\(space)  \($0)" }
    added.insert(space + (entries.isEmpty ? "then: []" : "then:"), at: 0)
    lines.insert(contentsOf: added.map { Array($0.utf8) + end }, at: last + 1)
    // The last line of a file may lack its end.
    if last + 1 + added.count == lines.count { lines.append([]) }
  }

  private func refusal(_ test: RuleTest) -> RuleProblem {
    RuleProblem(
      file: file.path, location: test.location,
      found: "the test \(quoted(test.name)), into which no line can be inserted",
      expected: "each key of a test on a line of its own")
  }
}
