import Testing

@testable import APNSSimulator

/// Boundary values that the rules accept.
@Suite struct AcceptedTests {
  private func refusal(
    _ type: PushType = .alert, _ change: (inout PushRequest, inout RuleContext) -> Void
  ) -> Refusal? {
    var request = Fixture.request(type)
    var context = Fixture.context
    change(&request, &context)
    return PushRules.judge(request, in: context).refusal
  }

  @Test(arguments: [
    ("apns-expiration", "0"), ("apns-priority", "5"), ("apns-priority", "1"),
    ("apns-topic", "com.example.driver"),
    ("apns-collapse-id", String(repeating: "ü", count: 32)),
    (":path", "/3/device/" + String(repeating: "AB", count: 80)),
  ])
  func `a legal value is accepted`(name: String, value: String) {
    #expect(refusal { request, _ in request.set(name, value) } == nil)
  }

  @Test(arguments: [
    #"{"aps":{"alert":"x"}}"#, #"{"aps":{"alert":{"loc-key":"K","loc-args":["a"]}}}"#,
    #"{"aps":{"alert":{"subtitle":"x"},"mutable-content":1,"badge":0}}"#,
    #"{"aps":{"alert":"x","interruption-level":"time-sensitive","relevance-score":0.5}}"#,
    Wrong.padded(to: 4096),
  ])
  func `a legal alert is accepted`(payload: String) {
    #expect(refusal { request, _ in request.setBody(payload) } == nil)
  }

  @Test(arguments: [
    Fixture.start, Fixture.activity(#""event":"end""#),
    Fixture.activity(#""event":"end","content-state":{},"dismissal-date":0"#),
    Fixture.activity(#""event":"update","content-state":{},"alert":{"body":"x","sound":"a"}"#),
  ])
  func `a legal Live Activity push is accepted`(payload: String) {
    #expect(refusal(.liveactivity) { request, _ in request.setBody(payload) } == nil)
  }

  @Test func `voip may be larger`() {
    #expect(refusal(.voip) { request, _ in request.setBody(Wrong.padded(to: 5120)) } == nil)
  }

  @Test func `a second iat after 20 minutes is accepted`() {
    let adopted = AdoptedToken(issuedAt: Fixture.now - 3000, adoptedAt: Fixture.now - 1200)
    #expect(refusal { _, context in context.adoptedToken = adopted } == nil)
  }

  @Test(arguments: [-3600, 300])
  func `iat at the edges of its time is accepted`(offset: Int) {
    let jwt = Fixture.sign(JWT(issuedAt: Fixture.now + offset))
    #expect(refusal { request, _ in request.set("authorization", "bearer " + jwt) } == nil)
  }

  @Test func `a token bound to this topic and environment is accepted`() {
    let entry = DeviceToken(topic: "com.example.customer", environment: .production)
    let token = Fixture.token.uppercased()
    #expect(refusal { _, context in context.deviceTokens[token] = entry } == nil)
  }
}
