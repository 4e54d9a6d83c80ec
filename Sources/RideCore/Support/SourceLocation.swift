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

  package static func < (left: SourceLocation, right: SourceLocation) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }

  /// `LINE:COLUMN`.
  package var description: String { "\(line):\(column)" }
}
