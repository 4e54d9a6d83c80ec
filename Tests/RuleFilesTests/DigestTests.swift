import Foundation
import RideCore
import TestSupport
import Testing

@testable import RuleFiles

@Suite struct DigestTests {
  @Test func `R115: the digest of rules is what sha256sum computes from the files`() throws {
    let path = try ScratchFolder.create("rules")
    defer { ScratchFolder.remove(path) }
    try ruleFile().write(toFile: "\(path)/b.yaml", atomically: false, encoding: .utf8)
    try "# ü\nevents: [ping]\n".write(
      toFile: "\(path)/a-1.yaml", atomically: false, encoding: .utf8)
    for name in ["_off.yaml", ".hidden.yaml", "README.md"] {
      try "broken: [".write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
    }
    let sum = try Tool.run(
      "/bin/sh",
      ["-c", "cd \(path) && LC_ALL=C sha256sum -- [!_.]*.yaml | sha256sum | cut -d ' ' -f 1"])
    let digest = try RuleDirectory.load(path).get().ruleSet.digest
    #expect(digest.count == 64 && sum.output == digest + "\n", "\(sum)")
    #expect(try RuleDirectory.load(path + "//").get().ruleSet.digest == digest)
    try "# ü\nevents: [pong]\n".write(
      toFile: "\(path)/a-1.yaml", atomically: false, encoding: .utf8)
    #expect(try RuleDirectory.load(path).get().ruleSet.digest != digest)
  }

  @Test func `R115: a revision is known by its rules and its version`() {
    let one = Revision(rules: "ab", version: "0.1.0")
    #expect(one.id == Revision(rules: "ab", version: "0.1.0").id)
    #expect(one.id != Revision(rules: "ab", version: "0.1.1").id)
    #expect(one.id != Revision(rules: "ac", version: "0.1.0").id)
    // Rows of the ledger outlive the program: the number must not change.
    #expect(one.id == -2_108_945_118)
  }
}
