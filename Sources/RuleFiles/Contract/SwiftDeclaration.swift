/// A type as a declaration names it.
indirect enum SwiftTypeName: Hashable, Sendable {
  /// A name with its qualifiers, such as `Foundation.Date`, and its generic arguments.
  case named([String], [SwiftTypeName])
  case optional(SwiftTypeName)
  case array(SwiftTypeName)
  case dictionary(SwiftTypeName, SwiftTypeName)
  /// A type within more types than are read.
  case tooDeep
  /// A tuple, a function, a composition: nothing that a value of JSON decodes into by itself.
  case other

  var isOptional: Bool {
    switch self {
    case .optional: true
    case .named(let name, _): name.last == "Optional"
    default: false
    }
  }

  /// The type as source has it.
  var text: String {
    switch self {
    case .named(let name, let arguments):
      name.joined(separator: ".")
        + (arguments.isEmpty ? "" : "<\(arguments.map(\.text).joined(separator: ", "))>")
    case .optional(let type): type.text + "?"
    case .array(let type): "[\(type.text)]"
    case .dictionary(let key, let value): "[\(key.text): \(value.text)]"
    case .tooDeep: "…"
    case .other: "of another kind"
    }
  }
}

/// A stored property of an instance that decoding sets.
struct SwiftProperty: Sendable {
  var name: String
  /// Nil if the declaration states none and its value is no literal.
  var type: SwiftTypeName?
  var hasValue: Bool
  /// What keeps the property from being read, such as a property wrapper.
  var obstacle: String?
  var offset: Int
}

struct SwiftCase: Sendable {
  enum RawValue: Hashable, Sendable {
    case text(String)
    case number(Int)
    /// A value that is no literal.
    case unreadable
  }

  var name: String
  var rawValue: RawValue?
  var hasPayload: Bool
}

/// A declaration of a type or an extension.
struct SwiftDeclaration: Sendable {
  enum Kind: Sendable {
    case structure, enumeration, extended
    /// A class or an actor.
    case other
  }

  var kind: Kind
  /// The name, of an extension with its qualifiers.
  var name: [String]
  var inherited: [SwiftTypeName]
  var isGeneric: Bool
  /// What may change how the type decodes: an attribute that may be a macro, or `#if`.
  var attribute: String?
  /// The conditions of `#if` around it in its file, each with its branch.
  var conditions: [String] = []
  var offset: Int
  var body: SwiftBody
}

/// The declarations in a file, or in the braces of a type.
struct SwiftBody: Sendable {
  var properties: [SwiftProperty] = []
  var cases: [SwiftCase] = []
  var declarations: [SwiftDeclaration] = []
  var aliases: [String: SwiftTypeName] = [:]
  /// What keeps its members from being read, such as a case in `#if`.
  var obstacle: String?
  /// The offset of `init(from:)`, if there is one.
  var decoder: Int?
  /// That initializer, if `generate swift` wrote it.
  var generatedDecoder: GeneratedDecoder?
}

/// The open `#if` of a file, each with the branch that is read.
struct SwiftBranches {
  /// Their conditions: those of two `#if` with one condition are the same.
  private(set) var conditions: [String] = []

  /// Follows a directive.
  mutating func read(_ directive: ArraySlice<SwiftToken>) {
    let condition = directive.dropFirst().map { "\($0.kind)" }.joined(separator: " ")
    switch directive.first?.kind {
    case .word("if"): conditions.append(condition)
    case .word("endif"): _ = conditions.popLast()
    case .word("else"), .word("elseif"):
      if let before = conditions.popLast() { conditions.append("not \(before), \(condition)") }
    default: break
    }
  }
}
