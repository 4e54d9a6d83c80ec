enum Environment: String, CaseIterable, Sendable {
  case production, sandbox
}

/// The provider token that a connection uses, and since when.
struct AdoptedToken: Equatable, Sendable {
  let issuedAt: Int
  let adoptedAt: Int
}

/// All that a verdict depends on besides the request; times are epoch seconds.
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
  /// Apps whose Broadcast Capability is switched off.
  var appsWithoutBroadcast: Set<String> = []
  /// Reads and verifies a JWT; a server may remember answers, as the same text has one reading.
  var readProviderToken: (String) -> ProviderToken?
}
