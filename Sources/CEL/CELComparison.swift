/// How two values are ordered.
enum CELOrder {
  case before, equal, after
  /// One of them is not a number.
  case none

  init<Value: Comparable>(_ left: Value, _ right: Value) {
    self = left < right ? .before : left > right ? .after : left == right ? .equal : .none
  }
}

extension CELValue {
  var isNumber: Bool {
    switch self {
    case .int, .uint, .double: true
    default: false
    }
  }
}

/// Comparison of numbers by their mathematical value, whatever their types.
enum CELNumber {
  static func order(_ left: CELValue, _ right: CELValue) -> CELOrder {
    switch (left, right) {
    case (.int(let left), .int(let right)): CELOrder(left, right)
    case (.uint(let left), .uint(let right)): CELOrder(left, right)
    case (.double(let left), .double(let right)): CELOrder(left, right)
    case (.int(let left), .uint(let right)):
      left < 0 ? .before : CELOrder(left.magnitude, right)
    case (.uint(let left), .int(let right)):
      right < 0 ? .after : CELOrder(left, right.magnitude)
    case (.int(let left), .double(let right)): order(left, right)
    case (.uint(let left), .double(let right)): order(left, right)
    case (.double(let left), .int(let right)): reversed(order(right, left))
    case (.double(let left), .uint(let right)): reversed(order(right, left))
    default: .none
    }
  }

  /// Swift compares an integer with a floating-point number exactly, if asked generically.
  private static func order<Whole: BinaryInteger>(_ left: Whole, _ right: Double) -> CELOrder {
    if right.isNaN { return .none }
    if right >= 0x1p64 { return .before }
    if right < -0x1p63 { return .after }
    let floor = right.rounded(.down)
    guard let whole = Whole(exactly: floor) else {
      // Beyond the range of this type: below it, or above it.
      return floor < 0 ? .after : .before
    }
    if left != whole { return CELOrder(left, whole) }
    return right > floor ? .before : .equal
  }

  private static func reversed(_ order: CELOrder) -> CELOrder {
    switch order {
    case .before: .after
    case .after: .before
    case .equal, .none: order
    }
  }
}

extension CELOperators {
  /// Returns whether two values are equal; values of different types are not, except numbers.
  static func areEqual(
    _ left: CELValue, _ right: CELValue, _ steps: inout CELSteps
  ) throws(CELFault) -> Bool {
    try steps.spend()
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.string(let left), .string(let right)):
      try steps.spend(bytes: min(left.utf8.count, right.utf8.count))
      return left.utf8.elementsEqual(right.utf8)
    case (.bytes(let left), .bytes(let right)):
      try steps.spend(bytes: min(left.count, right.count))
      return left == right
    case (.timestamp(let left), .timestamp(let right)): return left == right
    case (.duration(let left), .duration(let right)): return left == right
    case (.type(let left), .type(let right)): return left == right
    case (.list(let left), .list(let right)):
      guard left.count == right.count else { return false }
      for index in 0..<left.count {
        guard let left = left.element(at: index), let right = right.element(at: index),
          try areEqual(left, right, &steps)
        else { return false }
      }
      return true
    case (.map(let left), .map(let right)):
      guard left.count == right.count else { return false }
      try steps.spend(left.count)
      for key in left.keys {
        guard let left = left.value(of: key), let right = right.value(of: key),
          try areEqual(left, right, &steps)
        else { return false }
      }
      return true
    default: return CELNumber.order(left, right) == .equal
    }
  }

  static func compare(
    _ function: CELFunction, _ left: CELValue, _ right: CELValue, _ steps: inout CELSteps
  ) throws(CELFault) -> Bool {
    let order: CELOrder
    switch (left, right) {
    case (.bool(let left), .bool(let right)): order = CELOrder(left ? 1 : 0, right ? 1 : 0)
    case (.string(let left), .string(let right)):
      try steps.spend(bytes: min(left.utf8.count, right.utf8.count))
      // The order of UTF-8 is that of the code points.
      order = Self.order(left.utf8, right.utf8)
    case (.bytes(let left), .bytes(let right)):
      try steps.spend(bytes: min(left.count, right.count))
      order = Self.order(left, right)
    case (.timestamp(let left), .timestamp(let right)): order = CELOrder(left, right)
    case (.duration(let left), .duration(let right)): order = CELOrder(left, right)
    default:
      guard left.isNumber, right.isNumber else {
        throw .noOverload(function.rawValue, [left.typeName, right.typeName])
      }
      order = CELNumber.order(left, right)
    }
    return switch function {
    case .less: order == .before
    case .lessEqual: order == .before || order == .equal
    case .greater: order == .after
    default: order == .after || order == .equal
    }
  }

  private static func order(
    _ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>
  ) -> CELOrder {
    if left.lexicographicallyPrecedes(right) { return .before }
    return left.elementsEqual(right) ? .equal : .after
  }
}
