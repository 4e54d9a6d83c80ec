import Base
import RideCore
import Synchronization

/// The messages that an engine logs.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  var log: Log {
    Log { [self] _, event, _ in lines.withLock { $0.append(event.message) } }
  }

  func count(of message: String) -> Int { lines.withLock { $0.count { $0 == message } } }
}
