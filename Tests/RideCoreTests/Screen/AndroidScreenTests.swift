import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What an Android phone shows of what was sent to it.
@Suite struct AndroidScreenTests {
  private static let start = Timestamp(epochSeconds: 1_795_248_000)

  private func time(_ minutes: Int64) -> Timestamp { Self.start + .seconds(minutes * 60) }

  private func message(
    _ id: String, _ data: [String: String], notification: String? = nil, ttl: Int64 = 3_600,
    key: String? = nil
  ) throws -> ScreenPush {
    let texts = data.merging(["rp_id": id]) { own, _ in own }.mapValues { JSONValue.string($0) }
    let shown = notification.map { ",\"android\":{\"notification\":\($0)}" } ?? ""
    let json = "{\"message\":{\"data\":\(JSONValue.object(texts).text)\(shown)}}"
    return ScreenPush(
      id: id, rule: id, platform: .android, address: "fcm",
      storage: .fcm(ttl: ttl, collapseKey: key), payload: try #require(JSONValue(json: json.utf8)))
  }

  private func card(
    _ event: String, _ minutes: Int64, _ more: [String: String] = [:]
  ) throws -> ScreenPush {
    let data = [
      "rp_kind": "card", "rp_card": "c", "rp_event": event,
      "rp_ts": "\(time(minutes).epochSeconds)",
      "rp_state": "{\"status\":\"\(event)\(minutes)\"}",
    ]
    return try message("\(event)\(minutes)", data.merging(more) { $1 })
  }

  @Test func `A notification is replaced by its tag, and its channel decides the sound`() throws {
    func shown(_ tag: String, _ channel: String) -> String {
      #"{"title":"T","tag":"\#(tag)","channel_id":"\#(channel)","default_sound":true}"#
    }
    var screen = Screen(.android, at: Self.start)
    screen.receive(try message("a", [:], notification: shown("x", "ride_now")), at: time(0))
    screen.receive(try message("b", [:], notification: shown("y", "ride_quiet")), at: time(1))
    screen.receive(try message("c", [:], notification: shown("x", "ride_news")), at: time(2))
    #expect(screen.notifications.map(\.rule) == ["c", "b"])
    #expect(screen.count(.rang) == 2 && screen.count(.silent) == 1)
    screen.setFocus(true, at: time(3))
    screen.receive(try message("d", [:], notification: shown("x", "ride_now")), at: time(3))
    #expect(screen.count(.rang) == 2, "Do Not Disturb silences every channel")
  }

  /// (channel, with a sound, what it does)
  private static let channels: [(String, Bool, Attention)] = [
    ("ride_now", true, .rang), ("ride_news", false, .lit), ("ride_quiet", true, .silent),
    ("ride_offers", false, .rang), ("ride_offers", true, .rang),
  ]

  @Test(arguments: channels.indices) func `A rule's own channel has a sound of its own`(
    index: Int
  ) throws {
    let (channel, hasSound, attention) = Self.channels[index]
    var screen = Screen(.android, at: Self.start)
    let shown = #"{"title":"T","channel_id":"\#(channel)","default_sound":\#(hasSound)}"#
    screen.receive(try message("a", [:], notification: shown), at: time(0))
    screen.setFocus(true, at: time(1))
    screen.receive(try message("b", [:], notification: shown), at: time(1))
    #expect(screen.outcomes.map(\.fate) == [.shown(attention), .shown(.silent)])
  }

  @Test func `The app draws an alert once, and only while it is valid`() throws {
    let data = [
      "rp_kind": "alert", "rp_title": "Offer", "rp_channel": "ride_now", "rp_sound": "1",
      "rp_until": "\(time(5).epochSeconds)", "rp_tag": "o",
    ]
    var screen = Screen(.android, at: Self.start)
    screen.receive(try message("a", data), at: time(1))
    screen.receive(try message("a", data), at: time(2))
    screen.receive(try message("b", data), at: time(5))
    #expect(screen.notifications.map(\.rule) == ["a"])
    #expect(
      screen.outcomes.map(\.fate) == [
        .shown(.rang), .ignored("the app has shown it"), .ignored("it is not valid any more"),
      ])
  }

  @Test func `A card is whole in each message, never goes back, and ends once`() throws {
    var screen = Screen(.android, at: Self.start)
    screen.receive(try card("end", 1), at: time(1))
    #expect(screen.card == nil, "there was none to end")
    let times = [
      "rp_stale_at": "\(time(6).epochSeconds)", "rp_gone_at": "\(time(30).epochSeconds)",
    ]
    screen.receive(try card("start", 2, times), at: time(2))
    screen.receive(try card("update", 4, times.merging(["rp_alert": "1"]) { $1 }), at: time(4))
    screen.receive(try card("update", 3), at: time(5))
    #expect(screen.card?.text == "status: update4" && screen.count(.rang) == 1)
    screen.advance(to: time(6))
    #expect(screen.card?.isStale(at: screen.now) == true)
    screen.advance(to: time(30))
    #expect(screen.card == nil, "a card whose end is lost goes by itself")
    screen.receive(try card("update", 31), at: time(31))
    #expect(screen.card?.text == "status: update31")
    screen.receive(
      try card("end", 32, ["rp_gone_at": "\(time(40).epochSeconds)"]), at: time(32))
    screen.receive(try card("update", 33), at: time(33))
    #expect(screen.card?.isEnded == true)
    screen.advance(to: time(40))
    #expect(screen.card == nil)
    screen.receive(try card("start", 41), at: time(41))
    #expect(screen.cards.count == 1)
  }

  @Test func `A card whose second start was lost is shown by what follows`() throws {
    var screen = Screen(.android, at: Self.start)
    screen.receive(try card("start", 1, ["rp_run": "1"]), at: time(1))
    screen.receive(try card("end", 2, ["rp_run": "1"]), at: time(2))
    screen.receive(try card("update", 3, ["rp_run": "1"]), at: time(3))
    #expect(screen.card?.isEnded == true, "the end may come twice, and late ones of its run")
    screen.receive(try card("update", 4, ["rp_run": "2"]), at: time(4))
    #expect(screen.card?.text == "status: update4" && screen.card?.isEnded == false)
    screen.receive(try card("end", 5, ["rp_run": "3"]), at: time(5))
    #expect(screen.card?.isEnded == true)
  }

  @Test func `FCM keeps a hundred messages, four keys, and throws all away beyond`() throws {
    var screen = Screen(.android, at: Self.start)
    screen.goOffline(at: time(0))
    screen.receive(try message("now", [:], ttl: 0), at: time(0))
    for number in 0..<5 {
      screen.receive(try message("k\(number)", [:], key: "\(number)"), at: time(1))
    }
    for number in 0..<100 { screen.receive(try message("m\(number)", [:]), at: time(1)) }
    #expect(screen.waitingPushes.count == 104)
    #expect(screen.outcomes.map(\.fate) == [.notStored, .replaced(by: "k4")])
    screen.receive(try message("one more", [:]), at: time(2))
    #expect(screen.waitingPushes.isEmpty && screen.deletions == 0)
    #expect(screen.outcomes.count { $0.fate == .wiped } == 105)
    screen.receive(try message("after", [:], ttl: 60), at: time(3))
    screen.receive(try message("last", [:]), at: time(3))
    screen.goOnline(at: time(4))
    #expect(screen.deletions == 1)
    #expect(screen.outcomes.suffix(2).map(\.fate) == [.expired, .unseen])
  }
}
