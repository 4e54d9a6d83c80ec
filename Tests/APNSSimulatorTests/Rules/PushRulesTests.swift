import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct PushRulesTests {
  @Test(arguments: PushType.allCases)
  func `a correct push is accepted`(type: PushType) {
    let result = PushRules.evaluate(Fixture.request(type), in: Fixture.context)
    let proven = TokenIdentity(keyID: "SIMKEY0001", issuedAt: Fixture.now - 600)
    #expect(result == RuleResult(refusal: nil, provenToken: proven))
  }

  @Test(arguments: WrongPush.all)
  func `a push with one mistake is refused`(wrong: WrongPush) {
    let refusal = wrong.result().refusal
    #expect(refusal?.reason == wrong.reason, "\(refusal?.detail ?? "accepted")")
  }

  /// Proves that the table above can fail: without any one rule, some row has another result.
  @Test(arguments: PushRules.rules.indices)
  func `removing any rule changes a result`(index: Int) {
    var rules = PushRules.rules
    let removed = rules.remove(at: index)
    let caught = WrongPush.all.contains { $0.result(by: rules) != $0.result() }
    #expect(caught, "no row depends on the rule: \(removed.name)")
  }

  @Test(arguments: Fixture.request().headers.map(\.name))
  func `no header may be left out`(name: String) {
    var request = Fixture.request()
    request.set(name, nil)
    let refusal = PushRules.evaluate(request, in: Fixture.context).refusal
    // The three headers that APNs itself does not require.
    let optional = [":authority", "apns-collapse-id", "content-type"].contains(name)
    #expect((refusal == nil) == optional, "\(name): \(refusal?.detail ?? "accepted")")
  }

  @Test(arguments: Reason.allCases)
  func `each reason has a row`(reason: Reason) {
    let reasons = WrongPush.all.map(\.reason) + WrongCall.all.map(\.reason)
    #expect(reasons.contains(reason))
  }

  @Test(arguments: [
    (Reason.badTopic, 400), (.invalidProviderToken, 403), (.expiredProviderToken, 403),
    (.missingProviderToken, 403), (.badPath, 404), (.methodNotAllowed, 405), (.unregistered, 410),
    (.expiredToken, 410), (.payloadTooLarge, 413), (.tooManyProviderTokenUpdates, 429),
    (.tooManyRequests, 429),
    (.forbidden, 403), (.topicMismatch, 403), (.badCertificate, 403), (.unrelatedKeyID, 403),
    (.badCertificateEnvironment, 403), (.badEnvironmentKeyID, 403),
    (.badPayload, 400),
  ])
  func `statuses are Apple's`(reason: Reason, status: Int) {
    #expect(reason.status == status)
  }

  @Test func `410 carries the time of the unregistration`() {
    let wrong = WrongPush.device("x", .unregistered, DeviceToken(unregisteredSince: 77))
    #expect(wrong.result().refusal?.timestamp == 77)
  }

  @Test func `a valid JWT counts even if the push is refused for something else`() {
    let authorized = WrongPush.header("apns-id", nil, .badMessageID)
    let unauthorized = WrongPush.header("authorization", nil, .missingProviderToken)
    #expect(authorized.result().provenToken != nil)
    #expect(unauthorized.result().provenToken == nil)
  }
}

/// Boundary values that the rules accept.
@Suite struct AcceptedPushTests {
  private func refusal(
    _ type: PushType = .alert, _ change: (inout Request, inout RuleContext) -> Void
  ) -> Refusal? {
    var request = Fixture.request(type)
    var context = Fixture.context
    change(&request, &context)
    return PushRules.evaluate(request, in: context).refusal
  }

  @Test(arguments: [
    ("apns-expiration", "0"), ("apns-priority", "5"), ("apns-priority", "1"),
    ("apns-topic", "com.example.driver"),
    ("apns-collapse-id", String(repeating: "ü", count: 32)),
    (":path", "/3/device/" + String(repeating: "AB", count: 80)),
    (":path", "/3/device/" + String(repeating: "0f", count: 256)),
    ("authorization", "Bearer " + Fixture.jwt),
  ])
  func `a legal value is accepted`(name: String, value: String) {
    #expect(refusal { request, _ in request.set(name, value) } == nil)
  }

  @Test(arguments: [
    #"{"aps":{"alert":"x"}}"#, #"{"aps":{"alert":{"loc-key":"K","loc-args":["a"]}}}"#,
    #"{"aps":{"alert":{"subtitle":"x"},"mutable-content":1,"badge":0}}"#,
    #"{"aps":{"alert":"x","interruption-level":"time-sensitive","relevance-score":0.5}}"#,
    #"{"aps":{"badge":0}}"#, #"{"aps":{"sound":"default"}}"#,
    #"{"aps":{"alert":"x","relevance-score":0}}"#, #"{"aps":{"alert":"x","relevance-score":1}}"#,
    #"{"aps":{"alert":"x","content-available":1}}"#,
    WrongPush.padded(to: 4096),
  ])
  func `a legal alert is accepted`(payload: String) {
    #expect(refusal { request, _ in request.setBody(payload) } == nil)
  }

  @Test(arguments: [
    Fixture.start, Fixture.activity(#""event":"end""#),
    Fixture.activity(#""event":"end","content-state":{},"dismissal-date":0"#),
    Fixture.activity(#""event":"update","content-state":{},"alert":{"body":"x","sound":"a"}"#),
    Fixture.activity(#""event":"update","content-state":{},"relevance-score":250.5"#),
    Fixture.activity(Fixture.startMembers + #","input-push-token":1"#),
    Fixture.activity(#""event":"update","content-state":{}"#, timestamp: "1790028800"),
    Fixture.activity(#""event":"end""#, timestamp: "1685952000"),
  ])
  func `a legal Live Activity push is accepted`(payload: String) {
    #expect(refusal(.liveactivity) { request, _ in request.setBody(payload) } == nil)
  }

  @Test func `R104 a start may follow a channel that exists`() {
    let payload = Fixture.activity(
      Fixture.startMembers + #","input-push-channel":"\#(Fixture.latest)""#)
    let found = refusal(.liveactivity) { request, context in
      context = Fixture.channelContext
      request.setBody(payload)
    }
    #expect(found == nil)
  }

  @Test func `voip may be larger`() {
    #expect(refusal(.voip) { request, _ in request.setBody(WrongPush.padded(to: 5120)) } == nil)
  }

  @Test func `a second iat after 20 minutes is accepted`() {
    let token = TokenIdentity(keyID: "SIMKEY0001", issuedAt: Fixture.now - 3000)
    let adopted = AdoptedToken(token: token, adoptedAt: Fixture.now - 1200)
    #expect(refusal { _, context in context.adoptedToken = adopted } == nil)
  }

  /// (first key of the connection, key of the push)
  @Test(arguments: [
    ("SIMKEY0001", "TEAMKEY002"), ("CUSTOMER01", "CUSTOMER02"), ("CUSTOMER02", "CUSTOMER01"),
  ])
  func `related keys may follow each other on a connection`(first: String, second: String) {
    let token = TokenIdentity(keyID: first, issuedAt: Fixture.now - 3000)
    let adopted = AdoptedToken(token: token, adoptedAt: Fixture.now - 1200)
    let jwt = Fixture.sign(JWT(issuedAt: Fixture.now - 600, keyID: second))
    let found = refusal { request, context in
      context.adoptedToken = adopted
      request.set("authorization", "bearer " + jwt)
    }
    #expect(found == nil)
  }

  @Test(arguments: [
    "Apple Push Services: com.example.customer", "com.example.customer",
    "Apple Production IOS Push Services: com.example.customer",
  ])
  func `R105 a certificate makes a provider token needless`(name: String) {
    let found = refusal { request, context in
      context.certificate = Fixture.certificate(name)
      request.set("authorization", "bearer junk")
    }
    #expect(found == nil)
  }

  @Test(arguments: PushType.allCases)
  func `R104 priority 1 suits every type except background`(type: PushType) {
    let refusal = refusal(type) { request, _ in request.set("apns-priority", "1") }
    #expect(refusal?.reason == (type == .background ? .badPriority : nil))
  }

  @Test(arguments: [-3600, 300])
  func `iat at its limits is accepted`(offset: Int) {
    let jwt = Fixture.sign(JWT(issuedAt: Fixture.now + offset))
    #expect(refusal { request, _ in request.set("authorization", "bearer " + jwt) } == nil)
  }

  @Test func `a token bound to this topic and environment is accepted`() {
    let entry = DeviceToken(topic: "com.example.customer", environment: .production)
    let token = Fixture.token.uppercased()
    #expect(refusal { _, context in context.deviceTokens[token] = entry } == nil)
  }
}
