import Foundation
import LocalStack
import PostgresStore
import RideCore
import TestSupport
import Testing

/// Tests that states and events which no rule file declares are refused by hand and reported by
/// doctor.
@Suite(.timeLimit(.minutes(60))) struct UnknownWordCommandTests {
  private static let rules = """
    states: { active: [requested, searching], final: [done] }
    events: [eta_changed]
    rules:
      - { name: eta, app: customer, on: eta_changed, alert: { title: New time }, expires: 5m }

    """

  @Test func `R67: trigger refuses an unknown word, and names the file to change`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let file = stage.directory + "/rules/a.yaml"
      for words in [[], ["--dry-run"]] {
        let result = try Command.ridepulse(
          ["trigger", "eta_chnaged", "--ride", "r1"] + words, environment)
        #expect(result.status == 64, "\(result)")
        for text in [
          "no rule file declares it; did you mean eta_changed?",
          "add eta_chnaged to events: in \(file)",
          "add eta_chnaged to active or final under states: in \(file)",
        ] {
          #expect(result.errors.contains(text), "\(result.errors)")
        }
      }
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
    }
  }

  @Test func `R67: doctor lists unknown words of the last day with counts`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let healthy = try Checkup(environment)
      #expect(!healthy.checks.contains { $0.name == "unknown words" })
      try await stage.sql(
        """
        insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status,
          attempts, occurred_at, created_at, reason_code)
        select 'r', gen_random_uuid(), event, '', '', '', 'suppressed', 0, now(),
          now() - interval '1 hour' * ago, code
        from (values ('SEARCHNG', 'unknown_state', 1), ('SEARCHNG', 'unknown_state', 23),
          ('SEARCHNG', 'unknown_state', 25), ('eta_chnaged', 'unknown_event', 1),
          ('old_word', 'unknown_event', 30), ('eta_changed', 'unknown_event', 1),
          ('eta_changed', 'no_phone', 1)) rows (event, code, ago)
        """)
      let checkup = try Checkup(environment)
      checkup.expect(
        "unknown words", "warning",
        "the state \"SEARCHNG\" (2 events, nearest is searching), "
          + "the event \"eta_chnaged\" (1 event, nearest is eta_changed), of the last day")
      checkup.expect(
        "unknown words", "warning",
        "add SEARCHNG to active or final under states: in \(stage.directory)/rules/a.yaml")
      checkup.expect("unknown words", "warning", "or map it under \"states\"")
      checkup.expect("unknown words", "warning", "add eta_chnaged to events: in")
      #expect(checkup.status == 0 || !checkup.names("failure").contains("unknown words"))
    }
  }

  @Test func `R67, R106: doctor names the function for a raw push that was emitted`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let server = try Server(environment)
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state) values ('r1', 'requested');
        select ridepulse.emit('raw_push', 'r1'), ridepulse.emit('raw_broadcast', 'r1')
        """)
      try await stage.settled()
      #expect(server.stop() == 0)
      let checkup = try Checkup(environment)
      for function in ["push", "broadcast"] {
        checkup.expect(
          "unknown words", "warning",
          "call ridepulse.\(function) instead of emitting raw_\(function)")
      }
      #expect(!checkup.description.contains("add raw_"))
    }
  }
}
