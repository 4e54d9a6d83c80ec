import Foundation
import PostgresStore
import TestSupport
import Testing

@testable import RidePulse

/// Tests of the reports about an attached table that no longer fits its mapping.
@Suite("Reports about attached tables", .timeLimit(.minutes(60))) struct WatchedTableTests {
  private static let bookings = """
    create table bookings (id text, status text, rider text, pickup timestamptz, tz text);
    select ridepulse.watch('bookings', '{"id": "id", "state": "status", "customer_id": "rider",
      "pickup_at": "pickup", "time_zone": "tz"}');
    """

  @Test func `A renamed column is in the doctor's results, the log and the metrics`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.sql(Self.bookings)
      try Checkup(stage.environment).expect("watch", "ok", "1 attached table")
      try await stage.sql(
        """
        insert into bookings values ('r1', 'requested', 'c1');
        alter table bookings rename column status to state;
        update bookings set rider = 'c2';
        insert into bookings values (null, 'requested', 'c1', null, 'Mars')
        """)
      #expect(try await stage.value("select customer_id from ridepulse.rides") == "c1")
      let broken = try Checkup(stage.environment)
      broken.expect("watch public.bookings", "failure", "column status, which is mapped, is gone")
      broken.expect("watch public.bookings", "failure", "select ridepulse.watch('public.bookings'")
      var environment = stage.environment
      environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
      let server = try Server(environment)
      defer { server.stop() }
      try await server.waitForLog("Attached table not copied")
      #expect(server.log.contains("table=public.bookings column=status problem=missing_column"))
      let url = "http://127.0.0.1:\(server.field("port") ?? "")/metrics"
      let line = #"ridepulse_watch_problems{table="public.bookings",problem="missing_column"} 1"#
      #expect(try Command.run("/usr/bin/curl", ["--silent", url]).output.contains(line))
    }
  }

  @Test func `Bad values are warnings, and a disabled trigger is a failure`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        Self.bookings
          + "insert into bookings (id, tz) values (null, 'UTC'), ('r1', 'Mars')")
      let warned = try Checkup(stage.environment)
      warned.expect("watch public.bookings", "warning", "column id has no ID (1 transaction)")
      warned.expect("watch public.bookings", "warning", "column tz has an unknown time zone")
      try await stage.sql("alter table bookings disable trigger all")
      try Checkup(stage.environment).expect(
        "watch public.bookings", "failure",
        "alter table public.bookings enable trigger ridepulse_watch")
      let once = try Command.ridepulse(["serve", "--once"], stage.environment)
      #expect(once.errors.contains("Attached table has unusable values"))
      #expect(!once.errors.contains("Mars"))
    }
  }
}

/// Tests of which problems of attached tables are logged and shown.
@Suite struct WatchNewsTests {
  @Test func `A problem is logged once until it is gone`() {
    let column = WatchProblem(table: "t", column: "c", code: "missing_column")
    var row = WatchProblem(
      table: "t", column: "c", code: "bad_time", rowID: "1", count: 1, age: .zero)
    var news = ReportedProblems()
    #expect(news.new(among: [column, row]) == [column, row])
    row.count = 7
    #expect(news.new(among: [column, row]) == [])
    #expect(news.new(among: [column]) == [])
    #expect(news.new(among: [column, row]) == [row])
  }

  @Test func `Each kind has a description, and one of a newer schema is shown unchanged`() {
    for code in WatchProblem.Kind.allCases.map(\.rawValue) + ["of_tomorrow"] {
      var probes = DatabaseState()
      let problem = WatchProblem(table: "public.t", column: "c", code: code)
      probes.watched = .known(WatchedTables(count: 1, problems: [problem]))
      let result = DatabaseCheck.results(probes).first { $0.name == "watch public.t" }
      #expect(result?.standing == (problem.kind?.stopsTable == true ? .failure : .warning))
      #expect(result?.remedy.count == 1)
    }
  }
}
