enum Environment: String, CaseIterable, Sendable {
  case production, sandbox
}

/// The provider token that a connection uses, and since when.
struct AdoptedToken: Equatable, Sendable {
  let issuedAt: Int
  let adoptedAt: Int
}

/// Everything that a verdict depends on besides the request; times are epoch seconds.
struct RuleContext {
  var now: Int
  var keyID: String
  var teamID: String
  var bundleIDs: Set<String>
  var environment: Environment
  var deviceTokens: DeviceTokenRegistry
  var adoptedToken: AdoptedToken?
  var channels = ChannelRegistry()
  var channelLimit = 10_000
  /// Apps whose Broadcast Capability is off.
  var appsWithoutBroadcast: Set<String> = []
  /// Parses and verifies a JWT; results may be cached, because they depend only on the text.
  var readProviderToken: (String) -> ProviderToken?
}
