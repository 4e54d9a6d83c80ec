internal import Foundation
package import RideCore
internal import Synchronization

/// A TLS server for the legacy binary protocol that commits the pushes it receives.
///
/// One thread handles all connections. It never waits for the database: the store's answers arrive
/// through a mailbox. In the meantime the gateway reads at most one further batch from a sender.
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
  private let mailbox: LoopMailbox
  private let doors: Mutex<GatewayLoop.Listeners?>

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
    mailbox = try LoopMailbox()
    doors = Mutex(GatewayLoop.Listeners(pushes: pushes, feedback: feedback, tls: tls))
    (port, feedbackPort, fingerprint) = (pushes.port, feedback.port, tls.fingerprint)
    self.settings = settings
    self.store = store
    self.onEvent = onEvent
  }

  /// Serves until `stop` and returns after all connections have ended; to be called once.
  package func run() async {
    guard let doors = doors.withLock({ $0.take() }) else { return }
    let (settings, store, mailbox, onEvent) = (settings, store, mailbox, onEvent)
    await withCheckedContinuation { continuation in
      let thread = Thread {
        GatewayLoop(settings, doors, store, mailbox, onEvent).run()
        continuation.resume()
      }
      thread.name = "legacy gateway"
      thread.start()
    }
  }

  /// Stops accepting connections, commits the pushes already read, and sends each sender the
  /// identifier of its last committed push.
  package func stop() {
    mailbox.put(.stop)
  }
}
