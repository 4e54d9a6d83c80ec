package import Base
package import RideCore

/// A revision, with the time from which a service has decided with it.
package struct RecordedRevision: Hashable, Sendable {
  package var revision: Revision
  package var firstSeen: Timestamp
}

/// The rules and program versions that the ledger's `decided_by` refers to.
package struct RevisionRegistry: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  private static let add = Statement(
    name: "",
    sql: """
      insert into ridepulse.revisions as r (id, rules, version)
      values ($1::integer, $2, $3)
      on conflict (id) do update set last_at = case
        when r.rules = excluded.rules and r.version = excluded.version then clock_timestamp()
        else r.last_at end
      returning rules, version
      """)

  /// Records what a service decides with from now on.
  ///
  /// - Returns: The revision that has the ID: another one only if two hashes begin alike.
  package func record(_ revision: Revision) async throws(PostgresError) -> Revision {
    let rows = try await session.run([
      Call(Self.add, [String(revision.id), revision.rules, revision.version])
    ])[0]
    return Revision(rules: try rows.value(0, 0), version: try rows.value(0, 1))
  }

  /// $1 IDs.
  private static let byID = Statement(
    name: "",
    sql: """
      select rules, version, \(SQLTime.micros("first_at")) from ridepulse.revisions
      where id = any ($1::integer[])
      """)

  /// Returns the revisions that ledger rows name, by ID; those that are not recorded are left out.
  ///
  /// A role that may not read them yet, because it had its rights before they existed, gets none.
  func named(
    in rows: [LedgerRow], timeout: Duration = .seconds(10)
  ) async throws(PostgresError) -> [Int32: RecordedRevision] {
    let ids = Set(rows.compactMap(\.decidedBy)).sorted()
    if ids.isEmpty { return [:] }
    let found: QueryResult
    do throws(PostgresError) {
      found = try await session.run(
        [Call(Self.byID, [PostgresArray.literal(ids.map { "\($0)" })])], timeout: timeout)[0]
    } catch {
      if error.refusesRights { return [:] }
      throw error
    }
    var revisions: [Int32: RecordedRevision] = [:]
    for row in 0..<found.rowCount {
      let revision = Revision(rules: try found.value(row, 0), version: try found.value(row, 1))
      revisions[revision.id] = RecordedRevision(
        revision: revision, firstSeen: try found.value(row, 2))
    }
    return revisions
  }
}
