import Testing

@testable import Base
@testable import RideCore

@Suite("Data, times and sizes of messages to Android phones") struct AndroidDataTests {
  /// A value of the ride's attributes, and the text that the app receives; nil for no key.
  @Test(
    arguments: [
      (#""a \"b\" 🚕""#, "a \"b\" 🚕"), ("3", "3"), ("1.5", "1.5"), ("true", "true"),
      ("false", "false"), ("null", nil), (#"{"k":[1,null]}"#, #"{"k":[1,null]}"#),
      (#"["a",2]"#, #"["a",2]"#), (#""""#, nil), ("9007199254740993", "9007199254740993"),
    ] as [(String, String?)])
  func `each type of value is a text, and null is no key`(json: String, text: String?) throws {
    let value = PayloadTemplate.value(Sample.text("{{ride.attributes.x | default: null}}"))
    let message = try #require(
      AndroidSample.message(
        AndroidSample.background(data: ["x": value]), attributes: "{\"x\":\(json)}"))
    #expect(message.datum("x") == text.map { .string($0) })
  }

  @Test func `constants and nested values are texts, too`() throws {
    let rule = AndroidSample.background(data: [
      "flag": .literal(.bool(true)), "none": .literal(.null),
      "list": .array([.value(Sample.text("{{ride.id}}")), .literal(.integer(2))]),
    ])
    let message = try #require(AndroidSample.message(rule))
    #expect(message.datum("flag") == .string("true"))
    #expect(message.datum("none") == nil)
    #expect(message.datum("list") == .string(#"["4711",2]"#))
  }

  @Test(arguments: [
    ("from", true), ("message_type", true), ("collapse_key", true), ("google.sent_time", true),
    ("googleX", true), ("gcm.n.e", true), ("rp_id", true), ("rp_", true), ("From", false),
    ("fromage", false), ("event", false), ("id", false),
  ])
  func `a reserved key keeps a message from Android phones alone`(
    key: String, isReserved: Bool
  ) throws {
    let phones = [AndroidSample.phone(1), Sample.phone(2)]
    let rule = AndroidSample.rule(data: [key: .literal(.string("x"))])
    var ride = Sample.ride()
    ride.customerID = "c"
    let decision = decide(
      Sample.view(ride: ride, phones: phones), by: AndroidSample.book([rule]), now: Sample.now)
    #expect(decision.pushes.map(\.entry.phone) == (isReserved ? [2] : [1, 2]))
    #expect(decision.ended.map(\.status) == (isReserved ? [.suppressed] : []))
    guard isReserved else { return }
    let reason = try #require(decision.ended.first?.reason)
    #expect(reason.code == .engine(.reservedKey))
    #expect(reason.text.contains(key))
  }

  /// The expiry of a rule, seconds from its firing to the decision, `ttl` and `rp_until`.
  @Test(
    arguments: [
      (.after(.seconds(43_200)), 0.0, "43200s", 43_200),
      (.after(.seconds(300)), 12.4, "287s", 300), (.neverStore, 1, "0s", 15),
      (.ofBackground, 1, "0s", 300), (.after(.seconds(3_000_000)), 0, "2419200s", 3_000_000),
      (.after(.milliseconds(1500)), 1, "0s", 1),
    ] as [(RuleExpiry, Double, String, Int64)])
  func `a message lives as long as the push is valid`(
    expires: RuleExpiry, passed: Double, ttl: String, until: Int64
  ) throws {
    let message = try #require(
      AndroidSample.message(
        AndroidSample.rule(expires: expires), now: AndroidSample.at + .seconds(passed)))
    #expect(message.value(at: ["android", "ttl"]) == .string(ttl))
    #expect(message.datum("rp_until") == .string("\(1_795_420_800 + until)"))
  }

  @Test func `an event about no ride has no ride`() {
    var message = AndroidMessage(.alert, isHighPriority: false, ttl: .zero)
    message.setCommon(ts: 1, ride: nil, until: nil)
    let body = FCMRegistration("x").map { message.encoded.body(id: PushID(of: "x"), to: $0) }
    let json = body.flatMap { JSONValue(json: $0) }
    #expect(json?["message"]?.datum("rp_ts") == .string("1"))
    #expect(json?["message"]?.datum("rp_ride") == nil)
  }

  @Test(arguments: Alert.InterruptionLevel.allCases.map(Optional.some) + [nil], [true, false])
  func `level and sound choose the channel`(
    level: Alert.InterruptionLevel?, hasSound: Bool
  ) throws {
    let alert = AndroidSample.alert {
      $0.interruptionLevel = level
      if !hasSound { $0.sound = nil }
    }
    let (channel, priority): (String, String?) =
      switch (level, hasSound) {
      case (_, false), (.passive, _): ("ride_quiet", "PRIORITY_LOW")
      case (.active, _), (nil, _): ("ride_news", nil)
      case (.timeSensitive, _), (.critical, _): ("ride_now", "PRIORITY_HIGH")
      }
    let message = try #require(AndroidSample.message(AndroidSample.rule(alert)))
    #expect(message.shown("channel_id") == .string(channel))
    #expect(message.shown("notification_priority") == priority.map { .string($0) })
    #expect(message.shown("default_sound") == (channel == "ride_quiet" ? nil : .bool(true)))
  }

  @Test(arguments: [
    (PushPriority.immediate, "HIGH"), (.powerAware, "NORMAL"), (.unobtrusive, "NORMAL"),
  ])
  func `priorities are APNs' own, in FCM's words`(priority: PushPriority, word: String) throws {
    let message = try #require(AndroidSample.message(AndroidSample.rule(priority: priority)))
    #expect(message.value(at: ["android", "priority"]) == .string(word))
  }

  /// Texts of one size in JSON, and of another as FCM counts them.
  @Test(arguments: ["x", "é", "🚕", "\"", "\\", "\n"])
  func `4,096 bytes without escapes are accepted, and one more is not`(unit: String) throws {
    let rule = AndroidSample.background(data: ["x": .value(Sample.text("{{ride.attributes.x}}"))])
    func decision(_ text: String) -> Decision {
      let attributes = JSONValue.object(["x": .string(text)]).json
      return AndroidSample.decision(
        rule, attributes: String(decoding: attributes, as: UTF8.self))
    }
    let empty = try #require(decision("").pushes.first)
    let room = 4096 - AndroidSize.count(empty.payload)
    let count = room / unit.utf8.count
    let full =
      String(repeating: unit, count: count)
      + String(repeating: "x", count: room - count * unit.utf8.count)
    let accepted = try #require(decision(full).pushes.first)
    #expect(AndroidSize.count(accepted.payload) == 4096)
    let refused = decision(full + "x")
    #expect(refused.pushes.isEmpty)
    #expect(
      refused.reasons == [
        "rejected: MESSAGE_TOO_LARGE: 4097 bytes of 4096; the largest field is x with \(room + 1)"
      ])
    #expect(refused.ended.map { $0.reason?.code.word } == ["MESSAGE_TOO_LARGE"])
  }

  @Test func `a notification counts with its keys`() {
    let body =
      #"{"message":{"android":{"notification":{"body":"abc","list":["é","x"],"on":true},"#
      + #""priority":"HIGH","ttl":"0s"},"data":{"k":"a\"b"},"fid":"x"}}"#
    // body + abc, list + é + x, on + true, k + a"b
    #expect(AndroidSize.count(Array(body.utf8)) == 7 + 7 + 6 + 4)
  }

  @Test func `a token that FCM can't have is never sent to`() {
    let decision = AndroidSample.decision(
      AndroidSample.rule(), phones: [AndroidSample.phone(token: "a b")])
    #expect(
      decision.reasons == ["suppressed: the phone's token is not an FCM registration"])
  }
}
