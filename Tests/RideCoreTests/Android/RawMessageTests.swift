import Testing

@testable import Base
@testable import RideCore

@Suite("Raw pushes to Android phones") struct RawMessageTests {
  private static let shown =
    #"{"android":{"notification":{"channel_id":"ride_now","title":"Hi"}},"data":{"k":"ü"}}"#

  private func push(
    _ payload: String = shown, _ type: PushType = .alert, priority: PushPriority? = nil,
    to address: String = AndroidSample.fid
  ) throws -> RawPush {
    RawPush(
      .push, app: .customer, target: try #require(RawPush.Target(token: address)),
      payload: payload, pushType: type, priority: priority ?? type.rules.defaultPriority,
      expiration: 1_800_000_600)
  }

  private func decision(
    _ pushes: [RawPush], phones: [Phone] = [], memo: Memo = Memo(), now: Timestamp = Sample.now,
    by book: EngineConfiguration = AndroidSample.book([])
  ) -> Decision {
    let events = pushes.enumerated().map { index, push in
      RideEvent(
        id: Int64(index + 1), name: push.source.event, at: Sample.now, data: push.eventData)
    }
    return decide(
      RideView(rideID: "push:customer:1", ride: nil, events: events, phones: phones, memo: memo),
      by: book, now: now)
  }

  private func body(_ push: PlannedPush) throws -> JSONValue {
    try #require(JSONValue(json: push.payload)?["message"])
  }

  @Test func `the form of a token that no phone has is that of its service`() {
    let forms: [(String, Platform?)] = [
      (AndroidSample.fid, .android), (AndroidSample.token, .android),
      (Sample.customerToken, .ios), (Sample.customerToken.uppercased(), .ios),
      ("cccccccccccccccccccccc", .ios), ("abc", nil), ("xy", nil), ("", nil), ("a:\u{e4}", nil),
      ("c3 fUGh9R0uVxK2mQ7wE1a", nil), (String(repeating: "a:", count: 257), nil),
    ]
    for (text, platform) in forms {
      #expect(RawPush.Target(token: text)?.platform == platform, "\(text)")
    }
  }

  @Test func `a message has its phone, its urgency, its time and its ID, and no more`() throws {
    let sent = decision([try push()])
    let planned = try #require(sent.pushes.first)
    #expect(sent.pushes.count == 1 && sent.ended.isEmpty)
    #expect(planned.network == .android && planned.tokenOwner == .unknown)
    #expect(planned.address.text == AndroidSample.fid)
    #expect(planned.entry.tokenSuffix == String(AndroidSample.fid.suffix(6)))
    let id = planned.entry.id.description
    let expected =
      #"{"message":{"android":{"notification":{"channel_id":"ride_now","tag":"\#(id)","#
      + #""title":"Hi"},"priority":"HIGH","ttl":"600s"},"data":{"k":"ü","rp_id":"\#(id)"},"#
      + #""fid":"\#(AndroidSample.fid)"}}"#
    #expect(String(decoding: planned.payload, as: UTF8.self) == expected)
    let token = decision([try push(to: AndroidSample.token)]).pushes
    #expect(try token.map { try body($0)["token"] } == [.string(AndroidSample.token)])
  }

  @Test func `a retry lives for the rest of the time, and one never stored for none`() throws {
    let unavailable = PushOutcome.refused(Refusal(status: 503, reason: "UNAVAILABLE"))
    let failed = decision([try push()]).settled([unavailable], now: Sample.now) { 0 }
    let again = decision([], memo: failed.memo, now: Sample.now + .seconds(60))
    #expect(
      try again.pushes.map { try body($0).value(at: ["android", "ttl"]) } == [.string("540s")])
    for (expiration, isStored) in [(UInt32(0), true), (1_800_000_600, false)] {
      var push = try push()
      push.expiration = expiration
      push.isStored = isStored
      let sent = decision([push]).pushes
      #expect(try sent.map { try body($0).value(at: ["android", "ttl"]) } == [.string("0s")])
      #expect(sent.map(\.headers.expiration) == [.neverStore])
    }
    var long = try push()
    long.expiration = .max
    let longest = decision([long]).pushes
    #expect(
      try longest.map { try body($0).value(at: ["android", "ttl"]) } == [.string("2419200s")])
  }

  @Test func `priority 10 is high, 5 and 1 are normal`() throws {
    for (priority, word) in [
      (PushPriority.immediate, "HIGH"), (.powerAware, "NORMAL"), (.unobtrusive, "NORMAL"),
    ] {
      let sent = decision([try push(priority: priority)]).pushes
      #expect(
        try sent.map { try body($0).value(at: ["android", "priority"]) } == [.string(word)])
    }
    let background = decision([try push(#"{"data":{"k":"1"}}"#, .background)]).pushes
    #expect(
      try background.map { try body($0).value(at: ["android", "priority"]) }
        == [.string("NORMAL")])
  }

  @Test func `the ID is in the data that the phone gets`() throws {
    let payload = #"{"data":{"a":"1"},"android":{"data":{"b":"2"}}}"#
    let planned = try #require(decision([try push(payload)]).pushes.first)
    let message = try body(planned)
    #expect(message["data"] == .object(["a": .string("1")]))
    #expect(
      message.value(at: ["android", "data"])
        == .object(["b": .string("2"), "rp_id": .string(planned.entry.id.description)]))
    #expect(message.value(at: ["android", "notification"]) == nil, "nothing is shown")
  }

  @Test func `the tag is the payload's, otherwise the collapse ID, otherwise the push's`() throws {
    let tagged = #"{"android":{"notification":{"tag":"own","title":"Hi"}}}"#
    let common = #"{"notification":{"title":"Hi"}}"#
    for (payload, collapse, tag, collapsed) in [
      (tagged, "order", "own", "order"), (tagged, nil, "own", "own"),
      (common, "order", "order", "order"), (common, nil, nil, nil),
    ] {
      var push = try push(payload)
      push.collapseID = collapse.flatMap { CollapseID($0) }
      let planned = try #require(decision([push]).pushes.first)
      let id = planned.entry.id.description
      #expect(
        try body(planned).value(at: ["android", "notification", "tag"]) == .string(tag ?? id))
      #expect(planned.headers.collapseID?.text == collapsed ?? id)
    }
    let two = try (1...2).map { _ in
      var push = try push()
      push.collapseID = CollapseID("order")
      return push
    }
    #expect(decision(two).ended.map(\.status) == [.superseded])
  }

  @Test func `an answer applies to the phone that is registered, and to nothing without one`()
    throws
  {
    var push = try push()
    let gone = PushOutcome.refused(404, "UNREGISTERED", since: Sample.now)
    let unknown = decision([push]).settled([gone], now: Sample.now) { 0 }
    #expect(unknown.entries.map(\.status) == [.rejected])
    #expect(unknown.invalidations.isEmpty && unknown.observations.isEmpty)
    push.isRegistered = true
    let sent = decision([push], phones: [AndroidSample.phone(9)])
    #expect(sent.pushes.map(\.entry.phone) == [9])
    #expect(sent.pushes.map(\.tokenOwner) == [.phone(9)])
    let known = sent.settled([gone], now: Sample.now) { 0 }
    #expect(known.invalidations.map(\.id) == [9])
    #expect(decision([push]).reasons == ["suppressed: the phone is disabled"])
    var phone = AndroidSample.phone(9)
    var problem = PhoneProblem()
    problem.refusals = 3
    problem.isQuarantined = true
    phone.problem = problem
    let reasons = decision([push], phones: [phone]).reasons
    #expect(reasons.first?.contains("in quarantine") == true, "\(reasons)")
  }

  @Test func `an app without a service account sends none`() throws {
    let ended = decision([try push()], by: Sample.book()).ended
    #expect(ended.map(\.status) == [.suppressed])
    #expect(ended.map { $0.reason?.code } == [.engine(.noServiceAccount)])
  }

  /// The type, the payload, and a part of the reason.
  private static let problems: [(PushType, String, String)] = [
    (.alert, #"{"aps":{"alert":"Hi"}}"#, "payload has aps, which is for iPhones"),
    (.alert, #"{"message":{"data":{}}}"#, "payload has message; send what is inside it"),
    (.alert, #"{"token":"x","data":{}}"#, "payload has token; the push itself names the phone"),
    (.alert, #"{"topic":"x","data":{}}"#, "payload has topic"),
    (.alert, #"{"android_v2":{}}"#, "payload has android_v2, which is in preview"),
    (.alert, #"{"k":"1"}"#, "payload has k, which FCM's message lacks"),
    (.alert, #"{"data":[]}"#, "payload has data, which is not an object"),
    (
      .alert, #"{"android":{"notification":"Hi"}}"#,
      "payload has android.notification, which is not"
    ),
    (.alert, #"{"android":{"priority":"high"},"data":{}}"#, "10 is HIGH, 5 and 1 are NORMAL"),
    (.alert, #"{"android":{"ttl":"5s"},"data":{}}"#, "payload has android.ttl"),
    (.alert, #"{"data":{"n":7}}"#, "payload has data.n, which is not a text"),
    (
      .alert, #"{"android":{"data":{"n":true}}}"#, "payload has android.data.n, which is not a text"
    ),
    (.alert, #"{"data":{"from":"x"}}"#, "payload has data.from, which FCM or RidePulse keeps"),
    (.alert, #"{"data":{"google.x":"x"}}"#, "payload has data.google.x"),
    (.alert, #"{"data":{"rp_id":"x"}}"#, "payload has data.rp_id"),
    (.alert, "{}", "payload has neither a notification nor data"),
    (.alert, #"{"data":null}"#, "payload has neither a notification nor data"),
    (.alert, "[]", #"is not a JSON object; send an object such as {"android""#),
    (.alert, #"{"data":{"a":"1","a":"2"}}"#, "twice"),
    (.background, #"{"notification":{"title":"Hi"}}"#, "a background push has data only"),
    (.voip, "{}", "push_type is voip; an Android phone receives alert and background"),
    (.liveactivity, "{}", "push_type is liveactivity"),
  ]

  @Test(arguments: problems.indices)
  func `what FCM refuses, or a phone would not show, is not sent`(index: Int) throws {
    let (type, payload, text) = Self.problems[index]
    let closed = decision([try push(payload, type)]).ended
    #expect(closed.map(\.status) == [.rejected])
    #expect(closed.first?.reason?.code == .engine(.invalidRequest))
    #expect(closed.first?.reason?.text.contains(text) == true, "\(closed)")
  }

  @Test func `a background push at priority 10 is refused, and a card's keys are not`() throws {
    let urgent = try push(#"{"data":{}}"#, .background, priority: .immediate)
    #expect(
      decision([urgent]).reasons
        == ["rejected: priority is 10; RidePulse accepts 5 for push type background"])
    let keys = #"{"data":{"rp_kind":"alert","rp_title":"Hi"}}"#
    #expect(decision([try push(keys)]).pushes.count == 1)
  }

  @Test func `an iPhone gets no message for Android`() throws {
    for (key, value) in [("message", "{}"), ("android", "{}"), ("notification", "{}")] {
      let push = try push("{\"\(key)\":\(value)}", to: Sample.customerToken)
      #expect(
        decision([push]).reasons.first?.hasPrefix(
          "rejected: payload has \(key) and no aps: it is for Android phones") == true)
    }
    // With aps, or as a text, it may be a key of the app's own.
    for payload in [#"{"aps":{},"message":{}}"#, #"{"message":"x"}"#] {
      #expect(decision([try push(payload, to: Sample.customerToken)]).pushes.count == 1)
    }
  }

  @Test func `4,096 bytes with the ID are accepted, and one more is not, whatever the escapes`()
    throws
  {
    // rp_id and its value count 41, the key 1.
    for (letter, bytes) in [("x", 1), ("\\n", 1), ("ü", 2)] {
      let count = (AndroidSize.limit - 42) / bytes
      let fits = String(repeating: letter, count: count)
      #expect(decision([try push("{\"data\":{\"k\":\"\(fits)\"}}")]).pushes.count == 1)
      let large = decision([try push("{\"data\":{\"k\":\"\(fits)x\"}}")]).ended
      #expect(large.map { $0.reason?.code } == [.service("MESSAGE_TOO_LARGE")], "\(letter)")
    }
    // What the system shows counts, too.
    let text = String(repeating: "x", count: 4096)
    for payload in [
      #"{"notification":{"body":"\#(text)"}}"#, #"{"android":{"data":{"k":"\#(text)"}}}"#,
    ] {
      let large = decision([try push(payload)]).ended
      #expect(large.map { $0.reason?.code } == [.service("MESSAGE_TOO_LARGE")])
    }
  }
}
