/// An ID that a service chose, or another text from outside that serves as a key.
///
/// Two of them are equal if their bytes are, as in Postgres and at APNs. Two Swift strings are equal
/// if Unicode calls them equivalent: rides `é` and `e` with an accent would be one, and one
/// customer would receive the other's pushes.
package protocol Identifier: Hashable, Comparable, Sendable, Codable,
  CustomStringConvertible, ExpressibleByStringInterpolation
where StringLiteralType == String {
  /// The ID as the service wrote it.
  var text: String { get }

  /// An ID of this text.
  init(_ text: String)
}

extension Identifier {
  /// An ID of a literal.
  package init(stringLiteral value: String) { self.init(value) }

  /// Reads the text.
  package init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the text.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  /// The ID as the service wrote it.
  package var description: String { text }

  /// Whether the bytes are the same.
  package static func == (left: Self, right: Self) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  /// Hashes the bytes.
  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

  /// The order of the bytes.
  package static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

extension String {
  /// Hashes the UTF-8 bytes, eight at a time.
  func hashBytes(into hasher: inout Hasher) {
    var word: UInt64 = 0
    var count = 0
    for byte in utf8 {
      word = word << 8 | UInt64(byte)
      count += 1
      if count.isMultiple(of: 8) { hasher.combine(word) }
    }
    hasher.combine(word)
    hasher.combine(count)
  }
}

/// `ridepulse.rides.id`.
package struct RideID: Identifier {
  /// The ID as the service wrote it.
  package let text: String

  /// An ID of this text.
  package init(_ text: String) { self.text = text }
}

/// Whose phone it is: a ride's `customer_id` or `driver_id`, or `<app>_id` of its attributes.
package struct OwnerID: Identifier {
  /// The ID as the service wrote it.
  package let text: String

  /// An ID of this text.
  package init(_ text: String) { self.text = text }
}
