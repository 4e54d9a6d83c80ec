import Foundation

/// A JSON value of a ride's attributes, an event's data or a payload.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A whole number within 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Nil if the text is not valid JSON, or contains a number that no double can represent.
  package init?(json text: some Sequence<UInt8>) {
    let bytes = Array(text)
    if let value = PlainJSON.value(of: bytes) {
      self = value
      return
    }
    guard
      let value = try? JSONSerialization.jsonObject(
        with: Data(bytes), options: .fragmentsAllowed)
    else { return nil }
    self.init(foundation: value)
  }

  /// Converts a value that Foundation parsed; nil if a number is out of range.
  private init?(foundation value: Any) {
    switch value {
    case let text as String: self = .string(text)
    case let object as [String: Any]:
      var members: [String: JSONValue] = [:]
      for (key, member) in object {
        guard let member = JSONValue(foundation: member) else { return nil }
        members[key] = member
      }
      self = .object(members)
    case let array as [Any]:
      var elements: [JSONValue] = []
      for element in array {
        guard let element = JSONValue(foundation: element) else { return nil }
        elements.append(element)
      }
      self = .array(elements)
    case is NSNull: self = .null
    case let number as NSNumber: self.init(number)
    default: return nil
    }
  }

  /// Foundation represents `true` as a number that equals 1; only serializing it again
  /// distinguishes the two.
  private init?(_ number: NSNumber) {
    let double = number.doubleValue
    guard double.isFinite else { return nil }
    if double == 0 || double == 1,
      let text = try? JSONSerialization.data(withJSONObject: [number]),
      text == Data("[true]".utf8) || text == Data("[false]".utf8)
    {
      self = .bool(double == 1)
    } else if abs(double) < 0x1p63 && number == NSNumber(value: number.int64Value)
      || number.stringValue == String(number.int64Value)
    {
      // The second condition covers the ends of the range, which as doubles are just outside it.
      self = .integer(number.int64Value)
    } else {
      self = .number(double)
    }
  }

  /// Returns the value at a path of keys below this one; nil if a key is missing.
  package func value(at path: some Sequence<String>) -> JSONValue? {
    var value = self
    for key in path {
      guard case .object(let members) = value, let member = members[key] else { return nil }
      value = member
    }
    return value
  }
}

extension JSONValue: Encodable {
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }

  /// The JSON text, with sorted keys, so that equal values have equal bytes.
  package var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding fails only for non-finite numbers, and no parsed `JSONValue` contains one.
    return (try? encoder.encode(self)).map(Array.init) ?? Array("null".utf8)
  }
}
