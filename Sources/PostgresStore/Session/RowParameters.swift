internal import RideCore

/// Rows that a statement takes as parameters: an array for each column.
///
/// The SQL and the arrays are made from the same list of columns, so that no value can reach the
/// column of another.
struct RowParameters<Row>: Sendable {
  struct Column: Sendable {
    let name: String
    /// The type of an element, as PostgreSQL names it.
    let type: String
    let write: @Sendable (Row, inout PostgresArray) -> Void
  }

  private let columns: [Column]
  private let first: Int
  /// The number of the last parameter.
  let last: Int

  /// - Parameter number: the number of parameters that precede these.
  init(after number: Int, _ columns: [Column]) {
    self.columns = columns
    first = number + 1
    last = number + columns.count
  }

  /// The rows as an SQL table, such as `unnest($2::text[], $3::bigint[]) as r (id, fence)`.
  func table(_ alias: String) -> String {
    let arrays = columns.enumerated().map { "$\(first + $0)::\($1.type)[]" }
    return "unnest(\(arrays.joined(separator: ", ")))\n"
      + "      as \(alias) (\(names.joined(separator: ", ")))"
  }

  var names: [String] { columns.map(\.name) }

  /// The array of the first column, the key.
  var keys: String { columns.first.map { "$\(first)::\($0.type)[]" } ?? "" }

  /// The array of a column.
  func array(_ name: String) -> String {
    columns.firstIndex { $0.name == name }
      .map { "$\(first + $0)::\(columns[$0].type)[]" } ?? ""
  }

  /// Returns the values of the parameters.
  func arrays(_ rows: some Collection<Row>) -> [String?] {
    // By rows: a row has many fields, and would be copied for each of its columns.
    var arrays = columns.map { _ in PostgresArray(capacity: 2 + 20 * rows.count) }
    for row in rows {
      for index in columns.indices { columns[index].write(row, &arrays[index]) }
    }
    return arrays.indices.map { arrays[$0].end() }
  }
}

extension RowParameters.Column {
  /// - Parameter type: PostgreSQL's name of the type that the texts are of.
  static func text(
    _ name: String, _ type: String = "text", _ value: @escaping @Sendable (Row) -> String?
  ) -> Self {
    Self(name: name, type: type) { $1.append(value($0)) }
  }

  static func id(_ name: String, _ value: @escaping @Sendable (Row) -> PushID) -> Self {
    Self(name: name, type: "uuid") { $1.append(value($0)) }
  }

  /// - Parameter type: PostgreSQL's name of an integer type.
  static func integer<Value: BinaryInteger & SendableMetatype>(
    _ name: String, _ type: String = "bigint", _ value: @escaping @Sendable (Row) -> Value?
  ) -> Self {
    Self(name: name, type: type) { $1.append(value($0).map { Int64(clamping: $0) }) }
  }

  static func boolean(_ name: String, _ value: @escaping @Sendable (Row) -> Bool) -> Self {
    Self(name: name, type: "boolean") { $1.append(value($0) ? "t" : "f") }
  }
}
