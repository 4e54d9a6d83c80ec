package import RideCore

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

  /// The array of a column.
  func array(_ name: String) -> String {
    columns.firstIndex { $0.name == name }
      .map { "$\(first + $0)::\(columns[$0].type)[]" } ?? ""
  }

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

/// Writes arrays in PostgreSQL's text form, so that thousands of values fit into one parameter.
package enum PostgresArray {
  /// Returns a one-dimensional array literal such as `{"a","b\"c",NULL}`, for `$1::text[]`.
  ///
  /// A nil becomes NULL; every other element arrives byte for byte.
  package static func literal(_ elements: [String?]) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(elements.reduce(2) { $0 + ($1?.utf8.count ?? 4) + 3 })
    bytes.append(UInt8(ascii: "{"))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(element, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the array literal of IDs.
  package static func literal<ID: Identifier>(_ ids: [ID]) -> String { literal(ids.map(\.text)) }

  /// Quotes every element, so that `NULL`, braces, commas and blanks need no special case.
  private static func append(_ element: String?, to bytes: inout [UInt8]) {
    guard let element else {
      bytes.append(contentsOf: "NULL".utf8)
      return
    }
    bytes.append(UInt8(ascii: "\""))
    let isPlain = !element.containsByte { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    if isPlain {
      bytes.append(contentsOf: element.utf8)
    } else {
      appendEscaped(element, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func appendEscaped(_ element: String, to bytes: inout [UInt8]) {
    for byte in element.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
      }
      bytes.append(byte)
    }
  }
}

extension String {
  /// Whether a byte matches.
  ///
  /// It scans the stored bytes in place: iterating over `utf8` is several times slower, and these
  /// texts have hundreds of kilobytes.
  func containsByte(where matches: (UInt8) -> Bool) -> Bool {
    let bytes = utf8Span.span
    for index in bytes.indices where matches(bytes[index]) { return true }
    return false
  }
}
