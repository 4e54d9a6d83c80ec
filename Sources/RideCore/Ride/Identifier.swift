/// An ID chosen by a service, or another external text that serves as a key.
///
/// Two identifiers are equal if their bytes are, as in Postgres and at APNs. Swift compares strings
/// by canonical equivalence: rides `é` and `e` with a combining accent would be one, and one
/// customer would receive the other's pushes.
package protocol Identifier: Hashable, Comparable, Sendable, Codable,
  CustomStringConvertible, ExpressibleByStringInterpolation
where StringLiteralType == String {
  /// The ID as the service wrote it.
  var text: String { get }

  init(_ text: String)
}

extension Identifier {
  package init(stringLiteral value: String) { self.init(value) }

  package init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  package var description: String { text }

  /// Compares the bytes.
  package static func == (left: Self, right: Self) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

  /// Orders by bytes.
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

/// A value of `ridepulse.rides.id`.
package struct RideID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}

/// The owner of a phone: a ride's `customer_id`, its `driver_id`, or `<app>_id` in its attributes.
package struct OwnerID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}
