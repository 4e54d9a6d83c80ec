internal import Base

/// A statement with the values of its parameters.
package struct Call: Hashable, Sendable {
  package let statement: Statement
  /// The values of `$1`, `$2` … in PostgreSQL's text form; nil is NULL.
  package let parameters: [String?]

  /// Creates a call of a statement; `PostgresArray.literal` writes array parameters.
  package init(_ statement: Statement, _ parameters: [String?] = []) {
    self.statement = statement
    self.parameters = parameters
  }

  /// The index of the first parameter that contains a NUL.
  ///
  /// PostgreSQL cannot store a NUL in a text, and libpq would silently truncate the value there.
  var indexOfParameterWithNUL: Int? {
    parameters.firstIndex { $0?.containsByte { $0 == 0 } ?? false }
  }
}
