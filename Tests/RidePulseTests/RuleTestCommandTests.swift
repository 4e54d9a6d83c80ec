import Foundation
import RideCore
import TestSupport
import Testing

/// `ridepulse test`: its formats, its exit status, and mistakes.
@Suite("ridepulse test") struct RuleTestCommandTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden/rule-tests")

  private func run(_ words: [String], in directory: String = golden) throws -> Tool {
    try Command.ridepulse(["test"] + words, ["RIDEPULSE_SCHEDULES": "rules"], in: directory)
  }

  private static let formats: [([String], String)] = [
    ([], "result.text"), (["--format", "json", "--coverage"], "result.jsonl"),
    (["--format", "junit"], "result.xml"), (["--coverage"], "result.coverage"),
  ]

  @Test(arguments: formats.indices) func `A format`(index: Int) throws {
    let (words, name) = Self.formats[index]
    let result = try run(words)
    #expect(result.status == 2 && result.errors == "", "\(result.errors)")
    #expect(
      try Golden.difference(of: result.output, from: Self.golden + "/" + name) == nil)
  }

  /// Words, exit status, a part of standard output, and one of standard error.
  private static let runs: [([String], Int32, String, String)] = [
    (["rules/tests/b.test.yaml"], 0, "1 test in 1 file, 0 failed", ""),
    (["--run", "^the arrival$"], 0, "1 test in 1 file, 0 failed", ""),
    (["--run", "receipt"], 2, "1 test in 1 file, 1 failed", ""),
    (["--run", "nothing"], 1, "", "no test of 2 files matches --run"),
    (["--run", "("], 64, "", "--run ( is not a regular expression of RE2: it has a ( without a )"),
    // An engine that goes back in the text needs years for it.
    (["--run", "((a|aa|t|h|e| |.)+)+#$"], 1, "", "no test of 2 files matches --run"),
    (["--schedules", "rules", "--run", "^the arrival"], 0, "0 failed", ""),
    (["--run", "^the arrival", "--coverage", "--threshold", "1"], 0, "rules: ", ""),
    (
      ["--run", "^the arrival", "--coverage", "--threshold", "99"], 2, "rules: ",
      "below the threshold"
    ),
    (["--threshold", "5"], 64, "", "--threshold without --coverage"),
    (["--threshold", "101", "--coverage"], 64, "", "from 0 to 100"),
    (["--format", "xml"], 64, "", "not one of text, json, junit"),
    (["--coverge"], 64, "", "did you mean --coverage?"),
    (["--update", "--run", "x"], 64, "", "--run next to --update"),
    (["nowhere"], 1, "", "nowhere: it can't be read"),
    (["rules/rules.yaml"], 1, "", "unknown key \"states\" in a test file"),
    (["--schedules", "nowhere", "rules"], 1, "", "nowhere: the rule directory can't be read"),
    (["rules/tests", "rules/tests/a.test.yaml"], 2, "4 tests in 2 files", ""),
  ]

  @Test(arguments: runs.indices) func `A run`(index: Int) throws {
    let (words, status, output, errors) = Self.runs[index]
    let result = try run(words)
    #expect(result.status == status, "\(result.output)\(result.errors)")
    #expect(output.isEmpty ? result.output.isEmpty : result.output.contains(output))
    #expect(errors.isEmpty ? result.errors.isEmpty : result.errors.contains(errors))
  }

  @Test func `A directory without tests fails`() throws {
    try ScratchFolder.with { folder in
      let result = try run([folder])
      #expect(result.status == 1 && result.errors.contains("has no test file"))
    }
  }

  @Test func `A failure about a phone has its screen in JSON`() throws {
    try ScratchFolder.with { folder in
      let path = folder + "/a.test.yaml"
      let text = """
        given: { ride: { state: requested, customer_id: u1 } }
        never: { rings-per-ride: 0 }
        tests:
          - name: x
            when: [{ at: 1m, state: driver_arrived }]
            then: [{ at: 1m, rule: arrived }]
        """
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      let result = try run(["--schedules", Self.golden + "/rules", "--format", "json", path])
      #expect(result.status == 2, "\(result.errors)")
      for part in [#""kind":"never""#, #""screen":[""#, #", rang at 1m","#, #""rang 1, lit 0"#] {
        #expect(result.output.contains(part), "\(part): \(result.output)")
      }
    }
  }

  @Test func `--update completes a file, which passes then`() throws {
    try ScratchFolder.with { folder in
      try FileManager.default.copyItem(
        atPath: Self.golden + "/rules/rules.yaml", toPath: folder + "/rules.yaml")
      let path = folder + "/a.test.yaml"
      let text = """
        schedules: .
        given: { ride: { state: requested, customer_id: u1 } }
        tests:
          # A remark.
          - name: x
            when: [{ at: 1m, state: driver_arrived }]

        """
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      #expect(try run([path]).errors.contains("expects nothing"))
      let result = try run([path, "--update"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(
        result.output
          == "\(path): wrote then of the test x\n1 test completed; read them before you commit\n")
      let line =
        "{ at: 1m, rule: arrived, to: customer, "
        + "push: { type: alert, priority: 10, expires: 5m } }"
      #expect(
        try String(contentsOfFile: path, encoding: .utf8)
          == text + "    then:\n      - \(line)\n")
      #expect(try run([path]).status == 0)
      #expect(try run([path, "--update"]).output.hasPrefix("0 tests completed"))
    }
  }
}
