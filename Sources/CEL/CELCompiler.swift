import Base

/// Resolves the names of an expression and checks its types, as far as they are known.
struct CELCompiler {
  typealias Typed = (code: CELCode, type: CELType)

  private let text: [Unicode.Scalar]
  let environment: CELEnvironment
  private var locals: [(name: String, type: CELType)] = []
  /// The variables that the expression reads.
  private(set) var used: Set<Int> = []
  /// The functions of the environment that the expression calls.
  var called: Set<Int> = []

  init(_ text: [Unicode.Scalar], _ environment: CELEnvironment) {
    self.text = text
    self.environment = environment
  }

  mutating func compile(_ node: CELNode) throws(CELProblem) -> Typed {
    switch node.kind {
    case .literal(let value): return (.constant(value), CELType(of: value))
    case .name: return try path(node)
    case .field(let target, let name): return try field(target, name, node)
    case .hasField(let target, let name): return try hasField(target, name, node)
    case .index(let target, let index): return try self.index(target, index, node)
    case .unary(let function, let operand):
      let operand = try compile(operand)
      let type = try function.result(of: [operand.type], isMethod: false, at: node.offset)
      return (.unary(function, operand.code, part: part(node)), type)
    case .binary(let function, let left, let right):
      return try binary(function, left, right, node)
    case .call(let name, let isMethod, let arguments):
      return try call(name, isMethod, arguments, node)
    case .list(let elements):
      let elements = try compile(elements)
      let types = elements.map(\.type)
      let type = types.dropFirst().reduce(types.first ?? .dyn) { $0.joined(with: $1) }
      return (.list(elements.map(\.code)), .list(type))
    case .map(let entries): return try map(entries, node)
    case .conditional(let condition, let first, let second):
      let condition = try bool(condition, of: "?")
      let (first, second) = (try compile(first), try compile(second))
      return (
        .conditional(condition, first.code, second.code, part: part(node)),
        first.type.joined(with: second.type)
      )
    case .and(let nodes): return (.and(try bools(nodes, of: "&&"), part: part(node)), .bool)
    case .or(let nodes): return (.or(try bools(nodes, of: "||"), part: part(node)), .bool)
    case .each(let macro, let range, let variable, let body):
      return try each(macro, range, variable, body, node)
    }
  }

  mutating func compile(_ nodes: [CELNode]) throws(CELProblem) -> [Typed] {
    var typed: [Typed] = []
    for node in nodes { typed.append(try compile(node)) }
    return typed
  }

  /// The text of a part, for messages at run time.
  func part(_ node: CELNode) -> String {
    String(String.UnicodeScalarView(text[node.range])).brief(bytes: 80)
  }

  func problem(
    _ node: CELNode, _ found: String, _ expected: String, nearest: String? = nil
  ) -> CELProblem {
    CELProblem(offset: node.offset, found: found, expected: expected, nearest: nearest)
  }

  private mutating func bool(_ node: CELNode, of name: String) throws(CELProblem) -> CELCode {
    let typed = try compile(node)
    if CELType.bool.accepts(typed.type) { return typed.code }
    throw problem(node, "a value of type \(typed.type.word) with \(name)", "a bool")
  }

  private mutating func bools(_ nodes: [CELNode], of name: String) throws(CELProblem) -> [CELCode] {
    var codes: [CELCode] = []
    for node in nodes { codes.append(try bool(node, of: name)) }
    return codes
  }

  // MARK: - Names

  /// Resolves a path of names: the longest one that is a variable, and then its fields.
  private mutating func path(_ node: CELNode) throws(CELProblem) -> Typed {
    guard let path = node.path, let first = path.first else {
      return (.constant(.null), .null)
    }
    if path.count == 1, let index = locals.lastIndex(where: { $0.name == first }) {
      return (.local(index), locals[index].type)
    }
    if let variable = environment.variable(path), variable.length == path.count {
      used.insert(variable.index)
      return (.variable(variable.index), variable.type)
    }
    if let name = CELTypeName(rawValue: path.joined(separator: ".")) {
      return (.constant(.type(name)), .type)
    }
    throw environment.unknown(path, at: node.offset, locals.map(\.name))
  }

  /// Whether a path leads to a variable of the environment, or to a group of them.
  private func isOfEnvironment(_ path: [String]) -> Bool {
    guard let first = path.first, !locals.contains(where: { $0.name == first }) else {
      return false
    }
    return environment.variable(path).map { $0.length == path.count } == true
      || !environment.names(in: Array(path.dropLast())).isEmpty
        && environment.variable(path) == nil
      || CELTypeName(rawValue: path.joined(separator: ".")) != nil
  }

  private mutating func field(
    _ target: CELNode, _ name: String, _ node: CELNode
  ) throws(CELProblem) -> Typed {
    if let path = node.path, isOfEnvironment(path) { return try self.path(node) }
    let typed = try compile(target)
    let type = try self.type(of: name, in: typed.type, target, node)
    return (.field(typed.code, name, part: part(node)), type)
  }

  private mutating func hasField(
    _ target: CELNode, _ name: String, _ node: CELNode
  ) throws(CELProblem) -> Typed {
    if let path = target.path.map({ $0 + [name] }), isOfEnvironment(path) {
      guard let variable = environment.variable(path), variable.length == path.count else {
        throw environment.unknown(path, at: node.offset, locals.map(\.name))
      }
      used.insert(variable.index)
      return (.hasVariable(variable.index), .bool)
    }
    let typed = try compile(target)
    _ = try type(of: name, in: typed.type, target, node)
    return (.hasField(typed.code, name, part: part(node)), .bool)
  }

  // MARK: - Functions

  private mutating func call(
    _ name: String, _ isMethod: Bool, _ arguments: [CELNode], _ node: CELNode
  ) throws(CELProblem) -> Typed {
    var (name, isMethod, arguments) = (name, isMethod, arguments)
    if isMethod, arguments.first?.path == ["math"], environment.variable(["math"]) == nil {
      name = "math." + name
      isMethod = false
      arguments.removeFirst()
    }
    if let host = environment.host(name) { return try self.host(host, isMethod, arguments, node) }
    guard let function = CELFunction(rawValue: name), CELFunction.named.contains(function) else {
      let known = environment.callable
      let isMacro = CELMacro(name: name) != nil || name == "has"
      throw problem(
        node,
        isMacro
          ? "\(name) with \(count(arguments, isMethod))"
          : "the unknown function \(name.quotedBrief)",
        isMacro ? "such as list.\(name)(x, x > 1)" : "one of \(known.joined(separator: ", "))",
        nearest: isMacro ? nil : nearestWord(to: name, among: known))
    }
    let typed = try compile(arguments)
    let type = try function.result(
      of: typed.map(\.type), isMethod: isMethod, at: node.offset)
    let code = try CELCode.folding(function, typed.map(\.code), part(node), at: node.offset)
    return (code, type)
  }

  private func count(_ arguments: [CELNode], _ isMethod: Bool) -> String {
    let count = arguments.count - (isMethod ? 1 : 0)
    return count == 1 ? "1 argument" : "\(count) arguments"
  }

  // MARK: - Maps and macros

  private mutating func map(
    _ entries: [(key: CELNode, value: CELNode)], _ node: CELNode
  ) throws(CELProblem) -> Typed {
    var codes: [(key: CELCode, value: CELCode)] = []
    var types: (key: CELType, value: CELType)?
    for entry in entries {
      let (key, value) = (try compile(entry.key), try compile(entry.value))
      let allowed: [CELType] = [.dyn, .bool, .int, .uint, .string]
      guard key.type.present.possible.contains(where: allowed.contains) else {
        throw problem(
          entry.key, "a key of type \(key.type.word)", "a string, an int, a uint or a bool")
      }
      codes.append((key.code, value.code))
      types =
        types.map { ($0.key.joined(with: key.type), $0.value.joined(with: value.type)) }
        ?? (key.type, value.type)
    }
    return (.map(codes, part: part(node)), .map(types?.key ?? .dyn, types?.value ?? .dyn))
  }

  private mutating func each(
    _ macro: CELMacro, _ range: CELNode, _ variable: String, _ body: [CELNode], _ node: CELNode
  ) throws(CELProblem) -> Typed {
    let typed = try compile(range)
    let element: CELType
    switch typed.type.present {
    case .dyn: element = .dyn
    case .list(let type), .map(let type, _): element = type
    case .object: element = .string
    default:
      throw problem(
        range, "\(macro.rawValue) over a \(typed.type.word)", "a list, or the keys of a map")
    }
    locals.append((variable, element))
    defer { locals.removeLast() }
    var codes: [CELCode] = []
    var last = CELType.dyn
    for (index, part) in body.enumerated() {
      let isResult = macro == .map && index == body.count - 1
      if isResult {
        let result = try compile(part)
        codes.append(result.code)
        last = result.type
      } else {
        codes.append(try bool(part, of: macro.rawValue))
      }
    }
    let code = CELCode.each(macro, over: typed.code, codes, part: part(node))
    switch macro {
    case .all, .exists, .existsOne: return (code, .bool)
    case .filter: return (code, .list(element))
    case .map: return (code, .list(last))
    }
  }
}
