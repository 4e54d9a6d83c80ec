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
}
