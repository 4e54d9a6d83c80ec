import Base
import RideCore

/// Compares the attributes that a test or a story states with the declared ones.
struct DeclaredValues {
  let diagnostics: Diagnostics

  /// - Parameter declared: The attributes that there are; nil allows any.
  func check(_ field: Field, _ declared: DeclaredAttributes?) {
    guard let declared else { return }
    check(field.node, .object(declared.types), [])
  }

  private func check(_ node: YAMLNode, _ type: AttributeType, _ path: [String]) {
    switch (node.kind, type) {
    case (.mapping(let pairs), .object(let types)):
      for pair in pairs {
        let path = path + [pair.key]
        if let type = types[pair.key] {
          check(pair.value, type, path)
        } else {
          let known = types.keys.sorted()
          diagnostics.report(
            pair.keyLocation,
            "the attribute \(quoted(path.joined(separator: "."))), which is not declared",
            expected: "one of \(known.joined(separator: ", "))", word: pair.key, among: known)
        }
      }
    case (.sequence(let elements), .list(let type)):
      for element in elements { check(element, type, path) }
    default:
      guard let value = node.json, type.mismatch(of: value, at: path) != nil else { return }
      let known: [String] = if case .words(let words) = type { words } else { [] }
      diagnostics.report(
        node.location,
        "the attribute \(path.joined(separator: ".")) is \(node.summary), declared as \(type.word)",
        expected: "a value of the declared type", word: node.string ?? "", among: known)
    }
  }
}
