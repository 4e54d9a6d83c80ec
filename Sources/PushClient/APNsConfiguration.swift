package import RideCore

/// The client's settings, except the key.
package struct APNsConfiguration: Sendable {
  /// The endpoint of production pushes; Apple's host by default.
  package var production = APNsEndpoint.appleProduction

  /// The endpoint of sandbox pushes; Apple's host by default.
  package var sandbox = APNsEndpoint.appleSandbox

  /// The endpoint of messages to Android phones; Google's host by default.
  package var fcm = APNsEndpoint.google

  /// The endpoint that manages production channels; Apple's host by default.
  package var productionChannels = APNsEndpoint.appleProductionChannels

  /// The endpoint that manages sandbox channels; Apple's host by default.
  package var sandboxChannels = APNsEndpoint.appleSandboxChannels

  /// The endpoint of production broadcasts; if nil, that of production pushes.
  package var productionBroadcast: APNsEndpoint?

  /// The endpoint of sandbox broadcasts; if nil, that of sandbox pushes.
  package var sandboxBroadcast: APNsEndpoint?

  /// A PEM file of certificate authorities trusted in addition to the system's.
  ///
  /// Verification can't be turned off.
  package var caFile: String?

  /// The same for FCM and for the servers that give access tokens.
  package var fcmCAFile: String?

  /// The limit from `submit` to a push's report, resends included.
  package var requestTimeout: Duration = .seconds(10)

  /// The limit for DNS, TCP, proxy and TLS of one connection together.
  package var connectTimeout: Duration = .seconds(5)

  /// The maximum number of connections that accept pushes at one time, for each environment; at
  /// least 1.
  package var maxConnections = 4

  /// The maximum number of streams of one connection if the server allows more or sets no limit.
  package var maxStreams = 1000

  /// A connection is pinged after it has received nothing for this long.
  package var pingAfter: Duration = .seconds(30)

  /// A connection is given up if it receives nothing for this long after a ping.
  package var pingTimeout: Duration = .seconds(10)

  /// A connection to FCM is pinged once after an answer has been awaited for this long.
  package var fcmPingAfter: Duration = .seconds(3)

  /// A connection to FCM without pushes is closed after this, before Google's servers do.
  package var fcmIdleTimeout: Duration = .seconds(240)

  /// A spare connection without pushes is closed after this; the last one is kept.
  package var idleTimeout: Duration = .seconds(300)

  /// A connection is replaced after this, so that changes of address and topics take effect.
  package var maxAge: Duration = .seconds(24 * 3600)

  /// A connection is replaced after this many consecutive timeouts.
  package var timeoutsInARow = 3

  /// How many times a push that APNs provably did not process is sent again within its deadline.
  package var resendLimit = 3

  /// The longest wait after the first failed connect; it doubles with each further failure.
  package var backoffBase: Duration = .milliseconds(500)

  /// The upper limit of the wait between two connects.
  package var backoffCap: Duration = .seconds(30)

  /// Creates a configuration with Apple's endpoints and the defaults above.
  package init() {}

  /// Creates a configuration that replaces Apple's endpoints with those given.
  ///
  /// - Throws: `APNsEndpointError` for a URL that is not `https://host[:port]`.
  package init(productionURL: String? = nil, sandboxURL: String? = nil, caFile: String? = nil)
    throws(APNsEndpointError)
  {
    if let productionURL { production = try APNsEndpoint(productionURL) }
    if let sandboxURL { sandbox = try APNsEndpoint(sandboxURL) }
    self.caFile = caFile
  }

  /// Returns the endpoint for the pushes of one network.
  package func endpoint(of network: PushNetwork) -> APNsEndpoint {
    switch network {
    case .production: production
    case .sandbox: sandbox
    case .android: fcm
    }
  }

  /// Returns the endpoint that manages the channels of one environment.
  package func channels(of environment: APNsEnvironment) -> APNsEndpoint {
    switch environment {
    case .production: productionChannels
    case .sandbox: sandboxChannels
    }
  }

  /// Returns the endpoint for the broadcasts of one environment.
  ///
  /// Apple's documentation contradicts itself about the host; the default is the push host, which
  /// its list of endpoints names.
  package func broadcast(of network: PushNetwork) -> APNsEndpoint {
    switch network {
    case .production: productionBroadcast ?? production
    case .sandbox: sandboxBroadcast ?? sandbox
    case .android: fcm
    }
  }
}
