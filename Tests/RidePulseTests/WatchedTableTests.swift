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

/// Tests of the backfill of attached tables by `serve` and by `ridepulse backfill`.
@Suite("Backfill by serve and by hand", .timeLimit(.minutes(60))) struct BackfillCommandTests {
  private static let bookings = """
    create table bookings (id int primary key, status text, rider text);
    insert into bookings values (1, 'SEARCHING', 'c1'), (2, 'DONE', 'c1');
    select ridepulse.watch('bookings', '{"id": {"column": "id", "prefix": "b-"},
      "state": "status", "customer_id": "rider",
      "states": {"SEARCHING": "requested", "DONE": "ride_completed"}}');
    select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
    """
  private static let copied = "select coalesce(string_agg(id, ' '), '') from ridepulse.rides"

  @Test func `R62: serve copies the live rows of an attached table, and notifies nobody`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.sql(Self.bookings)
      try Checkup(stage.environment).expect(
        "backfill public.bookings", "warning", "ridepulse backfill public.bookings")
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.until(Self.copied, is: "b-1")
      try await server.waitForLog("Attached table backfilled")
      #expect(server.log.contains("Running as a superuser, use another role"))
      #expect(server.log.contains("table=public.bookings inserted=1 refreshed=0 removed=0"))
      try await stage.settled()
      #expect(try await stage.value("select count(*) from ridepulse.ledger") == "0")
      // A finished ride whose data changes notifies nobody; a ride that goes on does.
      try await stage.sql("update bookings set rider = 'c1', status = 'DONE' where id = 2")
      try await stage.sql("update bookings set status = 'driver_arrived' where id = 1")
      try await stage.until(
        "select string_agg(event, ' ') from ridepulse.deliveries where apns_id is not null",
        is: "driver_arrived")
      let checkup = try Checkup(stage.environment)
      checkup.expect("watch", "ok", "1 attached table")
    }
  }

  @Test func `R62: backfill prints what it did, and may be repeated`() async throws {
    try await Stage.run { stage in
      let missing = try Command.ridepulse(["backfill", "bookings"], stage.environment)
      #expect(missing.status == 1)
      #expect(missing.errors.contains("check the name and its schema"))
      try await stage.sql("create table bookings (id int)")
      let detached = try Command.ridepulse(["backfill", "bookings"], stage.environment)
      #expect(detached.status == 1)
      #expect(detached.errors.contains("Call ridepulse.watch as the owner of the table"))
      try await stage.sql("drop table bookings; \(Self.bookings)")
      let first = try Command.ridepulse(["backfill", "bookings"], stage.environment)
      #expect(first.status == 0)
      #expect(first.output == "public.bookings: 1 ride inserted, 0 refreshed, 0 removed\n")
      let second = try Command.ridepulse(["backfill", "bookings"], stage.environment)
      #expect(second.output == "public.bookings: 0 rides inserted, 0 refreshed, 0 removed\n")
    }
  }

  @Test func `A11, U8: doctor and explain report replaced tables and unread rides`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        """
        create table bookings (id text, status text, divisor int);
        select ridepulse.watch('bookings',
          '{"id": "id", "state": "status", "where": "1 / divisor is not null"}');
        insert into bookings values ('r1', 'requested', 1);
        """)
      try await stage.sql("update bookings set divisor = 0")
      let unread = try Checkup(stage.environment)
      unread.expect(
        "watch public.bookings", "warning", "no clock rule fires for 1 ride whose row changed")
      unread.expect(
        "watch public.bookings", "warning", "rows can't be read (1 transaction, last in row r1)")
      let explained = try Command.ridepulse(["explain", "r1"], stage.environment)
      #expect(explained.output.contains("its row changed and can't be read"))
      try await stage.sql("alter table bookings rename to former; create table bookings (id text)")
      let replaced = try Checkup(stage.environment)
      replaced.expect(
        "watch public.former", "failure",
        "it was attached as public.bookings, which is another table now, attached to nothing")
      replaced.expect(
        "watch public.former", "failure", "select ridepulse.watch('public.bookings', MAPPING)")
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
