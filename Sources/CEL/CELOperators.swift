import Base

/// The operators and functions of CEL on values.
enum CELOperators {
  static func unary(_ function: CELFunction, _ operand: CELValue) throws(CELFault) -> CELValue {
    switch (function, operand) {
    case (.not, .bool(let flag)): return .bool(!flag)
    case (.negate, .int(let number)):
      return .int(try checked(Int64(0).subtractingReportingOverflow(number)))
    case (.negate, .double(let number)): return .double(-number)
    default: throw .noOverload(function.rawValue, [operand.typeName])
    }
  }

  static func binary(
    _ function: CELFunction, _ left: CELValue, _ right: CELValue, _ steps: inout CELSteps
  ) throws(CELFault) -> CELValue {
    switch function {
    case .equal: return .bool(try areEqual(left, right, &steps))
    case .notEqual: return .bool(!(try areEqual(left, right, &steps)))
    case .less, .lessEqual, .greater, .greaterEqual:
      return .bool(try compare(function, left, right, &steps))
    case .contained: return .bool(try isContained(left, in: right, &steps))
    default: return try arithmetic(function, left, right, &steps)
    }
  }

  private static func checked<Number: FixedWidthInteger>(
    _ result: (partialValue: Number, overflow: Bool)
  ) throws(CELFault) -> Number {
    if result.overflow { throw .overflow }
    return result.partialValue
  }

  // MARK: - Arithmetic

  private static func arithmetic(
    _ function: CELFunction, _ left: CELValue, _ right: CELValue, _ steps: inout CELSteps
  ) throws(CELFault) -> CELValue {
    switch (left, right) {
    case (.int(let left), .int(let right)): return .int(try whole(function, left, right))
    case (.uint(let left), .uint(let right)): return .uint(try whole(function, left, right))
    case (.double(let left), .double(let right)):
      switch function {
      case .add: return .double(left + right)
      case .subtract: return .double(left - right)
      case .multiply: return .double(left * right)
      case .divide: return .double(left / right)
      default: break
      }
    case (.string(let left), .string(let right)) where function == .add:
      try steps.spend(bytes: left.utf8.count + right.utf8.count)
      return .string(left + right)
    case (.bytes(let left), .bytes(let right)) where function == .add:
      try steps.spend(bytes: left.count + right.count)
      return .bytes(left + right)
    case (.list(let left), .list(let right)) where function == .add:
      try steps.spend(left.count.addingSaturating(right.count))
      return .list(.values(left.values + right.values))
    case (.timestamp(let instant), .duration(let duration)) where function == .add:
      return .timestamp(try instant.adding(duration))
    case (.duration(let duration), .timestamp(let instant)) where function == .add:
      return .timestamp(try instant.adding(duration))
    case (.timestamp(let instant), .duration(let duration)) where function == .subtract:
      return .timestamp(try instant.subtracting(duration))
    case (.timestamp(let left), .timestamp(let right)) where function == .subtract:
      return .duration(try left.since(right))
    case (.duration(let left), .duration(let right)) where function == .add:
      return .duration(try inRange(left.addingReportingOverflow(right)))
    case (.duration(let left), .duration(let right)) where function == .subtract:
      return .duration(try inRange(left.subtractingReportingOverflow(right)))
    default: break
    }
    throw .noOverload(function.rawValue, [left.typeName, right.typeName])
  }

  private static func inRange(
    _ result: (partialValue: Int64, overflow: Bool)
  ) throws(CELFault) -> Int64 {
    if result.overflow { throw .outOfRange }
    return result.partialValue
  }

  private static func whole<Number: FixedWidthInteger>(
    _ function: CELFunction, _ left: Number, _ right: Number
  ) throws(CELFault) -> Number {
    switch function {
    case .add: return try checked(left.addingReportingOverflow(right))
    case .subtract: return try checked(left.subtractingReportingOverflow(right))
    case .multiply: return try checked(left.multipliedReportingOverflow(by: right))
    default:
      if right == 0 { throw .divideByZero }
      return try checked(
        function == .divide
          ? left.dividedReportingOverflow(by: right)
          : left.remainderReportingOverflow(dividingBy: right))
    }
  }

  // MARK: - Lookup

  static func element(_ index: CELValue, of target: CELValue) throws(CELFault) -> CELValue {
    switch target {
    case .map(let map):
      switch index {
      case .bool, .int, .uint, .double, .string: break
      default: throw .badKey(index.typeName)
      }
      if let value = map.value(of: index) { return value }
      throw .missing
    case .list(let list):
      let listIndex: Int?
      switch index {
      case .int(let number): listIndex = Int(exactly: number)
      case .uint(let number): listIndex = Int(exactly: number)
      case .double(let number): listIndex = Int(exactly: number)
      default: throw .noOverload("[]", [.list, index.typeName])
      }
      if let value = listIndex.flatMap(list.element) { return value }
      throw .indexOutOfBounds
    default: throw .noOverload("[]", [target.typeName, index.typeName])
    }
  }

  private static func isContained(
    _ value: CELValue, in container: CELValue, _ steps: inout CELSteps
  ) throws(CELFault) -> Bool {
    switch container {
    case .map(let map): return map.value(of: value) != nil
    case .list(let list):
      for index in 0..<list.count {
        guard let element = list.element(at: index) else { break }
        if try areEqual(value, element, &steps) { return true }
      }
      return false
    default: throw .noOverload("in", [value.typeName, container.typeName])
    }
  }

  // MARK: - Functions

  static func call(
    _ function: CELFunction, _ arguments: [CELValue], _ steps: inout CELSteps
  ) throws(CELFault) -> CELValue {
    guard let first = arguments.first else { throw .noOverload(function.rawValue, []) }
    switch function {
    case .size: return .int(Int64(try size(first, &steps)))
    case .startsWith, .endsWith, .contains, .matches:
      guard arguments.count == 2, case .string(let text) = first,
        case .string(let other) = arguments[1]
      else { throw .noOverload(function.rawValue, arguments.map(\.typeName)) }
      return .bool(try text.answers(function, other, &steps))
    case .abs: return try magnitude(first)
    case .least, .greatest: return try extreme(function, arguments, &steps)
    case .getFullYear, .getMonth, .getDate, .getDayOfMonth, .getDayOfWeek, .getDayOfYear,
      .getHours, .getMinutes, .getSeconds, .getMilliseconds:
      return .int(try CELCalendar.part(function, arguments))
    default:
      if function == .bytes || function == .string, case .string(let text) = first {
        try steps.spend(bytes: text.utf8.count)
      }
      return try convert(first, by: function)
    }
  }

  private static func size(
    _ value: CELValue, _ steps: inout CELSteps
  ) throws(CELFault) -> Int {
    switch value {
    case .string(let text):
      try steps.spend(bytes: text.utf8.count)
      return text.unicodeScalars.count
    case .bytes(let bytes): return bytes.count
    case .list(let list): return list.count
    case .map(let map): return map.count
    default: throw .noOverload("size", [value.typeName])
    }
  }

  private static func magnitude(_ value: CELValue) throws(CELFault) -> CELValue {
    switch value {
    case .int(let number):
      guard let magnitude = Int64(exactly: number.magnitude) else { throw .overflow }
      return .int(magnitude)
    case .uint: return value
    case .double(let number): return .double(number.magnitude)
    default: throw .noOverload(CELFunction.abs.rawValue, [value.typeName])
    }
  }

  /// Returns the least or the greatest of some numbers; of equal ones the first.
  private static func extreme(
    _ function: CELFunction, _ arguments: [CELValue], _ steps: inout CELSteps
  ) throws(CELFault) -> CELValue {
    var values = arguments
    if arguments.count == 1, case .list(let list) = arguments[0] {
      try steps.spend(list.count)
      values = list.values
    }
    guard var best = values.first, values.allSatisfy(\.isNumber) else {
      throw .noOverload(function.rawValue, arguments.map(\.typeName))
    }
    for value in values.dropFirst() {
      let order = CELNumber.order(value, best)
      if order == (function == .least ? .before : .after) { best = value }
    }
    return best
  }
}

extension String {
  fileprivate func answers(
    _ function: CELFunction, _ other: String, _ steps: inout CELSteps
  ) throws(CELFault) -> Bool {
    try steps.spend(bytes: utf8.count + other.utf8.count)
    switch function {
    case .startsWith: return utf8.starts(with: other.utf8)
    case .endsWith: return utf8.reversed().starts(with: other.utf8.reversed())
    case .contains: return try Self.isFound(Array(other.utf8), in: Array(utf8))
    default:
      do {
        return try LinearRegex(other).isFound(in: self, &steps)
      } catch let fault as CELFault {
        throw fault
      } catch {
        throw .badPattern(
          "the pattern \(other.quotedBrief): \((error as? LinearRegex.Mistake)?.text ?? "")")
      }
    }
  }

  /// Searches in time that is linear in both sizes (Knuth, Morris and Pratt).
  private static func isFound(_ needle: [UInt8], in text: [UInt8]) throws(CELFault) -> Bool {
    if needle.isEmpty { return true }
    if needle.count > text.count { return false }
    var borders = [0]
    var length = 0
    for byte in needle.dropFirst() {
      while length > 0, needle[length] != byte { length = borders[length - 1] }
      if needle[length] == byte { length += 1 }
      borders.append(length)
    }
    length = 0
    for byte in text {
      while length > 0, needle[length] != byte { length = borders[length - 1] }
      if needle[length] == byte { length += 1 }
      if length == needle.count { return true }
    }
    return false
  }
}
