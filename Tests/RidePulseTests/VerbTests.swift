import Base
import Foundation
import PostgresStore
import RideCore
import TestSupport
import Testing

@testable import RidePulse

/// Tests of the commands with which people on call bring rides and phones back.
@Suite("Verbs for rides and phones", .timeLimit(.minutes(60))) struct VerbTests {
  private func json(_ words: [String], _ stage: Stage, status: Int32 = 0) throws -> JSONValue {
    let result = try Command.ridepulse(words + ["--format", "json"], stage.environment)
    #expect(result.status == status, "\(result)")
    return try #require(JSONValue(json: result.output.utf8), "\(result)")
  }

  private static let parked = """
    insert into ridepulse.agenda (ride_id, fence, leased_until, parked_reason, parked_at)
    select id, 1, 'infinity', '23514: refused', timestamptz '2024-11-21T08:00:00Z'
    from unnest(array['r1', 'r2']) id
    """

  @Test func `unpark prints why rides were parked, and names those that were not`() async throws {
    try await Stage.run { stage in
      try await stage.sql(Self.parked)
      let dry = try Command.ridepulse(["unpark", "--all", "--dry-run"], stage.environment)
      #expect(
        dry.output == """
          r1: parked since 2024-11-21T08:00:00Z: 23514: refused
          r2: parked since 2024-11-21T08:00:00Z: 23514: refused
          2 rides would be due again

          """)
      let one = try json(["unpark", "r1", "r9", "r9"], stage, status: 1)
      #expect(one["not_parked"] == .array([.string("r9")]))
      #expect(
        one["rides"]?.elements == [
          .object([
            "ride_id": .string("r1"), "reason": .string("23514: refused"),
            "parked_at": .string("2024-11-21T08:00:00Z"),
          ])
        ])
      let rest = try Command.ridepulse(["unpark", "--all"], stage.environment)
      #expect(rest.output.hasSuffix("1 ride is due again\n"), "\(rest)")
      #expect(try await stage.value("select count(*) from ridepulse.parked") == "0")
      let none = try Command.ridepulse(["unpark", "--all"], stage.environment)
      #expect(none.status == 0 && none.output == "no ride is parked\n")
      let named = try Command.ridepulse(["unpark", "r1"], stage.environment)
      #expect(named.status == 1 && named.errors == "ridepulse: not parked: r1\n")
    }
  }

  @Test func `unquarantine lifts the quarantine of the apps that are named`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.sql(
        """
        update ridepulse.devices set refusals = 4,
          quarantined_at = timestamptz '2024-11-21T08:00:00Z'
        """)
      let dry = try json(["unquarantine", "customer", "--dry-run"], stage)
      #expect(dry["dry_run"] == .bool(true))
      #expect(
        dry["apps"]?.elements == [
          .object([
            "app": .string("customer"), "phones": .integer(1), "most_refusals": .integer(4),
            "quarantined_since": .string("2024-11-21T08:00:00Z"),
          ])
        ])
      let lifted = try Command.ridepulse(["unquarantine", "customer"], stage.environment)
      #expect(
        lifted.output
          == "customer: 1 phone is sent to again, in quarantine since 2024-11-21T08:00:00Z, refused up "
          + "to 4 times in a row\n", "\(lifted)")
      let left = try await stage.value("select string_agg(app, ' ') from ridepulse.quarantine")
      #expect(left == "driver")
      let again = try json(["unquarantine", "customer"], stage, status: 1)
      #expect(again["not_in_quarantine"] == .array([.string("customer")]))
    }
  }

  private static let storm = """
    [{"match": {}, "action": {"answer":
      {"status": 410, "reason": "Unregistered", "timestamp": 4000000000000}}}]
    """

  /// APNs reports every phone as gone; afterwards it accepts them again.
  @Test func `phones that a storm has disabled receive pushes again, and dead ones once more not`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try stage.faults(Self.storm)
      try await stage.sql("select ridepulse.emit('refund_issued', 'r1')")
      let disabled =
        "select count(*) from ridepulse.devices where disabled_reason = 'Unregistered'"
      try await stage.until(disabled, is: "1")
      try stage.faults("[]")
      let since = try #require(
        try await stage.value(
          """
          select to_char(now() at time zone 'UTC' - interval '1 hour',
            'YYYY-MM-DD"T"HH24:MI:SS"Z"')
          """))
      let words = ["revive", "--app", "customer", "--since", since]
      let dry = try json(words + ["--dry-run"], stage)
      #expect(dry["enabled"] == .integer(1) && dry["dry_run"] == .bool(true))
      #expect(try await stage.value(disabled) == "1")
      let unsure = try Command.ridepulse(words, stage.environment)
      #expect(
        unsure.status == 64 && unsure.errors.contains("revive needs --yes without a terminal"))
      let revived = try Command.ridepulse(words + ["--yes"], stage.environment)
      #expect(
        revived.output == "Unregistered: 1 phone\n1 phone of customer is enabled again\n",
        "\(revived)")
      try await stage.sql("select ridepulse.emit('refund_issued', 'r1')")
      try await stage.until(
        "select count(*) from ridepulse.deliveries where status = 'accepted' and event = 'refund_issued'",
        is: "1")
      try stage.faults(Self.storm)
      try await stage.sql("select ridepulse.emit('refund_issued', 'r1')")
      try await stage.until(disabled, is: "1")
      let none = try Command.ridepulse(
        words + ["--yes", "--reason", "BadDeviceToken"], stage.environment)
      #expect(none.output == "no phone of customer to enable\n", "\(none)")
    }
  }

  @Test(
    arguments: [
      (["unpark"], "RIDE is missing; --all stands for all of them"),
      (["unpark", "r1", "--all"], "--all and RIDE exclude each other"),
      (["unquarantine"], "APP is missing"),
      (["revive", "--app", "customer"], "--since TIME is missing"),
      (["revive", "--app", "customer", "--since", "2924-11-21T08:00:00Z"], "is not in the past"),
      (
        [
          "revive", "--app", "a", "--since", "2024-11-21T08:00:00Z", "--until",
          "2024-11-21T08:00:00Z",
        ], "--until is not after --since"
      ),
      (
        ["revive", "--app", "a", "--since", "2024-11-21T08:00:00Z", "--reason", "signed_out"],
        "--reason signed_out comes from the app"
      ),
    ] as [([String], String)])
  func `a mistake changes nothing`(words: [String], text: String) throws {
    let result = try Command.ridepulse(words, ["DATABASE_URL": "host=/nowhere"])
    #expect(result.status == 64 && result.errors.contains(text), "\(result.errors)")
  }
}
