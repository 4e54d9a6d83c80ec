import PostgresStore

/// The database sessions of writing calls over HTTP.
///
/// They are separate from the engine's sessions and from those of read requests: a call that waits
/// for a locked row delays only a few other calls, and no push.
actor APISessions {
  private let sessions: [AdminSession]
  private var callers: [Int]

  /// Creates `count` sessions, each opened when it is first needed.
  init(conninfo: String, count: Int = 4) {
    sessions = (0..<count).map { _ in AdminSession(conninfo: conninfo) }
    callers = sessions.map { _ in 0 }
  }

  /// Runs `body` with the session that has the fewest callers. Ties go to the first session, so
  /// that a quiet service opens only one.
  func with<Value: Sendable>(
    _ body: @Sendable (PostgresSession) async throws -> Value
  ) async throws -> Value {
    let index = callers.indices.min { (callers[$0], $0) < (callers[$1], $1) } ?? 0
    callers[index] += 1
    defer { callers[index] -= 1 }
    return try await body(try await sessions[index].get())
  }

  func close() async {
    await withTaskGroup { group in
      for session in sessions { group.addTask { await session.close() } }
    }
  }
}
