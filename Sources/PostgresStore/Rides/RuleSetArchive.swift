package import Base

/// Rule files that a node loaded without a problem.
package struct ArchivedRules: Hashable, Sendable {
  /// The digest of the files.
  package var digest: String
  package var files: [File]

  /// A file by its name below the rule directory.
  package struct File: Hashable, Sendable {
    package var name: String
    package var text: String

    package init(name: String, text: String) {
      (self.name, self.text) = (name, text)
    }
  }

  package init(digest: String, files: [File]) {
    (self.digest, self.files) = (digest, files)
  }

  /// The rides that rules decide: all, or a share of them in place of those for all.
  package enum Rides: Sendable, CaseIterable {
    case all, share

    fileprivate var column: String {
      switch self {
      case .all: "used_at"
      case .share: "share_used_at"
      }
    }
  }

  /// The maximum size of all files together, in bytes: they are read at once, into memory.
  package static let sizeLimit = 4 << 20
}

/// The files of the last good rules, in `ridepulse.rule_sets`.
package struct RuleSetArchive: Sendable {
  private let session: PostgresSession

  /// How many rule sets are kept for all rides, and how many for a share: those of a release, of the
  /// one before, and some to look at.
  package static let kept = 5

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// $1 digest, $2 names, $3 texts, $4 version of the program.
  private static func add(for rides: ArchivedRules.Rides) -> Statement {
    let columns = ArchivedRules.Rides.allCases.map(\.column).joined(separator: ", ")
    let values = ArchivedRules.Rides.allCases.map { $0 == rides ? "clock_timestamp()" : "null" }
    return Statement(
      name: "",
      sql: """
        insert into ridepulse.rule_sets (digest, names, texts, version, \(columns))
        values ($1, $2::text[], $3::text[], $4, \(values.joined(separator: ", ")))
        on conflict (digest) do update
        set \(rides.column) = excluded.\(rides.column), version = excluded.version
        """)
  }

  private static let prune = Statement(
    name: "",
    sql: """
      delete from ridepulse.rule_sets
      where digest not in (\(newest(.all))) and digest not in (\(newest(.share)))
      """)

  private static func newest(_ rides: ArchivedRules.Rides) -> String {
    """
    select digest from ridepulse.rule_sets where \(rides.column) is not null
    order by \(rides.column) desc limit \(kept)
    """
  }

  /// Stores rules as the newest ones, and deletes the oldest.
  package func store(
    _ rules: ArchivedRules, for rides: ArchivedRules.Rides = .all, version: String
  ) async throws(PostgresError) {
    _ = try await session.run([
      Call(
        Self.add(for: rides),
        [
          rules.digest, PostgresArray.literal(rules.files.map(\.name)),
          PostgresArray.literal(rules.files.map(\.text)), version,
        ]), Call(Self.prune),
    ])
  }

  /// Returns the digests of the rules that are stored, the newest first.
  package func digests(
    of rides: ArchivedRules.Rides = .all
  ) async throws(PostgresError) -> [String] {
    let rows = try await session.run([Call(Statement(name: "", sql: Self.newest(rides)))])[0]
    return (0..<rows.rowCount).compactMap { rows.string($0, 0) }
  }

  /// Returns when rules were last stored; nil if they are not.
  package func storedAt(
    _ digest: String, for rides: ArchivedRules.Rides
  ) async throws(PostgresError) -> Timestamp? {
    let sql =
      "select \(SQLTime.micros(rides.column)) from ridepulse.rule_sets where digest = $1"
    let rows = try await session.run([Call(Statement(name: "", sql: sql), [digest])])[0]
    return rows.int64(0, 0).map { Timestamp(microseconds: $0) }
  }

  /// $1 digest.
  private static let files = Statement(
    name: "",
    sql: """
      select f.name, f.text from ridepulse.rule_sets r, unnest(r.names, r.texts) as f (name, text)
      where r.digest = $1 order by 1
      """)

  /// Returns the rules of a digest; nil if they are not stored.
  package func rules(of digest: String) async throws(PostgresError) -> ArchivedRules? {
    let rows = try await session.run([Call(Self.files, [digest])])[0]
    if rows.rowCount == 0 { return nil }
    let files = try (0..<rows.rowCount).map { row throws(PostgresError) in
      ArchivedRules.File(name: try rows.value(row, 0), text: try rows.value(row, 1))
    }
    return ArchivedRules(digest: digest, files: files)
  }
}
