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
      #expect(BroadcastReason.of(reason) != nil, "\(reason)")
    }
  }

  @Test(arguments: APNsReason.table.values.compactMap(\.explanation))
  func `each explanation is a phrase without a full stop`(words: BroadcastReason) {
    #expect(words.meaning.count > 10 && words.advice.count > 5)
    #expect(!words.meaning.hasSuffix(".") && !words.advice.hasSuffix("."))
  }

  @Test func `a spelling seen on the wire means the same as Apple's`() {
    let of = BroadcastReason.of(status:reason:)
    #expect(of(400, "BroadcastFeatureNotEnabled") == of(400, "FeatureNotEnabled"))
    #expect(of(503, "Service Unavailable") == of(503, "ServiceUnavailable"))
  }

  @Test(arguments: [400, 403, 418, 429, 500, 302])
  func `an unknown reason is explained by its status`(status: Int) {
    #expect(!BroadcastReason.of(status: status, reason: "Nonsense").advice.isEmpty)
  }
}
