import AdminServer
import PostgresStore

/// The database sessions that HTTP requests and periodic tasks share.
///
/// They are separate from the engine's sessions, so that no query delays a push. Each is opened when
/// it is first needed, and closed when nothing has used it for a while.
actor SessionPool {
  private let cell: Cell
  /// Why the database can't be used yet; nil once the service has started.
  private let obstacle: @Sendable () -> String?
  private var allocator: SessionAllocator
  private var sessions: [Int: PostgresSession] = [:]
  private var closing: Task<Void, Never>?

  init(
    _ cell: Cell, idleLimit: Duration = SessionAllocator.idleLimit,
    obstacle: @escaping @Sendable () -> String? = { nil }
  ) {
    self.cell = cell
    allocator = SessionAllocator(idleLimit: idleLimit)
    self.obstacle = obstacle
  }

  /// Runs `body` with a session, which other work may use at the same time.
  ///
  /// - Throws: `APIError` at once while the service waits for the database.
  func with<Value: Sendable>(
    _ work: SessionAllocator.Work, _ body: @Sendable (PostgresSession) async throws -> Value
  ) async throws -> Value {
    if let obstacle = obstacle() {
      throw APIError(.databaseUnavailable, "\(obstacle); nothing was done, repeat it later")
    }
    let index = allocator.enter(work)
    defer {
      allocator.leave(index, work, now: .now)
      if closing == nil { closing = Task { await closeUnused() } }
    }
    return try await body(try session(index))
  }

  private func session(_ index: Int) throws(PostgresError) -> PostgresSession {
    if let session = sessions[index] { return session }
    let opened = try PostgresSession(
      conninfo: cell.conninfo, schema: cell.schema, applicationName: "ridepulse shared")
    sessions[index] = opened
    return opened
  }

  private func closeUnused() async {
    while let due = allocator.nextClose {
      guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { break }
      await close(allocator.close(now: .now), limit: .seconds(1))
    }
    closing = nil
  }

  /// The sessions that are open.
  var use: SessionUse { SessionUse(of: sessions.values) }

  /// Ends what is still under way at the limit. A session that is needed afterwards is opened again.
  func close(limit: Duration = .seconds(1)) async {
    closing?.cancel()
    await close(Array(sessions.keys), limit: limit)
  }

  private func close(_ indices: [Int], limit: Duration) async {
    let unused = indices.compactMap { sessions.removeValue(forKey: $0) }
    await withTaskGroup { group in
      for session in unused { group.addTask { await session.close(limit: limit) } }
    }
  }
}

/// Decides which session of a pool some work uses, and when an unused one is closed.
///
/// A session executes one transaction after another. Work therefore takes the one that long work uses
/// least, of those the one with the fewest users, and of several the first: a quiet service has one
/// session, and nothing waits for a backfill while a session is free.
struct SessionAllocator {
  typealias Instant = ContinuousClock.Instant

  /// Work by how long it may keep others waiting that use the same session.
  enum Work: Hashable, Sendable {
    /// A writing call over HTTP: it may wait for a row that an app has locked.
    case call
    /// A search, another read of many rows, a backfill, or the deletion of old rows.
    case long
    /// Any other read, and what is repeated.
    case short

    /// Calls leave a session to other work, and calls and long work together leave one to short work.
    fileprivate var indices: Range<Int> {
      switch self {
      case .call: 0..<4
      case .long: 0..<5
      case .short: 0..<SessionAllocator.count
      }
    }
  }

  /// The largest number of sessions.
  static let count = 6
  /// How long an unused session stays open: longer than the pause between the passes of the most
  /// frequent periodic task, which would otherwise connect each time.
  static let idleLimit: Duration = .seconds(30)

  private let idleLimit: Duration
  private var users = Array(repeating: 0, count: count)
  /// How many of them have long work.
  private var longUsers = Array(repeating: 0, count: count)
  /// When each open session that has no users was last used.
  private var unusedSince: [Int: Instant] = [:]

  init(idleLimit: Duration = Self.idleLimit) { self.idleLimit = idleLimit }

  /// Returns the index of the session to use.
  mutating func enter(_ work: Work) -> Int {
    let index =
      work.indices.min { (longUsers[$0], users[$0], $0) < (longUsers[$1], users[$1], $1) } ?? 0
    users[index] += 1
    if work == .long { longUsers[index] += 1 }
    unusedSince[index] = nil
    return index
  }

  mutating func leave(_ index: Int, _ work: Work, now: Instant) {
    users[index] -= 1
    if work == .long { longUsers[index] -= 1 }
    if users[index] == 0 { unusedSince[index] = now }
  }

  /// When the next session is to be closed if nothing uses it until then; nil without one.
  var nextClose: Instant? { unusedSince.values.min().map { $0 + idleLimit } }

  /// Returns the indices of the sessions that are to be closed now.
  mutating func close(now: Instant) -> [Int] {
    let due = unusedSince.filter { now - $0.value >= idleLimit }.map(\.key)
    for index in due { unusedSince[index] = nil }
    return due
  }
}

/// The number of connections to Postgres that a running node holds, in each cell.
enum NodeConnections {
  /// Claims, settlements and LISTEN.
  private static let ofEngine = 3
  /// One of the pool serves periodic tasks, and calls that do not wait.
  static let atRest = ofEngine + 1
  static let most = ofEngine + SessionAllocator.count
}
