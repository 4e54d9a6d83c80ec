import RideCore

/// A piece of a YAML document, and where it stands.
struct YAMLNode {
  let location: SourceLocation
  let kind: Kind

  enum Kind {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    case mapping([Pair])
    /// Something that is refused and was reported: nobody says more about it.
    case refused
  }

  /// One entry of a mapping; keys are texts, and no two of a mapping are equal.
  struct Pair {
    let key: String
    let keyPlace: SourceLocation
    let value: YAMLNode
    /// Whether the key stood there again; what it then said is left out.
    var isRepeated = false
  }
}

/// A single value.
struct YAMLScalar {
  let text: String
  /// What the text means: always a string where it is quoted; nil for a number that JSON can't hold.
  let value: JSONValue?
  /// Where the text's own first character stands, if it stands in the file letter by letter.
  let textPlace: SourceLocation?
}

extension YAMLNode {
  /// What the node is, for messages: `a list`, `the number 5`.
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

  /// The string, where the node is one.
  var string: String? {
    guard case .scalar(let scalar) = kind, case .string(let text) = scalar.value else { return nil }
    return text
  }

  /// The number, where the node is one.
  var number: Double? {
    guard case .scalar(let scalar) = kind else { return nil }
    switch scalar.value {
    case .integer(let number): return Double(number)
    case .number(let number): return number
    default: return nil
    }
  }

  /// Whether a problem was already reported for it.
  var isRefused: Bool {
    if case .refused = kind { true } else { false }
  }
}
