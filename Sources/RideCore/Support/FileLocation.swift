/// A location in a file; columns count Unicode scalars, as most editors do.
package struct FileLocation: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  package let line: Int
  /// The column, from 1.
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (left: FileLocation, right: FileLocation) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }

  /// `LINE:COLUMN`.
  package var description: String { "\(line):\(column)" }
}
