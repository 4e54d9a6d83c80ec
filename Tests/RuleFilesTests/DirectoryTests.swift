import Foundation
import RideCore
import TestSupport
import Testing

@testable import RuleFiles

/// Reading from disk: the names that count, and the messages for system errors.
@Suite final class DirectoryTests {
  private let path: String

  init() throws {
    path = try ScratchFolder.create("rules")
  }

  deinit {
    ScratchFolder.remove(path)
  }

  private func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
  }

  private func problems(in directory: String? = nil) -> [String] {
    switch RuleDirectory.load(directory ?? path) {
    case .success: []
    case .failure(let failure):
      failure.problems.map { $0.description.replacing(path, with: "DIR") }
    }
  }

  @Test func namesThatAreSkipped() throws {
    try write(ruleFile(), to: "a.yaml")
    for name in [
      "_off.yaml", ".a.yaml.swp", ".hidden.yaml", "_b.yml", "README.md", "schema.json", "yaml",
    ] {
      try write("broken: [", to: name)
    }
    let loaded = try RuleDirectory.load(path + "/").get()
    #expect(loaded.fileCount == 1)
    #expect(loaded.ruleCount == 1)
    #expect(loaded.ruleSet.rules.first?.source == "\(path)/a.yaml:2")
  }

  @Test func aDirectoryThatIsNotThere() {
    #expect(
      problems(in: path + "/none") == [
        "DIR/none: the rule directory can't be read: No such file or directory; "
          + "expected a directory with *.yaml files"
      ])
  }

  @Test func aFileForADirectory() throws {
    try write("", to: "file")
    #expect(
      problems(in: path + "/file") == [
        "DIR/file: the rule directory can't be read: Not a directory; "
          + "expected a directory with *.yaml files"
      ])
  }

  @Test func anEmptyDirectory() throws {
    try write("", to: "_all.yaml")
    #expect(
      problems() == [
        "DIR: no rule file in the directory; "
          + "expected at least one *.yaml whose name does not start with \"_\""
      ])
  }

  @Test func otherEndingsOfYAML() throws {
    try write(ruleFile(), to: "a.yml")
    try write(ruleFile(), to: "b.YAML")
    #expect(
      problems() == [
        "DIR/a.yml: a file name that ends in .yml; expected the name \"a.yaml\"",
        "DIR/b.YAML: a file name that ends in .YAML; expected the name \"b.yaml\"",
      ])
  }

  @Test func whatIsNoFile() throws {
    try FileManager.default.createDirectory(
      atPath: path + "/d.yaml", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: path + "/l.yaml", withDestinationPath: path + "/gone")
    try #require(unsafe mkfifo(path + "/p.yaml", 0o600) == 0)
    #expect(
      problems() == [
        "DIR/d.yaml: the file can't be read: it is a directory, not a regular file; expected a readable file",
        "DIR/l.yaml: the file can't be read: No such file or directory; expected a readable file",
        "DIR/p.yaml: the file can't be read: it is a named pipe, not a regular file; expected a readable file",
      ])
  }

  @Test func aFileThatGrewTooLarge() throws {
    try write(String(repeating: "#", count: RuleDirectory.fileSizeLimit + 5), to: "a.yaml")
    #expect(
      problems() == [
        "DIR/a.yaml:1:1: a file of more than 1048576 bytes; expected its rules in several files"
      ])
  }

  @Test func anUnreadableFileMakesNoEventUnknown() throws {
    try write(ruleFile(changing: "on: declared_elsewhere"), to: "a.yaml")
    try write("events: [declared_elsewhere]", to: "b.yml")
    #expect(
      problems() == ["DIR/b.yml: a file name that ends in .yml; expected the name \"b.yaml\""])
  }
}
