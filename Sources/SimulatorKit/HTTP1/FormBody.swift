/// A body of `application/x-www-form-urlencoded`.
package enum FormBody {
  package static func fields(_ body: [UInt8]) -> [String: String] {
    let pairs = String(decoding: body, as: UTF8.self).split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        decoded(parts[0], plusIsSpace: true),
        decoded(parts.count == 2 ? parts[1] : "", plusIsSpace: true)
      )
    }
    return Dictionary(pairs) { $1 }
  }

  /// Decodes `%3A`; what is not an escape stays as it is.
  package static func decoded(_ text: Substring, plusIsSpace: Bool = false) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2,
        let value = UInt8(digits, radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
