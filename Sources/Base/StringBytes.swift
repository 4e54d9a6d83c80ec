extension UInt8 {
  /// Whether it is a digit or lower-case letter of ASCII, as names of schemas and cells have them.
  package var isLowercaseOrDigit: Bool { isLowercase || (0x30...0x39).contains(self) }

  package var isLowercase: Bool { (0x61...0x7a).contains(self) }
}

extension String {
  /// Whether a byte matches.
  ///
  /// It scans the stored bytes in place: iterating over `utf8` is several times slower, and some texts
  /// have hundreds of kilobytes.
  @inlinable package func containsByte(where matches: (UInt8) -> Bool) -> Bool {
    let bytes = utf8Span.span
    for index in bytes.indices where matches(bytes[index]) { return true }
    return false
  }
}
