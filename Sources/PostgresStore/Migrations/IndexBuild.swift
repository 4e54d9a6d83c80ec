/// An index that a migration left out, because building it in a transaction blocks writers.
package struct MissingIndex: Hashable, Sendable {
  package enum State: String, Sendable {
    case missing
    /// A build was interrupted.
    case invalid
    /// Another session is building it.
    case building
    /// It is built, and not yet part of the index of the whole ledger.
    case detached
  }

  package var name: String
  /// The table or partition.
  package var relation: String
  package var state: State
  var schema: String
  /// What follows "using".
  var definition: String
  /// The index of the partitioned table; nil if the table is not a partition.
  var parent: String?
}

/// A build that failed. The database works without the index: searches are slow.
package struct IndexBuildError: Error, Hashable, Sendable, CustomStringConvertible {
  package let index: MissingIndex
  package let cause: PostgresError

  package var description: String {
    let fix = cause.server?.sqlState == "53400" ? "raise temp_file_limit of the role, then " : ""
    return
      "the schema is applied, but index \(index.name) of \(index.relation) is not built: \(cause). Until "
      + "it is, ridepulse explain is slow; \(fix)run ridepulse migrate again"
  }
}

extension IndexBuildError {
  /// Whether another session built, dropped or attached the index at the same time.
  ///
  /// Duplicate and missing relations, and a deadlock of two builds.
  fileprivate var isOfRace: Bool {
    ["42P07", "23505", "42704", "42P01", "40P01"].contains(cause.server?.sqlState)
  }
}

/// What one of several sessions that build the missing indexes does next; it reads no clock of its own.
struct IndexBuildTurn: Sendable {
  typealias Instant = ContinuousClock.Instant

  enum Step: Hashable, Sendable {
    case done
    case build(MissingIndex)
    /// Another session builds: the index that it builds, if that is known.
    case wait(MissingIndex?)
  }

  /// How long the lock of another session counts if nothing is being built.
  ///
  /// Behind a pooler in transaction mode, the lock of a session outlasts it.
  static let idleLockLimit: Duration = .seconds(60)

  private var idleSince: Instant?

  /// - Parameters:
  ///   - missing: the indexes that are missing now.
  ///   - holdsLock: whether this session holds the lock of builders.
  ///   - isBusy: whether another session builds or drops an index of these tables.
  mutating func next(
    _ missing: [MissingIndex], holdsLock: Bool, isBusy: Bool, now: Instant
  ) -> Step {
    guard let first = missing.first else { return .done }
    let building = missing.first { $0.state == .building }
    if building != nil || (isBusy && !holdsLock) {
      idleSince = nil
      return .wait(building)
    }
    if holdsLock { return .build(first) }
    let since = idleSince ?? now
    idleSince = since
    return now - since < Self.idleLockLimit ? .wait(nil) : .build(first)
  }
}

/// Builds the indexes of `ridepulse.search_indexes` on large tables, while others write to them.
///
/// `create index concurrently` cannot run in the transaction of a migration, and no function can
/// contain it. Two of them on one table can deadlock, each with a snapshot that the other waits for,
/// so sessions take turns. They poll for their turn, because a session that waits for a lock has a
/// snapshot, too.
package struct IndexBuild: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close. Its role must own the schema.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The time for one index.
  private static let timeout: Duration = .seconds(6 * 3600)

  private static let exists = Statement(
    name: "", sql: "select to_regprocedure('ridepulse.missing_indexes()') is not null")

  private static let list = Statement(
    name: "",
    sql: """
      select name, relation, state, schema, definition, parent from ridepulse.missing_indexes()
      """)

  /// The key depends on the schema's name.
  private static let lockKey = "hashtextextended('ridepulse.search_indexes', 0)"

  private static let lock = Statement(name: "", sql: "select pg_try_advisory_lock(\(lockKey))")

  private static let unlock = Statement(name: "", sql: "select pg_advisory_unlock(\(lockKey))")

  /// Whether another session holds the lock on a table of the schema that building and dropping
  /// indexes concurrently takes, as VACUUM and ANALYZE do.
  private static let isBusy = Statement(
    name: "",
    sql: """
      select exists (
        select from pg_locks l join pg_class c on c.oid = l.relation
        where l.locktype = 'relation' and l.mode = 'ShareUpdateExclusiveLock' and l.granted
          and l.database = (select oid from pg_database where datname = current_database())
          and l.pid <> pg_backend_pid() and c.relnamespace = to_regnamespace('ridepulse'))
      """)

  /// What `buildAll` does now.
  package enum Progress: Hashable, Sendable {
    case building(MissingIndex)
    /// Another session builds: the index that it builds, if that is known.
    case waiting(MissingIndex?)
  }

  private static let pause: Duration = .seconds(1)

  /// How often a build is repeated that failed because another session built the index.
  private static let raceLimit = 5

  /// Builds all missing indexes; any number of sessions may do so at the same time.
  ///
  /// - Returns: how many of them this session has built.
  /// - Throws: `IndexBuildError` or `PostgresError`; a repeated call continues.
  package func buildAll(onProgress: (Progress) -> Void = { _ in }) async throws -> Int {
    var turn = IndexBuildTurn()
    var (built, races) = (0, 0)
    var holdsLock = false
    while true {
      if !holdsLock { holdsLock = try await isTrue(Self.lock) }
      let isBusy = try await isTrue(Self.isBusy)
      switch turn.next(try await missing(), holdsLock: holdsLock, isBusy: isBusy, now: .now) {
      case .done:
        // Before the connection is closed, because a pooler keeps it.
        if holdsLock { _ = try await isTrue(Self.unlock) }
        return built
      case .wait(let index):
        onProgress(.waiting(index))
        try await Task.sleep(for: Self.pause)
      case .build(let index):
        onProgress(.building(index))
        do throws(IndexBuildError) {
          try await build(index)
          (built, races) = (built + 1, 0)
        } catch {
          if !error.isOfRace || races == Self.raceLimit { throw error }
          races += 1
          try await Task.sleep(for: Self.pause)
        }
      }
    }
  }

  private func isTrue(_ statement: Statement) async throws(PostgresError) -> Bool {
    try await session.run([Call(statement)])[0].bool(0, 0) ?? false
  }

  /// Returns the indexes to build; none if the database does not have the migration yet.
  package func missing() async throws(PostgresError) -> [MissingIndex] {
    guard try await session.run([Call(Self.exists)])[0].bool(0, 0) == true else { return [] }
    let rows = try await session.run([Call(Self.list)])[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      MissingIndex(
        name: try rows.value(row, 0), relation: try rows.value(row, 1),
        state: rows.string(row, 2).flatMap(MissingIndex.State.init(rawValue:)) ?? .missing,
        schema: try rows.value(row, 3), definition: try rows.value(row, 4),
        parent: rows.string(row, 5))
    }
  }

  /// Builds one index and attaches it.
  ///
  /// - Throws: `IndexBuildError`; a repeated call continues.
  package func build(_ index: MissingIndex) async throws(IndexBuildError) {
    do throws(PostgresError) {
      for step in Self.steps(index) { try await session.script(step, timeout: Self.timeout) }
    } catch {
      throw IndexBuildError(index: index, cause: error)
    }
  }

  private static func steps(_ index: MissingIndex) -> [String] {
    func named(_ object: String) -> String {
      "\(SQLText.identifier(index.schema)).\(SQLText.identifier(object))"
    }
    let create =
      "create index concurrently \(SQLText.identifier(index.name)) on \(named(index.relation)) "
      + "using \(index.definition)"
    // Settlements of the partition's day wait while this waits for them.
    let attach = [index.parent].compactMap(\.self).map { parent in
      "set local lock_timeout = '2s'; alter index \(named(parent)) attach partition \(named(index.name))"
    }
    switch index.state {
    case .missing: return [create] + attach
    case .invalid: return ["drop index concurrently \(named(index.name))", create] + attach
    case .detached: return attach
    case .building: return []
    }
  }
}
