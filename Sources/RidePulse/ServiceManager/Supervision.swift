import AdminServer
import RideCore
import Synchronization

/// Keeps systemd, or whoever speaks its protocol, told of how the service is; where nobody asked to
/// be told this does nothing.
final class Supervision: Sendable {
  private struct State {
    var isReady = false
    var isStopping = false
    var keepalive = WatchdogKeepalive()
    /// A manager that can't be told is a matter of one line and not of one a beat.
    var isUnreachable = false
  }

  private let manager: ServiceManager?
  private let log: Log
  private let state = Mutex(State())

  init(_ environment: [String: String], _ log: Log) {
    manager = ServiceManager(environment)
    self.log = log
  }

  /// It serves.
  func ready() {
    let mayTell = state.withLock { state in
      state.isReady = true
      return !state.isStopping
    }
    if mayTell { notify(.ready(WatchdogKeepalive.status)) }
  }

  /// Does what SIGHUP asks for, between the two words that frame it.
  func reloading(_ body: () -> Void) {
    let mayTell = state.withLock { $0.isReady && !$0.isStopping }
    if mayTell {
      notify(.reloading(monotonicMicroseconds: ServiceManager.monotonicMicroseconds))
    }
    body()
    if mayTell { ready() }
  }

  /// It takes no more work.
  func stopping() {
    state.withLock { $0.isStopping = true }
    notify(.stopping)
  }

  /// Signs of life as often as the watchdog wants them, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - stuck: What of the service's own will never move again: then none is given.
  ///   - troubles: What hinders it from outside: that is told, and no reason to end it.
  func keepalive(stuck: () -> [String], problems: () -> [String]) async {
    guard let interval = manager?.watchdog else { return }
    while !Task.isCancelled {
      let (stuck, problems) = (stuck(), problems())
      let step = state.withLock { $0.keepalive.next(stuck: stuck, problems: problems) }
      if let line = step.log { log(line.level, line.message, line.fields) }
      if let news = step.news { notify(news) }
      // The clock that systemd's own watchdog goes by: it stands while the machine sleeps.
      try? await Task.sleep(for: interval, clock: .suspending)
    }
  }

  private func notify(_ news: ServiceNews) {
    guard let manager else { return }
    do {
      try manager.notify(news)
      state.withLock { $0.isUnreachable = false }
    } catch {
      let isKnown = state.withLock { state in
        defer { state.isUnreachable = true }
        return state.isUnreachable
      }
      if !isKnown { log(.warning, "The service manager can't be told", ["error": "\(error)"]) }
    }
  }
}
