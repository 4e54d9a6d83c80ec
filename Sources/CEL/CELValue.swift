package import Base

/// A value of a CEL expression.
package enum CELValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  case double(Double)
  case string(String)
  case bytes([UInt8])
  case list(CELList)
  case map(CELMap)
  case timestamp(CELInstant)
  /// Nanoseconds: about 292 years in either direction, as in the reference implementation.
  case duration(Int64)
  case type(CELTypeName)

  /// Converts a JSON value; lists and objects are converted element by element as they are read.
  package init(_ json: JSONValue) {
    switch json {
    case .null: self = .null
    case .bool(let flag): self = .bool(flag)
    case .integer(let number): self = .int(number)
    case .number(let number): self = .double(number)
    case .string(let text): self = .string(text)
    case .array(let elements): self = .list(.json(elements))
    case .object(let members): self = .map(.json(members))
    }
  }

  package init(_ instant: Timestamp?) {
    self = instant.map { .timestamp(CELInstant($0)) } ?? .null
  }

  package init(_ text: String?) { self = text.map { .string($0) } ?? .null }

  /// The name of its type.
  package var typeName: CELTypeName {
    switch self {
    case .null: .null
    case .bool: .bool
    case .int: .int
    case .uint: .uint
    case .double: .double
    case .string: .string
    case .bytes: .bytes
    case .list: .list
    case .map: .map
    case .timestamp: .timestamp
    case .duration: .duration
    case .type: .type
    }
  }
}

/// The name of a type: what `type(x)` returns.
package enum CELTypeName: String, CaseIterable, Hashable, Sendable {
  case null = "null_type"
  case bool, int, uint, double, string, bytes, list, map, type
  case timestamp = "google.protobuf.Timestamp"
  case duration = "google.protobuf.Duration"

  /// The name in messages.
  package var word: String {
    switch self {
    case .null: "null"
    case .timestamp: "timestamp"
    case .duration: "duration"
    default: rawValue
    }
  }
}

/// A list: computed, or one of a JSON value.
package enum CELList: Sendable {
  case values([CELValue])
  case json([JSONValue])

  package var count: Int {
    switch self {
    case .values(let values): values.count
    case .json(let elements): elements.count
    }
  }

  /// Returns an element; nil if there is none at the index.
  package func element(at index: Int) -> CELValue? {
    switch self {
    case .values(let values): values.indices.contains(index) ? values[index] : nil
    case .json(let elements): elements.indices.contains(index) ? CELValue(elements[index]) : nil
    }
  }

  /// The elements, each of them converted.
  package var values: [CELValue] {
    switch self {
    case .values(let values): values
    case .json(let elements): elements.map { CELValue($0) }
    }
  }
}

/// A map: computed, or a JSON object.
package enum CELMap: Sendable {
  case table(CELTable)
  case json([String: JSONValue])

  package var count: Int {
    switch self {
    case .table(let table): table.entries.count
    case .json(let members): members.count
    }
  }

  /// Returns the value of a key; nil if there is none, also if no map can have such a key.
  package func value(of key: CELValue) -> CELValue? {
    switch self {
    case .table(let table): return table.value(of: key)
    case .json(let members):
      guard case .string(let key) = key else { return nil }
      return members[key].map { CELValue($0) }
    }
  }

  /// Returns the value of a key that is a text.
  func value(of key: String) -> CELValue? {
    if case .json(let members) = self {
      members[key].map { CELValue($0) }
    } else {
      value(of: .string(key))
    }
  }

  /// The keys: in the order of an expression, and those of a JSON object sorted, because it has no
  /// order.
  package var keys: [CELValue] {
    switch self {
    case .table(let table): table.entries.map(\.key)
    case .json(let members): members.keys.sorted().map { .string($0) }
    }
  }
}

/// The entries of a computed map, in the order in which they were written.
package struct CELTable: Sendable {
  package private(set) var entries: [(key: CELValue, value: CELValue)] = []
  private var indices: [Key: Int] = [:]

  package init() {}

  /// Adds an entry.
  package mutating func add(_ key: CELValue, _ value: CELValue) throws(CELFault) {
    // A whole double finds an entry, but is no key of its own.
    if case .double = key { throw .badKey(.double) }
    guard let entryKey = Key(key) else { throw .badKey(key.typeName) }
    guard indices.updateValue(entries.count, forKey: entryKey) == nil else { throw .repeatedKey }
    entries.append((key, value))
  }

  func value(of key: CELValue) -> CELValue? {
    guard let key = Key(key), let index = indices[key] else { return nil }
    return entries[index].value
  }

  /// A key by its value: numbers of different types are one key if they are equal.
  private enum Key: Hashable {
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case text([UInt8])

    init?(_ value: CELValue) {
      switch value {
      case .bool(let flag): self = .bool(flag)
      case .int(let number): self = .int(number)
      case .uint(let number): self = Int64(exactly: number).map { .int($0) } ?? .uint(number)
      case .double(let number):
        if let whole = Int64(exactly: number) {
          self = .int(whole)
        } else if let whole = UInt64(exactly: number) {
          self = .uint(whole)
        } else {
          return nil
        }
      // Swift would take canonically equivalent texts for one key.
      case .string(let text): self = .text(Array(text.utf8))
      default: return nil
      }
    }
  }
}
