import Foundation
import TestSupport
import Testing

@testable import RideCore
@testable import RuleFiles

/// Which files are tests, and which rules they test.
@Suite struct RuleTestLoaderTests {
  private static let paths: [(String, String, String)] = [
    ("..", "schedules/tests/a.test.yaml", "schedules"),
    ("../..", "schedules/tests/a.test.yaml", "."),
    (".", "schedules/a.test.yaml", "schedules"),
    ("other", "a.test.yaml", "other"),
    ("../../x", "a/b.test.yaml", "../x"),
    ("..", "/srv/rules/tests/a.test.yaml", "/srv/rules"),
    ("/etc/rules", "a.test.yaml", "/etc/rules"),
    ("..", "../../a/b.test.yaml", "../.."),
  ]

  @Test(arguments: paths.indices) func `schedules is relative to the file`(index: Int) {
    let (path, file, expected) = Self.paths[index]
    #expect(RuleTestLoader.path(path, from: file) == expected)
  }

  private func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  @Test func `Tests are found at any depth, and are no rule files`() throws {
    let folder = "/tmp/ridepulse-tests-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write(RuleTestRules.yaml, to: folder + "/rules.yaml")
    let test = "schedules: \(folder)\ntests: [{ name: x, then: [] }]"
    for name in ["a.test.yaml", "b/c/d.test.yaml", "b/.hidden/e.test.yaml", "b/notes.yaml"] {
      try write(test, to: folder + "/" + name)
    }
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/b/circle", withDestinationPath: folder)
    let digest = try RuleDirectory.load(folder).get().ruleSet.digest
    let files = try RuleTestLoader.files(at: folder).get()
    #expect(files == ["a.test.yaml", "b/c/d.test.yaml"].map { folder + "/" + $0 })
    #expect(try RuleTestLoader.files(at: folder + "/b/notes.yaml").get().count == 1)
    var loader = RuleTestLoader(override: nil, standard: "nowhere")
    #expect(try loader.load(files[0]).get().rules.ruleCount == 6)
    try FileManager.default.removeItem(atPath: folder + "/a.test.yaml")
    #expect(try RuleDirectory.load(folder).get().ruleSet.digest == digest)
  }

  @Test func `What is not there is named`() {
    guard case .failure(let problems) = RuleTestLoader.files(at: "/nowhere/at/all") else {
      Issue.record("found")
      return
    }
    #expect(problems.problems.count == 1)
    #expect(problems.description.hasPrefix("/nowhere/at/all: it can't be read: "))
  }

  @Test func `The directory of the command line wins`() throws {
    var loader = RuleTestLoader(override: "schedules", standard: "nowhere")
    loader.loaded["schedules"] = RuleDirectory.parse(
      files: [("schedules/a.yaml", Array(RuleTestRules.yaml.utf8))])
    let bytes = Array("schedules: ../else\ntests: [{ name: x, then: [] }]".utf8)
    #expect(try loader.parse(bytes, named: "a.test.yaml").get().directory == "schedules")
  }
}
