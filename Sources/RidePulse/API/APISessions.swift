import PostgresStore

/// The sessions of writing calls, apart from the service's own and from those who ask: a call that
/// waits for a row that somebody holds keeps a few others waiting, and no push.
actor APISessions {
  private let sessions: [AdminSession]
  private var callers: [Int]

  /// They are opened as calls come at once.
  init(conninfo: String, count: Int = 4) {
    sessions = (0..<count).map { _ in AdminSession(conninfo: conninfo) }
    callers = sessions.map { _ in 0 }
  }

  /// Does something with the session that has the fewest callers; the first ones are taken first, so
  /// that quiet services open one.
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
