/// A phone's address at APNs: hexadecimal text of no fixed length.
///
/// Its `description` shows only the last six digits, so it is safe in a log.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
  /// The whole token in lower case, to be used only in the request's path.
  package let hex: String

  /// Nil if the text is not an even number of hexadecimal digits, or has more than 512 of them.
  package init?(_ text: String) {
    let bytes = text.utf8Span.span
    guard bytes.count >= 2, bytes.count <= 512, bytes.count.isMultiple(of: 2) else { return nil }
    var hasUpperCase = false
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
      case UInt8(ascii: "A")...UInt8(ascii: "F"): hasUpperCase = true
      default: return nil
      }
    }
    hex = hasUpperCase ? text.lowercased() : text
  }

  /// Returns a recorded address in the form by which it is compared: a device token in lower case, and
  /// an address at FCM, which is case-sensitive, as it is.
  package static func recorded(_ text: String) -> String {
    text.allSatisfy(\.isHexDigit) ? text.lowercased() : text
  }

  /// The last six digits: enough to distinguish phones, too few to send a push.
  package var suffix: String { String(hex.suffix(6)) }

  /// The last six digits after an ellipsis.
  package var description: String { "…" + suffix }
}
