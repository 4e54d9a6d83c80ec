/// A location in a rule file, a test, or a Swift file of the app; columns count Unicode scalars, as most editors do.
package struct SourceLocation: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  package let line: Int
  /// The column, from 1.
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Creates the location of a byte in a UTF-8 text.
  package init(ofByte offset: Int, in text: [UInt8]) {
    let before = text.prefix(max(0, offset))
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    self.init(
      line: before.count { $0 == UInt8(ascii: "\n") } + 1,
      column: String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1)
  }

  package static func < (left: SourceLocation, right: SourceLocation) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }

  /// `LINE:COLUMN`.
  package var description: String { "\(line):\(column)" }
}

/// A file, or a location in it.
package struct FileLocation: Hashable, Sendable, CustomStringConvertible {
  package let file: String
  /// Nil if the file as a whole is meant.
  package let location: SourceLocation?

  package init(_ file: String, _ location: SourceLocation? = nil) {
    self.file = file
    self.location = location
  }

  /// `FILE:LINE:COLUMN`, or `FILE`.
  package var description: String { location.map { "\(file):\($0)" } ?? file }
}
