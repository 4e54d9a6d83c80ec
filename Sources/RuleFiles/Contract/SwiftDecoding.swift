/// What JSON a Swift type decodes with a plain `JSONDecoder`, which is what ActivityKit uses.
indirect enum SwiftDecoding {
  case string
  /// A text of a certain form, such as a URL; any other text is an error.
  case formatted(String)
  /// A whole number; the text names the limits of a type of fewer than 64 bits.
  case int(limit: String?)
  case double
  case bool
  /// A number of seconds since 2001.
  case date
  case list(SwiftTypeName)
  case map(SwiftTypeName)
  case structure(SwiftSources.DeclaredType)
  /// One of these texts; any other is an error.
  case words([String])
  /// One of these numbers; any other is an error.
  case numbers
  /// Any value, as the generated `JSONValue`.
  case anything
  /// It is not known; the text is the reason.
  case unreadable(String)
}

extension SwiftSources {
  /// Raw values of raw values: a type that is its own would never end.
  private static let depthLimit = 16

  /// Returns what a type decodes, not counting that it is optional.
  func decoding(
    of type: SwiftTypeName, in scope: [String], depth: Int = 0
  ) -> SwiftDecoding {
    guard depth < Self.depthLimit else {
      return .unreadable("\(type.text), which is declared by itself or nested too deeply")
    }
    switch resolved(type, in: scope) {
    case .optional(let inner): return decoding(of: inner, in: scope, depth: depth + 1)
    case .array(let element): return .list(element)
    case .dictionary(let key, let value): return map(key, value, in: scope)
    case .named(let name, let arguments):
      return decoding(name, arguments, in: scope, depth: depth + 1)
    case .tooDeep: return .unreadable("a type that is nested too deeply")
    case .other: return .unreadable("no type that JSON decodes into")
    }
  }

  private func map(
    _ key: SwiftTypeName, _ value: SwiftTypeName, in scope: [String]
  ) -> SwiftDecoding {
    // A dictionary with any other key is a list of keys and values.
    if case .named(let name, _) = resolved(key, in: scope), name.last == "String" {
      return .map(value)
    }
    return .unreadable("a dictionary whose key is \(key.text)")
  }

  private func decoding(
    _ name: [String], _ arguments: [SwiftTypeName], in scope: [String], depth: Int
  ) -> SwiftDecoding {
    if let declared = self.type(name, in: scope) { return decoding(of: declared, depth: depth) }
    let word = name.last ?? ""
    switch (word, arguments.count) {
    case ("Optional", 1): return decoding(of: arguments[0], in: scope, depth: depth)
    case ("Array", 1), ("Set", 1), ("ContiguousArray", 1): return .list(arguments[0])
    case ("Dictionary", 2): return map(arguments[0], arguments[1], in: scope)
    case (_, 0): return Self.known[word] ?? .unreadable("\(word), which \(fileNames) lacks")
    default: return .unreadable("\(word), whose decoding is not known")
    }
  }

  private static let known: [String: SwiftDecoding] = [
    "String": .string, "Bool": .bool, "Date": .date, "Int": .int(limit: nil),
    "Int64": .int(limit: nil), "Double": .double, "Float": .double, "CGFloat": .double,
    "TimeInterval": .double, "Decimal": .double, "Float32": .double, "Float64": .double,
    "Int8": .int(limit: "-128 to 127"), "UInt8": .int(limit: "0 to 255"),
    "Int16": .int(limit: "-32768 to 32767"), "UInt16": .int(limit: "0 to 65535"),
    "Int32": .int(limit: "-2147483648 to 2147483647"), "UInt32": .int(limit: "0 to 4294967295"),
    "UInt": .int(limit: "0 on"), "UInt64": .int(limit: "0 on"), "URL": .formatted("a URL"),
    "UUID": .formatted("a UUID"), "Data": .formatted("Base64"),
  ]

  private func decoding(of type: DeclaredType, depth: Int) -> SwiftDecoding {
    if type.isGeneric { return .unreadable("\(type.name), which is generic") }
    if let attribute = type.attribute {
      return .unreadable("\(type.name), whose \(attribute) may change how it decodes")
    }
    if type.decoder != nil, type.generatedDecoder == nil {
      return .unreadable("\(type.name), which has its own init(from:)")
    }
    if type.other != nil { return .unreadable("\(type.name), which is declared twice") }
    switch type.generatedDecoder {
    case .state: return .string
    case .value: return .anything
    case nil: break
    }
    switch type.kind {
    case .enumeration: return decoding(ofCases: type, depth: depth)
    case .structure where type.inherits("RawRepresentable", "OptionSet"):
      let raw = type.properties.first { $0.name == "rawValue" }?.type
      return raw.map { decoding(of: $0, in: type.path, depth: depth) }
        ?? .unreadable("\(type.name), whose rawValue has no stated type")
    case .structure: return .structure(type)
    case .extended, .other: return .unreadable("\(type.name), which is not a struct")
    }
  }

  /// Returns the keys that the cases of a `CodingKeys` stand for, as `words`.
  func codingKeys(_ type: DeclaredType) -> SwiftDecoding {
    // Without a raw type they are the cases' names.
    guard type.kind == .enumeration, type.attribute == nil, type.other == nil,
      case .named(let name, _)? = type.inherited.first, name.last == "CodingKey"
    else { return decoding(of: .named(type.path, []), in: []) }
    return .words(type.cases.map(\.name))
  }

  /// Protocols that do not change how an enum is decoded; any other may have an `init(from:)`.
  private static let harmless: Set<String> = [
    "Codable", "Decodable", "Encodable", "Hashable", "Equatable", "Sendable", "SendableMetatype",
    "CaseIterable", "RawRepresentable", "Comparable", "Identifiable", "CustomStringConvertible",
    "CustomDebugStringConvertible", "CodingKey", "CodingKeyRepresentable", "Error", "AppEnum",
  ]

  /// Returns a protocol of an enum whose extension may decode it.
  private func foreignProtocol(of type: DeclaredType) -> String? {
    let scope = Array(type.path.dropLast())
    for inherited in type.inherited {
      if case .named(let name, _) = resolved(inherited, in: scope), let word = name.last,
        !Self.harmless.contains(word), Self.known[word] == nil, self.type(name, in: scope) == nil
      {
        return word
      }
    }
    return nil
  }

  private func decoding(ofCases type: DeclaredType, depth: Int) -> SwiftDecoding {
    if let name = foreignProtocol(of: type) {
      return .unreadable("\(type.name), which may have its init(from:) from \(name)")
    }
    guard case .named(let name, _)? = type.inherited.first else {
      return .unreadable("\(type.name), an enum without raw values: JSON has an object for a case")
    }
    let raw = decoding(of: .named(name, []), in: Array(type.path.dropLast()), depth: depth)
    switch raw {
    case .int: return .numbers
    case .string where type.cases.contains { $0.rawValue == .unreadable }:
      return .unreadable("\(type.name), whose raw values are not all literals")
    case .string:
      return .words(
        type.cases.map { one in
          if case .text(let text)? = one.rawValue { text } else { one.name }
        })
    default:
      return .unreadable("\(type.name), an enum without raw values: JSON has an object for a case")
    }
  }
}
