import Base
internal import RideCore

/// A record that a statement reads.
///
/// Its initializer names each column once: without rows it lists the SQL, with rows it reads them. Only
/// a value that is optional may be NULL.
protocol SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError)
}

/// The columns of a record, in the order in which its initializer names them.
protocol RecordColumns {
  /// Returns the value of the next column.
  ///
  /// - Parameter expression: its SQL.
  /// - Throws: an error of cause `values` that names the column.
  mutating func next<Value: ColumnValue>(
    _ expression: String
  ) throws(PostgresError) -> Value
}

extension SelectedRecord {
  /// The columns in SQL.
  static var selected: String {
    var list = ColumnList()
    // Only reading fails.
    _ = try? Self(&list)
    return list.sql
  }

  /// Reads all rows of a statement that begins with `selected`.
  static func all(_ rows: QueryResult) throws(PostgresError) -> [Self] {
    var records: [Self] = []
    records.reserveCapacity(rows.rowCount)
    for row in 0..<rows.rowCount {
      var columns = RowColumns(rows: rows, row: row)
      records.append(try Self(&columns))
    }
    return records
  }
}

private struct ColumnList: RecordColumns {
  var sql = ""

  mutating func next<Value: ColumnValue>(_ expression: String) -> Value {
    if !sql.isEmpty { sql += ", " }
    sql += Value.sql(expression)
    return .blank
  }
}

private struct RowColumns: RecordColumns {
  let rows: QueryResult
  let row: Int
  var column = 0

  mutating func next<Value: ColumnValue>(
    _ expression: String
  ) throws(PostgresError) -> Value {
    defer { column += 1 }
    return try rows.value(row, column, expression)
  }
}

/// A value of a column.
protocol ColumnValue {
  /// Stands for a value where there are no rows.
  static var blank: Self { get }

  /// Returns what is selected to read an expression.
  static func sql(_ expression: String) -> String

  /// Returns a value; nil for NULL, and for a value of another type.
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Self?
}

extension ColumnValue {
  static func sql(_ expression: String) -> String { expression }
}

extension QueryResult {
  /// Returns the value of a column that is never NULL.
  ///
  /// - Throws: an error of cause `values` that names the column.
  func value<Value: ColumnValue>(
    _ row: Int, _ column: Int, _ expression: String? = nil
  ) throws(PostgresError) -> Value {
    if let value = Value.read(self, row, column) { return value }
    throw PostgresError(.unreadable(column: expression ?? name(ofColumn: column)))
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  static var blank: Self { nil }
  static func sql(_ expression: String) -> String { Wrapped.sql(expression) }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Wrapped?? {
    .some(Wrapped.read(rows, row, column))
  }
}

extension String: ColumnValue {
  static var blank: String { "" }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> String? {
    rows.string(row, column)
  }
}

extension Int64: ColumnValue {
  static var blank: Int64 { 0 }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Int64? {
    rows.int64(row, column)
  }
}

extension Bool: ColumnValue {
  static var blank: Bool { false }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Bool? {
    rows.bool(row, column)
  }
}

extension Timestamp: ColumnValue {
  static var blank: Timestamp { Timestamp(microseconds: 0) }
  static func sql(_ expression: String) -> String { SQLTime.micros(expression) }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Timestamp? {
    rows.int64(row, column).map(Timestamp.init(microseconds:))
  }
}

extension Duration: ColumnValue {
  static var blank: Duration { .zero }
  static func sql(_ expression: String) -> String { SQLTime.micros(interval: expression) }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Duration? {
    rows.int64(row, column).map { .microseconds($0) }
  }
}

/// An ID of a ride or a person.
extension ColumnValue where Self: Identifier {
  static var blank: Self { Self("") }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Self? {
    rows.string(row, column).map { Self($0) }
  }
}

extension RideID: ColumnValue {}
extension OwnerID: ColumnValue {}
extension InstallationID: ColumnValue {}

extension PushID: ColumnValue {
  static var blank: PushID { PushID(of: "") }
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> PushID? {
    rows.string(row, column).flatMap { PushID($0) }
  }
}

/// A word.
extension ColumnValue where Self: RawRepresentable, RawValue == String {
  static func read(_ rows: QueryResult, _ row: Int, _ column: Int) -> Self? {
    rows.string(row, column).flatMap { Self(rawValue: $0) }
  }
}

extension App: ColumnValue {
  static var blank: App { App(rawValue: "") }
}

extension ChannelStorage: ColumnValue {
  static var blank: ChannelStorage { .latest }
}
