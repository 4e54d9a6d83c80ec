import Base
import LocalStack
import Synchronization
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// Tests that a follower of `ridepulse.deliveries_after` receives each verdict.
@Suite("Following deliveries", .timeLimit(.minutes(60))) struct DeliveryLogTests {
  private let url: String
  private let session: PostgresSession
  private let log: DeliveryLog

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    log = DeliveryLog(session: session)
  }

  private static func row(_ ride: String, status: String = "accepted") -> String {
    """
    insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
      occurred_at, finished_at)
    values ('\(ride)', gen_random_uuid(), 'e', 'r', 'customer', 'alert', '\(status)', 1, now(),
      case '\(status)' when 'pending' then null else clock_timestamp() end)
    """
  }

  /// Reads pages until there are no more verdicts, and at least `count` were read: for a moment, a
  /// transaction of another test may hold them back.
  private func follow(
    _ cursor: inout String?, limit: Int = 3, count: Int = 0
  ) async throws -> [String] {
    var rides: [String] = []
    while true {
      let next = try await page(&cursor, limit: limit)
      rides += next
      if !next.isEmpty { continue }
      if rides.count >= count { return rides }
      try await Task.sleep(for: .milliseconds(10))  // poll: nothing notifies the follower
    }
  }

  private func page(_ cursor: inout String?, limit: Int) async throws -> [String] {
    let page = try await log.page(
      DeliveryQuery(start: cursor.map { .after($0) } ?? .oldest, limit: limit))
    cursor = page.next
    return page.deliveries.map(\.rideID.text)
  }

  @Test func `R69: a verdict that commits late is not skipped`() async throws {
    let early = try PostgresSession(conninfo: url)
    let late = try PostgresSession(conninfo: url)
    try await session.script("select pg_advisory_lock(7)")
    // Writes first and commits last.
    let first = early.begin(
      "with w as (\(Self.row("first")) returning 1) select pg_advisory_xact_lock(7) from w")
    try await session.wait(until: waitingForAdvisoryLock, is: "1")
    try await late.script(Self.row("second"))
    var cursor: String?
    #expect(try await follow(&cursor) == [], "the second must not overtake the first")
    try await session.script("select pg_advisory_unlock(7)")
    _ = try await first.value.get()
    #expect(try await follow(&cursor, count: 2) == ["first", "second"])
    #expect(try await follow(&cursor) == [])
    await early.close()
    await late.close()
  }

  @Test func `R69: an open transaction of the app, or of another database, delays no verdict`()
    async throws
  {
    try await session.script("create table public.bookings (n int); select pg_advisory_lock(7)")
    let app = try PostgresSession(conninfo: url)
    let wait = "insert into public.bookings select 1; select pg_advisory_xact_lock(7)"
    let open = Task { try await app.script(wait) }
    try await session.wait(until: waitingForAdvisoryLock, is: "1")
    try await session.script(Self.row("r1"))
    var cursor: String?
    #expect(try await follow(&cursor, count: 1) == ["r1"])
    try await session.script("select pg_advisory_unlock(7)")
    try await open.value
    await app.close()
  }

  @Test func `R78: the pending push of an erased person has a verdict to follow`() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'aa');
      \(Self.row("r1", status: "pending"));
      update ridepulse.ledger set device_id = (select id from ridepulse.devices)
      """)
    var cursor = try await session.value("select ridepulse.deliveries_cursor()")
    try await session.script("select ridepulse.forget('c1')")
    #expect(try await follow(&cursor, count: 1) == ["r1"])
  }

  @Test func `R69: under repeatable read, nothing is skipped either`() async throws {
    let late = try PostgresSession(conninfo: url)
    let reader = try PostgresSession(conninfo: url)
    try await session.script("select pg_advisory_lock(7), pg_advisory_lock(8)")
    let writing = late.begin(
      "with w as (\(Self.row("late")) returning 1) select pg_advisory_xact_lock(7) from w")
    try await session.wait(until: waitingForAdvisoryLock, is: "1")
    try await session.script(Self.row("early"))
    let after = "select count(*) from ridepulse.deliveries_after()"
    let read = Task {
      try await reader.run(
        [
          "begin isolation level repeatable read", "select 1", "select pg_advisory_xact_lock(8)",
          after, "commit",
        ].map { direct($0) })
    }
    try await session.wait(until: waitingForAdvisoryLock, is: "2")
    // The late one commits after the reader's snapshot, which shows the early one.
    try await session.script("select pg_advisory_unlock(7)")
    _ = try await writing.value.get()
    try await session.script("select pg_advisory_unlock(8)")
    let results = try await read.value
    #expect(results[3].string(0, 0) == "0")
    // Transactions of other databases hold the log back as well.
    try await session.wait(until: after, is: "2")
    await reader.close()
    await late.close()
  }

  @Test func `R69: a follower of eight writers receives each verdict once`() async throws {
    let writers = try (0..<8).map { _ in try PostgresSession(conninfo: url) }
    let done = Flag()
    let writing = Task {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, writer) in writers.enumerated() {
          group.addTask {
            var count = 0
            while !done.isSet.load(ordering: .acquiring) {
              count += 1
              // Transactions of different lengths commit out of order.
              try await writer.script(
                "\(Self.row("\(index)-\(count)")); select pg_sleep(random() * 0.01)")
            }
          }
        }
        try await group.waitForAll()
      }
    }
    var cursor: String?
    var rides: [String] = []
    // Page by page, because the writers may be faster than the follower.
    while rides.count < 400 { rides += try await page(&cursor, limit: 50) }
    done.isSet.store(true, ordering: .releasing)
    try await writing.value
    let count = try await session.value("select count(*) from ridepulse.ledger")
    let left = (count.flatMap { Int($0) } ?? 0) - rides.count
    rides += try await follow(&cursor, limit: 50, count: left)
    #expect("\(rides.count)" == count && Set(rides).count == rides.count)
    for writer in writers { await writer.close() }
  }

  @Test func `R69: a page ends anywhere, also within a transaction`() async throws {
    try await session.script((1...5).map { Self.row("\($0)") }.joined(separator: ";"))
    for limit in [1, 2, 5] {
      var cursor: String?
      let rides = try await follow(&cursor, limit: limit, count: 5)
      #expect(rides.sorted() == ["1", "2", "3", "4", "5"])
    }
  }

  @Test func `R69: a pending push has no verdict, and a changed verdict comes again`()
    async throws
  {
    try await session.script(Self.row("r1", status: "pending"))
    var cursor: String?
    #expect(try await follow(&cursor) == [])
    let settle = "update ridepulse.ledger set settled_xid = default, status ="
    try await session.script("\(settle) 'uncertain', finished_at = now()")
    #expect(try await follow(&cursor, count: 1) == ["r1"])
    try await session.script("\(settle) 'accepted'")
    #expect(try await follow(&cursor, count: 1) == ["r1"])
  }

  @Test func `R69: following begins at a time, or with the oldest verdict`() async throws {
    try await session.script(Self.row("old"))
    try await session.script("update ridepulse.ledger set finished_at = now() - interval '1 hour'")
    try await session.script(Self.row("new"))
    let now = try await session.run([direct("select \(SQLTime.now)")])[0].int64(0, 0) ?? 0
    func rides(since ago: Duration) async throws -> [String] {
      let since = Timestamp(microseconds: now) - ago
      return try await log.page(DeliveryQuery(start: .since(since), limit: 10)).deliveries
        .map(\.rideID.text)
    }
    // For a moment, a transaction of another test may hold them back.
    try await wait(until: "both are returned") {
      try await rides(since: .seconds(7200)) == ["old", "new"]
    }
    try await wait(until: "the newer one is returned") {
      try await rides(since: .seconds(600)) == ["new"]
    }
    let end = try await log.page(
      DeliveryQuery(start: .since(Timestamp(microseconds: now) + .seconds(60)), limit: 10))
    #expect(end.deliveries.isEmpty)
    try await session.script(Self.row("newest"))
    var cursor = end.next
    #expect(try await follow(&cursor, count: 1) == ["newest"])
  }

  /// A part of a cursor is changed, and the SQLSTATE that follows; nil if the cursor holds.
  @Test(
    arguments: [
      (0, "0123456789abcdef", "55000"), (1, "000000FF", nil), (2, "999999999999", "55000"),
      (2, "x", "22023"), (3, "00000000", "22023"),
    ] as [(Int, String, String?)])
  func `R69: a cursor of another server or of lost commits is refused`(
    part: Int, text: String, state: String?
  ) async throws {
    try await session.script(Self.row("r1"))
    try await session.script(Self.row("r2"))
    // A page is empty while any transaction of the server may still precede the verdicts.
    func pageWithRows(_ query: DeliveryQuery) async throws -> DeliveryPage {
      while true {
        let page = try await log.page(query)
        if !page.deliveries.isEmpty { return page }
        try await Task.sleep(for: .milliseconds(20))  // poll: other tests' transactions
      }
    }
    let page = try await pageWithRows(DeliveryQuery(start: .oldest, limit: 1))
    var parts = try #require(page.next).split(separator: ".").map(String.init)
    parts[part] = text
    let query = DeliveryQuery(start: .after(parts.joined(separator: ".")), limit: 5)
    if let state {
      let error = await #expect(throws: PostgresError.self) { try await log.page(query) }
      #expect(error?.server?.sqlState == state && error?.server?.hint != nil)
      return
    }
    // A failover that lost nothing.
    #expect(try await pageWithRows(query).deliveries.map(\.rideID.text) == ["r2"])
    try await session.script("delete from ridepulse.ledger where ride_id = 'r1'")
    let error = await #expect(throws: PostgresError.self) { try await log.page(query) }
    #expect(error?.server?.sqlState == "55000")
  }
}

private final class Flag: Sendable {
  let isSet = Atomic(false)
}
