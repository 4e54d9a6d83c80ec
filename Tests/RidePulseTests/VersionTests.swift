import Foundation
import TestSupport
import Testing

@testable import RidePulse

/// The version, and the script that gives it the commit.
@Suite("Version") struct VersionTests {
  @Test(arguments: [
    ("", "ridepulse 0.1.0"), ("g30331ba", "ridepulse 0.1.0+g30331ba"),
    ("unknown", "ridepulse 0.1.0+unknown (built without git: the commit is unknown)"),
  ])
  func `It has the commit, and states that it is unknown`(commit: String, line: String) {
    #expect(Version.line(commit: commit) == line)
  }

  @Test func `scripts/commit takes it from git, with .dirty, and without git from nothing`() throws
  {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    try FileManager.default.createDirectory(
      atPath: folder + "/scripts", withIntermediateDirectories: true)
    let script = folder + "/scripts/commit"
    try FileManager.default.copyItem(atPath: Project.path("scripts/commit"), toPath: script)
    let commit = { (what: String) in
      try Tool.run(script, [what]).output.trimmingCharacters(in: .newlines)
    }
    #expect(try commit("short") == "unknown")
    #expect(try commit("long").isEmpty)
    let git = { (words: [String]) in
      try Tool.run(
        "/usr/bin/env",
        ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"] + words)
    }
    for words in [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "a"]] {
      #expect(try git(words).status == 0)
    }
    let long = try commit("long")
    #expect(long.count == 40)
    #expect(try commit("short") == "g\(long.prefix(7))")
    try Data("\n".utf8).write(to: URL(fileURLWithPath: folder + "/more"))
    #expect(try commit("short") == "g\(long.prefix(7))")
    let text = try String(contentsOfFile: script, encoding: .utf8)
    try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: script))
    #expect(try commit("short") == "g\(long.prefix(7)).dirty")
  }
}
