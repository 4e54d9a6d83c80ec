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
