package import RideCore

/// Erases a person from the database.
package struct PersonErasure: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The number of rows of a table that were deleted or changed.
  package struct Count: Hashable, Sendable {
    package var table: String
    package var rows: Int64
  }

  private static let signOut = Statement(name: "", sql: "select ridepulse.sign_out($1, $2)")

  private static let forget = Statement(
    name: "",
    sql: """
      select key, value::bigint from jsonb_each_text(ridepulse.forget($1, $2)) order by key
      """)

  /// Signs the person's phones out, and erases the person in a second transaction.
  ///
  /// From the first one on, no claim reads the phones, so no settlement writes them to the ledger
  /// while the second one reads it.
  ///
  /// - Parameter app: the only app in which the person is erased; nil means in all.
  /// - Throws: `PostgresError`; the person is at most signed out then, and the call may be repeated.
  package func erase(_ owner: OwnerID, app: App?) async throws(PostgresError) -> [Count] {
    let words = [owner.text, app?.rawValue]
    _ = try await session.run([Call(Self.signOut, words)], timeout: .seconds(60))
    // It reads the ledger, which may have many days.
    let rows = try await session.run([Call(Self.forget, words)], timeout: .seconds(3600))[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      Count(table: try rows.value(row, 0), rows: try rows.value(row, 1))
    }
  }
}
