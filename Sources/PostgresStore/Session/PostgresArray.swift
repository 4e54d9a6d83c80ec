import Base
package import RideCore

/// Writes an array in PostgreSQL's text form, so that thousands of values fit into one parameter.
package struct PostgresArray: Sendable {
  private var bytes: [UInt8] = []

  /// - Parameter capacity: about how many bytes the literal will have.
  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  /// Returns a one-dimensional array literal such as `{"a","b\"c",NULL}`, for `$1::text[]`.
  ///
  /// A nil becomes NULL; every other element arrives byte for byte.
  package static func literal(_ elements: [String?]) -> String {
    var array = PostgresArray(capacity: elements.reduce(2) { $0 + ($1?.utf8.count ?? 4) + 3 })
    for element in elements { array.append(element) }
    return array.end()
  }

  /// Returns the array literal of IDs.
  package static func literal<ID: Identifier>(_ ids: [ID]) -> String { literal(ids.map(\.text)) }

  /// Ends the literal, and returns it.
  mutating func end() -> String {
    if bytes.isEmpty { bytes.append(UInt8(ascii: "{")) }
    bytes.append(UInt8(ascii: "}"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Quotes every text, so that `NULL`, braces, commas and blanks need no special case.
  mutating func append(_ element: String?) {
    separate()
    guard let element else { return appendNull() }
    bytes.append(UInt8(ascii: "\""))
    let isPlain = !element.containsByte { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    if isPlain {
      bytes.append(contentsOf: element.utf8)
    } else {
      appendEscaped(element)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func append(_ number: Int64?) {
    separate()
    guard let number else { return appendNull() }
    bytes.append(json: number)
  }

  mutating func append(_ id: PushID) {
    separate()
    bytes.append(id)
  }

  private mutating func separate() { bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ",")) }

  private mutating func appendNull() { bytes.append(contentsOf: "NULL".utf8) }

  private mutating func appendEscaped(_ element: String) {
    let text = element.utf8Span.span
    bytes.append(addingCapacity: 2 * text.count) { escaped in
      for index in text.indices {
        let byte = text[index]
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          escaped.append(UInt8(ascii: "\\"))
        }
        escaped.append(byte)
      }
    }
  }
}
