import Foundation
import RideCore
import TestSupport
import Testing

@testable import RuleFiles

@Suite("The files of a directory as a value") struct RuleSourceTests {
  @Test func `stored files load as the directory does, with its digest and its places`() throws {
    let folder = try ScratchFolder.create("rules")
    defer { ScratchFolder.remove(folder) }
    try FileManager.default.createDirectory(
      atPath: folder + "/strings", withIntermediateDirectories: true)
    let rule = "name: a, app: customer, on: driver_arrived, expires: 1m"
    let files = [
      "b.yaml": "rules: [{ \(rule), alert: { title: \"{{strings.here}}\" } }]\n",
      "a.yaml": "events: [eta_changed]\n", "_skipped.yaml": "no rules", "b.test.yaml": "tests: []",
      "contract.lock": "", "strings/en.yaml": "here: Here \u{2013} now\n",
    ]
    for (name, text) in files {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    let source = RuleSource(of: folder + "/")
    #expect(source.stored.map(\.name) == ["a.yaml", "b.yaml", "strings/en.yaml"])
    #expect(source.size == source.stored.reduce(0) { $0 + $1.text.utf8.count })
    let copy = RuleSource(stored: source.stored.reversed(), of: folder)
    let (loaded, again) = (try source.load().get(), try copy.load().get())
    #expect(loaded.ruleSet.digest == again.ruleSet.digest)
    #expect(loaded.ruleSet.rules == again.ruleSet.rules)
    #expect(again.ruleSet.rules.map(\.source) == [folder + "/b.yaml:1"])
  }
}
