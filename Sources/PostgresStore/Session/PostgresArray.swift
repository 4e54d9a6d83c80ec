package import RideCore

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
