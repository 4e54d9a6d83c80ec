/// A phone's address at APNs: hexadecimal text of no fixed length.
///
/// Its `description` shows the last six digits only, so that it may stand in a log.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
  /// The whole token in lower case, for the request's path and nothing else.
  package let hex: String

  /// Nil where the text is not an even number of hexadecimal digits, or is longer than 512.
  package init?(_ text: String) {
    let utf8 = text.utf8
    guard utf8.count >= 2, utf8.count <= 512, utf8.count.isMultiple(of: 2) else { return nil }
    var hasUpperCase = false
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
      case UInt8(ascii: "A")...UInt8(ascii: "F"): hasUpperCase = true
      default: return nil
      }
    }
    hex = hasUpperCase ? text.lowercased() : text
  }

  /// The last six digits: enough to tell phones apart, too little to send to one.
  package var suffix: String { String(hex.suffix(6)) }

  /// The last six digits behind an ellipsis.
  package var description: String { "…" + suffix }
}
