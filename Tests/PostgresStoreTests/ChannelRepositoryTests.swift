import Foundation
import RideCore
import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct ChannelRepositoryTests {
  private let session: PostgresSession
  private let store: ChannelRepository
  private let scope = ChannelScope(bundleID: "com.example.customer", environment: .production)

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    store = ChannelRepository(session: session)
  }

  private static func request(_ number: Int) -> PushID { PushID(of: "create", "\(number)") }

  private static func id(_ text: String) throws -> ChannelID { try #require(ChannelID(text)) }

  private func newChannel(_ number: Int, ride: String? = nil) -> NewChannel {
    NewChannel(
      app: .customer, scope: scope, storage: .latest, rideID: ride.map(RideID.init),
      requestID: Self.request(number))
  }

  private func claim(_ number: Int, ride: String? = nil) async throws -> ChannelRepository.Claim {
    try await store.claim(newChannel(number, ride: ride))
  }

  private func listed(_ ids: String...) async throws -> (
    rows: [ChannelRow], others: [OtherChannel]
  ) {
    let began = try await store.now()
    return try await store.record(try ids.map(Self.id), began: began, in: scope)
  }

  @Test func `a claim is there before the call, and its channel after`() async throws {
    let claimed = try await claim(1, ride: "r1")
    let row = claimed.row
    #expect(claimed.isBegun)
    #expect(row.channel == nil && row.rideID == "r1" && row.storage == .latest)
    #expect(try await claim(1, ride: "r1") == claimed, "asked twice, noted once")
    try await store.made(Self.id("YQ=="), newChannel(1))
    let known = try #require(await store.row(of: Self.id("YQ=="), in: scope))
    #expect(known.confirmedAt != nil && known.requestID == Self.request(1))
    #expect(
      try await store.channel(ofRide: "r1", app: .customer, environment: .production) == known)
    #expect(try await store.channel(ofRide: "r1", app: .driver, environment: .production) == nil)
    let elsewhere = ChannelScope(bundleID: scope.bundleID, environment: .sandbox)
    #expect(try await store.row(of: Self.id("YQ=="), in: elsewhere) == nil)
  }

  @Test func `a ride gets one channel, however many ask at once`() async throws {
    let store = store
    let scope = scope
    let begun = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<20 {
        group.addTask {
          let newChannel = NewChannel(
            app: .customer, scope: scope, storage: .nothing, rideID: "r1",
            requestID: Self.request(number))
          return try await store.claim(newChannel).isBegun
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(begun == 1)
  }

  @Test func `R32: a lost create holds no place, and a late answer is one`() async throws {
    _ = try await claim(1, ride: "r1")
    #expect(try await !claim(2, ride: "r1").isBegun)
    try await store.lost(requestID: Self.request(1))
    #expect(try await claim(3, ride: "r1").isBegun)
    try await store.failed(newChannel(3), reason: "FeatureNotEnabled")
    try await store.made(Self.id("YQ=="), newChannel(1))
    let row = try #require(
      await store.channel(ofRide: "r1", app: .customer, environment: .production))
    #expect(row.unansweredAt == nil && row.channel?.rawValue == "YQ==")
  }

  @Test func `R32: the create of a node that died holds no place after a minute`() async throws {
    _ = try await claim(1, ride: "r1")
    try await session.script(
      "update ridepulse.channels set created_at = created_at - interval '61 seconds'")
    #expect(try await claim(2, ride: "r1").isBegun)
    let (rows, _) = try await listed()
    #expect(rows.map { $0.unansweredAt != nil } == [true, false])
  }

  @Test func `what Apple lists is remembered, with when it came`() async throws {
    let first = try await listed("AAAA").others
    #expect(first.map(\.channel.rawValue) == ["AAAA"] && first[0].absentAt == nil)
    let between = try await store.now()
    let second = try await listed("AAAA", "BBBB").others
    #expect(second.first == first.first, "what was known stays as it was")
    #expect(second.count == 2)
    let came = try #require(second.last)
    #expect(came.absentAt.map { $0 < between } == true && came.seenAt > between)
    try await store.record(.nothing, of: Self.id("BBBB"), in: scope)
    #expect(try await listed("BBBB").others.map(\.storage) == [.nothing], "AAAA is gone")
  }

  @Test func `what a row names is no other channel`() async throws {
    _ = try await claim(1)
    #expect(try await listed("AAAA").others.count == 1)
    try await store.made(Self.id("AAAA"), newChannel(1))
    let (rows, others) = try await listed("AAAA")
    #expect(others.isEmpty && rows.map(\.channel?.rawValue) == ["AAAA"])
    try await store.end(rows.map(\.id), reason: "deleted")
    #expect(try await listed("AAAA").rows.count == 1, "given up, and still at Apple")
    #expect(try await listed().rows.isEmpty)
    let row = try #require(await store.row(of: Self.id("AAAA"), in: scope))
    #expect(row.endedReason == "deleted" && row.endedAt != nil)
  }

  @Test func `a listing that was asked for before the last one changes nothing`() async throws {
    let early = try await store.now()
    let known = try await listed("AAAA", "BBBB").others
    let (_, others) = try await store.record([Self.id("CCCC")], began: early, in: scope)
    #expect(others == known)
  }

  @Test func `a ride is live on the agenda, with an event, or in an active state`() async throws {
    func isLive() async throws -> Bool { try await store.isLive(ride: "r1", activeStates: ["on"]) }
    #expect(try await !isLive())
    try await session.script("insert into ridepulse.rides (id, state) values ('r1', 'on')")
    #expect(try await isLive())
    try await session.script(
      "delete from ridepulse.events; update ridepulse.rides set state = 'off'")
    #expect(try await isLive(), "the change is an event")
    try await session.script("delete from ridepulse.events")
    #expect(try await !isLive())
    try await session.script(
      "insert into ridepulse.agenda (ride_id, fence, leased_until) values ('r1', 1, '-infinity')")
    #expect(try await isLive())
  }
}
