package import RideCore

/// Where the gateway listens, for whom, and how much it takes on.
package struct GatewaySettings: Sendable {
  /// The app whose senders connect.
  package var app: App
  /// Its bundle ID, which senders' certificates must name.
  package var bundleID: String
  /// The address to listen on, as numbers.
  package var address = "127.0.0.1"
  /// The port for pushes; 0 for any.
  package var port: UInt16 = 2195
  /// The port for phones that were disabled; 0 for any.
  package var feedbackPort: UInt16 = 2196
  /// By what the gateway shows who it is.
  package var identity: ServerIdentity
  /// A PEM file of those who sign senders' certificates; nil: senders need none.
  package var clientCA: String?

  /// The most connections at once.
  package var connectionLimit = 512
  /// The most connections whose handshake is not finished; the oldest one makes room for the next.
  package var handshakeLimit = 256
  /// The most of those from one address (IPv6: from one /64).
  package var handshakeLimitPerPeer = 64
  /// How long a handshake may take in all.
  package var handshakeTime: Duration = .seconds(10)
  /// How long the rest of a frame may take, or a peer to take what it is sent.
  package var patience: Duration = .seconds(30)
  /// Where all places are taken, a sender that was silent for so long loses its own.
  package var idleLimit: Duration = .seconds(60)
  /// How long senders wait for a database that is away, before they are told to come again.
  package var outageLimit: Duration = .seconds(15)
  /// How long what was left by senders that have gone is tried again.
  package var keepLimit: Duration = .seconds(600)
  /// How long bytes are still read, and thrown away, after the gateway has hung up.
  package var lingerLimit: Duration = .seconds(3)
  /// How long a stop waits for the database and for peers.
  package var stopLimit: Duration = .seconds(10)

  /// A gateway on the loopback address, with the old ports.
  package init(app: App, bundleID: String, identity: ServerIdentity) {
    self.app = app
    self.bundleID = bundleID
    self.identity = identity
  }
}
