import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What one phone shows of what was sent to it.
@Suite struct ScreenTests {
  private static let start = Timestamp(epochSeconds: 1_795_248_000)

  private func time(_ minutes: Int64) -> Timestamp { Self.start + .seconds(minutes * 60) }

  private func alert(
    _ id: String, _ aps: String = #"{"alert":{"title":"Here"},"sound":"default"}"#,
    keptUntil minutes: Int64? = 60, collapse: String? = nil, type: PushType = .alert
  ) throws -> ScreenPush {
    ScreenPush(
      id: id, rule: id, type: type, address: "token",
      storage: .apns(minutes.map { .at(time($0)) } ?? .neverStore), collapseID: collapse,
      payload: try #require(JSONValue(json: "{\"aps\":\(aps)}".utf8)))
  }

  private func card(
    _ id: String, _ event: String, at minutes: Int64, _ more: String = "",
    storage: ScreenPush.Storage = .apns(.neverStore)
  ) throws -> ScreenPush {
    let aps = """
      {"aps":{"event":"\(event)","timestamp":\(time(minutes).epochSeconds),
      "content-state":{"status":"\(id)"}\(more)}}
      """
    return ScreenPush(
      id: id, type: .liveactivity, address: "card", storage: storage, card: "r1",
      payload: try #require(JSONValue(json: aps.utf8)))
  }

  /// (`aps`, in a Focus, what it does)
  private static let attention: [(String, Bool, PushFate)] = [
    (#"{"alert":"x","sound":"default"}"#, false, .shown(.rang)),
    (#"{"alert":"x","sound":"default"}"#, true, .shown(.silent)),
    (#"{"alert":"x"}"#, false, .shown(.lit)),
    (#"{"alert":"x","sound":"default","interruption-level":"passive"}"#, false, .shown(.silent)),
    (#"{"alert":"x","sound":"s","interruption-level":"time-sensitive"}"#, true, .shown(.rang)),
    (#"{"alert":"x","interruption-level":"time-sensitive"}"#, true, .shown(.lit)),
    (
      #"{"alert":"x","sound":{"critical":1,"name":"s"},"interruption-level":"critical"}"#, true,
      .shown(.rang)
    ),
    (#"{"badge":3}"#, false, .unseen), (#"{"content-available":1}"#, false, .unseen),
  ]

  @Test(arguments: attention.indices) func `A push rings, lights the screen, or is silent`(
    index: Int
  ) throws {
    let (aps, isInFocus, fate) = Self.attention[index]
    var screen = Screen(.ios, at: Self.start)
    screen.setFocus(isInFocus, at: Self.start)
    screen.receive(try alert("a", aps), at: Self.start)
    #expect(screen.outcomes.map(\.fate) == [fate])
    #expect(screen.notifications.isEmpty == (fate == .unseen))
  }

  @Test func `A notification is replaced by its collapse ID, and goes to the top`() throws {
    var screen = Screen(.ios, at: Self.start)
    let thread = #"{"alert":{"title":"T","body":"B"},"thread-id":"t","badge":1}"#
    screen.receive(try alert("a", thread, collapse: "x"), at: time(0))
    screen.receive(try alert("b"), at: time(1))
    screen.receive(try alert("c", thread, collapse: "x"), at: time(2))
    screen.receive(try alert("d"), at: time(3))
    #expect(screen.notifications.map(\.rule) == ["d", "c", "b"])
    #expect(screen.threads.map { $0.map(\.rule) } == [["d", "b"], ["c"]])
    #expect(screen.badge == 1 && screen.count(.rang) == 2 && screen.count(.lit) == 2)
    let shown = try #require(screen.notifications.dropFirst().first)
    #expect(shown.text == "T · B" && shown.reads("T") && shown.reads("B") && !shown.reads("X"))
    screen.receive(try alert("e", #"{"badge":0}"#), at: time(4))
    #expect(screen.badge == nil && screen.notifications.count == 3)
  }

  @Test func `A heartbeat that is stored displaces the arrival, one that is not does not`() throws {
    for (kept, expected) in [(Int64(20), []), (nil, ["arrived"])] as [(Int64?, [String])] {
      var screen = Screen(.ios, at: Self.start)
      screen.goOffline(at: time(1))
      screen.receive(try alert("arrived"), at: time(2))
      let heartbeat = #"{"content-available":1}"#
      screen.receive(
        try alert("heartbeat", heartbeat, keptUntil: kept, type: .background), at: time(3))
      #expect(screen.waitingPushes.count == 1)
      screen.goOnline(at: time(10))
      #expect(screen.notifications.map(\.rule) == expected)
      #expect(screen.waitingPushes.isEmpty)
    }
  }

  @Test func `What has expired does not arrive, and the last second still counts`() throws {
    for (minute, extra, expected) in [(Int64(60), 0, 1), (60, 1, 0)] as [(Int64, Int64, Int)] {
      var screen = Screen(.ios, at: Self.start)
      screen.goOffline(at: time(0))
      screen.receive(try alert("a", keptUntil: 60), at: time(1))
      screen.goOnline(at: time(minute) + .seconds(extra))
      #expect(screen.notifications.count == expected)
    }
  }

  @Test func `A card grows stale, ends, and goes`() throws {
    var screen = Screen(.ios, at: Self.start)
    screen.receive(try card("lost", "update", at: 0), at: time(0))
    #expect(screen.card == nil, "a phone without the card shows none")
    let alert = #","alert":{"title":"x","sound":"default"}"#
    let stale = #","stale-date":\#(time(5).epochSeconds)"#
    screen.receive(try card("requested", "start", at: 1, alert + stale), at: time(1))
    #expect(screen.count(.rang) == 1 && screen.card?.isStale(at: time(4)) == false)
    screen.receive(try card("older", "update", at: 0), at: time(2))
    #expect(screen.card?.text == "status: requested")
    screen.advance(to: time(5))
    #expect(screen.card?.isStale(at: screen.now) == true)
    let gone = #","dismissal-date":\#(time(20).epochSeconds)"#
    screen.receive(try card("completed", "end", at: 10, gone), at: time(10))
    #expect(screen.card?.isEnded == true && screen.card?.isStale(at: screen.now) == false)
    screen.receive(try card("late", "update", at: 11), at: time(11))
    #expect(screen.card?.text == "status: completed")
    screen.advance(to: time(20))
    #expect(screen.card == nil)
  }

  @Test func `A card is stale while the phone is on, and until iOS ends it`() throws {
    let stale = #","stale-date":\#(time(5).epochSeconds)"#
    // (away, until, how long it was stale)
    for (away, minutes, expected) in [
      (nil, 12, 7), (4..<30, 33, 3), (10..<30, 31, 5), (nil, 600, 475), (4..<500, 510, 0),
    ] as [(Range<Int64>?, Int64, Int64)] {
      var screen = Screen(.ios, at: Self.start)
      screen.receive(try card("a", "start", at: 0, stale), at: time(0))
      if let away {
        screen.goOffline(at: time(away.lowerBound))
        screen.goOnline(at: time(away.upperBound))
      }
      screen.advance(to: time(minutes))
      #expect(screen.longestStale == .seconds(expected * 60), "until \(minutes)")
    }
  }

  @Test func `A location push that arrived is not lost`() {
    var screen = Screen(.ios, at: Self.start)
    let push = ScreenPush(
      id: "a", type: .location, address: "token", storage: .apns(.neverStore),
      payload: .object([:]))
    screen.receive(push, at: time(1))
    #expect(screen.outcomes.map(\.fate) == [.unseen] && screen.notifications.isEmpty)
  }

  @Test func `An app's own card is filled by a push, and iOS ends it after 8 hours`() throws {
    var screen = Screen(.ios, at: Self.start)
    screen.startCard("r1", at: time(0))
    #expect(screen.card?.text == "the app's own content")
    screen.receive(try card("arrived", "update", at: 1), at: time(1))
    screen.advance(to: time(479))
    #expect(screen.card?.isEnded == false)
    screen.advance(to: time(480))
    #expect(screen.card?.isEnded == true && screen.card?.text == "status: arrived")
    screen.advance(to: time(720))
    #expect(screen.card == nil)
  }

  @Test func `A broadcast is kept by the channel's policy, for 8 hours at most`() throws {
    func status(_ policy: ChannelStorage, after hours: Int64) throws -> String? {
      var screen = Screen(.ios, at: Self.start)
      screen.goOffline(at: time(0))
      let storage = ScreenPush.Storage.broadcast(.at(time(6_000)), policy)
      screen.receive(try card("a", "update", at: 1, storage: storage), at: time(1))
      screen.goOnline(at: time(1 + hours * 60))
      return screen.card?.text
    }
    #expect(try status(.latest, after: 1) == "status: a")
    #expect(try status(.latest, after: 8) == nil)
    #expect(try status(.nothing, after: 1) == nil)
  }

  @Test func `A push for another system changes nothing, and time does not go back`() throws {
    var screen = Screen(.android, at: Self.start)
    screen.receive(try alert("a"), at: time(5))
    screen.advance(to: time(1))
    #expect(screen.now == time(5) && screen.notifications.isEmpty)
    #expect(screen.outcomes.map(\.fate.loss) == ["it is for iOS, the phone has Android"])
  }

  @Test func `The lines say what is seen, what rang and what was lost`() throws {
    var screen = Screen(.ios, at: Self.start)
    screen.receive(try alert("here"), at: time(1))
    screen.receive(
      try card("arrived", "start", at: 1, #","stale-date":\#(time(3).epochSeconds)"#), at: time(1))
    screen.goOffline(at: time(2))
    screen.receive(try alert("now", keptUntil: nil), at: time(3))
    screen.receive(try alert("next"), at: time(4))
    #expect(
      screen.lines { ($0 - Self.start).rideText } == [
        "\"Here\", rang at 1m", "card status: arrived; stale since 3m",
        "rang 1, lit 0, silent 1", "waits until the phone is back: next",
        "lost: now at 3m: the phone was off, and it is never stored",
      ])
  }
}
