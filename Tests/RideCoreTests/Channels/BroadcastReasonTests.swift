import RideCore
import Testing

@Suite("Reasons of broadcasts") struct BroadcastReasonTests {
  /// The reasons of Apple's page "Handling error responses from APNs".
  private static let apple = [
    "FeatureNotEnabled", "MissingChannelId", "BadChannelId", "ChannelNotRegistered",
    "BadRequestParams", "BadRequestPayload", "PayloadEmpty", "BadMessageId", "MissingPushType",
    "InvalidPushType", "CannotCreateChannelConfig", "BadExpirationDate", "TopicDisallowed",
    "BadPriority", "BadCertificate", "BadCertificateEnvironment", "TopicMismatch",
    "MissingProviderToken", "ExpiredProviderToken", "InvalidProviderToken", "BadPath",
    "MethodNotAllowed", "PayloadTooLarge", "TooManyRequests", "TooManyProviderTokenUpdates",
    "InternalServerError", "ServiceUnavailable", "Shutdown",
  ]

  @Test func `all 28 entries of Apple's table have an explanation`() {
    #expect(Self.apple.count == 28)
    for reason in Self.apple + ["BroadcastFeatureNotEnabled", "BadEnvironmentKeyInToken"] {
      #expect(ReasonExplanation.of(reason) != nil, "\(reason)")
    }
  }

  @Test(arguments: APNsReason.table.values.compactMap(\.explanation))
  func `each explanation is a phrase without a full stop`(words: ReasonExplanation) {
    #expect(words.meaning.count > 10 && words.advice.count > 5)
    #expect(!words.meaning.hasSuffix(".") && !words.advice.hasSuffix("."))
  }

  @Test(arguments: APNsReason.table.keys.sorted())
  func `R116 a reason that all pushes of an app get is of the configuration and has an explanation`(
    reason: String
  ) throws {
    let entry = try #require(APNsReason.table[reason])
    if entry.rule?.isOfConfiguration == true { #expect(entry.cause.isOfConfiguration) }
    let code = LedgerReason.Code.service(reason)
    #expect(code.isOfConfiguration == entry.cause.isOfConfiguration)
    guard code.isOfConfiguration else { return }
    let advice = try #require(code.explanation).advice(variable: "DRIVER")
    #expect(!advice.contains("<APP>"))
    #expect(advice.contains("APNS_DRIVER_") || reason == "MissingProviderToken", "\(advice)")
  }

  @Test func `a spelling seen on the wire means the same as Apple's`() {
    let of = ReasonExplanation.of(status:reason:)
    #expect(of(400, "BroadcastFeatureNotEnabled") == of(400, "FeatureNotEnabled"))
    #expect(of(503, "Service Unavailable") == of(503, "ServiceUnavailable"))
  }

  @Test(arguments: [400, 403, 418, 429, 500, 302])
  func `an unknown reason is explained by its status`(status: Int) {
    #expect(!ReasonExplanation.of(status: status, reason: "Nonsense").advice.isEmpty)
  }
}
