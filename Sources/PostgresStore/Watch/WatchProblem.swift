import RideCore

/// Something that keeps rows of a table that `ridepulse.watch` attached from becoming rides, or parts
/// of them: a row of the view `ridepulse.watch_problems`.
package struct WatchProblem: Hashable, Sendable {
  /// What is wrong, as the view words it.
  package enum Kind: String, CaseIterable, Sendable {
    case missingTable = "missing_table"
    case missingColumn = "missing_column"
    case missingTrigger = "missing_trigger"
    case disabledTrigger = "disabled_trigger"
    case notRead = "not_read"
    case notAttached = "not_attached"
    case unreadableRow = "unreadable_row"
    case nullID = "null_id"
    case emptyID = "empty_id"
    case tooLong = "too_long"
    case badTime = "bad_time"
    case noTimeZone = "no_time_zone"
    case unknownTimeZone = "unknown_time_zone"
    case notAnObject = "not_an_object"

    /// No row of the table becomes a ride until somebody acts; the others are of single rows.
    package var stopsTable: Bool {
      switch self {
      case .missingTable, .missingColumn, .missingTrigger, .disabledTrigger, .notRead,
        .notAttached:
        true
      case .unreadableRow, .nullID, .emptyID, .tooLong, .badTime, .noTimeZone, .unknownTimeZone,
        .notAnObject:
        false
      }
    }
  }

  /// The table with its schema, or the OID of one that is gone.
  package var table: String
  /// The column or trigger; empty where it is the row or the table.
  package var column: String
  /// The kind's word; one that this program does not know is of a newer schema.
  package var code: String
  /// The ID of the last row, shortened.
  package var rowID: String?
  /// How many transactions met it, at least; nil for what the catalogue shows now.
  package var count: Int64?
  /// Since it was last met; nil for what the catalogue shows now.
  package var age: Duration?

  /// A problem.
  package init(
    table: String, column: String, code: String, rowID: String? = nil, count: Int64? = nil,
    age: Duration? = nil
  ) {
    self.table = table
    self.column = column
    self.code = code
    self.rowID = rowID
    self.count = count
    self.age = age
  }

  /// What is wrong; nil where this program does not know.
  package var kind: Kind? { Kind(rawValue: code) }
}

extension WatchProblem {
  /// The newest are enough to act upon; a database may have many tables.
  private static let statement = Statement(
    name: "watch_problems",
    sql: """
      select "table", column_name, problem, row_id, count,
        (extract(epoch from clock_timestamp() - last_at) * 1000000)::bigint
      from ridepulse.watch_problems
      where last_at is null or last_at > now() - interval '1 day'
      order by last_at desc nulls first, "table", column_name, problem limit 100
      """)

  /// What is wrong now, and what was recorded within a day.
  package static func all(_ session: PostgresSession) async throws(PostgresError) -> [WatchProblem]
  {
    let rows = try await session.run([Call(statement)], timeout: .seconds(2))[0]
    return (0..<rows.rowCount).map { row in
      WatchProblem(
        table: rows.string(row, 0) ?? "", column: rows.string(row, 1) ?? "",
        code: rows.string(row, 2) ?? "", rowID: rows.string(row, 3), count: rows.int64(row, 4),
        age: rows.int64(row, 5).map { .microseconds($0) })
    }
  }
}

/// The tables that `ridepulse.watch` attached.
package struct WatchedTables: Hashable, Sendable {
  /// How many there are.
  package var count: Int64
  /// What is wrong with them.
  package var problems: [WatchProblem]

  /// Attached tables.
  package init(count: Int64, problems: [WatchProblem] = []) {
    self.count = count
    self.problems = problems
  }

  private static let counting = Statement(
    name: "watched_tables", sql: "select count(*) from ridepulse.watched")

  /// Reads them.
  package static func read(_ session: PostgresSession) async throws(PostgresError) -> WatchedTables
  {
    let rows = try await session.run([Call(counting)])[0]
    return WatchedTables(
      count: rows.int64(0, 0) ?? 0, problems: try await WatchProblem.all(session))
  }
}
