import Foundation
import PostgresStore
import TestSupport
import Testing

@testable import RidePulse

/// Tests of how many connections to Postgres a node holds.
@Suite(.timeLimit(.minutes(60))) struct ConnectionCountTests {
  private static func count(_ name: String) -> String {
    """
    select count(*) from pg_stat_activity
    where datname = current_database() and application_name like 'ridepulse \(name)'
    """
  }

  @Test func `A node holds 4 connections at rest, and after calls over HTTP`() async throws {
    try await Stage.run { stage in
      try await stage.addRide("r1")
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let (count, expected) = (Self.count("%"), "\(NodeConnections.atRest)")
      // Tasks of the start that overlap on a slow machine have one more for a while.
      var restful = 0
      try await wait(until: "it has \(expected) twenty times in a row", every: .milliseconds(100)) {
        restful = try await stage.value(count) == expected ? restful + 1 : 0
        return restful == 20
      }
      let posted = try api.post("/v1/events", #"{"event": "driver_nearby", "ride_id": "r1"}"#)
      #expect(posted.status == 201, "\(posted)")
      for path in ["/metrics", "/v1/rides/r1/explain", "/timeline", "/cards"] {
        let answer = try api.get(path)
        #expect(answer.status == 200, "\(path) \(answer)")
      }
      try await stage.until(count, is: expected)
    }
  }

  @Test func `The pool opens a session for each that waits, at most 6, and closes them again`()
    async throws
  {
    try await Stage.run { stage in
      let pool = SessionPool(
        Cell(conninfo: stage.conninfo), idleLimit: .milliseconds(100))
      let opened = NodeConnections.most - NodeConnections.atRest + 1
      let (busy, feed) = AsyncStream.makeStream(of: Void.self)
      let gates = (0..<9).map { _ in AsyncStream.makeStream(of: Void.self) }
      await withTaskGroup { group in
        for (index, gate) in gates.enumerated() {
          group.addTask {
            try? await pool.with(index < 5 ? .call : index < 7 ? .long : .short) { session in
              _ = try await session.run([Call(Statement(name: "", sql: "select 1"))])
              feed.yield()
              for await _ in gate.stream {}
            }
          }
        }
        var count = 0
        for await _ in busy {
          count += 1
          if count == gates.count { break }
        }
        let now = try? await stage.value(Self.count("shared"))
        #expect(now == "\(opened)")
        for gate in gates { gate.continuation.finish() }
      }
      try await stage.until(Self.count("shared"), is: "0")
      // It opens one again, and closes it at once.
      let one = try await pool.with(.short) { session in
        try await session.run([Call(Statement(name: "", sql: Self.count("shared")))])[0].string(
          0, 0)
      }
      #expect(one == "1")
      await pool.close()
      // Postgres ends a backend after its client has closed the connection.
      try await stage.until(Self.count("shared"), is: "0")
    }
  }

  @Test func `The documented numbers are true`() throws {
    #expect(NodeConnections.atRest == 4 && NodeConnections.most == 9)
    for (page, most) in [
      ("configuration", "9 at most"), ("performance", "9 at most"), ("install", "9 connections"),
    ] {
      let text = try String(contentsOfFile: Project.path("docs/\(page).md"), encoding: .utf8)
      let statesRest = text.contains(/4 connections at rest|at rest it has 4|has 4 at rest/)
      #expect(text.contains(most) && statesRest, "\(page)")
    }
  }
}

/// Tests of which session of the pool some work uses, and when an unused one is closed.
@Suite struct SessionAllocatorTests {
  @Test func `Work that nothing else waits for shares the first session`() {
    var allocator = SessionAllocator()
    let start = ContinuousClock.now
    for work in [SessionAllocator.Work.call, .long, .short] {
      let index = allocator.enter(work)
      #expect(index == 0)
      allocator.leave(index, work, now: start)
    }
  }

  @Test func `Calls that wait leave a session to long work, and both leave one to short work`() {
    var allocator = SessionAllocator()
    #expect((0..<8).map { _ in allocator.enter(.call) } == [0, 1, 2, 3, 0, 1, 2, 3])
    #expect((0..<2).map { _ in allocator.enter(.long) } == [4, 0])
    #expect((0..<3).map { _ in allocator.enter(.short) } == [5, 5, 1])
  }

  @Test func `Nothing waits for a backfill while another session is open`() {
    var allocator = SessionAllocator()
    #expect(allocator.enter(.long) == 0)
    #expect((0..<4).map { _ in allocator.enter(.call) } == [1, 2, 3, 1])
    #expect(allocator.enter(.long) == 4)
    #expect((0..<2).map { _ in allocator.enter(.short) } == [5, 2])
    allocator.leave(0, .long, now: .now)
    #expect(allocator.enter(.call) == 0, "the session without long work and users")
  }

  @Test func `A session without users is closed after the limit, and one that is used is not`() {
    var allocator = SessionAllocator()
    let start = ContinuousClock.now
    let limit = SessionAllocator.idleLimit
    let (first, second) = (allocator.enter(.short), allocator.enter(.short))
    #expect(allocator.nextClose == nil)
    allocator.leave(second, .short, now: start)
    #expect(allocator.nextClose == start + limit)
    #expect(allocator.close(now: start + limit - .seconds(1)) == [])
    #expect(allocator.close(now: start + limit) == [second])
    #expect(allocator.nextClose == nil && allocator.close(now: start + limit * 9) == [])
    allocator.leave(first, .short, now: start + limit)
    #expect(allocator.enter(.short) == first)
    #expect(allocator.close(now: start + limit * 9) == [])
  }
}
