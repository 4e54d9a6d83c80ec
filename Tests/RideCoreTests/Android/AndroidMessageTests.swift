import Testing

@testable import Base
@testable import RideCore

@Suite("Messages to Android phones") struct AndroidMessageTests {
  private static let id = PushID(of: "a push")

  @Test func `an alert is drawn by the system, with sorted keys and no space`() throws {
    let decision = AndroidSample.decision(AndroidSample.rule())
    let push = try #require(decision.pushes.first)
    let expected =
      #"{"message":{"android":{"notification":{"body":"B-RP 1","channel_id":"ride_now","#
      + #""default_sound":true,"event_time":"2026-11-23T08:00:00Z","#
      + #""notification_priority":"PRIORITY_HIGH","tag":"ride-4711","#
      + #""title":"Your driver is here"},"priority":"HIGH","ttl":"287s"},"#
      + #""data":{"event":"driver_arrived","ride_id":"4711","rp_id":""# + "\(push.entry.id)"
      + #"","rp_kind":"alert","rp_ride":"4711","rp_ts":"1795420800","rp_until":"1795421087"},"#
      + #""fid":"cX3fUGh9R0uVxK2mQ7wE1a"}}"#
    #expect(String(decoding: push.payload, as: UTF8.self) == expected)
    #expect(push.network == .android)
    #expect(push.headers.topic.isEmpty)
    #expect(push.entry.collapseID == "ride-4711")
    #expect(push.entry.priority == .immediate)
    #expect(push.entry.expiration == 1_795_421_087)
  }

  @Test func `a background push is data that is never stored`() throws {
    let rule = AndroidSample.background(data: ["beat": .value(Sample.text("{{ride.state}}"))])
    let push = try #require(AndroidSample.decision(rule).pushes.first)
    let expected =
      #"{"message":{"android":{"priority":"NORMAL","ttl":"0s"},"#
      + #""data":{"beat":"driver_arrived","rp_id":""# + "\(push.entry.id)"
      + #"","rp_kind":"background","rp_ride":"4711","rp_ts":"1795420800","#
      + #""rp_until":"1795421100"},"fid":"cX3fUGh9R0uVxK2mQ7wE1a"}}"#
    #expect(String(decoding: push.payload, as: UTF8.self) == expected)
    #expect(push.entry.priority == .powerAware)
    #expect(push.entry.expiration == 0)
  }

  @Test func `a card's keys are texts, also its state and its look`() throws {
    var message = AndroidMessage(.card, isHighPriority: true, ttl: .seconds(300))
    message.setCommon(ts: 1_795_420_800, ride: "4711", until: nil)
    message.set("rp_event", text: "update")
    message.set("rp_card", text: "71.4711")
    message.set("rp_attributes", json: Array(#"{"rideId":"4711"}"#.utf8))
    message.set("rp_state", json: Array(#"{"etaEpoch":1795421100,"status":"x"}"#.utf8))
    message.set("rp_look", json: Array(#"{"text":"Blue Corolla · B-RP 1"}"#.utf8))
    message.set("rp_title", json: Array(#""Your \"driver\"""#.utf8))
    message.set("rp_none", json: Array("null".utf8))
    let token = try #require(FCMRegistration(AndroidSample.token))
    let expected =
      #"{"message":{"android":{"priority":"HIGH","ttl":"300s"},"data":{"#
      + #""rp_attributes":"{\"rideId\":\"4711\"}","rp_card":"71.4711","rp_event":"update","#
      + #""rp_id":""# + "\(Self.id)" + #"","rp_kind":"card","#
      + #""rp_look":"{\"text\":\"Blue Corolla · B-RP 1\"}","rp_ride":"4711","#
      + #""rp_state":"{\"etaEpoch\":1795421100,\"status\":\"x\"}","#
      + #""rp_title":"Your \"driver\"","rp_ts":"1795420800"},"#
      + #""token":"cX3fUGh9R0uVxK2mQ7wE1a:APA91bHun4MxP5egoKMwt2KZFBaFUH"}}"#
    let body = message.encoded.body(id: Self.id, to: token)
    #expect(String(decoding: body, as: UTF8.self) == expected)
  }

  @Test func `phones of one locale differ in ID, tag and target only`() throws {
    let phones = [AndroidSample.phone(1), AndroidSample.phone(2, token: AndroidSample.token)]
    let pushes = AndroidSample.decision(AndroidSample.rule(collapse: nil), phones: phones).pushes
    #expect(pushes.count == 2)
    let texts = pushes.map { push in
      String(decoding: push.payload, as: UTF8.self)
        .replacing("\(push.entry.id)", with: "ID")
        .replacing(#""token":"\#(AndroidSample.token)""#, with: "TARGET")
        .replacing(#""fid":"\#(AndroidSample.fid)""#, with: "TARGET")
    }
    #expect(Set(texts).count == 1)
    #expect(texts.first?.contains(#""tag":"ID""#) == true)
    #expect(pushes.map { $0.entry.collapseID } == pushes.map { $0.entry.id.description })
  }

  /// What a rule needs the app for, and what the app then draws it with.
  private static let drawnByApp: [(@Sendable (inout Rule) -> Void, String)] = [
    ({ Self.change(&$0) { $0.category = Sample.text("OFFER") } }, "OFFER"),
    ({ Self.change(&$0) { $0.mutableContent = true } }, ""),
    ({ Self.change(&$0) { $0.contentAvailable = true } }, ""),
    ({ $0.escalation = Escalation(unlessSeenWithin: .seconds(60), emit: "eta_changed") }, ""),
  ]

  private static func change(_ rule: inout Rule, _ change: (inout Alert) -> Void) {
    rule.what = .alert(AndroidSample.alert(change))
  }

  @Test(arguments: drawnByApp.indices)
  func `what the system can't draw is data for the app`(index: Int) throws {
    var rule = AndroidSample.rule()
    let (change, category) = Self.drawnByApp[index]
    change(&rule)
    let message = try #require(AndroidSample.message(rule))
    #expect(message.value(at: ["android", "notification"]) == nil)
    #expect(message.value(at: ["android", "priority"]) == .string("HIGH"))
    let drawing = [
      "rp_title": "Your driver is here", "rp_body": "B-RP 1", "rp_channel": "ride_now",
      "rp_tag": "ride-4711", "rp_sound": "1", "rp_kind": "alert",
    ]
    for (key, text) in drawing { #expect(message.datum(key) == .string(text)) }
    #expect(message.datum("rp_category") == (category.isEmpty ? nil : .string(category)))
  }

  @Test(arguments: [AndroidStyle.Drawing.app, .system])
  func `a rule may choose who draws it`(drawing: AndroidStyle.Drawing) throws {
    var rule = AndroidSample.rule(
      AndroidSample.alert { if drawing == .system { $0.category = Sample.text("OFFER") } })
    rule.android = AndroidStyle()
    rule.android?.draw = drawing
    let message = try #require(AndroidSample.message(rule))
    #expect((message.value(at: ["android", "notification"]) == nil) == (drawing == .app))
    #expect((message.datum("rp_title") == nil) == (drawing == .system))
  }

  @Test func `a key of the app's strings goes with its arguments, and a text next to it`() throws {
    let alert = AndroidSample.alert { alert in
      alert.titleKey = Alert.LocalizedKey(key: Sample.text("arrived_title"))
      alert.body = nil
      alert.bodyKey = Alert.LocalizedKey(
        key: Sample.text("arrived"),
        arguments: [Sample.text("{{ride.attributes.plate}}"), Sample.text("2")])
      alert.subtitle = LocalizedText(Sample.text("would hide the key"))
    }
    let shown = try #require(AndroidSample.message(AndroidSample.rule(alert)))
    #expect(shown.shown("title") == .string("Your driver is here"))
    #expect(shown.shown("title_loc_key") == .string("arrived_title"))
    #expect(shown.shown("title_loc_args") == nil)
    #expect(shown.shown("body") == nil)
    #expect(shown.shown("body_loc_key") == .string("arrived"))
    #expect(shown.shown("body_loc_args") == .array([.string("B-RP 1"), .string("2")]))
    var rule = AndroidSample.rule(alert)
    rule.android = AndroidStyle()
    rule.android?.draw = .app
    let drawn = try #require(AndroidSample.message(rule))
    #expect(drawn.datum("rp_title_key") == .string("arrived_title"))
    #expect(drawn.datum("rp_body_key") == .string("arrived"))
    #expect(drawn.datum("rp_body_args") == .string(#"["B-RP 1","2"]"#))
  }

  @Test func `a subtitle is the first line of the body`() throws {
    let alert = AndroidSample.alert { $0.subtitle = LocalizedText(Sample.text("A \"B\"")) }
    let both = try #require(AndroidSample.message(AndroidSample.rule(alert)))
    #expect(both.shown("body") == .string("A \"B\"\nB-RP 1"))
    let alone = AndroidSample.alert {
      $0.subtitle = LocalizedText(Sample.text("A"))
      $0.body = nil
    }
    let message = try #require(AndroidSample.message(AndroidSample.rule(alone)))
    #expect(message.shown("body") == .string("A"))
  }

  @Test func `a badge above zero is a count, and a badge alone is Apple's`() throws {
    for (badge, count) in [("3", JSONValue.integer(3)), ("0", nil), ("{{ride.state}}", nil)] {
      let alert = AndroidSample.alert { $0.badge = Sample.text(badge) }
      let message = try #require(AndroidSample.message(AndroidSample.rule(alert)))
      #expect(message.shown("notification_count") == count)
    }
    var alone = Alert()
    alone.badge = Sample.text("3")
    let decision = AndroidSample.decision(AndroidSample.rule(alone))
    #expect(decision.pushes.isEmpty)
    #expect(decision.ended.map { $0.reason?.code } == [.engine(.appleOnly)])
  }

  @Test func `an alert has the words that the rule has for Android`() throws {
    var rule = AndroidSample.rule()
    var style = AndroidStyle()
    style.channel = "offers"
    style.isHighPriority = false
    rule.android = style
    let message = try #require(AndroidSample.message(rule))
    #expect(message.shown("channel_id") == .string("offers"))
    #expect(message.value(at: ["android", "priority"]) == .string("NORMAL"))
  }

  @Test func `each locale has its text`() {
    let texts = [("en", "Here"), ("de", "Da")].map { (locale: $0, text: Sample.text($1)) }
    let alert = AndroidSample.alert { $0.title = LocalizedText(texts) }
    let phones = [AndroidSample.phone(1, locale: "de-AT"), AndroidSample.phone(2, locale: "fr")]
    let bodies = AndroidSample.bodies(AndroidSample.rule(alert), phones: phones)
    #expect(bodies.map { $0.contains(#""title":"Da""#) } == [true, false])
  }
}
