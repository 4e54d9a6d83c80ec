import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What an Android phone shows of a message, read as the app and the system read it.
@Suite struct ReadableMessageTests {
  /// Returns what is shown of a message of FCM without its target.
  private func shown(
    _ message: String, _ type: PushType = .alert, card: CardEvent? = nil
  ) throws -> ReadablePush {
    var entry = LedgerEntry(
      id: PushID(of: "a"), event: Sample.event(), rule: "arrived", app: .customer, pushType: type,
      status: .accepted, attempts: 1)
    entry.cardEvent = card
    return ReadablePush(
      PlannedPush(
        entry: entry,
        PushRequest(
          network: .android,
          address: .registration(try #require(FCMRegistration("fcm:a"))),
          headers: PushHeaders(
            id: entry.id, topic: "", pushType: type, priority: .immediate, expiration: .neverStore),
          payload: Array("{\"message\":\(message)}".utf8), validUntil: Sample.now)))
  }

  @Test func `The system draws an alert with a notification`() throws {
    let shown = try shown(
      #"""
      {"android":{"notification":{"body":"B-RP 1","channel_id":"ride_now","default_sound":true,
      "notification_count":3,"title":"Your driver is here"},"priority":"HIGH","ttl":"287s"},
      "data":{"rp_kind":"alert","rp_title":"other"}}
      """#)
    #expect(shown.title == "Your driver is here" && shown.body == "B-RP 1" && shown.badge == 3)
    #expect(shown.sound == "default" && shown.isAlert && !shown.isPassive)
    #expect(
      shown.android
        == ReadablePush.Android(
          channel: "ride_now", drawing: .system, isHighPriority: true, look: .null))
  }

  @Test func `The app draws an alert from data`() throws {
    let shown = try shown(
      #"""
      {"android":{"priority":"NORMAL","ttl":"0s"},"data":{"rp_body_key":"HERE",
      "rp_body_args":"[\"Ana\",\"1\"]","rp_channel":"ride_quiet","rp_kind":"alert","rp_title":"x"}}
      """#)
    #expect(shown.title == "x" && shown.body == "HERE (Ana, 1)" && shown.sound == nil)
    #expect(shown.isAlert && shown.isPassive)
    #expect(
      shown.android
        == ReadablePush.Android(
          channel: "ride_quiet", drawing: .app, isHighPriority: false, look: .null))
  }

  @Test func `A text in the app's strings is its key`() throws {
    let shown = try shown(
      #"""
      {"android":{"notification":{"title_loc_key":"HERE","title_loc_args":["Ana"]}},"data":{}}
      """#)
    #expect(shown.title == "HERE (Ana)" && shown.body == nil)
  }

  @Test func `A background push is not seen`() throws {
    let shown = try shown(
      #"{"android":{"priority":"NORMAL"},"data":{"rp_kind":"background","title":"x"}}"#, .background
    )
    #expect(!shown.isSeen && shown.android?.channel == nil && shown.android?.drawing == nil)
  }

  @Test(arguments: [nil, "1"]) func `A card alerts if it has an alert`(alert: String?) throws {
    let data =
      #""rp_body":"B-RP 1","rp_card":"71.4711","rp_event":"update","rp_kind":"card","#
      + #""rp_look":"{\"step\":2,\"steps\":4}","rp_state":"{\"eta\":5,\"status\":\"a\"}","rp_title":"x""#
    let shown = try shown(
      "{\"data\":{\(alert.map { "\"rp_alert\":\"\($0)\"," } ?? "")\(data)}}", .liveactivity,
      card: .update)
    #expect(shown.fields.map(\.name) == ["eta", "status"])
    #expect(shown.fields.map(\.value) == ["5", "a"])
    #expect(shown.android?.look == .object(["step": .integer(2), "steps": .integer(4)]))
    #expect(shown.isSeen && shown.isAlert == (alert != nil))
    #expect(shown.title == (alert == nil ? nil : "x") && shown.dismissedAt == nil)
  }

  @Test func `An ended card leaves at a time, or when it is swiped`() throws {
    let end = #""rp_event":"end","rp_kind":"card","rp_state":"{}""#
    let timed = try shown(
      "{\"data\":{\(end),\"rp_gone_at\":\"1795424700\"}}", .liveactivity, card: .end)
    #expect(timed.dismissedAt == Timestamp(epochSeconds: 1_795_424_700))
    #expect(try shown("{\"data\":{\(end)}}", .liveactivity, card: .end).dismissedAt == nil)
  }

  @Test(arguments: ["null", "{}", "[]", #"{"data":5}"#, #"{"data":{"rp_state":"{"}}"#])
  func `Anything else shows nothing`(message: String) throws {
    #expect(try !shown(message).isSeen)
  }
}
