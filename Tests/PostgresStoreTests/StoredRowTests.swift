import Base
import Foundation
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// Rows as 0.1.0 wrote them, read by the statements of this version: docs/compatibility.md promises it.
@Suite("Rows that 0.1.0 wrote", .timeLimit(.minutes(60))) struct StoredRowTests {
  private static func text(_ name: String) throws -> String {
    let file = Project.path("Tests/Compatibility/0.1.0/\(name)")
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  @Test(arguments: ["memos/memo-card.json", "memos/memo-waiting.json", "ride/memo.json"])
  func `a ride is claimed with its memo`(name: String) async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    let memo = try Self.text(name)
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id) values ('r1', 'e', 'c');
      update ridepulse.agenda set due_at = now(), memo = $memo$\(memo)$memo$::jsonb;
      """)
    if try await session.value("select count(*) from ridepulse.agenda") == "0" {
      try await session.script(
        """
        insert into ridepulse.agenda (ride_id, due_at, memo, fence, leased_until)
        values ('r1', now(), $memo$\(memo)$memo$, 0, '-infinity')
        """)
    }
    let store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.customer],
      rules: RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: []),
      lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
    let claim = try await store.claim(limit: 10, asleep: false)
    let read = try #require(claim.rides.first?.view.memo)
    #expect(try read == Memo(storedText: memo))
    await session.close()
  }

  @Test func `a recorded pass is read`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    let pass = try Self.text("ride/pass.json")
    try await session.script(
      """
      insert into ridepulse.recorded (ride_id, fence, decided_at, from_at, sample, pass)
      values ('r1', 1, now(), now() - interval '1 s', 1000000, $pass$\(pass)$pass$)
      """)
    let stored = try await session.value("select pass::text from ridepulse.recorded") ?? ""
    #expect(try PassContent(storedText: stored) == PassContent(storedText: pass))
    await session.close()
  }

  @Test func `the last good rules are read`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    let rules = try Self.text("ride/rules.yaml")
    let digest = String(repeating: "a", count: 64)
    try await session.script(
      """
      insert into ridepulse.rule_sets (digest, names, texts, version, used_at)
      values ('\(digest)', array['rules.yaml', 'strings/en.yaml'],
        array[$rules$\(rules)$rules$, 'a: b'], '0.1.0', now())
      """)
    let read = try await RuleSetArchive(session: session).rules(of: digest)
    #expect(read?.files.map(\.name) == ["rules.yaml", "strings/en.yaml"])
    #expect(read?.files.first?.text == rules)
    await session.close()
  }
}
