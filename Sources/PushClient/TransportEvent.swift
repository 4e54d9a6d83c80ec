package import RideCore

/// An event of a connection; the client passes it to its owner and logs nothing itself.
///
/// No event contains a device token, a registration, a token of the service or a payload.
package struct TransportEvent: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The connection is open.
    case connected

    /// A connection could not be opened; no other is tried for `wait`.
    case connectFailed(String, wait: Duration)

    /// The server accepts no more streams; the reason is Apple's, if the frame has one.
    case goAway(reason: String?)

    /// APNs reported the provider token as expired; the connection is replaced.
    case providerTokenExpired

    /// FCM refused the access token; another one is fetched.
    case accessTokenRefused

    /// Google gave an access token, which is replaced before the end of this time.
    case accessTokenFetched(lifetime: Duration)

    /// Google gave no access token; it is asked again after `wait`. Pushes present the token in use for
    /// `life`; nil if there is none.
    case accessTokenFailed(AccessTokenProblem, wait: Duration, life: Duration?)

    /// How far the service's clock is ahead of the signing clock; new tokens are corrected for it.
    case clockSkew(Duration)

    /// Nothing arrived within the limit after a ping.
    case pingLost

    /// The server changed its limit of concurrent streams to this.
    case streamLimit(Int)

    /// The connection is closed; the text gives the reason.
    case closed(String)
  }

  package var network: PushNetwork

  /// The name of the credential that the connection presents.
  package var credential: String

  /// The connection's number among those of its network and credential, from 1; 0 for events of
  /// the exchange of access tokens.
  package var connection: Int

  package var kind: Kind

  init(network: PushNetwork, credential: String, connection: Int, kind: Kind) {
    self.network = network
    self.credential = credential
    self.connection = connection
    self.kind = kind
  }
}

/// Statistics of the connections to one APNs network that present one credential.
package struct PoolStatistics: Hashable, Sendable {
  package var network: PushNetwork

  /// The name of the credential.
  package var credential: String

  package var connections: TransportStatistics

  /// The age of the provider token that these connections present; nil if none is open, or if they
  /// have a client certificate.
  package var tokenAge: Duration?
}

/// The access token of one service account.
package struct AccessTokenStatistics: Hashable, Sendable {
  /// The name of the credential.
  package var credential: String

  /// The age of the token that is in use; nil if there is none.
  package var age: Duration?

  /// How many exchanges gave no token, by a word for the reason.
  package var failures: [String: Int]
}

extension TransportEvent {
  init(_ account: ServiceAccount, _ event: AccessTokenMint.Event) {
    let kind: Kind =
      switch event {
      case .fetched(let lifetime): .accessTokenFetched(lifetime: lifetime)
      case .failed(let problem, let wait, let life):
        .accessTokenFailed(problem, wait: wait, life: life)
      case .clockSkew(let lead): .clockSkew(lead)
      }
    self.init(network: .android, credential: "\(account)", connection: 0, kind: kind)
  }
}

/// Statistics of connections to APNs or FCM.
package struct TransportStatistics: Hashable, Sendable {
  /// Connections that accept pushes.
  package var openConnections = 0

  /// Pushes that were sent, or are being sent, and have no answer yet.
  ///
  /// A connection under load reports this about once per turn, so the number may be slightly out of
  /// date.
  package var inFlight = 0

  /// Pushes that wait for a connection or a free stream.
  package var queued = 0

  /// The stream limit of each open connection, in the order of their opening.
  package var streamLimits: [Int] = []

  /// Connections opened since the client was created.
  package var openedTotal = 0

  package static let none = TransportStatistics()

  package static func + (left: Self, right: Self) -> Self {
    TransportStatistics(
      openConnections: left.openConnections + right.openConnections,
      inFlight: left.inFlight + right.inFlight, queued: left.queued + right.queued,
      streamLimits: left.streamLimits + right.streamLimits,
      openedTotal: left.openedTotal + right.openedTotal)
  }
}
