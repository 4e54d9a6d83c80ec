/// Makes the ledger's days to come, and drops those that are past.
package struct LedgerPartitions: Sendable {
  private let session: PostgresSession

  /// A keeper over an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// Something that was done, or left: `made`, `ledger_20260301`.
  package struct MaintenanceAction: Hashable, Sendable, CustomStringConvertible {
    /// What was done.
    package var action: String
    /// To what.
    package var object: String

    /// Both, as a person reads them.
    package var description: String { "\(action) \(object)" }
  }

  static let rotate = Statement(
    name: "ledger_tend", sql: "select action, object from ridepulse.rotate_ledger()")

  /// Returns what was done: nothing where another node does it at this moment.
  ///
  /// - Throws: `PostgresError`; nothing was done then. `refusesRights` says that this role may not.
  package func rotate() async throws(PostgresError) -> [MaintenanceAction] {
    // It reads a day from end to end before it drops it, beside all that writes.
    let rows = try await session.run([Call(Self.rotate)], timeout: .seconds(300))[0]
    return (0..<rows.rowCount).map { row in
      MaintenanceAction(action: rows.string(row, 0) ?? "", object: rows.string(row, 1) ?? "")
    }
  }
}

extension PostgresError {
  /// The role lacks a right.
  package var refusesRights: Bool { server?.sqlState == "42501" }
}
