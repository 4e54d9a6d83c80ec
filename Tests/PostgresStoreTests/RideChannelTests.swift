import Foundation
import RideCore
import Testing

@testable import PostgresStore

/// Tests of the database functions for a ride's channel.
@Suite(.timeLimit(.minutes(60))) struct RideChannelTests {
  private let conninfo: String
  private let session: PostgresSession
  private let store: ChannelRepository

  init() async throws {
    conninfo = try await migratedDatabase()
    session = try PostgresSession(conninfo: conninfo)
    store = ChannelRepository(session: session)
  }

  private func newChannel(_ ride: String, isAwaited: Bool = true) -> NewChannel {
    var newChannel = NewChannel(
      app: .customer,
      scope: ChannelScope(bundleID: "com.example.customer", environment: .production),
      storage: .latest, rideID: RideID(ride), requestID: PushID(of: "create", ride))
    newChannel.isAwaited = isAwaited
    return newChannel
  }

  private func make(_ ride: String, isAwaited: Bool = true) async throws {
    let newChannel = newChannel(ride, isAwaited: isAwaited)
    _ = try await store.claim(newChannel)
    try await store.made(try #require(ChannelID("YQ==")), newChannel)
  }

  private func value(_ sql: String) async throws -> String? {
    let result = try await session.run([Call(Statement(name: "", sql: sql))])[0]
    return result.rowCount == 0 ? nil : result.string(0, 0)
  }

  private static let events = "select string_agg(event, ' ' order by id) from ridepulse.events"

  @Test func `the ride's data names its channel, and nothing but its agenda hears of it`()
    async throws
  {
    try await session.script(
      "insert into ridepulse.rides (id, state, attributes) values ('r1', 'requested', '{\"a\": 1}')"
    )
    try await make("r1")
    #expect(
      try await value("select attributes::text from ridepulse.rides")
        == #"{"a": 1, "customer_channel_id": "YQ=="}"#)
    #expect(try await value(Self.events) == "requested channel_opened", "and no ride_updated")
  }

  @Test func `a ride that an app has locked gets its channel later, and the ID is kept`()
    async throws
  {
    try await session.script("insert into ridepulse.rides (id, state) values ('r1', 'requested')")
    let app = try PostgresSession(conninfo: conninfo)
    let transaction = app.begin(
      "select pg_sleep(600) from (select from ridepulse.rides where id = 'r1' for update) r")
    try await session.wait(
      until:
        "select count(*) from pg_stat_activity where datname = current_database() and query ~ '^select pg_sleep' and wait_event = 'PgSleep'",
      is: "1")
    let newChannel = newChannel("r1")
    _ = try await store.claim(newChannel)
    #expect(!(try await store.made(try #require(ChannelID("YQ==")), newChannel)))
    #expect(try await value("select channel_id from ridepulse.channels") == "YQ==")
    #expect(!(try await store.reportAll()))
    #expect(try await value(Self.events) == "requested", "nothing is reported by halves")
    _ = try await value(
      "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and query ~ '^select pg_sleep'"
    )
    _ = await transaction.value
    await app.close()
    try await session.script(
      "insert into ridepulse.agenda (ride_id, fence, leased_until) values ('r1', 0, '-infinity')")
    #expect(try await store.reportAll())
    #expect(
      try await value("select attributes ->> 'customer_channel_id' from ridepulse.rides") == "YQ==")
    #expect(try await value(Self.events) == "requested channel_opened")
    #expect(try await store.reportAll())
    #expect(try await value(Self.events) == "requested channel_opened", "once")
  }

  @Test func `a refusal makes the ride due too`() async throws {
    _ = try await store.claim(newChannel("r1"))
    try await store.failed(newChannel("r1"), reason: "FeatureNotEnabled")
    #expect(try await value(Self.events) == "channel_refused")
    #expect(
      try await value("select data ->> 'reason' from ridepulse.events") == "FeatureNotEnabled")
  }

  @Test func `a channel that no service waits for leaves alone what is not on the agenda`()
    async throws
  {
    try await make("r1", isAwaited: false)
    #expect(try await value(Self.events) == nil)
    try await session.script(
      "insert into ridepulse.agenda (ride_id, fence, leased_until) values ('r2', 1, now())")
    let newChannel = newChannel("r2", isAwaited: false)
    _ = try await store.claim(newChannel)
    try await store.made(try #require(ChannelID("Yg==")), newChannel)
    #expect(try await value(Self.events) == "channel_opened")
  }

  @Test func `whoever writes attributes anew does not take an open channel's ID away`()
    async throws
  {
    try await session.script(
      """
      create table bookings (id text, status text, plate text);
      select ridepulse.watch('bookings', '{"id": "id", "state": "status", "attributes": ["plate"]}');
      insert into bookings values ('r1', 'requested', 'B-1');
      delete from ridepulse.events
      """)
    try await make("r1")
    try await session.script("update bookings set plate = 'B-2'")
    let attributes = "select attributes::text from ridepulse.rides"
    #expect(
      try await value(attributes) == #"{"plate": "B-2", "customer_channel_id": "YQ=="}"#)
    #expect(try await value(Self.events) == "channel_opened ride_updated")
    try await session.script("update bookings set plate = 'B-2'")
    #expect(
      try await value(Self.events) == "channel_opened ride_updated",
      "what changes nothing is no news")
    try await session.script(
      """
      update ridepulse.channels set ended_at = now(), ended_reason = 'ended';
      update bookings set plate = 'B-3'
      """)
    #expect(try await value(attributes) == #"{"plate": "B-3"}"#)
  }

  @Test func `what has ended is to be deleted, once`() async throws {
    try await make("r1")
    let scope = newChannel("r1").scope
    #expect(try await store.toDelete(in: scope, atMost: 10).isEmpty)
    try await session.script(
      """
      update ridepulse.channels set ended_at = now(), ended_reason = 'ended', storage = 'none'
      """)
    let rows = try await store.toDelete(in: scope, atMost: 10)
    #expect(rows.map(\.channel?.rawValue) == ["YQ=="])
    for row in rows { try await store.deleted(row.id) }
    #expect(try await store.toDelete(in: scope, atMost: 10).isEmpty)
  }

  @Test func `R75: a channel that keeps its last message goes eight hours after its end`()
    async throws
  {
    try await make("r1")
    let scope = newChannel("r1").scope
    for (ago, count) in [("0 s", 0), ("7 h 59 min", 0), ("8 h", 1)] {
      try await session.script(
        """
        update ridepulse.channels set ended_at = now() - interval '\(ago)',
          ended_reason = 'ended', storage = 'latest'
        """)
      #expect(try await store.toDelete(in: scope, atMost: 10).count == count, "\(ago)")
    }
  }
}
