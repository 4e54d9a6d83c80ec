package import RideCore

/// What the client needs to know besides the key.
package struct APNsConfiguration: Sendable {
  /// Where production pushes go; Apple's own host unless set.
  package var production = APNsEndpoint.appleProduction

  /// Where sandbox pushes go; Apple's own host unless set.
  package var sandbox = APNsEndpoint.appleSandbox

  /// Where production channels are managed; Apple's own host unless set.
  package var productionChannels = APNsEndpoint.appleProductionChannels

  /// Where sandbox channels are managed; Apple's own host unless set.
  package var sandboxChannels = APNsEndpoint.appleSandboxChannels

  /// Where production broadcasts go; where its pushes go unless set.
  package var productionBroadcast: APNsEndpoint?

  /// Where sandbox broadcasts go; where its pushes go unless set.
  package var sandboxBroadcast: APNsEndpoint?

  /// A PEM file of certificate authorities to trust besides the system's. There is no way to trust
  /// everything.
  package var caFile: String?

  /// From `submit` to a push's report, whatever happens between.
  package var requestTimeout: Duration = .seconds(10)

  /// For address, TCP, proxy and TLS of one connection together.
  package var connectTimeout: Duration = .seconds(5)

  /// Connections that may take pushes at one time, for each environment; at least 1.
  package var maxConnections = 4

  /// Streams of one connection, where the server allows more or names no limit.
  package var maxStreams = 1000

  /// A connection on which nothing arrived for this long is asked whether it lives.
  package var pingAfter: Duration = .seconds(30)

  /// It is given up when nothing arrives for this long after the question.
  package var pingTimeout: Duration = .seconds(10)

  /// A spare connection without pushes is closed after this; the last one is kept.
  package var idleTimeout: Duration = .seconds(300)

  /// A connection is replaced after this, so that changes of address and topics are seen.
  package var maxAge: Duration = .seconds(24 * 3600)

  /// A connection is replaced after this many timeouts without an answer between.
  package var timeoutsInARow = 3

  /// How often a push that APNs provably did not process is sent again within its deadline.
  package var resendLimit = 3

  /// The longest wait after the first failed connect; it doubles with each further one.
  package var backoffBase: Duration = .milliseconds(500)

  /// The longest wait between two connects.
  package var backoffCap: Duration = .seconds(30)

  /// Apple's endpoints and the defaults above.
  package init() {}

  /// Other endpoints than Apple's where given.
  ///
  /// - Throws: `APNsEndpointError` for a URL that is not `https://host[:port]`.
  package init(productionURL: String? = nil, sandboxURL: String? = nil, caFile: String? = nil)
    throws(APNsEndpointError)
  {
    if let productionURL { production = try APNsEndpoint(productionURL) }
    if let sandboxURL { sandbox = try APNsEndpoint(sandboxURL) }
    self.caFile = caFile
  }

  /// Where the pushes of one environment go.
  package func endpoint(of environment: APNsEnvironment) -> APNsEndpoint {
    switch environment {
    case .production: production
    case .sandbox: sandbox
    }
  }

  /// Where the channels of one environment are managed.
  package func channels(of environment: APNsEnvironment) -> APNsEndpoint {
    switch environment {
    case .production: productionChannels
    case .sandbox: sandboxChannels
    }
  }

  /// Where the broadcasts of one environment go.
  ///
  /// Apple's page names two hosts for them; that of the pushes is the one that its list names.
  package func broadcast(of environment: APNsEnvironment) -> APNsEndpoint {
    switch environment {
    case .production: productionBroadcast ?? production
    case .sandbox: sandboxBroadcast ?? sandbox
    }
  }
}
