import Foundation
import TestSupport
import Testing

@testable import Chaos

struct PatroniSettingsTests {
  private static let ports = [
    "one": PatroniPorts(postgres: 21501, rest: 21511, raft: 21521),
    "two": PatroniPorts(postgres: 21502, rest: 21512, raft: 21522),
    "voter": PatroniPorts(postgres: 21503, rest: 21513, raft: 21523),
  ]

  private static func settings(_ replication: Replication) -> PatroniSettings {
    PatroniSettings(
      directory: "/var/lib/patroni", binaries: "/usr/lib/postgresql/15/bin",
      replication: replication, ports: ports)
  }

  @Test func `the patroni.yml of the documentation is the one that make ha-test runs`() throws {
    let page = try String(contentsOfFile: Project.path("docs/ha.md"), encoding: .utf8)
    #expect(page.contains("```yaml\n" + Self.settings(.synchronous).member("one") + "```\n"))
  }

  @Test(arguments: [
    (Replication.asynchronous, "false", "false"), (.synchronous, "true", "false"),
    (.strict, "true", "true"),
  ]) func `a mode of replication is written as Patroni names it`(
    replication: Replication, mode: String, strict: String
  ) {
    let text = Self.settings(replication).member("one")
    #expect(text.contains("synchronous_mode: \(mode)\n"))
    #expect(text.contains("synchronous_mode_strict: \(strict)\n"))
  }

  @Test func `the voter has no data`() {
    let text = Self.settings(.synchronous).controller("voter")
    #expect(text.contains("self_addr: 127.0.0.1:21523\n") && !text.contains("postgresql"))
  }
}
