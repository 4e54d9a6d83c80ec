internal import Foundation
package import RideCore
internal import Synchronization

/// A TLS server that speaks the old binary protocol and commits what it hears.
///
/// One thread holds all connections. It never waits for the database: the desk's answers come
/// through a mailbox, and until they are there a sender is not read on.
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

  /// Opens the ports; nobody is let in before `run`.
  ///
  /// - Parameter onEvent: Called on the server's thread; has to return at once.
  /// - Throws: Where a port, certificate, key or CA can't be used.
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

  /// Serves until `stop`; returns when all senders have been told. To be called once.
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

  /// Lets nobody in, commits what was read, and tells senders how far they came.
  package func stop() {
    mailbox.put(.stop)
  }
}
