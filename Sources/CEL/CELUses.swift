package import Base

/// A value of a ride or an event that an expression reads.
package struct CELUse: Hashable, Sendable {
  /// The variable of the environment, by index, and the keys below it.
  package var variable: Int
  package var path: [String]
  /// A value with which a comparison holds; nil if the value is compared with nothing that is
  /// written out.
  package var fitting: JSONValue?
  /// What `has()` asks for, if that is how it is read.
  package var presence: Presence?

  /// Whether the expression asks for a value to be there, `has(x)`, or not, `!has(x)`.
  package enum Presence: Hashable, Sendable {
    case present, absent
  }
}

extension CELProgram {
  /// What the expression reads below its variables, in the order of its text.
  package var uses: [CELUse] { code.conditionUses }
}

extension CELCode {
  /// What it reads as a condition.
  fileprivate var conditionUses: [CELUse] { uses(fitting: .bool(true)) }

  private var uses: [CELUse] {
    if let use { return [use] }
    switch self {
    case .constant, .variable, .local, .hasVariable: return []
    case .unary(.not, .hasField(let code, let name, let part), _):
      return CELCode.field(code, name, part: part).uses(asking: .absent)
    case .unary(.not, let code, _) where code.use != nil: return code.uses(fitting: .bool(false))
    case .field(let code, _, _), .unary(_, let code, _), .matches(let code, _, _):
      return code.uses
    case .hasField(let code, let name, let part):
      return CELCode.field(code, name, part: part).uses(asking: .present)
    case .binary(let function, let left, let right, _):
      if let use = left.use { return [use.compared(by: function, with: right)] + right.uses }
      return left.uses + right.uses
    case .index(let left, let right, _): return left.uses + right.uses
    case .and(let codes, _), .or(let codes, _):
      return codes.flatMap { $0.uses(fitting: .bool(true)) }
    case .call(_, let codes, _), .host(_, let codes, _), .list(let codes):
      return codes.flatMap(\.uses)
    case .map(let entries, _): return entries.flatMap { $0.key.uses + $0.value.uses }
    case .conditional(let condition, let first, let second, _):
      return condition.uses + first.uses + second.uses
    case .each(_, let range, let body, _): return range.uses + body.flatMap(\.uses)
    }
  }

  private func uses(asking presence: CELUse.Presence) -> [CELUse] {
    guard var use else { return uses }
    use.presence = presence
    return [use]
  }

  /// What it reads as a condition, which holds with a flag of this value.
  private func uses(fitting flag: JSONValue) -> [CELUse] {
    guard var use else { return uses }
    use.fitting = flag
    return [use]
  }

  /// What it reads, if it is no more than a path of names.
  private var use: CELUse? {
    guard case .field(let code, let name, _) = self else { return nil }
    if case .variable(let index) = code { return CELUse(variable: index, path: [name]) }
    guard var use = code.use else { return nil }
    use.path.append(name)
    return use
  }

  /// The values that it is written out with.
  fileprivate var literals: [JSONValue] {
    switch self {
    case .constant(.bool(let flag)): [.bool(flag)]
    case .constant(.int(let number)): [.integer(number)]
    case .constant(.uint(let number)): Int64(exactly: number).map { [.integer($0)] } ?? []
    case .constant(.double(let number)): [.number(number)]
    case .constant(.string(let text)): text.isEmpty ? [] : [.string(text)]
    case .list(let codes): codes.flatMap(\.literals)
    default: []
    }
  }
}

extension CELUse {
  /// Returns the use with a value for which a comparison holds, if the other side is written out.
  fileprivate func compared(by function: CELFunction, with other: CELCode) -> CELUse {
    var use = self
    let literal = other.literals.first
    switch function {
    case .equal, .contained, .lessEqual, .greaterEqual: use.fitting = literal
    case .less: use.fitting = literal?.moved(by: -1)
    case .greater: use.fitting = literal?.moved(by: 1)
    default: break
    }
    return use
  }
}

extension JSONValue {
  fileprivate func moved(by step: Int64) -> JSONValue? {
    switch self {
    case .integer(let number):
      let (moved, overflows) = number.addingReportingOverflow(step)
      return overflows ? nil : .integer(moved)
    case .number(let number): return .number(number + Double(step))
    default: return nil
    }
  }
}
