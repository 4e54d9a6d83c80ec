import Base
import RideCore
import Testing

@testable import PostgresStore

/// The column of traces, and the pushes whose receipts belong to a trace.
@Suite("Traces", .timeLimit(.minutes(60))) struct TracedPushTests {
  private static let parent = TraceParent(traceID: 0xab, spanID: 0xcd)

  private func withSession(_ body: (PostgresSession, String) async throws -> Void) async throws {
    let url = try await migratedDatabase()
    let session = try PostgresSession(conninfo: url)
    try await body(session, url)
    await session.close()
  }

  private static func push(_ name: String) -> TracedPush {
    TracedPush(PushID(of: name), parent, .customer)
  }

  @Test func `all events of a transaction have the trace that it set, and no other`() async throws {
    try await withSession { session, _ in
      try await session.script(
        """
        select set_config('ridepulse.traceparent', '\(Self.parent.text)', true);
        select ridepulse.emit('a', 'r1');
        insert into ridepulse.rides (id, state) values ('r2', 'requested')
        """)
      try await session.script("select ridepulse.emit('b', 'r1')")
      let traces = """
        select string_agg(event || ' ' || coalesce(trace, '-'), ', ' order by id)
        from ridepulse.events
        """
      #expect(
        try await session.value(traces)
          == "a \(Self.parent.text), requested \(Self.parent.text), b -")
    }
  }

  @Test func `no text makes an event fail, and no more than 56 characters are kept`() async throws {
    try await withSession { session, _ in
      for text in ["", "nonsense", String(repeating: "ä", count: 5000), "{\"\\\"}", "00-''-01"] {
        try await session.script(
          """
          select set_config('ridepulse.traceparent', '\(text)', true);
          select ridepulse.emit('a', 'r1')
          """)
      }
      let kept = "select count(trace) || ' ' || max(length(trace)) from ridepulse.events"
      #expect(try await session.value(kept) == "4 56")
    }
  }

  @Test(arguments: [true, false])
  func `a claim reads valid and sampled traces if the service exports spans`(
    exports: Bool
  ) async throws {
    try await withSession { session, url in
      for text in ["nonsense", Self.parent.text, "\(Self.parent.text)-x"] {
        try await session.script(
          """
          select set_config('ridepulse.traceparent', '\(text)', true);
          select ridepulse.emit('a', 'r1')
          """)
      }
      let other = try PostgresSession(conninfo: url)
      let store = PostgresRideStore(
        node: "6f1c1b7e-0000-4000-8000-000000000001", host: "here", apps: [.customer],
        rules: RuleSet(activeStates: [], finalStates: [], events: [], rules: []),
        lease: .seconds(20), claims: session, settlements: other, readsTraces: exports,
        log: Log { _, _, _ in })
      let claim = try await store.claim(limit: 10, asleep: false)
      let view = try #require(claim.rides.first?.view)
      #expect(view.events.count == 3)
      let expected = [EventTrace(view.events[1].key, Self.parent)]
      #expect(view.traces == (exports ? expected : []))
      await other.close()
    }
  }

  @Test func `a receipt is taken once, whether it came before its push was recorded or after`()
    async throws
  {
    try await withSession { session, _ in
      let store = TracedPushStore(session: session)
      let (early, late, never) = (Self.push("early"), Self.push("late"), Self.push("never"))
      try await session.script("select ridepulse.seen('\(early.push)')")
      try await store.add([early, late, never])
      #expect(try await store.takeSeen(atMost: 10).map(\.push) == [early])
      try await session.script(
        "update ridepulse.traced_pushes set created_at = now() - interval '1 h'")
      #expect(try await store.takeSeen(atMost: 10).isEmpty)
      try await session.script("select ridepulse.seen('\(late.push)')")
      let taken = try await store.takeSeen(atMost: 10)
      #expect(taken.map(\.push) == [late])
      let seenAt = try await session.value(
        """
        select (extract(epoch from seen_at) * 1000000)::bigint from ridepulse.receipts
        where apns_id = '\(late.push)'
        """)
      #expect(taken.first.map { String($0.at.microseconds) } == seenAt)
      #expect(try await store.takeSeen(atMost: 10).isEmpty)
      #expect(try await session.value("select count(*) from ridepulse.traced_pushes") == "1")
    }
  }

  @Test func `a push that was accepted again has the span of its last attempt`() async throws {
    try await withSession { session, _ in
      let store = TracedPushStore(session: session)
      let first = Self.push("again")
      var second = first
      second.parent.spanID = 0xef
      try await store.add([first])
      try await store.add([second, second])
      try await session.script("select ridepulse.seen('\(first.push)')")
      #expect(try await store.takeSeen(atMost: 10).map(\.push) == [second])
    }
  }

  @Test func `a push that nobody saw is forgotten after a day`() async throws {
    try await withSession { session, _ in
      try await TracedPushStore(session: session).add([Self.push("a"), Self.push("b")])
      try await session.script(
        """
        update ridepulse.traced_pushes set created_at = now() - interval '25 h'
        where apns_id = '\(Self.push("a").push)'
        """)
      try await session.script("select * from ridepulse.sweep('traced_pushes')")
      #expect(try await session.value("select count(*) from ridepulse.traced_pushes") == "1")
    }
  }
}
