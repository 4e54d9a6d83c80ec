import Testing

@testable import APNSSimulator
@testable import SimulatorKit

/// Requests that APNs accepts, and the strictness that refuses them.
struct Tolerated: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let part: Strictness
  let reason: Reason
  let type: PushType
  let change: @Sendable (inout Request) -> Void

  init(
    _ name: String, _ part: Strictness, _ reason: Reason, type: PushType = .alert,
    _ change: @escaping @Sendable (inout Request) -> Void
  ) {
    testDescription = name
    self.part = part
    self.reason = reason
    self.type = type
    self.change = change
  }

  static func without(_ name: String, _ reason: Reason, type: PushType = .alert) -> Tolerated {
    Tolerated("\(type) without \(name)", .headers, reason, type: type) { $0.set(name, nil) }
  }

  static func payload(
    _ text: String, _ part: Strictness, _ reason: Reason = .invalidPushType,
    type: PushType = .alert
  ) -> Tolerated {
    Tolerated("\(type) \(text)", part, reason, type: type) { $0.setBody(text) }
  }

  static func jwt(_ claims: String) -> Tolerated {
    Tolerated(claims, .jwt, .invalidProviderToken) { request in
      var jwt = JWT(issuedAt: 0)
      jwt.claims = claims
      request.set("authorization", "bearer " + Fixture.sign(jwt))
    }
  }

  func result(_ strictness: Strictness) -> RuleResult {
    var request = Fixture.request(type)
    var context = Fixture.context
    context.strictness = strictness
    change(&request)
    return PushRules.evaluate(request, in: context)
  }

  static let all: [Tolerated] = [
    .without("apns-push-type", .invalidPushType),
    .without("apns-push-type", .invalidPushType, type: .background),
    .without("apns-push-type", .invalidPushType, type: .liveactivity),
    .without("apns-push-type", .invalidPushType, type: .voip),
    .without("apns-priority", .badPriority), .without("apns-expiration", .badExpirationDate),
    .without("apns-id", .badMessageID),
    Tolerated("expiration in milliseconds", .headers, .badExpirationDate) {
      $0.set("apns-expiration", "1790000300000")
    },
    Tolerated("curl's content type", .headers, .badContentType) {
      $0.set("content-type", "application/x-www-form-urlencoded")
    },
    .payload(#"{"aps":{"alert":"x","ride":"r1"}}"#, .aps, .badPayload),
    .payload(#"{"aps":{"alert":{"title":"x","body":""}}}"#, .aps),
    .payload(#"{"aps":{"alert":{"title":"x","subtext":"y"}}}"#, .aps),
    .payload(#"{"aps":{"content-changed":true,"widget":"a"}}"#, .aps, .badPayload, type: .widgets),
    .payload(#"{"aps":{"alert":"x","sound":""}}"#, .aps, .badPayload),
    .payload(#"{"aps":{"alert":"x","thread-id":""}}"#, .aps, .badPayload),
    .payload(#"{"aps":{"alert":"x","badge":2.0}}"#, .aps, .badPayload),
    .payload(#"{"aps":{"content-available":1.0}}"#, .aps, .badPayload, type: .background),
    .payload(
      Fixture.activity(#""event":"update","content-state":{}"#, timestamp: "1790000000.0"), .aps,
      .badPayload, type: .liveactivity),
    .payload(
      Fixture.activity(#""event":"update","content-state":{},"stale-date":17900001e2"#), .aps,
      .badPayload, type: .liveactivity),
    .payload(
      Fixture.activity(#""event":"update","content-state":{},"alert":{"title":""}"#), .aps,
      type: .liveactivity),
    .payload(
      Fixture.activity(#""event":"update","content-state":{},"alert":{"body":"x","sound":""}"#),
      .aps,
      type: .liveactivity),
    .jwt(#"{"iss":"SIMTEAM001","iat":1789999400.25}"#),
    .jwt(#"{"iss":"SIMTEAM001","iat":"1789999400"}"#),
    .jwt(#"{"iss":"SIMTEAM001","iat":1790003600}"#),
  ]

  /// What phones drop; APNs answers 200.
  static let dropped: [Tolerated] = [
    .payload("no JSON", .payloads, .badPayload),
    .payload(#"{"aps":{"content-available":1}}"#, .payloads),
    .payload(#"{"aps":{"alert":"x","relevance-score":50}}"#, .payloads),
    .payload(#"{"aps":{"alert":"x","badge":"1"}}"#, .payloads, .badPayload),
    .payload(#"{"aps":{"alert":"x","timestamp":1}}"#, .payloads),
    .payload(#"{"aps":{"content-available":1,"sound":"default"}}"#, .payloads, type: .background),
    .payload(#"{"aps":{"timestamp":1790000000,"event":"start"}}"#, .payloads, type: .liveactivity),
    .payload(
      Fixture.activity(#""event":"update","content-state":{},"sound":"default""#), .payloads,
      type: .liveactivity),
  ]
}

@Suite struct StrictnessTests {
  @Test(arguments: Tolerated.all)
  func `R104 what APNs accepts is accepted, and refused if asked for`(request: Tolerated) {
    #expect(request.result(.standard).refusal == nil)
    #expect(request.result(.standard).dropped == nil)
    #expect(request.result(request.part).refusal?.reason == request.reason)
    #expect(request.result(.all.subtracting(request.part)).refusal == nil)
  }

  @Test(arguments: Tolerated.dropped)
  func `R104 what a phone drops is refused, and recorded if that is switched off`(
    request: Tolerated
  ) {
    let refusal = request.result(.standard).refusal
    #expect(refusal?.reason == request.reason)
    let lenient = request.result(.all.subtracting(.payloads))
    #expect(lenient.refusal == nil)
    #expect(lenient.dropped == refusal?.detail)
  }

  /// A payload, and the detail in the record.
  @Test(arguments: [
    (
      #"{"aps":{},"a":1,"a":2}"#,
      "the payload is no JSON: byte 16: expected each key once, found \"a\" twice"
    ),
    (
      #"{"aps":{},"a":"# + String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
        + "}", "the payload is no JSON: byte 77: expected at most 64 levels"
    ),
    ("no JSON", "the payload is no JSON: byte 0: expected a JSON value"),
    ("[1]", "the payload is JSON, and no object"),
  ])
  func `R104 the detail of a payload names what is wrong with it`(payload: String, detail: String) {
    var request = Fixture.request()
    request.setBody(payload)
    #expect(PushRules.evaluate(request, in: Fixture.context).refusal?.detail == detail)
  }

  @Test func `R104 what APNs refuses is refused without any strictness`() {
    let own = WrongPush.all.filter { wrong in
      let rules = PushRules.rules.filter { $0.part == nil }
      return wrong.result(by: rules).refusal?.reason == wrong.reason
    }
    let lenient = own.filter { wrong in
      var request = Fixture.request(wrong.type)
      var context = Fixture.context
      wrong.change(&request, &context)
      context.strictness = []
      return PushRules.evaluate(request, in: context).refusal?.reason == wrong.reason
    }
    #expect(lenient.count == own.count && own.count > 50)
  }

  @Test func `R104 a stray header of a broadcast is ignored`() {
    func refusal(_ strictness: Strictness) -> Reason? {
      var request = Fixture.request(.broadcast)
      let id = "123e4567-e89b-12d3-a456-426614174000"
      request.headers.append(Header(name: "apns-id", value: id))
      var context = Fixture.channelContext
      context.strictness = strictness
      let push = Push(request, in: context)
      let result = PushRules.evaluate(push, by: ChannelRules.all, proven: ChannelRules.proven)
      return result.refusal?.reason
    }
    #expect(refusal(.standard) == nil)
    #expect(refusal(.headers) == .strayHeader)
  }

  @Test(arguments: PushType.allCases)
  func `R104 without the header the type follows from topic and payload`(type: PushType) {
    var request = Fixture.request(type)
    request.set("apns-push-type", nil)
    var context = Fixture.context
    context.strictness = .standard
    let found = Push(request, in: context).pushType
    // Nothing but the header distinguishes it from an alert.
    #expect(found == (type == .mdm ? .alert : type))
  }

  /// The topic of device management is the user ID of its certificate.
  @Test(arguments: [
    ("com.apple.mgmt.External.18a16429-886b-41f1-9c30-2bd04ae4fc37", PushType.mdm, true),
    ("com.example.customer", .mdm, true), ("com.example.other", .mdm, false),
    ("com.apple.mgmt", .mdm, false),
    ("com.apple.mgmt.External.18a16429-886b-41f1-9c30-2bd04ae4fc37", .alert, false),
  ])
  func `R104 device management has a topic of Apple's`(
    topic: String, type: PushType, isAccepted: Bool
  ) {
    var request = Fixture.request(type)
    request.set("apns-topic", topic)
    var context = Fixture.context
    let refusal = PushRules.evaluate(request, in: context).refusal
    #expect(refusal?.reason == (isAccepted ? nil : .topicDisallowed))
    guard topic.hasPrefix("com.apple.mgmt."), isAccepted else { return }
    context.strictness = .standard
    context.certificate = ClientCertificate(
      PeerCertificate(
        commonName: "APSP:18a16429-886b-41f1-9c30-2bd04ae4fc37", userIDs: [topic], serial: "01"))
    #expect(PushRules.evaluate(request, in: context).refusal == nil)
    request.set("apns-push-type", nil)
    #expect(Push(request, in: context).pushType == .mdm)
    #expect(PushRules.evaluate(request, in: context).refusal == nil)
  }

  @Test func `R104 a certificate of one app makes the topic needless`() {
    var request = Fixture.request()
    request.set("apns-topic", nil)
    var context = Fixture.context
    context.strictness = .standard
    context.certificate = Fixture.certificate()
    context.deviceTokens[Fixture.token] = DeviceToken(topic: "com.example.customer")
    #expect(PushRules.evaluate(request, in: context).refusal == nil)
    context.certificate = ClientCertificate(
      PeerCertificate(
        commonName: "Push", userIDs: ["com.example.customer", "com.example.driver"], serial: "01"))
    #expect(PushRules.evaluate(request, in: context).refusal?.reason == .missingTopic)
  }
}

/// The order of a card's pushes.
@Suite struct CardPushTests {
  private func refusal(
    of next: String, after last: String, _ change: (inout Request) -> Void = { _ in }
  ) -> Refusal? {
    var request = Fixture.request(.liveactivity)
    change(&request)
    request.setBody(next)
    var context = Fixture.context
    context.lastCardPush = Fixture.cardPush(last)
    return PushRules.evaluate(request, in: context).refusal
  }

  private func push(_ event: String, _ timestamp: Int, eta: Int = 1) -> String {
    let members = #""event":"\#(event)","content-state":{"eta":\#(eta)}"#
    return Fixture.activity(members, timestamp: String(timestamp))
  }

  @Test(arguments: [
    (1, 2, 1, true), (1, 1, 1, true), (1, 1, 2, false), (2, 1, 1, false), (2, 1, 2, false),
  ])
  func `R104 an update is newer than the last, or its repeat`(
    last: Int, next: Int, eta: Int, isAccepted: Bool
  ) {
    let found = refusal(
      of: push("update", Fixture.now + next, eta: eta), after: push("update", Fixture.now + last))
    #expect((found == nil) == isAccepted, "\(found?.detail ?? "accepted")")
  }

  @Test func `R104 nothing follows an end, except another end and a start`() {
    let end = push("end", Fixture.now)
    #expect(refusal(of: push("update", Fixture.now + 1), after: end) != nil)
    #expect(refusal(of: push("end", Fixture.now + 1), after: end) == nil)
    #expect(refusal(of: end, after: end) == nil)
    #expect(refusal(of: Fixture.start, after: end) == nil)
  }

  @Test func `R104 an end may be older than the last update`() {
    let update = push("update", Fixture.now)
    #expect(refusal(of: push("end", Fixture.now - 90_000), after: update) == nil)
    #expect(refusal(of: push("update", Fixture.now - 1), after: update) != nil)
  }

  @Test func `R104 a channel outlives an end, and its timestamps rise`() {
    var context = Fixture.channelContext
    var request = Fixture.request(.broadcast)
    request.setBody(push("end", Fixture.now))
    context.lastCardPush = CardPush(Push(request, in: context))
    func refusal(_ body: String) -> Refusal? {
      request.setBody(body)
      let push = Push(request, in: context)
      return PushRules.evaluate(push, by: ChannelRules.all, proven: ChannelRules.proven).refusal
    }
    #expect(refusal(push("update", Fixture.now + 1)) == nil)
    #expect(refusal(push("update", Fixture.now)) != nil)
  }

  @Test func `cards and channels have places of their own`() {
    var requests = [Fixture.request(.liveactivity), Fixture.request(.broadcast)]
    var other = requests[0]
    other.set(":path", "/3/device/" + String(repeating: "cd", count: 32))
    requests.append(other)
    other = requests[1]
    other.set("apns-channel-id", "YQ==")
    requests.append(other)
    #expect(Set(requests.map(CardPush.target)).count == 4)
    var upper = requests[0]
    upper.set(":path", "/3/device/" + Fixture.token.uppercased())
    #expect(CardPush.target(of: upper) == CardPush.target(of: requests[0]))
  }
}

@Suite struct TokenRateTests {
  @Test(arguments: ["", "5", "5/", "0/10", "5/0", "-1/10", "5/10/2", "5/9999999"])
  func `a bad rate is refused`(text: String) {
    #expect(TokenRate(text) == nil)
  }

  @Test func `R104 a bucket empties and refills steadily, one for each token`() throws {
    var limiter = TokenRateLimiter(try #require(TokenRate("3/30")))
    func push(_ token: String, at second: Int) -> Bool {
      let now = 1_000_000 * second
      if limiter.isExceeded(by: token, at: now) { return false }
      limiter.count(token, at: now)
      return true
    }
    #expect([0, 0, 1, 1].map { push("a", at: $0) } == [true, true, true, false])
    #expect(push("b", at: 1))
    #expect([9, 10, 10, 20].map { push("a", at: $0) } == [false, true, false, true])
    #expect([90, 90, 90, 90].map { push("a", at: $0) } == [true, true, true, false])
  }
}
