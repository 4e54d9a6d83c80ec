package import RideCore
internal import Synchronization
internal import SystemSupport

/// A TLS server for the legacy binary protocol that commits the pushes it receives.
///
/// One thread handles all connections. It never waits for the database: the store's answers arrive
/// through an inbox. In the meantime the gateway reads at most one further batch from a sender.
package final class GatewayServer: Sendable {
  /// The port for pushes.
  package let port: UInt16
  /// The port for phones that were disabled.
  package let feedbackPort: UInt16
  /// SHA-256 of the gateway's certificate.
  package let fingerprint: String

  private let settings: GatewaySettings
  private let store: any LegacyPushStore
  private let onEvent: @Sendable (GatewayEvent) -> Void
  private let inbox: Inbox<LoopMessage>
  private let listeners: Mutex<ConnectionAcceptor.Listeners?>

  /// Opens the ports; no connection is accepted before `run`.
  ///
  /// - Parameter onEvent: Called on the server's thread; must return at once.
  /// - Throws: `GatewayError` if a port, certificate, key or CA can't be used.
  package init(
    _ settings: GatewaySettings, store: any LegacyPushStore,
    onEvent: @escaping @Sendable (GatewayEvent) -> Void
  ) throws(GatewayError) {
    let tls = try TLSContext(settings.identity, clientCA: settings.clientCA)
    let pushes = try Listener(address: settings.address, port: settings.port)
    let feedback = try Listener(address: settings.address, port: settings.feedbackPort)
    guard let inbox = Inbox<LoopMessage>() else { throw .system("eventfd") }
    self.inbox = inbox
    listeners = Mutex(ConnectionAcceptor.Listeners(pushes: pushes, feedback: feedback, tls: tls))
    (port, feedbackPort, fingerprint) = (pushes.port, feedback.port, tls.fingerprint)
    self.settings = settings
    self.store = store
    self.onEvent = onEvent
  }

  /// Serves until `stop` and returns after all connections have ended; to be called once.
  package func run() async {
    guard let listeners = listeners.withLock({ $0.take() }) else { return }
    let (settings, store, inbox, onEvent) = (settings, store, inbox, onEvent)
    await withCheckedContinuation { continuation in
      let thread = WorkerThread(named: "legacy gateway") {
        GatewayLoop(settings, listeners, store, inbox, onEvent).run()
        continuation.resume()
      }
      if let thread { return thread.detach() }
      onEvent(.failed("the system gives no more threads"))
      continuation.resume()
    }
  }

  /// Stops accepting connections, commits the pushes already read, and sends each sender the
  /// identifier of its last committed push.
  package func stop() {
    inbox.put(.stop)
  }
}

/// An event for the gateway's log; it never contains a token or a payload.
package enum GatewayEvent: Sendable {
  /// A connection was refused: its handshake failed, or its certificate is for another app.
  case turnedAway(peer: String, reason: String)
  /// A sender's connection ended.
  case senderEnded(peer: String, pushes: Int, repeats: Int, how: String)
  /// A peer has read the feedback port.
  case feedbackRead(peer: String, phones: Int)
  /// Pushes of a disconnected sender could not be committed, and the sender can't be notified.
  case lost(peer: String, pushes: Int)
  /// A call failed, in most cases to the database.
  case failed(String)
  /// Incomplete handshakes were cut off because there were too many.
  case handshakesEvicted(Int)
  /// The connection limit is reached: further senders wait.
  case full(Int)
}
