import Base
import RideCore

/// Something in a day that can't be read, or that contradicts what came before.
package struct DayProblem: Error, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// From 1, with the header.
  package var line: Int
  /// Where in the line: `column 7` of one that is not JSON, otherwise a path such as `ride.state`.
  package var path: String
  package var found: String
  package var expected: String?

  package init(line: Int, path: String = "", _ found: String, expected: String? = nil) {
    self.line = line
    self.path = path
    self.found = found
    self.expected = expected
  }

  init(_ fault: StoredFault, line: Int) {
    let path = fault.path.reduce("") { path, part in
      path + (path.isEmpty || part.hasPrefix("[") ? "" : ".") + part
    }
    self.init(line: line, path: path, fault.found, expected: fault.expected)
  }

  /// `7: ride.pickup_at: 8 is not a time; expected …`
  package var description: String {
    let text = "\(line): " + (path.isEmpty ? "" : path + ": ") + found
    return Escape.line(text + (expected.map { "; expected " + $0 } ?? ""))
  }

  package static func < (left: DayProblem, right: DayProblem) -> Bool {
    (left.line, left.path, left.found) < (right.line, right.path, right.found)
  }
}
