/// Rows that a statement takes as parameters: an array for each column.
///
/// The SQL and the arrays are made from the same list of columns, so that no value can reach the
/// column of another.
struct RowParameters<Row>: Sendable {
  struct Column: Sendable {
    let name: String
    /// The type of an element, as PostgreSQL names it.
    let type: String
    let text: @Sendable (Row) -> String?
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
    let names = columns.map(\.name)
    return "unnest(\(arrays.joined(separator: ", ")))\n"
      + "      as \(alias) (\(names.joined(separator: ", ")))"
  }

  /// The array of the first column, the key.
  var keys: String { columns.first.map { "$\(first)::\($0.type)[]" } ?? "" }

  /// Returns the values of the parameters.
  func arrays(_ rows: some Collection<Row>) -> [String?] {
    columns.map { column in PostgresArray.literal(rows.map(column.text)) }
  }
}

extension RowParameters.Column {
  static func text(_ name: String, _ value: @escaping @Sendable (Row) -> String?) -> Self {
    Self(name: name, type: "text", text: value)
  }

  static func uuid(_ name: String, _ value: @escaping @Sendable (Row) -> String?) -> Self {
    Self(name: name, type: "uuid", text: value)
  }

  /// - Parameter type: PostgreSQL's name of an integer type.
  static func integer<Value: BinaryInteger & SendableMetatype>(
    _ name: String, _ type: String = "bigint", _ value: @escaping @Sendable (Row) -> Value?
  ) -> Self {
    Self(name: name, type: type) { value($0).map { String($0) } }
  }

  static func boolean(_ name: String, _ value: @escaping @Sendable (Row) -> Bool) -> Self {
    Self(name: name, type: "boolean") { value($0) ? "t" : "f" }
  }
}
