import Base
import PostgresStore
import RideCore
import Synchronization

/// Follows the pauses in the database, as claims find them.
final class PauseMonitor: Sendable {
  private let log: Log
  private let onChange: @Sendable (Pauses) -> Void
  private let pauses = Mutex(Pauses())

  /// - Parameter onChange: Receives all pauses when they differ from the last ones.
  init(log: Log, onChange: @escaping @Sendable (Pauses) -> Void) {
    (self.log, self.onChange) = (log, onChange)
  }

  /// Reads the pauses before the first claim.
  ///
  /// - Throws: `PostgresError`, unless the role lacks the right: then there are no pauses for it.
  func start(_ session: PostgresSession) async throws(PostgresError) {
    do throws(PostgresError) {
      use(try await PauseTable.read(session))
    } catch {
      if !error.refusesRights { throw error }
      log(
        .warning, .pausesNotRead,
        ["error": "\(error)", "fix": "ridepulse doctor prints the grant"])
    }
  }

  /// Follows the pauses that were found.
  func use(_ found: Pauses) {
    let former = pauses.withLock { pauses in
      defer { pauses = found }
      return pauses
    }
    if former == found { return }
    onChange(found)
    for pause in found.all where !former.all.contains(pause) {
      log(.warning, .pauseBegan, fields(pause))
    }
    for pause in former.all
    where !found.all.contains(where: { ($0.kind, $0.name) == (pause.kind, pause.name) }) {
      log(.info, .pauseEnded, fields(pause))
    }
  }

  private func fields(_ pause: Pause) -> Log.Fields {
    [
      "kind": pause.kind.rawValue, "name": pause.name, "until": CivilTime.iso(pause.until),
      "by": pause.author, "reason": pause.reason ?? "",
    ]
  }
}
