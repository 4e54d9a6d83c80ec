import Synchronization

/// The number of sessions that are connected, and of those that have work.
package struct SessionUse: Hashable, Sendable {
  package var open = 0
  package var busy = 0

  package init(open: Int = 0, busy: Int = 0) { (self.open, self.busy) = (open, busy) }

  package init(of sessions: some Sequence<PostgresSession>) {
    for session in sessions {
      if session.isConnected { open += 1 }
      if session.isBusy { busy += 1 }
    }
  }
}

/// Whether a session has a connection, as its events show it.
final class ConnectionFlag: Sendable {
  private let flag = Atomic(false)

  var isOpen: Bool { flag.load(ordering: .relaxed) }

  func handle(_ event: SessionEvent) {
    switch event {
    case .connected: flag.store(true, ordering: .relaxed)
    case .disconnected, .unreachable: flag.store(false, ordering: .relaxed)
    case .notification: break
    }
  }

  /// Records that the session was closed.
  func end() { flag.store(false, ordering: .relaxed) }
}
