import Base
internal import CLibpq
internal import RideCore

/// The result of one call, read directly from libpq's memory, which the last reference frees.
///
/// A row or column out of range reads as nil, like NULL.
@safe package final class QueryResult: @unchecked Sendable {
  // Unchecked: libpq has finished writing before the handle arrives here; after that it is only
  // read.
  private let handle: OpaquePointer

  /// Takes ownership of a result.
  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe PQclear(handle)
  }

  package var rowCount: Int { unsafe Int(PQntuples(handle)) }

  package var columnCount: Int { unsafe Int(PQnfields(handle)) }

  /// Returns the name of a column, as the server gives it.
  func name(ofColumn column: Int) -> String {
    unsafe PQfname(handle, Int32(clamping: column)).map { unsafe String(cString: $0) }
      ?? "\(column)"
  }

  /// Returns the value as text; nil if it is NULL.
  package func string(_ row: Int, _ column: Int) -> String? {
    unsafe withBytes(row, column) { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the value as an integer; nil if it is NULL, not a decimal integer or out of range.
  package func int64(_ row: Int, _ column: Int) -> Int64? {
    unsafe withBytes(row, column) { unsafe Int64(decimal: $0.span) } ?? nil
  }

  /// Returns the value as a floating-point number; nil if it is NULL or not a number.
  package func double(_ row: Int, _ column: Int) -> Double? {
    string(row, column).flatMap { Double($0) }
  }

  /// Returns the value of a boolean column; nil if it is NULL or neither `t` nor `f`.
  package func bool(_ row: Int, _ column: Int) -> Bool? {
    let value = unsafe withBytes(row, column) { unsafe $0.count == 1 ? $0.first : nil } ?? nil
    return switch value {
    case UInt8(ascii: "t"): true
    case UInt8(ascii: "f"): false
    default: nil
    }
  }

  var status: ExecStatusType { unsafe PQresultStatus(handle) }

  var statusName: String {
    unsafe PQresStatus(status).map { unsafe String(cString: $0) } ?? "an unknown state"
  }

  /// Returns one field of an error report, by its `PG_DIAG_…` code.
  func errorField(_ code: Int32) -> String? {
    unsafe PQresultErrorField(handle, code).map { unsafe String(cString: $0) }
  }

  /// libpq's own message for a failed result, for failures that the server did not report.
  var errorMessage: String {
    unsafe PQresultErrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
  }

  private func withBytes<R>(
    _ row: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R? {
    guard row >= 0, row < rowCount, column >= 0, column < columnCount else { return nil }
    let (row, column) = (Int32(row), Int32(column))
    guard unsafe PQgetisnull(handle, row, column) == 0,
      let start = unsafe PQgetvalue(handle, row, column)
    else { return nil }
    let count = unsafe Int(PQgetlength(handle, row, column))
    return unsafe start.withMemoryRebound(to: UInt8.self, capacity: count) {
      unsafe body(UnsafeBufferPointer(start: $0, count: count))
    }
  }
}

/// The columns of a result, collected in the order in which a statement selects them.
///
/// The SQL and the reader are made from the same list, so that no position is written by hand.
struct SelectList {
  /// The expressions, separated by commas.
  private(set) var sql = ""
  private var count = 0

  mutating func text(_ expression: String) -> ResultColumn<String> { add(expression) }

  mutating func integer(_ expression: String) -> ResultColumn<Int64> { add(expression) }

  mutating func boolean(_ expression: String) -> ResultColumn<Bool> { add(expression) }

  /// Adds a timestamp, which is read as microseconds.
  mutating func time(_ expression: String) -> ResultColumn<Timestamp> {
    add(SQLTime.micros(expression))
  }

  /// Adds a timestamp that the expression has converted to microseconds.
  mutating func time(micros expression: String) -> ResultColumn<Timestamp> { add(expression) }

  /// Adds an interval, which is read as microseconds.
  mutating func interval(_ expression: String) -> ResultColumn<Duration> {
    add(SQLTime.micros(interval: expression))
  }

  private mutating func add<Value>(_ expression: String) -> ResultColumn<Value> {
    defer { count += 1 }
    sql += count == 0 ? expression : ",\n  \(expression)"
    return ResultColumn(index: count)
  }
}

/// A column of a result with its type.
struct ResultColumn<Value>: Sendable {
  let index: Int
}

extension QueryResult {
  subscript(row: Int, column: ResultColumn<String>) -> String? { string(row, column.index) }

  subscript(row: Int, column: ResultColumn<Int64>) -> Int64? { int64(row, column.index) }

  subscript(row: Int, column: ResultColumn<Bool>) -> Bool? { bool(row, column.index) }

  subscript(row: Int, column: ResultColumn<Timestamp>) -> Timestamp? {
    int64(row, column.index).map { Timestamp(microseconds: $0) }
  }

  subscript(row: Int, column: ResultColumn<Duration>) -> Duration? {
    int64(row, column.index).map { .microseconds($0) }
  }
}
