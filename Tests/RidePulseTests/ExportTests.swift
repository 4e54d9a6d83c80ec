import Base
import Foundation
import PostgresStore
import RideCore
import TestSupport
import Testing

@testable import RidePulse

/// Tests of `ridepulse export` as it is called, and of its formats.
@Suite("ridepulse export", .timeLimit(.minutes(60))) struct ExportTests {
  private static let rows = """
    insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
      reason, occurred_at, finished_at)
    select 'r' || n, ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'e', 'r', 'customer',
      'alert', 'accepted', 1,
      case n when 1 then 'a "quoted", text' || E'\\n' || 'of two lines' end,
      timestamptz '2024-11-20T23:59:59Z' + n * interval '8 hours',
      timestamptz '2024-11-20T23:59:59Z' + n * interval '8 hours'
    from generate_series(1, 6) n
    """

  private func export(_ words: [String], _ stage: Stage) throws -> Tool {
    try Command.ridepulse(["export"] + words, stage.environment, in: stage.directory)
  }

  private func lines(_ name: String, _ stage: Stage) throws -> [String] {
    let text = try String(contentsOfFile: "\(stage.directory)/\(name)", encoding: .utf8)
    return text.split(separator: "\n").map(String.init)
  }

  @Test func `each day is a file of its own, and --resume leaves out those that are there`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.sql(Self.rows)
      let days = ["--from", "2024-11-21", "--to", "2024-11-23"]
      let done = try export(days, stage)
      #expect(done.status == 0, "\(done)")
      #expect(done.errors.contains("the ledger begins after 2024-11-21"))
      #expect(
        done.output == """
          ridepulse-deliveries-2024-11-21.jsonl: 3 rows
          ridepulse-deliveries-2024-11-22.jsonl: 3 rows
          ridepulse-deliveries-2024-11-23.jsonl: 0 rows

          """)
      let first = try lines("ridepulse-deliveries-2024-11-21.jsonl", stage)
        .compactMap { JSONValue(json: $0.utf8) }
      #expect(first.map { $0["ride_id"] } == [.string("r1"), .string("r2"), .string("r3")])
      #expect(first.allSatisfy { Set($0.members.keys) == Set(Delivery.names) })
      let file = "\(stage.directory)/ridepulse-deliveries-2024-11-22.jsonl"
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
      #expect(mode as? Int == 0o600)
      try FileManager.default.removeItem(atPath: file)
      let again = try export(days + ["--resume"], stage)
      #expect(again.output == "ridepulse-deliveries-2024-11-22.jsonl: 3 rows\n", "\(again)")
      #expect(try export(days + ["--resume"], stage).output == "all files are there\n")
    }
  }

  @Test func `csv is read by a parser of RFC 4180`() async throws {
    try await Stage.run { stage in
      try await stage.sql(Self.rows)
      let file = stage.directory + "/day.csv"
      let done = try export(
        ["--from", "2024-11-21", "--to", "2024-11-21", "--format", "csv", "--output", file], stage)
      #expect(done.status == 0, "\(done)")
      let program = """
        import csv, sys
        rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
        print(len(rows), rows[0]["ride_id"], rows[0]["attempts"], repr(rows[0]["reason"]),
          repr(rows[1]["reason"]), ",".join(rows[0].keys()))
        """
      let read = try Command.run("/usr/bin/python3", ["-c", program, file])
      #expect(
        read.output == "3 r1 1 'a \"quoted\", text\\nof two lines' '' "
          + Delivery.names.joined(separator: ",") + "\n", "\(read)")
    }
  }

  @Test func `a field is quoted if it must be, and NULL is no empty text`() {
    let values: [JSONValue] = [
      .string("plain"), .null, .string(""), .string("a,b"), .string("a\"b"), .string("a\r\nb"),
      .string(" a"), .integer(-3), .string("ü\u{301}"),
    ]
    #expect(
      String(decoding: ExportFormat.csv(values), as: UTF8.self)
        == "plain,,\"\",\"a,b\",\"a\"\"b\",\"a\r\nb\",\" a\",-3,ü\u{301}\r")
  }

  @Test(
    arguments: [
      ("2026-11-28", 20_785), ("1969-12-31", -1), ("2026-02-29", nil), ("2026-1-1", nil),
      ("20261128", nil), ("2026-11-28Z", nil), ("", nil),
    ] as [(String, Int64?)])
  func `a day is read and named`(text: String, number: Int64?) {
    #expect(ExportDay(text)?.number == number)
    if let day = ExportDay(text) { #expect(day.name == text && ExportDay(of: day.start) == day) }
  }

  @Test func `the present day is refused`() async throws {
    try await Stage.run { stage in
      let today = ExportDay(of: MachineTime.now).name
      let refused = try export(["--from", today, "--to", today], stage)
      #expect(refused.status == 1 && refused.errors.contains("\(today) is not complete before"))
      #expect(
        try !FileManager.default.contentsOfDirectory(atPath: stage.directory)
          .contains { $0.hasPrefix("ridepulse-deliveries") })
    }
  }

  @Test(
    arguments: [
      (["--from", "2024-11-21"], "--to DAY is missing"),
      (["--from", "today", "--to", "2024-11-21"], "--from today is not a day"),
      (["--from", "2024-11-22", "--to", "2024-11-21"], "--to is before --from"),
      (
        ["--from", "2024-11-21", "--to", "2024-11-22", "--output", "/tmp/one.jsonl"],
        "--output /tmp/one.jsonl is not a directory, and 2 days have as many files"
      ),
    ] as [([String], String)])
  func `a mistake is named`(words: [String], text: String) throws {
    let result = try Command.ridepulse(["export"] + words, ["DATABASE_URL": "host=/nowhere"])
    #expect(result.status == 64 && result.errors.contains(text), "\(result.errors)")
  }
}
