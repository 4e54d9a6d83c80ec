import Dispatch
import Foundation
import Synchronization

/// The two words to stop: the first SIGTERM or SIGINT means finish, the second leave.
final class StopSignals {
  private var sources: [any DispatchSourceSignal] = []

  /// Calls `onFirst` with the signal's name at the first one, and ends the process at the second.
  init(onFirst: @escaping @Sendable (String) -> Void) {
    let seen = Seen()
    for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if seen.isFirst() { onFirst(name) } else { exit(ExitStatus.failed.rawValue) }
      }
      source.resume()
      sources.append(source)
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
