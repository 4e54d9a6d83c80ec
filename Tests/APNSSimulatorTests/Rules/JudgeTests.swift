import Testing

@testable import APNSSimulator

@Suite struct JudgeTests {
  @Test(arguments: PushType.allCases)
  func `a good push is accepted`(type: PushType) {
    let judgement = PushRules.judge(Fixture.request(type), in: Fixture.context)
    #expect(judgement == RuleResult(refusal: nil, provenIssuedAt: Fixture.now - 600))
  }

  @Test(arguments: Wrong.all)
  func `a spoilt push is refused`(wrong: Wrong) {
    let refusal = wrong.judged().refusal
    #expect(refusal?.reason == wrong.reason, "\(refusal?.detail ?? "accepted")")
  }

  /// Proves that the table above can fail: without any one rule, some row has a different result.
  @Test(arguments: PushRules.rules.indices)
  func `no rule is idle`(index: Int) {
    var rules = PushRules.rules
    let removed = rules.remove(at: index)
    let caught = Wrong.all.contains { $0.judged(by: rules) != $0.judged() }
    #expect(caught, "no row needs the rule: \(removed.name)")
  }

  @Test(arguments: Fixture.request().headers.map(\.name))
  func `no header may be left out`(name: String) {
    var request = Fixture.request()
    request.set(name, nil)
    let refusal = PushRules.judge(request, in: Fixture.context).refusal
    // The three headers that APNs itself does not require.
    let optional = [":authority", "apns-collapse-id", "content-type"].contains(name)
    #expect((refusal == nil) == optional, "\(name): \(refusal?.detail ?? "accepted")")
  }

  @Test(arguments: Reason.allCases)
  func `each reason has a row`(reason: Reason) {
    let reasons = Wrong.all.map(\.reason) + WrongCall.all.map(\.reason)
    #expect(reasons.contains(reason))
  }

  @Test(arguments: [
    (Reason.badTopic, 400), (.invalidProviderToken, 403), (.expiredProviderToken, 403),
    (.missingProviderToken, 403), (.badPath, 404), (.methodNotAllowed, 405), (.unregistered, 410),
    (.expiredToken, 410), (.payloadTooLarge, 413), (.tooManyProviderTokenUpdates, 429),
    (.badPayload, 400),
  ])
  func `statuses are Apple's`(reason: Reason, status: Int) {
    #expect(reason.status == status)
  }

  @Test func `410 tells since when`() {
    let wrong = Wrong.device("x", .unregistered, DeviceToken(unregisteredSince: 77))
    #expect(wrong.judged().refusal?.timestamp == 77)
  }

  @Test func `a valid JWT counts even if the push is refused for something else`() {
    let authorized = Wrong.header("apns-id", nil, .badMessageID)
    let unauthorized = Wrong.header("authorization", nil, .missingProviderToken)
    #expect(authorized.judged().provenIssuedAt != nil)
    #expect(unauthorized.judged().provenIssuedAt == nil)
  }
}
