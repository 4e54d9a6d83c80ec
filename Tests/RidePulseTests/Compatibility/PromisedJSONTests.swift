import Base
import Foundation
import RideCore
import Testing
import TestSupport

@testable import RidePulse

/// The members of the JSON that commands print, which docs/compatibility.md promises.
@Suite("Promised JSON", .timeLimit(.minutes(60))) struct PromisedJSONTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden")

  /// Members whose own members are data: of a ride, of an app's payload, counts by rule and table.
  private static let maps: Set = [
    "attributes", "by_priority", "by_push_type", "by_rule", "by_type", "content_state", "data",
    "customer", "fields", "headers", "kinds", "not_sent", "payload", "rows", "slots",
  ]

  /// Returns the paths of all members, such as `timeline[].event`.
  private static func paths(_ value: JSONValue, _ path: String) -> [String] {
    switch value {
    case .object(let members):
      members.flatMap { key, member in
        let inner = "\(path).\(key)"
        return [inner] + (maps.contains(key) ? [] : paths(member, inner))
      }
    case .array(let elements): elements.flatMap { paths($0, path + "[]") }
    default: []
    }
  }

  private static func paths(_ command: String, in text: String) -> [String] {
    text.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }
      .flatMap { paths($0, command) }
  }

  private static func printed(
    _ words: [String], _ environment: [String: String] = [:], as name: String? = nil
  ) throws -> [String] {
    let result = try Command.ridepulse(words + ["--format", "json"], environment)
    let found = paths(name ?? words[0], in: result.output)
    #expect(!found.isEmpty, "\(words): \(result)")
    return found
  }

  @Test func `of files`() throws {
    let day = Project.path("Tests/Compatibility/0.1.0")
    var names = try Self.printed(["check", Self.golden + "/rules"])
    names += try Self.printed(
      ["rehearse", day + "/day.jsonl", "--schedules", day + "/ride", "--against", "recorded"])
    for (command, file) in [
      ("preview", "preview.jsonl"), ("preview --story", "story.jsonl"),
      ("test", "rule-tests/result.jsonl"),
    ] {
      let text = try String(contentsOfFile: "\(Self.golden)/\(file)", encoding: .utf8)
      names += Self.paths(command, in: text)
    }
    try PromisedNames.compare(Array(Set(names)), with: "json-of-files")
  }

  @Test func `of the database`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: CardTests.rules)
      let server = try Server(environment)
      defer { server.stop() }
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)',
          locale => 'de-AT', time_zone => 'Europe/Vienna', alerts => true, app_version => '5.2');
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
        """)
      try await stage.settled()
      try await stage.sql(
        """
        select ridepulse.register_live_activity(
          'r1', 'customer', 'c1', '\(CardTests.token)', 'activity-1');
        select ridepulse.register_push_to_start('customer', 'c1', 'aabb', 'RideAttributes');
        select ridepulse.contact('customer', 'c1');
        update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
        """)
      try await stage.settled()
      try await stage.sql("select ridepulse.pause('app', 'driver')")
      var names = try Self.printed(["explain", "r1"], environment)
      names += try Self.printed(["explain", "--owner", "c1"], environment, as: "explain --owner")
      names += try Self.printed(
        ["trigger", "driver_arrived", "--ride", "r1", "--dry-run"],
        environment.merging(["RIDEPULSE_SCHEDULES": Self.golden + "/story-rules"]) { $1 },
        as: "trigger --dry-run")
      for command in ["status", "nodes", "doctor", "migrate"] {
        names += try Self.printed([command], environment)
      }
      names += try Self.printed(["pause", "rule", "arrived"], environment)
      names += try Self.printed(["resume", "rule", "arrived"], environment)
      names += try Self.printed(["hold", "--yes"], environment)
      names += try Self.printed(["release", "--yes"], environment)
      names += try Self.printed(["unpark", "--all"], environment)
      names += try Self.printed(["unquarantine", "--all"], environment)
      names += try Self.printed(
        ["revive", "--app", "customer", "--since", "2026-01-01T00:00:00Z", "--yes"], environment)
      let log = stage.directory + "/old.csv"
      try "time,person,kind\n\(Int(Date().timeIntervalSince1970)),c1,arrived\n".write(
        toFile: log, atomically: true, encoding: .utf8)
      names += try Self.printed(["compare", log, "--fail-on", "none"], environment)
      names += try Self.printed(["forget", "c1", "--yes"], environment)
      try PromisedNames.compare(Array(Set(names)), with: "json-of-database")
    }
  }
}
