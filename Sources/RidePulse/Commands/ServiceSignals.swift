import Dispatch
import Foundation
import Synchronization

/// The words that a process is told from outside: the first SIGTERM or SIGINT means finish, the
/// second leave, and SIGHUP look at your files again.
final class ServiceSignals {
  private var sources: [any DispatchSourceSignal] = []

  /// Calls `onFirst` with the signal's name at the first one, and ends the process at the second.
  ///
  /// SIGHUP ends the process, as it is wont to, where nobody wants to hear of it.
  ///
  /// Returns once it listens: a signal that comes while nobody does must end the process, and not
  /// get lost. So they are not ignored here, as one would for a source on another system; libdispatch
  /// takes a signal from its default action by itself when it begins to listen.
  init(
    onFirst: @escaping @Sendable (String) -> Void, onHangup: (@Sendable () -> Void)? = nil
  ) {
    let seen = Seen()
    for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
      listen(to: number) {
        if seen.isFirst() { onFirst(name) } else { exit(ExitStatus.failed.rawValue) }
      }
    }
    if let onHangup { listen(to: SIGHUP, onHangup) }
  }

  private func listen(to number: Int32, _ heard: @escaping @Sendable () -> Void) {
    let isListening = DispatchSemaphore(value: 0)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler(handler: heard)
    source.setRegistrationHandler { isListening.signal() }
    source.resume()
    sources.append(source)
    isListening.wait()
  }

  /// Listens no more.
  func cancel() {
    for source in sources { source.cancel() }
  }

  private final class Seen: Sendable {
    private let flag = Mutex(false)

    func isFirst() -> Bool {
      flag.withLock { seen in
        defer { seen = true }
        return !seen
      }
    }
  }
}
