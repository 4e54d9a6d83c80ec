import PostgresStore
import RideCore

/// Judges the tables attached by `ridepulse.watch`, and the triggers of the schema.
enum WatchCheck {
  static func results(_ probes: DatabaseState) -> [CheckResult] {
    let name = "watch"
    switch probes.watched {
    case .unasked:
      return [.skipped(name, needs: probes.server.value == nil ? "postgres" : "schema and rights")]
    case .failed(let why):
      return [.warning(name, "problems of attached tables can't be read: \(why)", "see rights")]
    case .known(let tables) where tables.problems.isEmpty:
      let count = tables.count == 0 ? "no" : "\(tables.count)"
      return [.ok(name, "\(count) attached \(tables.count == 1 ? "table" : "tables")")]
        + tables.pending.map(pending)
    case .known(let tables):
      return Dictionary(grouping: tables.problems, by: \.table).sorted { $0.key < $1.key }
        .map { result("\(name) \($0.key)", $0.key, $0.value) } + tables.pending.map(pending)
    }
  }

  /// A table whose rides that were live when it was attached may be missing.
  private static func pending(_ table: String) -> CheckResult {
    .warning(
      "backfill \(table)", "its live rows were not copied since it was attached",
      "as the table's owner: \(Backfill.line(table)); serve does so each minute if that owner has all "
        + "rights of its role")
  }

  private static func result(
    _ name: String, _ table: String, _ problems: [WatchProblem]
  ) -> CheckResult {
    var remedy: [String] = []
    for problem in problems {
      let fix = fix(problem)
      if !remedy.contains(fix) { remedy.append(fix) }
    }
    let stops = problems.contains { $0.kind?.stopsTable ?? false }
    return CheckResult(
      name: name, standing: stops ? .failure : .warning,
      what: DatabaseCheck.list(problems.map(words)), remedy: remedy)
  }

  /// Describes a problem, with the number of transactions and the last row.
  private static func words(_ problem: WatchProblem) -> String {
    let column = "column \(problem.column)"
    let what =
      switch problem.kind {
      case .missingTable: "the table is gone"
      case .missingColumn: "\(column), which is mapped, is gone: no row is copied"
      case .missingTrigger: "trigger \(problem.column) is gone: no row is copied"
      case .disabledTrigger: "trigger \(problem.column) is disabled"
      case .notRead: "trigger ridepulse_read did not run: rows were not copied"
      case .notAttached: "it has a trigger of RidePulse, and is not attached"
      case .lateTrigger:
        "a trigger BEFORE UPDATE or a generated column was added: its changes are not copied"
      case .replacedTable:
        "it was attached as \(problem.detail ?? "?"), which is another table now, attached to nothing"
      case .oldTrigger:
        "trigger \(problem.column) is of an earlier version: a dump of it can't be restored"
      case .unreadRide:
        "no clock rule fires for \(counted(Int(problem.count ?? 0), "ride")) whose row changed and "
          + "can't be read, last \(problem.rowID ?? "")"
      case .missingFunction: "the function of its mapping is gone: no row is copied"
      case .unusableMapping:
        "its condition or function uses a column or function that is gone: no row is copied"
      case .unreadableRow: "rows can't be read"
      case .nullID: "\(column) has no ID"
      case .emptyID: "\(column) has an empty ID"
      case .foreignID: "\(column) has an ID that begins with another table's prefix"
      case .tooLong: "\(column) has more than 512 bytes"
      case .badTime: "\(column) has a value that is not a time"
      case .noTimeZone: "\(column) has a time without a zone"
      case .unknownTimeZone: "\(column) has an unknown time zone"
      case .notAnObject: "\(column) has JSON that is not an object"
      case nil: "\(problem.column) \(problem.code)"
      }
    guard let count = problem.count, problem.kind != .unreadRide else { return what }
    let row = problem.rowID.map { ", last in row \($0)" } ?? ""
    return "\(what) (\(counted(Int(count), "transaction"))\(row))"
  }

  private static func fix(_ problem: WatchProblem) -> String {
    let table = problem.table
    return switch problem.kind {
    case .missingTable: "psql \"$DATABASE_URL\" -c 'select \(Database.schema).unwatch_missing()'"
    case .replacedTable:
      "as the table's owner: select \(Database.schema).unwatch('\(table)'); "
        + "select \(Database.schema).watch('\(problem.detail ?? "TABLE")', MAPPING); to keep it attached "
        + "instead, select \(Database.schema).watch('\(table)', MAPPING); "
        + "select * from \(Database.schema).watched shows the mapping"
    case .oldTrigger:
      "as the table's owner: select \(Database.schema).watch(\"table\", mapping) "
        + "from \(Database.schema).watched where \"table\" = '\(table)'::regclass"
    case .unreadRide:
      "select * from \(Database.schema).unread_rides; fix the rows, or the mapping; "
        + "as the table's owner: ridepulse backfill \(ShellText.word(table))"
    case .missingColumn, .missingTrigger, .notRead, .notAttached, .lateTrigger, .missingFunction,
      .unusableMapping:
      "as the table's owner: select \(Database.schema).watch('\(table)', MAPPING) with its current columns; "
        + "select * from \(Database.schema).watched shows the mapping"
    case .disabledTrigger:
      "as the table's owner: alter table \(table) enable trigger \(problem.column)"
    case .unreadableRow, .nullID, .emptyID, .foreignID, .tooLong, .badTime, .noTimeZone,
      .unknownTimeZone, .notAnObject, nil:
      "select * from \(Database.schema).watch_problems; fix the rows, or the mapping. It is shown for a day"
    }
  }
}
