import Testing

@testable import RideCore

@Suite("Configuration mistakes") struct ConfigurationMistakeTests {
  private func settlement(_ outcome: PushOutcome, bundleID: Bool = true) -> Settlement {
    var book = Sample.book()
    if !bundleID { book.bundleIDs = [:] }
    let decision = decide(
      Sample.view(events: [Sample.event()], phones: [Sample.phone()]), by: book, now: Sample.now)
    return decision.settled(decision.pushes.map { _ in outcome }, now: Sample.now) { 0 }
  }

  @Test(arguments: [
    (403, "InvalidProviderToken"), (403, "BadEnvironmentKeyInToken"), (403, "TopicMismatch"),
    (400, "TopicDisallowed"), (400, "DeviceTokenNotForTopic"), (403, "Forbidden"),
    (403, "BadCertificate"),
  ])
  func `R116 a refusal of key or topic is a mistake of app and environment`(
    status: Int, reason: String
  ) {
    let found = settlement(.refused(Refusal(status: status, reason: reason))).mistakes
    let app = Sample.phone().app
    #expect(
      found == [ConfigurationMistake(app: app, network: .production, code: .service(reason))])
  }

  @Test func `R116 a missing credential is a mistake of app and environment`() {
    let found = settlement(.unsent(.noCredential("customer has no key"))).mistakes
    #expect(found.map(\.code) == [.engine(.noCredential)])
    #expect(found.first?.network == .production)
    let explanation = found.first?.code.explanation
    #expect(explanation?.advice(variable: "X").contains("APNS_X_PRIVATE_KEY_PATH") == true)
  }

  @Test func `R116 a certificate refused in the TLS handshake is a mistake like BadCertificate`() {
    let end = settlement(.unsent(.certificateRefused("alert unknown ca")))
    #expect(end.mistakes.map(\.code) == [.service("BadCertificate")])
    #expect(end.entries.map(\.status) == [.pending], "a reload may correct it in time")
    let explanation = end.mistakes.first?.code.explanation
    #expect(explanation?.advice(variable: "X").contains("APNS_X_CERTIFICATE_PATH") == true)
  }

  @Test(arguments: [
    PushOutcome.accepted, .refused(Refusal(status: 400, reason: "BadDeviceToken")),
    .refused(Refusal(status: 410, reason: "Unregistered")), .unanswered(.timeout),
    .refused(Refusal(status: 503, reason: "ServiceUnavailable")),
    .refused(Refusal(status: 403, reason: "ExpiredProviderToken")),
  ])
  func `R116 other outcomes are no mistakes of the configuration`(outcome: PushOutcome) {
    #expect(settlement(outcome).mistakes.isEmpty)
  }

  @Test func `R116 a missing bundle ID is a mistake of the app`() {
    let mistake = settlement(.accepted, bundleID: false).mistakes.first
    #expect(mistake?.code == .engine(.noBundleID))
    #expect(mistake?.network == nil && mistake?.app == Sample.phone().app)
    let explanation = mistake?.code.explanation
    #expect(explanation?.advice(variable: "CUSTOMER").contains("APNS_CUSTOMER_BUNDLE_ID") == true)
  }

  @Test func `R116 a missing service account is one mistake of the app, whoever finds it`() throws {
    let rule = AndroidSample.rule()
    let phones = [AndroidSample.phone(1), AndroidSample.phone(2)]
    let unsent = decide(Sample.view(phones: phones), by: Sample.book([rule]), now: Sample.now)
      .settled([], now: Sample.now) { 0 }
    let refused = AndroidSample.decision(rule)
      .settled([.unsent(.noCredential("no account"))], now: AndroidSample.at) { 0 }
    var mistakes = ConfigurationMistakes()
    let found = mistakes.add([unsent, refused])
    #expect(
      found == [
        ConfigurationMistake(app: .customer, network: .android, code: .engine(.noServiceAccount))
      ])
    #expect(unsent.mistakes.count == 2 && refused.mistakes.count == 1)
    let advice = try #require(found.first?.code.explanation?.advice(variable: "CUSTOMER"))
    #expect(advice.contains("FCM_CUSTOMER_SERVICE_ACCOUNT_PATH"))
  }

  @Test func `R116 each mistake is new once, and again after a reload`() {
    let wrong = settlement(.refused(Refusal(status: 400, reason: "TopicDisallowed")))
    let other = settlement(.refused(Refusal(status: 403, reason: "Forbidden")))
    var mistakes = ConfigurationMistakes()
    #expect(mistakes.add([wrong, wrong]).count == 1)
    #expect(mistakes.add([wrong, other]).map(\.code) == [.service("Forbidden")])
    mistakes.forgetAll()
    #expect(mistakes.add([wrong, other]).count == 2)
  }

  @Test func `R117 a push that waits for another attempt is unfinished until it has ended`() {
    var unfinished = UnfinishedPushes()
    let waits = settlement(.refused(Refusal(status: 503, reason: "ServiceUnavailable")))
    unfinished.add([waits])
    #expect(unfinished.groups.map(\.pushes) == [1])
    #expect(unfinished.groups.first?.group.reason == "ServiceUnavailable")
    #expect(unfinished.groups.first?.group.app == Sample.phone().app)
    unfinished.add([settlement(.accepted)])
    #expect(unfinished.groups.isEmpty, "the same push, accepted by now")
  }
}
