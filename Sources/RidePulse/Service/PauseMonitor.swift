import Base
import PostgresStore
import RideCore
import Synchronization

/// Follows the pauses in the database, and records there what this node decides with.
final class PauseMonitor: Sendable {
  private struct State {
    var pauses = Pauses()
    var revision: Int32?
  }

  private let node: String
  private let pool: SessionPool
  private let log: Log
  private let onChange: @Sendable (Pauses) -> Void
  private let state = Mutex(State())

  /// - Parameter onChange: Receives all pauses when they differ from the last ones.
  init(
    node: String, pool: SessionPool, log: Log, onChange: @escaping @Sendable (Pauses) -> Void
  ) {
    (self.node, self.pool, self.log, self.onChange) = (node, pool, log, onChange)
  }

  /// The rules that this node decides with from now on.
  func use(_ revision: Revision) { state.withLock { $0.revision = revision.id } }

  /// Reads the pauses; what was known stays if that fails.
  func check() async throws { try await pool.with(.short) { try await self.check($0) } }

  /// Reads the pauses before the first claim.
  ///
  /// - Throws: `PostgresError`, unless the role lacks the right: then there are no pauses for it.
  func start(_ session: PostgresSession) async throws(PostgresError) {
    do throws(PostgresError) {
      try await check(session)
    } catch {
      if !error.refusesRights { throw error }
      log(
        .warning, .pausesNotRead,
        ["error": "\(error)", "fix": "ridepulse doctor prints the grant"])
    }
  }

  private func check(_ session: PostgresSession) async throws(PostgresError) {
    let revision = state.withLock { $0.revision }
    let found = try await PauseTable.read(for: node, revision: revision, session)
    let former = state.withLock { state in
      defer { state.pauses = found }
      return state.pauses
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
