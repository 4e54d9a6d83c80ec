import Base
import Foundation
import TestSupport
import Testing

/// `ridepulse compare`: its table, JSON, exit status and mistakes. `MovingTests` has real pushes.
@Suite("ridepulse compare", .timeLimit(.minutes(60))) struct CompareTests {
  private static let log = """
    time,person,kind,text
    2026-11-27T08:00:00Z,c1,arrived,Hi
    2026-11-27T08:00:00.400Z,c1,arrived,Hi
    2026-11-27T08:01:00Z,c2,arrived,Hi
    2026-11-27T08:02:00Z,c3,arrived,"Hi, you"
    2026-11-27T08:03:00Z,c4,ETA,Soon

    """

  /// The same pushes as another system writes them.
  private static let otherLog = """
    sms;user;when;type
    ;c1;1795766400;arrived
    ;c2;2026-11-27 09:01:00;arrived
    ;c3;1795766520000;arrived
    ;c4;2026-11-27 08:03:00+00;ETA

    """

  /// What RidePulse decided at the same time, and one push to nobody of the log.
  private static let ledger = """
    insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, reason_code,
      attempts, occurred_at, created_at, finished_at, owner_id)
    select 'r' || right(owner, 1), gen_random_uuid(), 'driver_arrived', rule, 'customer', type, status,
      code, 1, at::timestamptz, at::timestamptz, at::timestamptz, owner
    from (values
      ('c1', 'arrived', 'alert', 'accepted', null, '2026-11-27T08:00:00.5Z'),
      ('c1', 'arrived', 'alert', 'accepted', null, '2026-11-27T08:00:00.5Z'),
      ('c1', 'card', 'liveactivity', 'accepted', null, '2026-11-27T08:00:00.5Z'),
      ('c2', 'arrived', 'alert', 'suppressed', 'opted_out', '2026-11-27T08:01:01Z'),
      ('c4', 'nearly', 'alert', 'suppressed', 'covered_by_card', '2026-11-27T08:03:00Z'),
      ('c5', 'arrived', 'alert', 'accepted', null, '2026-11-27T08:02:30Z'),
      ('c6', 'arrived', 'alert', 'accepted', null, '2026-11-27T09:02:30Z')
    ) v (owner, rule, type, status, code, at)
    """

  private static let table = """
    time   2026-11-27T08:00:00Z to 2026-11-27T08:03:00.000001Z
    old    LOG, 4 pushes, 1 line of further phones left out
    new    the ledger of ridepulse, 3 pushes

    KIND     BOTH  ONLY OLD  UNDECIDED  ONLY NEW  TEXT SAME  TEXT DIFFERS
    ETA         1         0          0         0          0             0
    arrived     1         2          1         1          0             0
    all         2         2          1         1          0             0

    only old
      2026-11-27T08:01:00.000Z  arrived to c2, line 4: suppressed, opted_out, rule arrived, ride r2
      2026-11-27T08:02:00.000Z  arrived to c3, line 5: undecided

    only new
      2026-11-27T08:02:30.000Z  arrived to customer c5, ride r5, driver_arrived

    texts: 0 the same, 0 different
      1 unknown: a card shows it
      1 unknown: other rules than those in use decided it

    from the old sender to RidePulse: least 0 ms, p10 0 ms, p50 0 ms, p90 500 ms, p99 500 ms, most 500 ms

    failed: only-old (2)

    """

  private func compare(_ stage: Stage, _ log: String, _ options: String...) throws -> Tool {
    let path = stage.directory + "/log.csv"
    try Data(log.utf8).write(to: URL(fileURLWithPath: path))
    return try Command.ridepulse(["compare", path] + options, stage.environment)
  }

  @Test func `both senders are counted by kind, and what only the old sent fails`() async throws {
    try await Stage.run { stage in
      try await stage.sql(Self.ledger)
      let found = try compare(stage, Self.log, "--kind", "ETA=nearly")
      #expect(found.status == 2 && found.errors.isEmpty, "\(found.errors)")
      #expect(found.output.replacing(stage.directory + "/log.csv", with: "LOG") == Self.table)
      #expect(!found.output.contains("is called"))
      let unnamed = try compare(stage, Self.log)
      #expect(unnamed.output.contains("in this time is called ETA: name the rule with --kind"))
      // The reader needs no other right.
      try await stage.asReader { environment in
        let read = try Command.ridepulse(
          ["compare", stage.directory + "/log.csv", "--kind", "ETA=nearly"], environment)
        #expect(read.output == found.output, "\(read.errors)")
      }
      for (words, status) in [
        ("undecided", 2), ("only-new", 2), ("both", 2), ("text", 0), ("none", 0),
      ] as [(String, Int32)] {
        let chosen = try compare(
          stage, Self.log, "--kind", "ETA=nearly", "--fail-on", words)
        #expect(chosen.status == status, "\(words) \(chosen.output)")
      }
    }
  }

  @Test func `a log of other columns, times and separators gives the same`() async throws {
    try await Stage.run { stage in
      try await stage.sql(Self.ledger)
      let found = try compare(
        stage, Self.otherLog, "--separator", ";", "--time-column", "when", "--person-column",
        "user",
        "--kind-column", "type", "--time-zone", "Europe/Vienna", "--kind", "ETA=nearly", "--format",
        "json", "--from", "2026-11-27T08:00:00Z", "--to", "2026-11-27T10:00:00Z")
      #expect(found.status == 2, "\(found.errors)")
      let report = JSONValue(json: found.output.utf8)
      for (name, count) in [
        ("both", 2), ("shown_by_card", 1), ("only_old", 2), ("undecided", 1), ("only_new", 2),
      ] as [(String, Int64)] {
        #expect(report?.value(at: ["all", name]) == .integer(count), "\(name) \(found.output)")
      }
      guard case .array(let old)? = report?.value(at: ["only_old"]) else {
        throw TestFailure(found.output)
      }
      #expect(old.map { $0.value(at: ["owner_id"]) } == [.string("c2"), .string("c3")])
      #expect(old.first?.value(at: ["reason_code"]) == .string("opted_out"))
      #expect(old.last?.value(at: ["status"]) == .null)
    }
  }

  private static let rules = """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: "Hi" }
        expires: 1h

    """

  @Test func `the text of a push that may have arrived is unknown, with the cause`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let server = try Server(environment.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      try await stage.addRide(state: "driver_en_route")
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived'")
      try await stage.settled()
      #expect(server.stop() == 0)
      let at = try await stage.value(
        """
        select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        from ridepulse.ledger where rule = 'arrived'
        """)
      let log = "time,person,kind,text\n\(at ?? ""),c1,arrived,Hi\n"
      func texts() throws -> JSONValue? {
        let found = try compare(
          stage, log, "--schedules", stage.directory + "/rules", "--format", "json")
        let report = try #require(JSONValue(json: found.output.utf8), "\(found)")
        #expect(report.value(at: ["all", "both"]) == .integer(1), "\(found)")
        return report["unknown_texts"]
      }
      #expect(try texts() == .object([:]))
      try await stage.sql(
        """
        update ridepulse.ledger set status = 'uncertain', reason_code = 'out_of_time'
        where rule = 'arrived'
        """)
      #expect(try texts() == .object(["uncertain": .integer(1)]))
      let table = try compare(stage, log, "--schedules", stage.directory + "/rules")
      #expect(table.output.contains("1 unknown: whether it arrived is uncertain"), "\(table)")
    }
  }

  /// A log, options, exit status, and parts of the error.
  private static let mistakes: [(String, [String], Int32, [String])] = [
    ("time,person,kind\n1,c1\n", [], 1, ["log.csv:2: the record has 2 fields"]),
    ("time,person,kind\n", [], 1, ["has no push", "--from"]),
    ("a;b\n", [], 1, ["log.csv:1: the header has no column time", "--separator"]),
    (log, ["--separator", ";;"], 64, ["--separator ;; is not one character"]),
    (log, ["--time-zone", "Vienna"], 64, ["--time-zone Vienna is not a time zone"]),
    (log, ["--kind", "a"], 64, ["--kind a is not OLD=RULE"]),
    (log, ["--kind", "a=r", "--kind", "b=r"], 64, ["r is the rule of a already"]),
    (log, ["--within", "25h"], 64, ["--within is more than a day"]),
    (log, ["--fail-on", "onlyold"], 64, ["--fail-on onlyold is not one of", "only-old?"]),
    (log, ["--to", "2026-11-27T08:00:00Z"], 64, ["--to is not after --from"]),
    (log, ["--from", "2020-01-01T00:00:00Z"], 64, ["is more than 366d"]),
    (log, ["--schedules", "/nope"], 1, ["/nope"]),
  ]

  @Test(arguments: mistakes.indices)
  func `a mistake is named with what to do`(index: Int) async throws {
    let (log, options, status, parts) = Self.mistakes[index]
    let path = try ScratchFolder.create()
    defer { ScratchFolder.remove(path) }
    try Data(log.utf8).write(to: URL(fileURLWithPath: path + "/log.csv"))
    let found = try Command.ridepulse(
      ["compare", path + "/log.csv"] + options,
      ["DATABASE_URL": "host=/nowhere", "RIDEPULSE_SCHEDULES": Stage.rules])
    #expect(found.status == status && found.output.isEmpty, "\(found)")
    for part in parts { #expect(found.errors.contains(part), "\(part) \(found.errors)") }
  }
}
