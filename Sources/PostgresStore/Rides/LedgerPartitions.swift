/// Rotates the daily partitions of the ledger and of recorded passes: creates those of the next days
/// and drops expired ones.
package struct LedgerPartitions: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// An action that was taken or postponed, such as `made` `ledger_20260301`.
  package struct MaintenanceAction: Hashable, Sendable, CustomStringConvertible {
    /// The action.
    package var action: String
    /// The object of the action.
    package var object: String

    /// The action and its object, for people.
    package var description: String { "\(action) \(object)" }
  }

  static let rotate = Statement(
    name: "ledger_rotate", sql: "select action, object from ridepulse.rotate_ledger()")

  /// Rotates the partitions and returns what was done: nothing if another node is doing it now.
  ///
  /// - Throws: `PostgresError`; nothing was done then. `refusesRights` is true if the role lacks
  ///   the right.
  package func rotate() async throws(PostgresError) -> [MaintenanceAction] {
    try await rotate(Self.rotate)
  }

  /// Rotates the partitions of recorded passes in the same way.
  package func rotateRecorded() async throws(PostgresError) -> [MaintenanceAction] {
    try await rotate(RecordStatements.rotate)
  }

  private func rotate(_ call: Statement) async throws(PostgresError) -> [MaintenanceAction] {
    // It reads a whole day before it drops it, while other sessions keep writing.
    let rows = try await session.run([Call(call)], timeout: .seconds(300))[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      MaintenanceAction(action: try rows.value(row, 0), object: try rows.value(row, 1))
    }
  }
}

extension PostgresError {
  /// Whether the role lacks a right.
  package var refusesRights: Bool { server?.sqlState == "42501" }
}
