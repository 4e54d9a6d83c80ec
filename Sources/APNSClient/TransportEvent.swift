package import RideCore

/// Something that happened to a connection; the client tells it and logs nothing itself.
///
/// No event holds a device token, a provider token or a payload.
package struct TransportEvent: Hashable, Sendable {
  /// What happened.
  package enum Kind: Hashable, Sendable {
    /// A connection stands.
    case connected

    /// A connection could not be opened; no other is tried for so long.
    case connectFailed(String, wait: Duration)

    /// The server takes no more streams; the reason is Apple's, where the frame held one.
    case goAway(reason: String?)

    /// APNs called the provider token expired: the connection is replaced.
    case providerTokenExpired

    /// APNs' clock is so far ahead of the one that signs; tokens are corrected for it.
    case clockSkew(Duration)

    /// Nothing came within the limit after a ping.
    case pingLost

    /// The server allows this many streams from now on.
    case streamLimit(Int)

    /// A connection is gone; the text says why.
    case closed(String)
  }

  /// Which of Apple's worlds.
  package var environment: APNsEnvironment

  /// Numbers the connections of one environment from 1.
  package var connection: Int

  /// What happened.
  package var kind: Kind

  init(environment: APNsEnvironment, connection: Int, kind: Kind) {
    self.environment = environment
    self.connection = connection
    self.kind = kind
  }
}
