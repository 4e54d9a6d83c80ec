import Base
import RideCore

/// One entry of a mapping: a known key and its value.
struct Field {
  let key: Key
  /// The location of the key.
  let location: SourceLocation
  let node: YAMLNode

  var name: String { key.name }
}
