/// HMAC-SHA256 with one key (RFC 2104).
package struct HMAC: Sendable {
  private let inner: [UInt8]
  private let outer: [UInt8]

  package init(key: [UInt8]) {
    var key = key.count > 64 ? SHA256.digest(key) : key
    key += [UInt8](repeating: 0, count: 64 - key.count)
    inner = key.map { $0 ^ 0x36 }
    outer = key.map { $0 ^ 0x5c }
  }

  /// Returns the code of a message.
  package func code(_ message: [UInt8]) -> [UInt8] {
    SHA256.digest(outer + SHA256.digest(inner + message))
  }
}
