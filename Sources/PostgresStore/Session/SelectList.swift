internal import RideCore

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
  fileprivate let index: Int
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
