import TestSupport
import Testing

@testable import PostgresStore

@Suite("Gauges of the database", .timeLimit(.minutes(60))) struct GaugeTests {
  /// What a memo has, and the cards that are counted as starting, shown and over.
  @Test(
    arguments: [
      ("null", [0, 0, 0]), (#"{"runs": {}}"#, [0, 0, 0]), (#"["runs"]"#, [0, 0, 0]),
      (#"{"runs": {}, "cards": [1]}"#, [0, 0, 0]),
      (#"{"runs": {}, "cards": {"phone 7": 3, "phone 8": {"android": null}}}"#, [0, 0, 0]),
      (
        """
        {"runs": {}, "cards": {
          "5": {"number": 1}, "phone 7": {"android": {"isStarted": false, "isOver": false}},
          "phone 8": {"android": {"isStarted": true, "isOver": false}},
          "phone 9": {"android": {"isStarted": true}},
          "phone 10": {"android": {"isStarted": true, "isOver": true}},
          "phone 11": {"android": {"isStarted": false, "isOver": true}}}}
        """, [1, 2, 2]
      ),
      (#"{"cards": {"phone 7": {"android": {"isStarted": true}}}}"#, [0, 0, 0]),
    ] as [(String, [Int64])])
  func `cards of Android phones are counted by their state`(
    memo: String, counts: [Int64]
  ) async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    try await session.script("insert into ridepulse.rides (id, state) values ('r', 'on_trip')")
    _ = try await session.value(
      """
      insert into ridepulse.agenda (ride_id, memo, fence, leased_until)
      values ('r', $1::jsonb, 0, '-infinity')
      on conflict (ride_id) do update set memo = excluded.memo returning 1
      """, [memo])
    #expect(
      try await AndroidCardCount.read(session)
        == AndroidCardCount(starting: counts[0], shown: counts[1], over: counts[2]))
    #expect(try await RideGauges.read(session).liveRides == 1)
  }

  private static let phones = """
    insert into ridepulse.devices
      (app, owner_id, token, platform, disabled_at, disabled_reason, quarantined_at)
    values ('customer', 'a', '01', 'ios', null, null, null),
      ('customer', 'a', '02', 'ios', null, null, null),
      ('customer', 'b', '03', 'android', now(), 'UNREGISTERED', null),
      ('customer', 'b', '04', 'ios', now(), 'signed_out', now()),
      ('driver', 'd', '05', 'ios', null, null, now())
    """

  @Test func `U17: phones are counted by state, once a minute for all nodes`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    try await session.script(Self.phones)
    #expect(try await PhoneCounts.read(session).lines.isEmpty)
    #expect(try await PhoneCounts.refresh(session) == .counted)
    let expected = [
      "customer android disabled UNREGISTERED 1", "customer ios active  2",
      "customer ios disabled signed_out 1", "driver ios quarantined  1",
    ]
    func lines() async throws -> [String] {
      try await PhoneCounts.read(session).lines
        .map { "\($0.app) \($0.platform) \($0.state) \($0.reason) \($0.phones)" }.sorted()
    }
    #expect(try await lines() == expected)
    try await session.script("delete from ridepulse.devices")
    #expect(try await PhoneCounts.refresh(session) == .notDue)
    #expect(try await lines() == expected)
    try await session.script(
      "update ridepulse.phone_counts set counted_at = now() - interval '61 seconds', took = '0.06'")
    #expect(try await PhoneCounts.refresh(session) == .counted)
    #expect(try await lines().isEmpty)
  }

  @Test func `U17: phones whose count takes long, or fails, are counted less often`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    try await session.script(
      "update ridepulse.phone_counts set counted_at = now() - interval '2 minutes', took = '0.2'")
    #expect(try await PhoneCounts.refresh(session) == .notDue)
    try await session.script(
      """
      update ridepulse.phone_counts set took = '0.1';
      alter table ridepulse.devices rename to gone
      """)
    await #expect(throws: PostgresError.self) { try await PhoneCounts.refresh(session) }
    #expect(
      try await session.value(
        "select took = '10 s' and counted_at > now() - interval '1 minute' from ridepulse.phone_counts"
      )
        == "t")
    #expect(try await PhoneCounts.refresh(session) == .underway)
    for minutes in [1, 160] {
      try await session.script(
        "update ridepulse.phone_counts set counted_at = now() - interval '\(minutes) minutes'")
      #expect(try await PhoneCounts.refresh(session) == .unfinished)
    }
    try await session.script(
      """
      alter table ridepulse.gone rename to devices;
      update ridepulse.phone_counts set counted_at = now() - interval '170 minutes'
      """)
    #expect(try await PhoneCounts.refresh(session) == .counted)
    #expect(try await PhoneCounts.refresh(session) == .notDue)
  }

  @Test func `U17: a session is open while it is connected, and busy while it works`() async throws
  {
    let url = try await migratedDatabase()
    let session = try PostgresSession(conninfo: url)
    let other = try PostgresSession(conninfo: url)
    try await session.connect()
    #expect(SessionUse(of: [session]) == SessionUse(open: 1, busy: 0))
    try await other.script("select pg_advisory_lock(20261129)")
    async let waiting: Void = session.script("select pg_advisory_xact_lock(20261129)")
    try await wait(until: "the session waits for the lock") {
      try await other.value(waitingForAdvisoryLock) == "1"
    }
    #expect(SessionUse(of: [session]) == SessionUse(open: 1, busy: 1))
    try await other.script("select pg_advisory_unlock(20261129)")
    try await waiting
    await session.close()
    #expect(SessionUse(of: [session, other]) == SessionUse(open: 1, busy: 0))
  }
}
