import AdminServer
import PostgresStore

/// The database session of read requests over HTTP.
///
/// It is opened at the first request, so that a service without requests has none, and is separate
/// from the engine's sessions, so that no query delays a push.
actor AdminSession {
  private let conninfo: String
  /// Why the database can't be used yet; nil once the service has started.
  private let obstacle: @Sendable () -> String?
  private var session: PostgresSession?

  init(conninfo: String, obstacle: @escaping @Sendable () -> String?) {
    self.conninfo = conninfo
    self.obstacle = obstacle
  }

  /// - Throws: `APIError` at once while the service waits for the database.
  func get() throws -> PostgresSession {
    if let obstacle = obstacle() {
      throw APIError(.databaseUnavailable, "\(obstacle); nothing was done, repeat it later")
    }
    if let session { return session }
    let opened = try PostgresSession(conninfo: conninfo, applicationName: "ridepulse admin")
    session = opened
    return opened
  }

  func close() async {
    await session?.close(limit: .seconds(1))
    session = nil
  }
}

/// The database sessions of writing calls over HTTP.
///
/// They are separate from the engine's sessions and from those of read requests: a call that waits
/// for a locked row delays only a few other calls, and no push.
actor APISessions {
  private let sessions: [AdminSession]
  private var callers: [Int]

  /// Creates `count` sessions, each opened when it is first needed.
  init(conninfo: String, count: Int = 4, obstacle: @escaping @Sendable () -> String?) {
    sessions = (0..<count).map { _ in AdminSession(conninfo: conninfo, obstacle: obstacle) }
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
