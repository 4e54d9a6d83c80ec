package import RideCore

/// The settings of the gateway: addresses, app and limits.
package struct GatewaySettings: Sendable {
  /// The app whose senders connect.
  package var app: App
  /// The app's bundle ID, which senders' certificates must name.
  package var bundleID: String
  /// The address to listen on, in numeric form.
  package var address = "127.0.0.1"
  /// The port for pushes; 0 selects any free port.
  package var port: UInt16 = 2195
  /// The port for phones that were disabled; 0 selects any free port.
  package var feedbackPort: UInt16 = 2196
  /// The gateway's certificate.
  package var identity: ServerIdentity
  /// A PEM file of the CAs that sign senders' certificates; if nil, senders need none.
  package var clientCA: String?

  /// The maximum number of connections.
  package var connectionLimit = 512
  /// The maximum number of incomplete handshakes; beyond it, the oldest one of the network that has
  /// the most is evicted.
  package var handshakeLimit = 256
  /// The maximum number of incomplete handshakes from one address (IPv6: from one /64).
  package var handshakeLimitPerPeer = 64
  /// The time limit of a handshake.
  package var handshakeTime: Duration = .seconds(10)
  /// The time limit for the rest of a frame, and for a peer to accept output.
  package var patience: Duration = .seconds(30)
  /// At the connection limit, a sender that was silent for this long is dropped for a new one.
  package var idleLimit: Duration = .seconds(60)
  /// How long senders wait for an unavailable database before they receive the shutdown status.
  package var outageLimit: Duration = .seconds(15)
  /// How long commits are retried for senders that have disconnected.
  package var keepLimit: Duration = .seconds(600)
  /// How long received bytes are discarded after the gateway has closed its side.
  package var lingerLimit: Duration = .seconds(3)
  /// How long a stop waits for the database and for peers.
  package var stopLimit: Duration = .seconds(10)

  /// Creates the settings of a gateway on the loopback address with Apple's former ports.
  package init(app: App, bundleID: String, identity: ServerIdentity) {
    self.app = app
    self.bundleID = bundleID
    self.identity = identity
  }
}
