// Conversions between the types of CEL.
extension CELOperators {
  static func convert(
    _ value: CELValue, by function: CELFunction
  ) throws(CELFault) -> CELValue {
    if case .string(let text) = value, text.utf8.count > CELBudget.valueLength,
      let type = function.valueType
    {
      throw .unreadable(text, as: type)
    }
    let converted: CELValue? =
      switch function {
      case .int: try int(value).map { .int($0) }
      case .uint: try uint(value).map { .uint($0) }
      case .double: try double(value).map { .double($0) }
      case .string: try string(value).map { .string($0) }
      case .bool: try bool(value).map { .bool($0) }
      case .bytes: bytes(value).map { .bytes($0) }
      case .timestamp: try timestamp(value).map { .timestamp($0) }
      case .duration: try duration(value).map { .duration($0) }
      case .type: .type(value.typeName)
      case .dyn: value
      default: nil
      }
    if let converted { return converted }
    throw .noOverload(function.rawValue, [value.typeName])
  }

  private static func int(_ value: CELValue) throws(CELFault) -> Int64? {
    switch value {
    case .int(let number): return number
    case .uint(let number): return try whole(number)
    case .double(let number): return try truncated(number)
    case .string(let text):
      guard let number = Int64(text) else { throw .unreadable(text, as: .int) }
      return number
    case .timestamp(let instant): return instant.seconds
    default: return nil
    }
  }

  private static func uint(_ value: CELValue) throws(CELFault) -> UInt64? {
    switch value {
    case .uint(let number): return number
    case .int(let number): return try whole(number)
    case .double(let number): return try truncated(number)
    case .string(let text):
      guard let number = UInt64(text) else { throw .unreadable(text, as: .uint) }
      return number
    default: return nil
    }
  }

  private static func whole<Number: FixedWidthInteger>(
    _ number: some FixedWidthInteger
  ) throws(CELFault) -> Number {
    guard let number = Number(exactly: number) else { throw .overflow }
    return number
  }

  /// Rounds toward zero.
  private static func truncated<Number: FixedWidthInteger>(
    _ number: Double
  ) throws(CELFault) -> Number {
    guard let number = Number(exactly: number.rounded(.towardZero)) else { throw .overflow }
    return number
  }

  private static func double(_ value: CELValue) throws(CELFault) -> Double? {
    switch value {
    case .double(let number): return number
    case .int(let number): return Double(number)
    case .uint(let number): return Double(number)
    case .string(let text):
      guard let number = Double(text) else { throw .unreadable(text, as: .double) }
      return number
    default: return nil
    }
  }

  private static func string(_ value: CELValue) throws(CELFault) -> String? {
    switch value {
    case .string(let text): return text
    case .int(let number): return String(number)
    case .uint(let number): return String(number)
    case .double(let number): return text(number)
    case .bool(let flag): return flag ? "true" : "false"
    case .bytes(let bytes):
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .unreadable("bytes that are not UTF-8", as: .string)
      }
      return text
    case .timestamp(let instant): return instant.text
    case .duration(let nanoseconds): return CELDuration.text(nanoseconds)
    default: return nil
    }
  }

  private static func bool(_ value: CELValue) throws(CELFault) -> Bool? {
    switch value {
    case .bool(let flag): return flag
    case .string(let text):
      switch text {
      case "true", "True", "TRUE", "t", "T", "1": return true
      case "false", "False", "FALSE", "f", "F", "0": return false
      default: throw .unreadable(text, as: .bool)
      }
    default: return nil
    }
  }

  private static func bytes(_ value: CELValue) -> [UInt8]? {
    switch value {
    case .bytes(let bytes): bytes
    case .string(let text): Array(text.utf8)
    default: nil
    }
  }

  private static func timestamp(_ value: CELValue) throws(CELFault) -> CELInstant? {
    switch value {
    case .timestamp(let instant): return instant
    case .string(let text): return try CELInstant(text)
    case .int(let seconds): return try CELInstant(seconds: seconds, nanoseconds: 0)
    default: return nil
    }
  }

  private static func duration(_ value: CELValue) throws(CELFault) -> Int64? {
    switch value {
    case .duration(let nanoseconds): return nanoseconds
    case .string(let text): return try CELDuration.nanoseconds(text)
    default: return nil
    }
  }

  /// The shortest text that reads back as the number, in the form that JSON and JavaScript use.
  private static func text(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    if number == number.rounded(), number.magnitude < 1e18 {
      return number == 0 && number.sign == .minus ? "-0" : String(Int64(number))
    }
    let text = "\(number)"
    guard let mark = text.firstIndex(of: "e"), let power = Int(text[text.index(after: mark)...])
    else { return text }
    var mantissa = text[..<mark]
    if mantissa.hasSuffix(".0") { mantissa.removeLast(2) }
    if (-7..<0).contains(power) {
      // Swift changes to powers of ten below 0.0001.
      let digits = mantissa.filter { $0.isNumber }
      let zeros = String(repeating: "0", count: -power - 1)
      return (number < 0 ? "-0." : "0.") + zeros + digits
    }
    return "\(mantissa)e\(power < 0 ? "" : "+")\(power)"
  }
}

extension CELFunction {
  /// The type that a conversion reads from a short text; nil for other functions.
  fileprivate var valueType: CELTypeName? {
    switch self {
    case .int: .int
    case .uint: .uint
    case .double: .double
    case .bool: .bool
    case .timestamp: .timestamp
    case .duration: .duration
    default: nil
    }
  }
}
