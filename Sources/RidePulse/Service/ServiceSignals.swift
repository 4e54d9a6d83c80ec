import Dispatch
import Foundation
import Synchronization

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

  /// Stops handling signals.
  func cancel() {
    for source in sources { source.cancel() }
  }
}
