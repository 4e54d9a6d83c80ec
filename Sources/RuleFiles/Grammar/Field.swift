import Base
import RideCore

/// One entry of a mapping: a known key and its value.
struct Field {
  let key: Key
  /// The location of the key.
  let location: SourceLocation
  let node: YAMLNode
  let diagnostics: Diagnostics

  var name: String { key.name }

  /// Reports a value of the wrong type, and returns nil.
  func refused<Value>(_ expected: String, among known: [String] = []) -> Value? {
    diagnostics.reportType(of: node, for: name, expected: expected, among: known)
    return nil
  }
}
