import Testing

@testable import FCMSimulator
@testable import SimulatorKit

/// What FCM refuses in a message, by fcm.v1's discovery document and Google's pages.
@Suite struct MessageRulesTests {
  private static let fid = "cX3abcdefghijklmnopqrs"

  private func refusal(_ text: String, _ strictness: Strictness = .all) throws -> Refusal? {
    try MessageRules.refusal(text, strictness)
  }

  private func message(_ members: String, android: String = "") -> String {
    let android = #""priority":"HIGH","ttl":"300s""# + (android.isEmpty ? "" : "," + android)
    return #"{"message":{"fid":"\#(Self.fid)","android":{\#(android)}\#(members)}}"#
  }

  @Test(arguments: [
    #","data":{"a":"1"}"#, #","notification":{"title":"x","body":"y"}"#,
    #","fcm_options":{"analytics_label":"x"}"#, #","fcmOptions":{"analyticsLabel":"x"}"#,
    #","data":null"#, #","apns":{"anything":[1]}"#,
  ])
  func `a right message is accepted`(members: String) throws {
    #expect(try refusal(message(members)) == nil)
  }

  @Test(arguments: [
    #""collapse_key":"k""#, #""collapseKey":"k""#, #""notification":{"title":"x","tag":"t"}"#,
    #""notification":{"notification_priority":"PRIORITY_HIGH","visibility":"PUBLIC"}"#,
    ##""notification":{"notification_count":3,"body_loc_args":["a"],"color":"#00ff00"}"##,
    #""notification":{"notification_count":"3","event_time":"2026-11-23T08:00:00Z"}"#,
    #""notification":{"vibrate_timings":["0.5s","1s"],"default_sound":true}"#,
    #""direct_boot_ok":true,"bandwidth_constrained_ok":false"#,
  ])
  func `each field of Android is accepted`(android: String) throws {
    #expect(try refusal(message("", android: android)) == nil)
  }

  @Test(arguments: [
    (#"{"mesage":{}}"#, "mesage", nil as String?),
    (#"{"message":{"toen":"x"}}"#, "message", nil),
    (#"{"message":{"fid":"x","android":{"prio":"HIGH"}}}"#, "message.android", nil),
    (#"{"message":{"fid":"x","data":{"a":1}}}"#, "message.data[0].value", nil),
    (#"{"message":{"fid":"x","data":{"a":"1","b":null}}}"#, "message.data[1].value", nil),
    (#"{"message":{"fid":"x","android":{"ttl":300}}}"#, "message.android.ttl", nil),
    (#"{"message":{"fid":"x","android":{"ttl":"5m"}}}"#, "message.android.ttl", nil),
    (#"{"message":{"fid":"x","android":{"priority":"URGENT"}}}"#, "message.android.priority", nil),
    (
      #"{"message":{"fid":"x","android":{"collapse_key":"a","collapseKey":"b"}}}"#,
      "message.android", nil
    ),
    (#"{"validate_only":"yes","message":{"fid":"x"}}"#, "validate_only", nil),
    (#"{"message":{}}"#, "message", "INVALID_ARGUMENT"), ("{}", "message", "INVALID_ARGUMENT"),
    (#"{"message":{"fid":"x","token":"y"}}"#, "message", "INVALID_ARGUMENT"),
    (#"{"message":{"fid":"x","android_v2":{}}}"#, "message.android_v2", "INVALID_ARGUMENT"),
    (
      #"{"message":{"topic":"x","android":{"priority":"HIGH","ttl":"1s"}}}"#, "message",
      "INVALID_ARGUMENT"
    ),
  ])
  func `a wrong message is refused with its field`(
    text: String, field: String, code: String?
  ) throws {
    let refusal = try #require(try refusal(text))
    #expect(refusal.status == 400)
    #expect(refusal.field == field)
    #expect(refusal.code == code)
  }

  @Test(arguments: [
    (#""ttl":"-1s""#, "message.android.ttl"), (#""ttl":"2419201s""#, "message.android.ttl"),
    (#""ttl":"1s""#, "message.android.priority"),
    (#""priority":"HIGH""#, "message.android.ttl"),
    (
      #""priority":"HIGH","ttl":"1s","notification":{"color":"red"}"#,
      "message.android.notification.color"
    ),
    (
      #""priority":"HIGH","ttl":"1s","notification":{"light_settings":{}}"#,
      "message.android.notification.light_settings"
    ),
    (
      #""priority":"HIGH","ttl":"1s","notification":{"body_loc_args":["a",1]}"#,
      "message.android.notification.body_loc_args"
    ),
  ])
  func `a wrong config of Android is refused`(android: String, field: String) throws {
    let refusal = try refusal(#"{"message":{"fid":"x","android":{\#(android)}}}"#)
    #expect(refusal?.field == field)
  }

  @Test(arguments: ["from", "message_type", "google.c", "googlex", "gcm.x", "gcm"])
  func `reserved keys are refused`(key: String) throws {
    let refusal = try refusal(message(#","data":{"\#(key)":"1"}"#))
    #expect(refusal?.message == "Invalid data payload key: \(key)")
  }

  @Test func `the data of Android replace the common ones, also for the size`() throws {
    let large = String(repeating: "é", count: 2048)
    #expect(try refusal(message(#","data":{"a":"\#(large)"}"#))?.code == "INVALID_ARGUMENT")
    #expect(try refusal(message(#","data":{"a":"\#(large)"}"#, android: #""data":{}"#)) == nil)
  }

  @Test func `4096 bytes of keys, values and shown texts are the most`() throws {
    let body = String(repeating: "x", count: 4096 - "title".utf8.count - "data".utf8.count - 1)
    let exact = #","data":{"data":"1"},"notification":{"title":"\#(body)"}"#
    #expect(try refusal(message(exact)) == nil)
    #expect(try refusal(message(exact.replacing("\"1\"", with: "\"12\""))) != nil)
  }

  /// A message with every field that RidePulse could send.
  private static let whole = """
    {"message":{"fid":"cX3abcdefghijklmnopqrs","data":{"rp_kind":"alert"},"fcm_options":
    {"analytics_label":"x"},"android":{"priority":"HIGH","ttl":"300s","collapse_key":"k",
    "restricted_package_name":"a.b","direct_boot_ok":true,"notification":{"title":"x","body":"y",
    "icon":"i","color":"#00ff00","sound":"default","tag":"t","click_action":"c","body_loc_key":"b",
    "body_loc_args":["1"],"title_loc_key":"b","title_loc_args":["1"],"channel_id":"ride_now",
    "event_time":"2026-11-23T08:00:00Z","notification_priority":"PRIORITY_HIGH",
    "default_sound":true,"vibrate_timings":["1s"],"visibility":"PUBLIC","notification_count":1,
    "light_settings":{"color":{"red":1,"green":0,"blue":0,"alpha":1},"light_on_duration":"1s",
    "light_off_duration":"1s"},"image":"https://example.com/a.png"}}}}
    """

  @Test func `each field is refused with another name, and with a value of another type`() throws {
    let message = try JSONParser.parse(Array(Self.whole.utf8))
    #expect(try refusal(Self.whole) == nil)
    let changed = Self.mutations(of: message)
    #expect(changed.count > 70)
    for (name, json) in changed {
      let refusal = try refusal(String(decoding: json.serialized, as: UTF8.self))
      #expect(refusal?.status == 400, "\(name)")
    }
  }

  /// Returns the value with each member once renamed and once replaced, except those of `data`.
  private static func mutations(of value: JSON, at path: String = "") -> [(String, JSON)] {
    guard let members = value.object else { return [] }
    return members.sorted { $0.key < $1.key }.flatMap { key, member -> [(String, JSON)] in
      let place = path + "/" + key
      func with(_ key: String, _ new: JSON, without old: String) -> JSON {
        var copy = members
        copy[old] = nil
        copy[key] = new
        return .object(copy)
      }
      let own = [
        (place + " renamed", with(key + "_x", member, without: key)),
        (place + " replaced", with(key, .array([.object(["a": .null])]), without: key)),
      ]
      let below = key == "data" ? [] : mutations(of: member, at: place)
      return own + below.map { ($0.0, with(key, $0.1, without: key)) }
    }
  }

  @Test func `what is not checked is accepted`() throws {
    #expect(try refusal(#"{"message":{"fid":"x"}}"#, []) == nil)
    #expect(try refusal(#"{"message":{"fid":"x","data":{"from":"1"}}}"#, []) == nil)
    let large = String(repeating: "x", count: 4096)
    #expect(try refusal(#"{"message":{"fid":"x","data":{"a":"\#(large)"}}}"#, []) == nil)
  }

  @Test(arguments: [
    ("cX3abcdefghijklmnopqrs", true, true), ("cX3abcdefghijklmnopqrs", false, true),
    ("aX3abcdefghijklmnopqrs", true, false), ("cX3", true, false), ("", false, false),
    ("cX3abcdefghijklmnopqrs:APA91bHPRgkF3JUikC4ENA", false, true),
    ("cX3abcdefghijklmnopqrs:APA91bHPRgkF3JUikC4ENA", true, false),
    ("cX3abcdefghijklmnopqrs:short", false, false),
    (String(repeating: "ab", count: 32), false, false),
  ])
  func `a registration has a form`(text: String, isFID: Bool, isRight: Bool) {
    #expect(Registrations.isWellFormed(text, isFID: isFID) == isRight)
  }
}
