/// Writes Postgres' text form of arrays, so that thousands of values travel as one parameter.
public enum PostgresArray {
  /// The literal of a one-dimensional array such as `{"a","b\"c",NULL}`, for `$1::text[]`; nil is
  /// NULL, and each other element arrives byte for byte.
  public static func literal(_ elements: [String?]) -> String {
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

  /// Every element is quoted, so that `NULL`, braces, commas and blanks need no rule of their own.
  private static func append(_ element: String?, to bytes: inout [UInt8]) {
    guard let element else {
      bytes.append(contentsOf: "NULL".utf8)
      return
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in element.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
      }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
