/// Parses an expression.
struct CELParser {
  private var tokens: CELTokens
  private var depth = 0

  private init(_ text: [Unicode.Scalar]) throws(CELProblem) { tokens = try CELTokens(text) }

  static func parse(_ text: [Unicode.Scalar]) throws(CELProblem) -> CELNode {
    guard text.count <= CELBudget.length else {
      throw CELProblem(
        offset: 0, found: "an expression of \(text.count) characters",
        expected: "at most \(CELBudget.length)")
    }
    var parser = try CELParser(text)
    let node = try parser.expression()
    guard parser.kind == .end else {
      throw parser.tokens.unexpected("an operator, or the end of the expression")
    }
    return node
  }

  private var kind: CELToken.Kind { tokens.kind }
  private var start: Int { tokens.start }

  /// Returns a node, unless it is nested too deep: evaluating it needs as many stack frames.
  private func node(
    _ kind: CELNode.Kind, from start: Int, at offset: Int? = nil, in children: [CELNode] = []
  ) throws(CELProblem) -> CELNode {
    let node = CELNode(kind, start..<max(start, tokens.end), at: offset, in: children)
    if node.depth <= CELBudget.depth { return node }
    throw tooDeep(at: start)
  }

  private func tooDeep(at offset: Int) -> CELProblem {
    CELProblem(
      offset: offset, found: "an expression of more than \(CELBudget.depth) levels",
      expected: "a simpler one")
  }

  // MARK: - Operators

  private mutating func expression() throws(CELProblem) -> CELNode {
    depth += 1
    defer { depth -= 1 }
    if depth > CELBudget.depth { throw tooDeep(at: start) }
    let start = self.start
    let condition = try or()
    let offset = self.start
    guard tokens.take("?") else { return condition }
    let first = try or()
    try tokens.require(":")
    let second = try expression()
    return try node(
      .conditional(condition, first, second), from: start, at: offset,
      in: [condition, first, second])
  }

  private mutating func or() throws(CELProblem) -> CELNode {
    let start = self.start
    var nodes = [try and()]
    while tokens.take("||") { nodes.append(try and()) }
    return nodes.count == 1 ? nodes[0] : try node(.or(nodes), from: start, in: nodes)
  }

  private mutating func and() throws(CELProblem) -> CELNode {
    let start = self.start
    var nodes = [try binary(1)]
    while tokens.take("&&") { nodes.append(try binary(1)) }
    return nodes.count == 1 ? nodes[0] : try node(.and(nodes), from: start, in: nodes)
  }

  /// The operators by level, the loosest first; those of one level group from the left.
  private static let operators: [[String: CELFunction]] = [
    [
      "<": .less, "<=": .lessEqual, ">": .greater, ">=": .greaterEqual, "==": .equal,
      "!=": .notEqual, "in": .contained,
    ],
    ["+": .add, "-": .subtract],
    ["*": .multiply, "/": .divide, "%": .modulo],
  ]

  private var operatorName: String? {
    switch kind {
    case .sign(let sign): sign
    case .identifier("in"): "in"
    default: nil
    }
  }

  private mutating func binary(_ level: Int) throws(CELProblem) -> CELNode {
    if level > Self.operators.count { return try unary() }
    let start = self.start
    var left = try binary(level + 1)
    while let function = operatorName.flatMap({ Self.operators[level - 1][$0] }) {
      let offset = self.start
      tokens.advance()
      let right = try binary(level + 1)
      left = try node(
        .binary(function, left, right), from: start, at: offset, in: [left, right])
    }
    return left
  }

  private static let signs: [String: CELFunction] = ["!": .not, "-": .negate]

  private mutating func unary() throws(CELProblem) -> CELNode {
    guard case .sign(let sign) = kind, let function = Self.signs[sign] else { return try member() }
    var offsets: [Int] = []
    while kind == .sign(sign) {
      offsets.append(self.start)
      tokens.advance()
    }
    // The smallest integer has no positive counterpart: the sign belongs to the number.
    if function == .negate, let literal = negative() {
      let offset = offsets.removeLast()
      tokens.advance()
      let number = try node(.literal(literal), from: offset)
      return try repeated(function, offsets, try member(after: number))
    }
    return try repeated(function, offsets, try member())
  }

  private func negative() -> CELValue? {
    switch kind {
    case .integer(let magnitude):
      magnitude == Int64.min.magnitude ? .int(.min) : Int64(exactly: magnitude).map { .int(-$0) }
    case .number(let number): .double(-number)
    default: nil
    }
  }

  private func repeated(
    _ function: CELFunction, _ offsets: [Int], _ operand: CELNode
  ) throws(CELProblem) -> CELNode {
    var result = operand
    for offset in offsets.reversed() {
      result = try node(.unary(function, result), from: offset, at: offset, in: [result])
    }
    return result
  }

  // MARK: - Members and values

  private mutating func member() throws(CELProblem) -> CELNode {
    try member(after: try primary())
  }

  private mutating func member(after first: CELNode) throws(CELProblem) -> CELNode {
    var result = first
    let start = first.range.lowerBound
    while true {
      let bracket = self.start
      if tokens.take(".") {
        let offset = self.start
        let name = try fieldName()
        if tokens.take("(") {
          result = try method(name, of: result, from: start, at: offset)
        } else {
          result = try node(.field(result, name), from: start, at: offset, in: [result])
        }
      } else if tokens.take("[") {
        let index = try expression()
        try tokens.require("]")
        result = try node(.index(result, index), from: start, at: bracket, in: [result, index])
      } else {
        return result
      }
    }
  }

  private mutating func fieldName() throws(CELProblem) -> String {
    defer { tokens.advance() }
    switch kind {
    case .identifier(let name) where !Self.keywords.contains(name): return name
    case .quotedIdentifier(let name): return name
    default: throw tokens.unexpected("the name of a field")
    }
  }

  private mutating func method(
    _ name: String, of target: CELNode, from start: Int, at offset: Int
  ) throws(CELProblem) -> CELNode {
    let arguments = try list(until: ")")
    let children = [target] + arguments
    if let macro = CELMacro(name: name), Self.isMacro(macro, arguments.count) {
      guard case .name(let variable) = arguments[0].kind else {
        throw CELProblem(
          offset: arguments[0].range.lowerBound, found: "no name in \(name)",
          expected: "a variable first, such as x in \(name)(x, x > 1)")
      }
      return try node(
        .each(macro, over: target, variable: variable, Array(arguments.dropFirst())), from: start,
        at: offset, in: children)
    }
    return try node(
      .call(name, isMethod: true, children), from: start, at: offset, in: children)
  }

  private static func isMacro(_ macro: CELMacro, _ count: Int) -> Bool {
    count == 2 || macro == .map && count == 3
  }

  private mutating func list(until close: String) throws(CELProblem) -> [CELNode] {
    var nodes: [CELNode] = []
    if tokens.take(close) { return nodes }
    while true {
      nodes.append(try expression())
      if tokens.take(close) { return nodes }
      guard tokens.take(",") else { throw tokens.unexpected("\",\" or \"\(close)\"") }
      if close == "]", tokens.take(close) { return nodes }
    }
  }

  /// Words that are not names.
  private static let keywords: Set<String> = ["true", "false", "null", "in"]
  /// Words that are no names of variables.
  private static let reserved: Set<String> = [
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
    "package", "namespace", "return", "var", "void", "while",
  ]

  private mutating func primary() throws(CELProblem) -> CELNode {
    let start = self.start
    let first = kind
    if case .identifier(let name) = first { return try named(name) }
    if tokens.take("(") {
      let inner = try expression()
      try tokens.require(")")
      return try node(inner.kind, from: start, at: inner.offset, in: inner.children)
    }
    if tokens.take("[") {
      let elements = try list(until: "]")
      return try node(.list(elements), from: start, in: elements)
    }
    if tokens.take("{") { return try map(from: start) }
    // `.name` is the name itself: there is no package that it could be in.
    if tokens.take("."), case .identifier(let name) = kind { return try named(name) }
    let value: CELValue? =
      switch first {
      case .integer(let magnitude): Int64(exactly: magnitude).map { .int($0) }
      case .unsigned(let number): .uint(number)
      case .number(let number): .double(number)
      case .string(let text): .string(text)
      case .bytes(let bytes): .bytes(bytes)
      default: nil
      }
    guard let value else {
      if case .integer = first { throw tokens.unexpected("a whole number of 64 bits") }
      throw tokens.unexpected("a value")
    }
    tokens.advance()
    return try node(.literal(value), from: start)
  }

  private mutating func named(_ name: String) throws(CELProblem) -> CELNode {
    let start = self.start
    switch name {
    case "true", "false", "null":
      tokens.advance()
      return try node(
        .literal(name == "null" ? .null : .bool(name == "true")), from: start)
    case "in": throw tokens.unexpected("a value")
    default: break
    }
    if Self.reserved.contains(name) {
      throw tokens.unexpected("another name: CEL reserves this word")
    }
    tokens.advance()
    if kind == .sign("{") {
      throw tokens.unexpected("an operator: messages such as \(name){…} are not supported")
    }
    guard tokens.take("(") else { return try node(.name(name), from: start) }
    let arguments = try list(until: ")")
    if name == "has" {
      guard arguments.count == 1, case .field(let target, let field) = arguments[0].kind else {
        throw CELProblem(
          offset: start, found: "has without a field",
          expected: "a field, such as has(ride.attributes.eta)")
      }
      return try node(
        .hasField(target, field), from: start, at: arguments[0].offset, in: [target])
    }
    return try node(.call(name, isMethod: false, arguments), from: start, in: arguments)
  }

  private mutating func map(from start: Int) throws(CELProblem) -> CELNode {
    var entries: [(key: CELNode, value: CELNode)] = []
    while !tokens.take("}") {
      let key = try expression()
      try tokens.require(":")
      entries.append((key, try expression()))
      if tokens.take(",") { continue }
      guard kind == .sign("}") else { throw tokens.unexpected("\",\" or \"}\"") }
    }
    return try node(
      .map(entries), from: start, in: entries.flatMap { [$0.key, $0.value] })
  }
}
