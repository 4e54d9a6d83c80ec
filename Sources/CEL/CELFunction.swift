/// An operator or a function; the raw value is its name in expressions and messages.
package enum CELFunction: String, CaseIterable, Sendable {
  case not = "!"
  case negate = "unary -"
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case modulo = "%"
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessEqual = "<="
  case greater = ">"
  case greaterEqual = ">="
  case contained = "in"
  case index = "[]"
  case size, startsWith, endsWith, contains, matches
  case int, uint, double, string, bool, bytes, timestamp, duration, type, dyn
  case getFullYear, getMonth, getDate, getDayOfMonth, getDayOfWeek, getDayOfYear
  case getHours, getMinutes, getSeconds, getMilliseconds
  case abs = "math.abs"
  case least = "math.least"
  case greatest = "math.greatest"

  /// The functions that an expression calls by name.
  static let named = allCases.filter {
    $0.rawValue.unicodeScalars.allSatisfy { $0 == "." || $0.properties.isAlphabetic }
      && $0 != .contained
  }

  /// The parameters and the result of one form of a function.
  struct Overload {
    var parameters: [CELType]
    var result: CELType
    var isMethod = false
    /// Whether any number of arguments of the last parameter's type may follow.
    var isVariadic = false
  }

  var overloads: [Overload] {
    switch self {
    case .not: Self.same([.bool], count: 1)
    case .negate: Self.same([.int, .double], count: 1)
    case .add:
      Self.same([.int, .uint, .double, .string, .bytes, .list(.dyn), .duration], count: 2) + [
        Overload(parameters: [.timestamp, .duration], result: .timestamp),
        Overload(parameters: [.duration, .timestamp], result: .timestamp),
      ]
    case .subtract:
      Self.same([.int, .uint, .double, .duration], count: 2) + [
        Overload(parameters: [.timestamp, .timestamp], result: .duration),
        Overload(parameters: [.timestamp, .duration], result: .timestamp),
      ]
    case .multiply, .divide: Self.same([.int, .uint, .double], count: 2)
    case .modulo: Self.same([.int, .uint], count: 2)
    case .less, .lessEqual, .greater, .greaterEqual:
      ([.bool, .string, .bytes, .timestamp, .duration].map { ($0, $0) } + Self.pairsOfNumbers)
        .map { Overload(parameters: [$0, $1], result: .bool) }
    case .equal, .notEqual, .contained, .index: []
    case .size:
      [CELType.string, .bytes, .list(.dyn), .map(.dyn, .dyn)].flatMap { type in
        [false, true].map { Overload(parameters: [type], result: .int, isMethod: $0) }
      }
    case .startsWith, .endsWith, .contains:
      [Overload(parameters: [.string, .string], result: .bool, isMethod: true)]
    case .matches:
      [false, true].map {
        Overload(parameters: [.string, .string], result: .bool, isMethod: $0)
      }
    case .int: Self.conversion([.int, .uint, .double, .string, .timestamp], to: .int)
    case .uint: Self.conversion([.uint, .int, .double, .string], to: .uint)
    case .double: Self.conversion([.double, .int, .uint, .string], to: .double)
    case .string:
      Self.conversion(
        [.string, .int, .uint, .double, .bool, .bytes, .timestamp, .duration], to: .string)
    case .bool: Self.conversion([.bool, .string], to: .bool)
    case .bytes: Self.conversion([.bytes, .string], to: .bytes)
    case .timestamp: Self.conversion([.timestamp, .string, .int], to: .timestamp)
    case .duration: Self.conversion([.duration, .string], to: .duration)
    case .type: Self.conversion([.dyn], to: .type)
    case .dyn: Self.conversion([.dyn], to: .dyn)
    case .getFullYear, .getMonth, .getDate, .getDayOfMonth, .getDayOfWeek, .getDayOfYear:
      Self.ofTimestamp
    case .getHours, .getMinutes, .getSeconds, .getMilliseconds:
      Self.ofTimestamp + [Overload(parameters: [.duration], result: .int, isMethod: true)]
    case .abs: Self.same([.int, .uint, .double], count: 1)
    case .least, .greatest:
      [
        Overload(parameters: [.list(.dyn)], result: .dyn)
      ] + Self.same([.int, .uint, .double], count: 1, isVariadic: true)
        + [Overload(parameters: [.dyn], result: .dyn, isVariadic: true)]
    }
  }

  private static func same(
    _ types: [CELType], count: Int, isVariadic: Bool = false
  ) -> [Overload] {
    types.map {
      Overload(
        parameters: Array(repeating: $0, count: count), result: $0, isVariadic: isVariadic)
    }
  }

  private static func conversion(_ types: [CELType], to result: CELType) -> [Overload] {
    types.map { Overload(parameters: [$0], result: result) }
  }

  private static var pairsOfNumbers: [(CELType, CELType)] {
    let numbers: [CELType] = [.int, .uint, .double]
    return numbers.flatMap { left in numbers.map { (left, $0) } }
  }

  private static var ofTimestamp: [Overload] {
    [
      Overload(parameters: [.timestamp], result: .int, isMethod: true),
      Overload(parameters: [.timestamp, .string], result: .int, isMethod: true),
    ]
  }
}

extension CELFunction.Overload {
  func accepts(_ arguments: [CELType]) -> Bool {
    guard arguments.count == parameters.count || isVariadic && arguments.count > parameters.count
    else { return false }
    return arguments.indices.allSatisfy { index in
      // Null is known not to be one of them; whether a nullable value is null is found later.
      parameters[min(index, parameters.count - 1)].accepts(arguments[index])
    }
  }
}

extension CELFunction {
  /// Returns the type of a call's value; dyn if it depends on types that are not known yet.
  func result(
    of arguments: [CELType], isMethod: Bool, at offset: Int
  ) throws(CELProblem) -> CELType {
    let forms = overloads
    let fitting = forms.filter { $0.isMethod == isMethod && $0.accepts(arguments) }
    if let first = fitting.first {
      return fitting.allSatisfy { $0.result == first.result } ? first.result : .dyn
    }
    if forms.contains(where: { $0.isMethod != isMethod && $0.accepts(arguments) }) {
      throw CELProblem(
        offset: offset, found: isMethod ? "x.\(rawValue)()" : "\(rawValue)(x)",
        expected: isMethod ? "\(rawValue)(x)" : "x.\(rawValue)(…)")
    }
    // What may stand next to the first value, if it is one of the possible ones.
    let first = arguments.first?.present.possible ?? []
    let near = forms.filter { $0.parameters.first.map(first.contains) == true }
    var known: [String] = []
    for form in near.isEmpty ? forms : near {
      let text = form.parameters.map(\.word).joined(separator: " and ")
      if !known.contains(text) { known.append(text) }
    }
    let types = arguments.map(\.word).joined(separator: " and ")
    throw CELProblem(
      offset: offset, found: "\(rawValue) of \(types.isEmpty ? "nothing" : types)",
      expected: known.isEmpty ? "other values" : known.joined(separator: ", or "))
  }
}
