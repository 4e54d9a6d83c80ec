import Base

/// The values of an environment's variables.
package protocol CELInputs {
  /// Returns the value of a variable, by its index in the environment.
  func value(of variable: Int) -> CELValue

  /// Returns the value of a call of a function, by its index in the environment.
  func value(ofFunction function: Int, _ arguments: [CELValue]) throws(CELFault) -> CELValue
}

extension CELInputs {
  package func value(
    ofFunction function: Int, _ arguments: [CELValue]
  ) throws(CELFault) -> CELValue {
    throw .missing
  }
}

extension CELProgram {
  /// Evaluates the expression: always ends, and depends on nothing but its inputs.
  package func value(with inputs: any CELInputs) throws(CELError) -> CELValue {
    var work = CELWork()
    return try value(with: inputs, &work)
  }

  /// The same, as one of the evaluations of a decision.
  ///
  /// - Parameter work: what the evaluations of the decision may still cost together.
  package func value(
    with inputs: any CELInputs, _ work: inout CELWork
  ) throws(CELError) -> CELValue {
    var evaluator = CELEvaluator(inputs: inputs, steps: CELSteps(of: work))
    defer { work.spend(evaluator.steps) }
    return try evaluator.value(code)
  }
}

/// One evaluation.
struct CELEvaluator {
  private let inputs: any CELInputs
  private var locals: [CELValue] = []
  private(set) var steps: CELSteps

  init(inputs: any CELInputs, steps: CELSteps) {
    self.inputs = inputs
    self.steps = steps
  }

  mutating func value(_ code: CELCode) throws(CELError) -> CELValue {
    do {
      try steps.spend()
    } catch {
      throw CELError(fault: error, part: "if")
    }
    switch code {
    case .constant(let value): return value
    case .variable(let index): return inputs.value(of: index)
    case .local(let index): return locals[index]
    case .field(let target, let name, let part):
      switch try value(target) {
      case .map(let map):
        if let value = map.value(of: name) { return value }
        throw CELError(fault: .missing, part: part)
      case let other: throw CELError(fault: .noFields(other.typeName), part: part)
      }
    case .hasField(let target, let name, let part):
      switch try value(target) {
      case .map(let map): return .bool(map.value(of: name) != nil)
      case let other: throw CELError(fault: .noFields(other.typeName), part: part)
      }
    case .hasVariable(let index):
      if case .null = inputs.value(of: index) { return .bool(false) }
      return .bool(true)
    case .index(let target, let index, let part):
      let (target, index) = (try value(target), try value(index))
      return try at(part) { _ throws(CELFault) in try CELOperators.element(index, of: target) }
    case .unary(let function, let operand, let part):
      let operand = try value(operand)
      return try at(part) { _ throws(CELFault) in try CELOperators.unary(function, operand) }
    case .binary(let function, let left, let right, let part):
      let (left, right) = (try value(left), try value(right))
      return try at(part) { steps throws(CELFault) in
        try CELOperators.binary(function, left, right, &steps)
      }
    case .call(let function, let arguments, let part):
      let arguments = try values(arguments)
      return try at(part) { steps throws(CELFault) in
        try CELOperators.call(function, arguments, &steps)
      }
    case .host(let function, let arguments, let part):
      let arguments = try values(arguments)
      let inputs = inputs
      return try at(part) { steps throws(CELFault) in
        try steps.spend(CELBudget.hostCall)
        for case .string(let text) in arguments { try steps.spend(text.utf8.count) }
        return try inputs.value(ofFunction: function, arguments)
      }
    case .matches(let text, let regex, let part):
      let text = try value(text)
      return try at(part) { steps throws(CELFault) in
        guard case .string(let text) = text else {
          throw .noOverload("matches", [text.typeName, .string])
        }
        return .bool(try regex.isFound(in: text, &steps))
      }
    case .list(let elements): return .list(.values(try values(elements)))
    case .map(let entries, let part):
      var table = CELTable()
      for entry in entries {
        let (key, value) = (try value(entry.key), try value(entry.value))
        do { try table.add(key, value) } catch { throw CELError(fault: error, part: part) }
      }
      return .map(.table(table))
    case .conditional(let condition, let first, let second, let part):
      return try value(try bool(condition, "?", part) ? first : second)
    case .and(let parts, let part): return .bool(try isAny(false, parts, "&&", part) ? false : true)
    case .or(let parts, let part): return .bool(try isAny(true, parts, "||", part))
    case .each(let macro, let range, let body, let part):
      return try each(macro, try value(range), body, part)
    }
  }

  private mutating func values(_ codes: [CELCode]) throws(CELError) -> [CELValue] {
    var values: [CELValue] = []
    values.reserveCapacity(codes.count)
    for code in codes { values.append(try value(code)) }
    return values
  }

  /// Names the part of the expression that has no value.
  private mutating func at(
    _ part: String, _ body: (inout CELSteps) throws(CELFault) -> CELValue
  ) throws(CELError) -> CELValue {
    do {
      return try body(&steps)
    } catch {
      throw CELError(fault: error, part: part)
    }
  }

  private mutating func bool(
    _ code: CELCode, _ name: String, _ part: String
  ) throws(CELError) -> Bool {
    let value = try value(code)
    if case .bool(let flag) = value { return flag }
    throw CELError(fault: .noOverload(name, [value.typeName]), part: part)
  }

  /// Returns whether any part has the decisive value; then an error of another one is of no account.
  private mutating func isAny(
    _ decisive: Bool, _ parts: [CELCode], _ name: String, _ part: String
  ) throws(CELError) -> Bool {
    var failure: CELError?
    for code in parts {
      do {
        if try bool(code, name, part) == decisive { return true }
      } catch {
        if error.fault.isOfBudget { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return false
  }

  // MARK: - Macros

  private mutating func each(
    _ macro: CELMacro, _ range: CELValue, _ body: [CELCode], _ part: String
  ) throws(CELError) -> CELValue {
    let count: Int
    let element: (Int) -> CELValue?
    switch range {
    case .list(let list): (count, element) = (list.count, list.element)
    case .map(let map):
      do {
        // They are sorted.
        try steps.spend(map.count)
      } catch {
        throw CELError(fault: error, part: part)
      }
      let keys = map.keys
      (count, element) = (keys.count, { keys[$0] })
    default: throw CELError(fault: .noOverload(macro.rawValue, [range.typeName]), part: part)
    }
    locals.append(.null)
    defer { locals.removeLast() }
    switch macro {
    case .all, .exists:
      let found = try isAnyElement(macro == .exists, count, element, body[0], part)
      return .bool(found == (macro == .exists))
    case .existsOne:
      var found = 0
      for index in 0..<count where try holds(body[0], element(index), macro, part) { found += 1 }
      return .bool(found == 1)
    case .filter, .map:
      var values: [CELValue] = []
      for index in 0..<count {
        guard let element = element(index) else { break }
        let isWanted =
          macro == .map && body.count == 1 ? true : try holds(body[0], element, macro, part)
        locals[locals.count - 1] = element
        if !isWanted { continue }
        values.append(macro == .filter ? element : try value(body[body.count - 1]))
      }
      return .list(.values(values))
    }
  }

  private mutating func holds(
    _ condition: CELCode, _ element: CELValue?, _ macro: CELMacro, _ part: String
  ) throws(CELError) -> Bool {
    locals[locals.count - 1] = element ?? .null
    return try bool(condition, macro.rawValue, part)
  }

  /// Returns whether the condition has the decisive value for an element; see `isAny`.
  private mutating func isAnyElement(
    _ decisive: Bool, _ count: Int, _ element: (Int) -> CELValue?, _ condition: CELCode,
    _ part: String
  ) throws(CELError) -> Bool {
    var failure: CELError?
    for index in 0..<count {
      do {
        let macro: CELMacro = decisive ? .exists : .all
        if try holds(condition, element(index), macro, part) == decisive { return true }
      } catch {
        if error.fault.isOfBudget { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return false
  }
}

/// Counts the steps of an evaluation.
struct CELSteps {
  private let limit: Int
  private(set) var spent = 0

  init(of work: CELWork = CELWork()) { limit = min(CELBudget.limit, work.left) }

  init(upTo limit: Int) { self.limit = limit }

  mutating func spend(_ count: Int = 1) throws(CELFault) {
    spent = spent.addingSaturating(count)
    if spent > limit { throw limit < CELBudget.limit ? .decisionTooLong : .tooLong }
  }

  /// Spends what work on a text of this size costs.
  mutating func spend(bytes: Int) throws(CELFault) { try spend(bytes / 64) }
}

/// What the evaluations of one decision may still cost together.
package struct CELWork {
  private(set) var left = CELBudget.decision

  package init() {}

  mutating func spend(_ steps: CELSteps) {
    left = max(0, left.subtractingSaturating(min(steps.spent, CELBudget.limit)))
  }
}
