import RideCore

/// A row of the view `ridepulse.watch_problems`: a fault that keeps rows of an attached table, or
/// parts of them, from becoming rides.
///
/// `ridepulse.watch` attaches tables.
package struct WatchProblem: Hashable, Sendable {
  /// The kind of fault, in the words of the view.
  package enum Kind: String, CaseIterable, Sendable {
    case missingTable = "missing_table"
    case missingColumn = "missing_column"
    case missingTrigger = "missing_trigger"
    case disabledTrigger = "disabled_trigger"
    case notRead = "not_read"
    case notAttached = "not_attached"
    case lateTrigger = "late_trigger"
    case replacedTable = "replaced_table"
    case oldTrigger = "old_trigger"
    case unreadRide = "unread_ride"
    case missingFunction = "missing_function"
    case unusableMapping = "unusable_mapping"
    case unreadableRow = "unreadable_row"
    case nullID = "null_id"
    case emptyID = "empty_id"
    case foreignID = "foreign_id"
    case tooLong = "too_long"
    case badTime = "bad_time"
    case noTimeZone = "no_time_zone"
    case unknownTimeZone = "unknown_time_zone"
    case notAnObject = "not_an_object"

    /// Whether no row of the table becomes a ride until the fault is fixed; other faults concern
    /// single rows.
    package var stopsTable: Bool {
      switch self {
      case .missingTable, .missingColumn, .missingTrigger, .disabledTrigger, .notRead,
        .notAttached, .lateTrigger, .replacedTable, .missingFunction, .unusableMapping:
        true
      case .oldTrigger, .unreadRide, .unreadableRow, .nullID, .emptyID, .foreignID, .tooLong,
        .badTime,
        .noTimeZone, .unknownTimeZone, .notAnObject:
        false
      }
    }
  }

  /// The table with its schema, or the OID of a table that no longer exists.
  package var table: String
  /// The column or trigger; empty if the fault is of the row or the table.
  package var column: String
  /// The word of the view for the kind; an unknown one comes from a newer schema.
  package var code: String
  /// The ID of the last row concerned, shortened.
  package var rowID: String?
  /// For `replacedTable`, the table that has its name now; otherwise an error's text, if there is one.
  package var detail: String?
  /// The number of transactions that met it, at least; nil for a fault found in the catalog now.
  package var count: Int64?
  /// The time since it was last met; nil for a fault found in the catalog now.
  package var age: Duration?

  package init(
    table: String, column: String, code: String, rowID: String? = nil, detail: String? = nil,
    count: Int64? = nil, age: Duration? = nil
  ) {
    self.table = table
    self.column = column
    self.code = code
    self.rowID = rowID
    self.detail = detail
    self.count = count
    self.age = age
  }

  /// The kind; nil if this program does not have it.
  package var kind: Kind? { Kind(rawValue: code) }
}

extension WatchProblem: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    table = try columns.next(#""table""#)
    column = try columns.next("column_name")
    code = try columns.next("problem")
    rowID = try columns.next("row_id")
    detail = try columns.next("detail")
    count = try columns.next("count")
    age = try columns.next("clock_timestamp() - last_at")
  }

  /// Limited to the newest, which are enough to act upon: a database may have many tables.
  private static let statement = Statement(
    name: "watch_problems",
    sql: """
      select \(selected)
      from ridepulse.watch_problems
      where last_at is null or last_at > now() - interval '1 day'
      order by last_at desc nulls first, "table", column_name, problem limit 100
      """)

  /// Returns the faults of now, and those that were recorded within a day.
  package static func all(_ session: PostgresSession) async throws(PostgresError) -> [WatchProblem]
  {
    try all(try await session.run([Call(statement)], timeout: .seconds(2))[0])
  }
}

/// The tables that `ridepulse.watch` attached.
package struct WatchedTables: Hashable, Sendable {
  /// The number of attached tables.
  package var count: Int64
  /// The tables whose live rows were not copied since they were attached.
  package var pending: [String]
  /// The faults of the attached tables.
  package var problems: [WatchProblem]

  package init(count: Int64, pending: [String] = [], problems: [WatchProblem] = []) {
    self.count = count
    self.pending = pending
    self.problems = problems
  }

  private static let counting = Statement(
    name: "watched_tables", sql: "select count(*) from ridepulse.watched")

  /// Reads the number of attached tables and their faults.
  package static func read(_ session: PostgresSession) async throws(PostgresError) -> WatchedTables
  {
    let rows = try await session.run([Call(counting)])[0]
    return WatchedTables(
      count: try rows.value(0, 0),
      pending: try await BackfillRights.pendingTables(session).map(\.name),
      problems: try await WatchProblem.all(session))
  }
}
