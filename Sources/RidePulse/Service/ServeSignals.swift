import Base
import Foundation
import Synchronization

/// The signals of `serve`, handled before its rules are found: that may take a while.
final class ServeSignals: Sendable {
  private struct Actions {
    var stop: @Sendable () -> Void
    var reload: @Sendable () -> Void
  }

  private struct State {
    var actions: Actions?
    var isReloadDue = false
  }

  private let log: Log
  private let supervision: Supervision
  private let state = Mutex(State())

  init(_ supervision: Supervision, _ log: Log) {
    (self.supervision, self.log) = (supervision, log)
  }

  /// Registers the signals until the result is cancelled.
  ///
  /// - Parameter status: The exit status of a stop before `connect`.
  func listen(stopStatus status: ExitStatus) -> ServiceSignals {
    ServiceSignals(
      onFirst: { self.stop($0, status) }, onHangup: { self.reload() })
  }

  /// Gives the signals to a service; a reload that was asked for before begins.
  func connect(stop: @escaping @Sendable () -> Void, reload: @escaping @Sendable () -> Void) {
    let isDue = state.withLock { state in
      state.actions = Actions(stop: stop, reload: reload)
      defer { state.isReloadDue = false }
      return state.isReloadDue
    }
    if isDue { self.reload() }
  }

  private func stop(_ signal: String, _ status: ExitStatus) {
    log(.info, .stopping, ["signal": signal])
    supervision.stopping()
    if let actions = state.withLock({ $0.actions }) { return actions.stop() }
    // Nothing is claimed or sent yet.
    log(.info, .stopped)
    exit(status.rawValue)
  }

  private func reload() {
    let actions = state.withLock { state in
      state.isReloadDue = state.actions == nil
      return state.actions
    }
    if let actions { supervision.reloading { actions.reload() } }
  }
}
