package import Base

/// An ID chosen by a service, or another external text that serves as a key.
///
/// Two identifiers are equal if their bytes are, as in Postgres and at APNs. Swift compares strings
/// by canonical equivalence: rides `é` and `e` with a combining accent would be one, and one
/// customer would receive the other's pushes.
package protocol Identifier: Hashable, Comparable, Sendable, StoredValue,
  CustomStringConvertible, ExpressibleByStringInterpolation
where StringLiteralType == String {
  /// The ID as the service wrote it.
  var text: String { get }

  init(_ text: String)
}

extension Identifier {
  package init(stringLiteral value: String) { self.init(value) }

  package var description: String { text }

  /// Compares the bytes.
  package static func == (left: Self, right: Self) -> Bool {
    left.text.hasBytes(of: right.text)
  }

  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

  /// Orders by bytes.
  package static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

extension Identifier {
  package init(stored: JSONValue) throws(StoredFault) { self.init(try String(stored: stored)) }

  package func store(in json: inout [UInt8]) { text.store(in: &json) }
}

// In place: iterating over `utf8` is several times slower.
extension String {
  /// Whether the UTF-8 bytes are the same; `==` takes texts for equal that only look the same.
  func hasBytes(of other: String) -> Bool {
    let (left, right) = (utf8Span.span, other.utf8Span.span)
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }

  /// Hashes the UTF-8 bytes, eight at a time.
  func hashBytes(into hasher: inout Hasher) {
    let bytes = utf8Span.span
    var word: UInt64 = 0
    for index in bytes.indices {
      word = word << 8 | UInt64(bytes[index])
      if index & 7 == 7 { hasher.combine(word) }
    }
    hasher.combine(word)
    hasher.combine(bytes.count)
  }
}
