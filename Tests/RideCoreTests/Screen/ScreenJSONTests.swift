import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// The JSON from which pages draw a phone.
@Suite struct ScreenJSONTests {
  private static let start = Timestamp(epochSeconds: 1_795_248_000)

  private func time(_ minutes: Int64) -> Timestamp { Self.start + .seconds(minutes * 60) }

  private func push(
    _ id: String, _ aps: String, type: PushType = .alert, card: String? = nil
  ) throws -> ScreenPush {
    ScreenPush(
      id: id, rule: "rule-\(id)", type: type, address: type == .alert ? "token" : "card",
      storage: .apns(.at(time(60))), card: card,
      payload: try #require(JSONValue(json: "{\"aps\":\(aps)}".utf8)))
  }

  /// An iPhone with two threads, a stale card, and a push that waits because it is off.
  private func iPhone() throws -> Screen {
    var screen = Screen(.ios, at: Self.start)
    screen.receive(
      try push("a", #"{"alert":{"title":"A","body":"B"},"sound":"x","thread-id":"t","badge":2}"#),
      at: time(1))
    screen.receive(try push("b", #"{"alert":{"title":"C"}}"#), at: time(2))
    let card = """
      {"event":"start","timestamp":\(time(3).epochSeconds),"stale-date":\(time(5).epochSeconds),
      "content-state":{"status":"driver_arrived"}}
      """
    screen.receive(try push("c", card, type: .liveactivity, card: "r1"), at: time(3))
    screen.goOffline(at: time(4))
    screen.receive(try push("d", #"{"alert":{"title":"D","body":"E"}}"#), at: time(6))
    screen.receive(try push("e", #"{"alert":{"title":"F"}}"#), at: time(6))
    return screen
  }

  /// (path, JSON)
  private static let members: [([String], String)] = [
    (["platform"], #""ios""#), (["app"], #""customer""#), (["name"], #""mine""#),
    (["at"], "1795248360"), (["online"], "false"), (["focus"], "false"), (["badge"], "2"),
    (["deletions"], "0"), (["counts"], #"{"lit":1,"rang":1,"silent":1}"#),
    (
      ["threads"],
      #"[[{"at":1795248120,"attention":"lit","body":null,"level":null,"rule":"rule-b","#
        + #""subtitle":null,"title":"C"}],"#
        + #"[{"at":1795248060,"attention":"rang","body":"B","level":null,"rule":"rule-a","#
        + #""subtitle":null,"title":"A"}]]"#
    ),
    (
      ["cards"],
      #"[{"at":1795248180,"ended":false,"gone_at":null,"look":null,"name":"r1","stale":true,"#
        + #""stale_at":1795248300,"state":{"status":"driver_arrived"}}]"#
    ),
    (["waiting"], #"[{"rule":"rule-e","text":"F","type":"alert"}]"#),
    (
      ["lost"],
      #"[{"at":1795248360,"reason":"the phone was off, and a later push took its place","#
        + #""rule":"rule-d","text":"D · E"}]"#
    ),
  ]

  @Test(arguments: members.indices) func `A screen has each part as pages read it`(
    index: Int
  ) throws {
    let (path, json) = Self.members[index]
    let value = ScreenJSON(try iPhone(), app: "customer", name: "mine").value
    #expect(String(decoding: try #require(value.value(at: path)).json, as: UTF8.self) == json)
  }

  @Test func `A card on Android has what the phone draws without the app`() throws {
    let data = """
      {"message":{"data":{"rp_kind":"card","rp_card":"c","rp_event":"start","rp_ts":"1795248000",
      "rp_state":"{}","rp_look":"{\\"title\\":\\"T\\",\\"steps\\":3}"}}}
      """
    var screen = Screen(.android, at: Self.start)
    screen.receive(
      ScreenPush(
        id: "a", platform: .android, address: "fcm", storage: .fcm(ttl: 60),
        payload: try #require(JSONValue(json: data.utf8))), at: time(1))
    let value = ScreenJSON(screen, app: "customer", name: nil).value
    guard case .array(let cards)? = value["cards"] else { throw Missing() }
    #expect(cards.first?["look"] == .object(["title": .string("T"), "steps": .integer(3)]))
    #expect(value["name"] == .null)
  }

  private func notification(_ json: ScreenJSON) throws -> JSONValue {
    guard case .array(let threads)? = json.value["threads"],
      case .array(let first)? = threads.first,
      let shown = first.first
    else { throw Missing() }
    return shown
  }

  @Test func `What a reader has not seen is new, and states what it replaced`() throws {
    var before = Screen(.ios, at: Self.start)
    var first = try push("a", #"{"alert":{"title":"Two minutes away"}}"#)
    first.collapseID = "ride"
    before.receive(first, at: time(1))
    var second = try push("b", #"{"alert":{"title":"Here"}}"#)
    second.collapseID = "ride"
    var screen = before
    screen.receive(second, at: time(2))
    let shown = try notification(ScreenJSON(screen, app: "customer", name: nil, since: before))
    #expect(shown["new"] == .bool(true) && shown["replaces"] == .string("Two minutes away"))
    let again = try notification(ScreenJSON(screen, app: "customer", name: nil, since: screen))
    #expect(again["new"] == nil && again["replaces"] == nil)
    let alone = try notification(
      ScreenJSON(before, app: "customer", name: nil, since: Screen(.ios, at: Self.start)))
    #expect(alone["new"] == .bool(true) && alone["replaces"] == nil)
  }

  @Test func `A card is new when it appears and when it shows something else`() throws {
    func card(_ status: String, _ minute: Int64, _ event: String) throws -> ScreenPush {
      let aps = """
        {"event":"\(event)","timestamp":\(time(minute).epochSeconds),
        "content-state":{"status":"\(status)"}}
        """
      return try push("c\(minute)", aps, type: .liveactivity, card: "r1")
    }
    func isNew(_ screen: Screen, since before: Screen) throws -> Bool {
      let json = ScreenJSON(screen, app: "customer", name: nil, since: before).value
      guard case .array(let cards)? = json["cards"], let card = cards.first else { throw Missing() }
      return card["new"] == .bool(true)
    }
    let empty = Screen(.ios, at: Self.start)
    var started = empty
    started.receive(try card("requested", 1, "start"), at: time(1))
    var refreshed = started
    refreshed.receive(try card("requested", 2, "update"), at: time(2))
    var changed = refreshed
    changed.receive(try card("driver_arrived", 3, "update"), at: time(3))
    #expect(try isNew(started, since: empty))
    #expect(try !isNew(refreshed, since: started) && refreshed.looks(like: started))
    #expect(try isNew(changed, since: refreshed) && !changed.looks(like: refreshed))
  }

  private struct Missing: Error {}
}
