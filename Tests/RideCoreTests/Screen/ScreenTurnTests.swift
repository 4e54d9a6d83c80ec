import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What changes a screen though nothing is sent.
@Suite struct ScreenTurnTests {
  private static let start = Timestamp(epochSeconds: 1_795_248_000)

  private func time(_ minutes: Int64) -> Timestamp { Self.start + .seconds(minutes * 60) }

  private var phone: ScenarioPhone {
    ScenarioPhone(name: nil, id: 1, platform: .ios, start: Self.start)
  }

  /// (away before, the hole, away then), in minutes
  private static let holes: [([Range<Int64>], Range<Int64>, [Range<Int64>])] = [
    ([], 5..<15, [5..<15]),
    ([1..<3, 20..<30], 5..<15, [1..<3, 5..<15, 20..<30]),
    ([1..<6, 14..<30], 5..<15, [1..<30]),
    ([6..<8], 5..<15, [5..<15]),
    ([1..<5], 5..<15, [1..<15]),
  ]

  @Test(arguments: holes.indices) func `A hole joins the times when the phone is away anyway`(
    index: Int
  ) {
    let (before, hole, after) = Self.holes[index]
    var phone = phone
    phone.away = before.map { time($0.lowerBound)..<time($0.upperBound) }
    let result = phone.away(time(hole.lowerBound)..<time(hole.upperBound)).away
    #expect(result == after.map { time($0.lowerBound)..<time($0.upperBound) })
  }

  @Test func `A phone that leaves and returns turns its screen, with nothing sent`() {
    let away = phone.away(time(5)..<time(15))
    let turns = ScreenFeed().turns(of: away, before: time(10))
    #expect(turns == [ScreenTurn(at: time(5), kind: .leaves)])
    #expect(ScreenFeed().turns(of: away, before: time(20)).map(\.kind) == [.leaves, .returns])
  }

  /// A card, and its content from a minute on.
  private func feed(_ aps: [String: JSONValue]) -> ScreenFeed {
    var feed = ScreenFeed()
    let content: [String: JSONValue] = [
      "timestamp": .integer(time(1).epochSeconds), "content-state": .object([:]),
    ]
    let push = ScreenPush(
      id: "a", type: .liveactivity, address: "t", storage: .apns(.neverStore), card: "r1",
      payload: .object(["aps": .object(content.merging(aps) { $1 })]))
    feed.add(.startsCard("r1"), to: 1, at: Self.start)
    feed.add(.push(push), to: 1, at: time(1))
    return feed
  }

  @Test func `A card turns the screen when it is stale, and when it leaves`() {
    let stale = feed(["event": .string("update"), "stale-date": .integer(time(5).epochSeconds)])
    #expect(stale.turns(of: phone, before: time(60)) == [ScreenTurn(at: time(5), kind: .stale)])
    #expect(stale.turns(of: phone, before: time(5)) == [])
    let ended = feed(["event": .string("end"), "dismissal-date": .integer(time(9).epochSeconds)])
    #expect(ended.turns(of: phone, before: time(60)) == [ScreenTurn(at: time(9), kind: .gone)])
  }

  @Test func `A card that iOS ended leaves, too`() {
    let feed = feed(["event": .string("update")])
    let gone = ScreenTurn(at: time(12 * 60), kind: .gone)
    #expect(feed.turns(of: phone, before: time(13 * 60)) == [gone])
  }
}
