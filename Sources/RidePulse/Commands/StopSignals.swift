import Dispatch
import Foundation
import Synchronization

/// The two words to stop: the first SIGTERM or SIGINT means finish, the second leave.
final class StopSignals {
  private var sources: [any DispatchSourceSignal] = []

  /// Calls `onFirst` with the signal's name at the first one, and ends the process at the second.
  ///
  /// Returns once it listens: a signal that comes while nobody does must end the process, and not
  /// get lost. So they are not ignored here, as one would for a source on another system; libdispatch
  /// takes a signal from its default action by itself when it begins to listen.
  init(onFirst: @escaping @Sendable (String) -> Void) {
    let seen = Seen()
    let isListening = DispatchSemaphore(value: 0)
    for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if seen.isFirst() { onFirst(name) } else { exit(ExitStatus.failed.rawValue) }
      }
      source.setRegistrationHandler { isListening.signal() }
      source.resume()
      sources.append(source)
      isListening.wait()
    }
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
