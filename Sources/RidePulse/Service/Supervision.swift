import AdminServer
import Base
import Dispatch
import Foundation
import RideCore
import Synchronization

/// Reports the service's state to systemd, or to a service manager with the same protocol. Does
/// nothing if the environment names none.
final class Supervision: Sendable {
  private struct State {
    var isReady = false
    var isStopping = false
    var keepalive = WatchdogKeepalive()
    /// Set while notifications fail, so that a failure is logged once and not at each keepalive.
    var isUnreachable = false
  }

  private let manager: ServiceManager?
  private let log: Log
  private let state = Mutex(State())

  init(_ environment: [String: String], _ log: Log) {
    manager = ServiceManager(environment)
    self.log = log
  }

  /// Reports what the start waits for, so that the manager does not end it.
  func waiting(_ status: String) {
    if state.withLock({ !$0.isStopping && !$0.isReady }) { notify(.starting(status)) }
  }

  func ready() {
    let mayNotify = state.withLock { state in
      state.isReady = true
      return !state.isStopping
    }
    if mayNotify { notify(.ready(WatchdogKeepalive.status)) }
  }

  /// Runs the reload of SIGHUP between its two notifications.
  func reloading(_ body: () -> Void) {
    let mayNotify = state.withLock { $0.isReady && !$0.isStopping }
    if mayNotify {
      notify(.reloading(monotonicMicroseconds: ServiceManager.monotonicMicroseconds))
    }
    body()
    if mayNotify { ready() }
  }

  /// Reports that the service stops and takes no more work.
  func stopping() {
    state.withLock { $0.isStopping = true }
    notify(.stopping)
  }

  /// Sends keepalives at the watchdog's interval until the task is cancelled.
  ///
  /// - Parameters:
  ///   - stuck: The parts of the service that will never continue; if there are any, no keepalive
  ///     is sent.
  ///   - problems: External problems; they are reported, and do not stop the keepalives.
  func keepalive(stuck: () -> [String], problems: () -> [String]) async {
    guard let interval = manager?.watchdog else { return }
    while !Task.isCancelled {
      let (stuck, problems) = (stuck(), problems())
      let step = state.withLock { $0.keepalive.next(stuck: stuck, problems: problems) }
      if let line = step.log { log(line.level, line.event, line.fields) }
      if let notification = step.notification { notify(notification) }
      // The clock of systemd's own watchdog: it stops while the machine is suspended.
      try? await Task.sleep(for: interval, clock: .suspending)
    }
  }

  private func notify(_ notification: ServiceNotification) {
    guard let manager else { return }
    do {
      try manager.notify(notification)
      state.withLock { $0.isUnreachable = false }
    } catch {
      let isKnown = state.withLock { state in
        defer { state.isUnreachable = true }
        return state.isUnreachable
      }
      if !isKnown { log(.warning, .serviceManagerNotNotified, ["error": "\(error)"]) }
    }
  }
}

/// Decides what is sent to the watchdog at each interval, and what is logged.
struct WatchdogKeepalive {
  struct Step {
    /// Nil if the watchdog shall expire.
    var notification: ServiceNotification?
    var log: Line?
  }

  struct Line {
    var level: Log.Level
    var event: LogEvent
    var fields: Log.Fields
  }

  /// The text that `systemctl status` shows while nothing is wrong.
  static let status = "serving"

  private var wasStuck = false
  private var shown = WatchdogKeepalive.status

  /// Returns the next notification and log line.
  ///
  /// - Parameters:
  ///   - stuck: The parts that will never continue. Only a restart helps, so no keepalive is sent.
  ///   - problems: External problems, such as an unreachable database. A restart would not fix
  ///     them, so the keepalive continues and reports them.
  mutating func next(stuck: [String], problems: [String]) -> Step {
    defer { wasStuck = !stuck.isEmpty }
    if !stuck.isEmpty {
      let line = Line(
        level: .error, event: .serviceStuck,
        fields: ["reason": stuck.joined(separator: "; ")])
      return Step(notification: nil, log: wasStuck ? nil : line)
    }
    let text = problems.isEmpty ? Self.status : problems.joined(separator: "; ")
    let isNew = text != shown
    shown = text
    return Step(
      notification: .alive(isNew ? text : nil),
      log: wasStuck ? Line(level: .info, event: .serviceRunningAgain, fields: [:]) : nil)
  }
}

/// Handles the signals of a service: the first SIGTERM or SIGINT stops it gracefully, the second at
/// once, and SIGHUP reloads its files.
final class ServiceSignals {
  private var sources: [any DispatchSourceSignal] = []

  /// Calls `onFirst` with the signal's name on the first signal, and ends the process on the
  /// second.
  ///
  /// Without `onHangup`, SIGHUP keeps its default action and ends the process.
  ///
  /// Returns once the sources are registered: a signal that arrives before must end the process and
  /// not get lost. Therefore the signals are not ignored here, as a dispatch source requires on
  /// other systems; libdispatch itself replaces the default action of a signal when it registers
  /// the source.
  init(
    onFirst: @escaping @Sendable (String) -> Void, onHangup: (@Sendable () -> Void)? = nil
  ) {
    let hasStopped = Atomic(false)
    for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
      listen(to: number) {
        if hasStopped.exchange(true, ordering: .relaxed) { exit(ExitStatus.failed.rawValue) }
        onFirst(name)
      }
    }
    if let onHangup { listen(to: SIGHUP, onHangup) }
  }

  private func listen(to number: Int32, _ handler: @escaping @Sendable () -> Void) {
    let isListening = DispatchSemaphore(value: 0)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler(handler: handler)
    source.setRegistrationHandler { isListening.signal() }
    source.resume()
    sources.append(source)
    isListening.wait()
  }

  func cancel() {
    for source in sources { source.cancel() }
  }
}
