import RideCore

/// A node of a YAML document and its location.
struct YAMLNode {
  let location: SourceLocation
  let kind: Kind

  enum Kind {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    case mapping([Pair])
    /// A node that is refused and already reported; no further problem is reported for it.
    case refused
  }

  /// One entry of a mapping; keys are texts, and distinct within a mapping.
  struct Pair {
    let key: String
    let keyPlace: SourceLocation
    let value: YAMLNode
    /// Whether the key occurs again; the later values are ignored.
    var isRepeated = false
  }
}

struct YAMLScalar {
  let text: String
  /// The meaning of the text: always a string if it is quoted; nil for a number that JSON cannot
  /// represent.
  let value: JSONValue?
  /// The location of the text's own first character; nil if the file does not contain the text
  /// literally.
  let textPlace: SourceLocation?
}

extension YAMLNode {
  /// A description of the node for messages: `a list`, `the number 5`.
  var summary: String {
    switch kind {
    case .sequence: return "a list"
    case .mapping: return "a mapping"
    case .refused: return "a value"
    case .scalar(let scalar):
      switch scalar.value {
      case .null: return "empty"
      case .bool(let flag): return flag ? "true" : "false"
      case .integer, .number, nil: return "the number \(shortened(scalar.text))"
      default: break
      }
      if scalar.text.isEmpty { return "an empty text" }
      return (scalar.text.contains("{{") ? "a text with a placeholder, " : "the text ")
        + quoted(scalar.text)
    }
  }

  /// The text, if the node is a string.
  var string: String? {
    guard case .scalar(let scalar) = kind, case .string(let text) = scalar.value else { return nil }
    return text
  }

  /// The number, if the node is one.
  var number: Double? {
    guard case .scalar(let scalar) = kind else { return nil }
    switch scalar.value {
    case .integer(let number): return Double(number)
    case .number(let number): return number
    default: return nil
    }
  }

  /// Whether a problem was already reported for the node.
  var isRefused: Bool {
    if case .refused = kind { true } else { false }
  }
}
