import Base
import Foundation
import RideCore
import TestSupport
import Testing

@testable import RidePulse

/// Tests that `--format json` of commands is JSON, with the members that docs/oncall.md lists.
@Suite("Commands in JSON", .timeLimit(.minutes(60))) struct JSONOutputTests {
  /// Runs a command and decodes its lines.
  private func lines(
    _ words: [String], _ environment: [String: String], status: Int32 = 0
  ) throws -> [JSONValue] {
    let result = try Command.ridepulse(words + ["--format", "json"], environment)
    #expect(result.status == status, "\(words): \(result)")
    let lines = result.output.split(separator: "\n")
    let values = lines.compactMap { JSONValue(json: $0.utf8) }
    #expect(values.count == lines.count, "\(words): \(result.output)")
    return values
  }

  private func object(
    _ words: [String], _ environment: [String: String], status: Int32 = 0
  ) throws -> JSONValue {
    let lines = try lines(words, environment, status: status)
    #expect(lines.count == 1, "\(words): \(lines)")
    return try #require(lines.first)
  }

  @Test func `migrate lists steps, roles and statements`() async throws {
    try await Stage.run { stage in
      let current = try object(["migrate", "--roles"], stage.environment)
      #expect(current["steps"] == .array([]) && current["dry_run"] == .bool(false))
      #expect(
        current["roles"]?.texts == ["ridepulse_app", "ridepulse_engine", "ridepulse_reader"])
      #expect(current["statements"] == .null)
      let dry = try object(["migrate", "--roles", "--dry-run"], stage.environment)
      #expect(dry["statements"]?.texts.contains { $0.hasPrefix("grant ") } == true)
      #expect(dry["roles"] == .null)
      #expect(
        try object(["migrate", "--check"], stage.environment) == .object(["missing": .array([])]))
      try await stage.sql("delete from ridepulse.migrations where number = 1")
      let lacking = try object(["migrate", "--check"], stage.environment, status: 2)
      #expect(lacking["missing"] == .array([.string("0001_rides")]))
    }
  }

  @Test func `backfill counts rides`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        """
        create table bookings (id text primary key, status text);
        insert into bookings values ('b1', 'requested'), ('b2', 'requested');
        select ridepulse.watch('bookings', '{"id": "id", "state": "status"}')
        """)
      let counts = try object(["backfill", "bookings"], stage.environment)
      #expect(counts["table"] == .string("public.bookings"))
      #expect(counts["inserted"] == .integer(2))
      #expect(
        Set(counts.members.keys)
          == ["table", "inserted", "refreshed", "removed", "unread", "unmatched"])
    }
  }

  @Test func `trigger shows what it would send, the event, and its deliveries`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      let words = ["trigger", "driver_nearby", "--ride", "r1"]
      let dry = try object(words + ["--dry-run"], stage.environment)
      let push = try #require(
        dry["pushes"]?.elements.first {
          $0.value(at: ["headers", "apns-push-type"]) == .string("alert")
        })
      #expect(dry["ride_id"] == .string("r1") && dry["event"] == .string("driver_nearby"))
      #expect(push["rule"] == .string("customer-driver-nearby"))
      #expect(push["app"] == .string("customer"))
      #expect(push.value(at: ["payload", "aps"]) != nil)
      #expect(push["path"]?.texts.first?.contains(Stage.customerToken) == false)
      let server = try Server(stage.environment)
      defer { server.stop() }
      let sent = try object(words + ["--wait"], stage.environment)
      guard case .integer? = sent["event_id"] else {
        throw TestFailure("no event_id in \(sent)")
      }
      let deliveries = sent["deliveries"]?.elements ?? []
      #expect(deliveries.contains { $0["status"] == .string("accepted") }, "\(sent)")
      let plain = try object(words, stage.environment)
      #expect(Set(plain.members.keys) == ["event", "event_id", "ride_id"])
    }
  }

  @Test func `push prints the apns-id, and the delivery with --wait`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      let sent = try stage.push(["--wait", "--format", "json"])
      #expect(sent.status == 0, "\(sent)")
      let json = try #require(JSONValue(json: sent.output.utf8))
      #expect(json.value(at: ["delivery", "status"]) == .string("accepted"))
      #expect(json.value(at: ["delivery", "apns_id"]) == json["apns_id"])
      let plain = try stage.push(["--format", "json"])
      #expect(JSONValue(json: plain.output.utf8)?.members.keys.sorted() == ["apns_id"])
    }
  }

  @Test func `forget counts rows by table, and does not name the person`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      let erased = try object(["forget", "c1", "--yes"], stage.environment)
      #expect(erased.value(at: ["rows", "devices"]) == .integer(1), "\(erased)")
      #expect(erased["app"] == .null)
      let again = try object(["forget", "c1", "--yes", "--app", "customer"], stage.environment)
      #expect(again["erased"] == .integer(0) && again["app"] == .string("customer"))
    }
  }
}
