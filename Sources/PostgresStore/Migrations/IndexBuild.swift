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
  fileprivate var schema: String
  /// What follows "using".
  fileprivate var definition: String
  /// The index of the partitioned table; nil if the table is not a partition.
  fileprivate var parent: String?
}

/// A build that failed. The database works without the index: searches are slow.
package struct IndexBuildError: Error, Hashable, Sendable, CustomStringConvertible {
  package let index: MissingIndex
  package let cause: PostgresError

  package var description: String {
    "the schema is applied, but index \(index.name) of \(index.relation) is not built: \(cause). Until "
      + "it is, ridepulse explain is slow; run ridepulse migrate again"
  }
}

/// Builds the indexes of `ridepulse.search_indexes` on large tables, while others write to them.
///
/// `create index concurrently` cannot run in the transaction of a migration, and no function can
/// contain it.
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

  /// Returns the indexes to build; none if the database does not have the migration yet.
  package func missing() async throws(PostgresError) -> [MissingIndex] {
    guard try await session.run([Call(Self.exists)])[0].bool(0, 0) == true else { return [] }
    let rows = try await session.run([Call(Self.list)])[0]
    return (0..<rows.rowCount).map { row in
      MissingIndex(
        name: rows.string(row, 0) ?? "", relation: rows.string(row, 1) ?? "",
        state: rows.string(row, 2).flatMap(MissingIndex.State.init(rawValue:)) ?? .missing,
        schema: rows.string(row, 3) ?? "", definition: rows.string(row, 4) ?? "",
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
