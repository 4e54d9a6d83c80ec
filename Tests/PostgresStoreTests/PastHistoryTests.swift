import Base
import TestSupport
import Testing

@testable import PostgresStore
@testable import RideCore

/// Tests of a ride's history as it was at an earlier time.
@Suite("Past histories", .timeLimit(.minutes(60))) struct PastHistoryTests {
  private let session: PostgresSession
  private let queries: RideQueries

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    queries = RideQueries(session: session)
  }

  private static func time(_ seconds: Int64) -> Timestamp {
    Timestamp(epochSeconds: 1_700_000_000 + seconds)
  }

  /// Adds a ride with two events: the second one is decided late, and its push is retried.
  private func addRide() async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id) values ('r1', 'done', 'c1');
      delete from ridepulse.events;
      insert into ridepulse.ledger (ride_id, apns_id, event_id, event, rule, app, push_type, status,
        reason, attempts, occurred_at, created_at, finished_at, priority)
      select 'r1', gen_random_uuid(), id, 'e' || id, 'rule', 'customer', 'alert', status, reason, n,
        to_timestamp(1700000000 + o), to_timestamp(1700000000 + c), to_timestamp(1700000000 + f), 10
      from (values (1, 'accepted', null, 1, 0, 1, 1), (2, 'rejected', 'BadTopic', 3, 10, 20, 40))
        v (id, status, reason, n, o, c, f);
      insert into ridepulse.live_activities (ride_id, app, owner_id, activity_id, token,
        registered_at, ended_at, ended_reason)
      values ('r1', 'customer', 'c1', 'a1', 'ab', to_timestamp(1700000015),
        to_timestamp(1700000030), 'dismissed');
      insert into ridepulse.contacts (app, owner_id, contacted_at)
      values ('customer', 'c1', to_timestamp(1700000035))
      """)
  }

  @Test func `pushes, events and cards are those of the time`() async throws {
    try await addRide()
    let now = try await queries.history(of: "r1")
    #expect(now.time == nil && now.entries.count == 2 && now.waiting.isEmpty)

    let before = now.at(Self.time(-1))
    #expect(before.entries.isEmpty && before.waiting.isEmpty && before.activities.isEmpty)

    let first = now.at(Self.time(5))
    #expect(first.entries.map(\.event) == ["e1"] && first.waiting.isEmpty)

    // The second event has happened, and nothing was decided for it.
    let unhandled = now.at(Self.time(12))
    #expect(unhandled.entries.map(\.status) == ["accepted"])
    #expect(unhandled.waiting.map(\.name) == ["e2"] && unhandled.waiting.map(\.id) == [2])

    let pending = now.at(Self.time(25))
    #expect(pending.entries.map(\.status) == ["accepted", "pending"])
    let push = try #require(pending.entries.last)
    #expect(push.reason == nil && push.attempts == 0 && push.priority == nil)
    #expect(pending.waiting.isEmpty && pending.contacts.isEmpty)
    #expect(pending.activities.map(\.endedReason) == [nil])

    let after = now.at(Self.time(40))
    #expect(after.entries == now.entries && after.activities.map(\.endedReason) == ["dismissed"])
    #expect(after.contacts.count == 1 && after.plan == nil)
  }
}
