// How single values, lists and dictionaries are stored as JSON.

extension Bool: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    guard case .bool(let flag) = stored else { throw StoredFault(stored, isNot: "true or false") }
    self = flag
  }

  package func store(in json: inout [UInt8]) {
    json.append(contentsOf: (self ? "true" : "false").utf8)
  }
}

extension Int64: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    guard case .integer(let number) = stored else {
      throw StoredFault(stored, isNot: "a whole number")
    }
    self = number
  }

  package func store(in json: inout [UInt8]) { json.append(json: self) }
}

extension Int: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) { self.init(try Int64(stored: stored)) }

  package func store(in json: inout [UInt8]) { json.append(json: Int64(self)) }
}

extension Double: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    switch stored {
    case .integer(let number): self = Double(number)
    case .number(let number): self = number
    default: throw StoredFault(stored, isNot: "a number")
    }
  }

  package func store(in json: inout [UInt8]) { json.append(json: .number(self)) }
}

extension JSONValue: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) { self = stored }

  package func store(in json: inout [UInt8]) { json.append(json: self) }
}

extension String: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    guard case .string(let text) = stored else { throw StoredFault(stored, isNot: "a text") }
    self = text
  }

  package func store(in json: inout [UInt8]) { json.append(json: self) }
}

/// A value that is stored as one text or number.
package protocol StoredAsRaw: StoredValue, RawRepresentable where RawValue: StoredValue {}

extension StoredAsRaw {
  package init(stored: JSONValue) throws(StoredFault) {
    guard let value = Self(rawValue: try RawValue(stored: stored)) else {
      throw StoredFault(stored, isNot: "a known value")
    }
    self = value
  }

  package func store(in json: inout [UInt8]) { rawValue.store(in: &json) }
}

/// A time is stored as whole microseconds since 1970.
extension Timestamp: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    self.init(microseconds: try Int64(stored: stored))
  }

  package func store(in json: inout [UInt8]) { json.append(json: microseconds) }
}

extension Array: StoredValue where Element: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    guard case .array(let values) = stored else { throw StoredFault(stored, isNot: "a list") }
    self = []
    reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      do throws(StoredFault) {
        append(try Element(stored: value))
      } catch {
        throw error.within("\(index)")
      }
    }
  }

  package func store(in json: inout [UInt8]) {
    json.append(UInt8(ascii: "["))
    for (index, value) in enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      value.store(in: &json)
    }
    json.append(UInt8(ascii: "]"))
  }
}

/// A dictionary is stored as an object; one by number as a list of keys and values in turn.
extension Dictionary: StoredValue where Key: StoredKey, Value: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    self = [:]
    for (name, value) in try Key.members(of: stored) {
      do throws(StoredFault) {
        self[try Key(stored: name)] = try Value(stored: value)
      } catch {
        throw error.within(String(decoding: name.json, as: UTF8.self))
      }
    }
  }

  package func store(in json: inout [UInt8]) {
    let (opening, colon, closing) = Key.punctuation
    json.append(opening)
    var isFirst = true
    for (key, value) in self {
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      key.store(in: &json)
      json.append(colon)
      value.store(in: &json)
    }
    json.append(closing)
  }
}

/// The key of a dictionary that is stored as JSON.
package protocol StoredKey: StoredValue, Hashable {
  /// The opening bracket, what is between a key and its value, and the closing bracket.
  static var punctuation: (UInt8, UInt8, UInt8) { get }

  static func members(of stored: JSONValue) throws(StoredFault) -> [(JSONValue, JSONValue)]
}

extension StoredKey {
  package static var punctuation: (UInt8, UInt8, UInt8) {
    (UInt8(ascii: "{"), UInt8(ascii: ":"), UInt8(ascii: "}"))
  }

  package static func members(
    of stored: JSONValue
  ) throws(StoredFault) -> [(JSONValue, JSONValue)] {
    guard case .object(let members) = stored else { throw StoredFault(stored, isNot: "an object") }
    return members.map { (.string($0), $1) }
  }
}

extension String: StoredKey {}

extension Int64: StoredKey {
  package static var punctuation: (UInt8, UInt8, UInt8) {
    (UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: "]"))
  }

  package static func members(
    of stored: JSONValue
  ) throws(StoredFault) -> [(JSONValue, JSONValue)] {
    guard case .array(let values) = stored, values.count.isMultiple(of: 2) else {
      throw StoredFault(stored, isNot: "a list of keys and values")
    }
    return stride(from: 0, to: values.count, by: 2).map { (values[$0], values[$0 + 1]) }
  }
}
