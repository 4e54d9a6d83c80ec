/// A position in the tokens of Swift source: skips groups and expressions, and reads types.
///
/// It accepts any tokens: what it can't read is of type `other`.
struct SwiftCursor {
  let tokens: [SwiftToken]
  private(set) var index = 0
  private var depth = 0

  /// More types in types than any source has; the stack has room for them.
  private static let depthLimit = 48

  static let modifiers: Set<String> = [
    "public", "private", "fileprivate", "internal", "package", "open", "static", "class", "final",
    "lazy", "weak", "unowned", "nonisolated", "override", "mutating", "nonmutating", "required",
    "convenience", "indirect", "dynamic", "optional", "borrowing", "consuming", "distributed",
  ]

  /// The words that begin a declaration, at the start of a line.
  static let declarationWords: Set<String> = modifiers.union([
    "var", "let", "func", "init", "deinit", "subscript", "struct", "enum", "class", "actor",
    "protocol", "extension", "typealias", "case", "import",
  ])

  init(_ tokens: [SwiftToken]) { self.tokens = tokens }

  var current: SwiftToken? { index < tokens.count ? tokens[index] : nil }

  /// Whether the present token is in the line of the one before it.
  var continuesLine: Bool { current.map { !$0.startsLine } ?? false }

  func isMark(_ mark: Unicode.Scalar, _ ahead: Int = 0) -> Bool {
    index + ahead < tokens.count && tokens[index + ahead].kind == .mark(mark)
  }

  func isWord(_ word: String, _ ahead: Int = 0) -> Bool {
    index + ahead < tokens.count && tokens[index + ahead].kind == .word(word)
  }

  mutating func advance() { index += 1 }

  mutating func take(_ mark: Unicode.Scalar) -> Bool {
    guard isMark(mark) else { return false }
    index += 1
    return true
  }

  mutating func takeName() -> String? {
    switch current?.kind {
    case .word(let name), .name(let name):
      index += 1
      return name
    default: return nil
    }
  }

  /// Returns the tokens from an index up to the present one.
  func tokens(from first: Int) -> ArraySlice<SwiftToken> {
    let end = min(index, tokens.count)
    return tokens[min(first, end)..<end]
  }

  /// Skips a token, with its whole group if it is an opening bracket.
  mutating func skip() {
    var open = 0
    repeat {
      if case .mark(let mark)? = current?.kind {
        if mark == "(" || mark == "[" || mark == "{" { open += 1 }
        if mark == ")" || mark == "]" || mark == "}" { open -= 1 }
      }
      index += 1
    } while open > 0 && index < tokens.count
  }

  /// Skips what follows in this line.
  mutating func skipLine() {
    while continuesLine { index += 1 }
  }

  /// Reads an attribute, and returns its name without arguments.
  mutating func readAttribute() -> String? {
    index += 1
    var name = takeName()
    while isMark("."), continuesLine {
      index += 1
      name = takeName() ?? name
    }
    _ = skipArguments()
    if isMark("("), continuesLine { skip() }
    return name
  }

  /// Skips an expression, which ends at a comma or with its line unless an operator continues it.
  mutating func skipExpression() {
    let first = index
    while let token = current {
      switch token.kind {
      case .mark(","), .mark(";"), .mark("}"), .mark(")"), .mark("]"): return
      default: break
      }
      if index > first, token.startsLine, endsExpression(before: token) { return }
      if !skipArguments() { skip() }
    }
  }

  /// Returns whether an expression ends before the present token, the first one of its line.
  private func endsExpression(before token: SwiftToken) -> Bool {
    switch token.kind {
    case .word(let word): Self.declarationWords.contains(word) || word != "as" && !endsWithInfix
    case .mark(let mark): !Self.operators.contains(mark) && !endsWithInfix
    case .name, .number, .text: !endsWithInfix
    }
  }

  private static let operators = Set("=+-*/%&|<>?:^.!".unicodeScalars)

  /// Whether an operator with a space before it ends the line: one without belongs to its operand.
  private var endsWithInfix: Bool {
    var last = index - 1
    while last > 0, case .mark(let mark) = tokens[last].kind, Self.operators.contains(mark) {
      if tokens[last].offset > tokens[last - 1].end { return true }
      last -= 1
    }
    return false
  }
}

// Types.
extension SwiftCursor {
  /// Skips generic arguments or parameters; false if there are none here.
  mutating func skipArguments() -> Bool {
    let start = index
    guard index > 0, isMark("<"), isAdjacent, readArguments() != nil else {
      index = start
      return false
    }
    return true
  }

  /// Whether no space separates the present token from a name before it.
  private var isAdjacent: Bool {
    switch tokens[index - 1].kind {
    case .word, .name: tokens[index].offset == tokens[index - 1].end
    default: false
    }
  }

  private mutating func readArguments() -> [SwiftTypeName]? {
    guard depth < Self.depthLimit, take("<") else { return nil }
    var arguments: [SwiftTypeName] = []
    repeat {
      arguments.append(readType())
      // A constraint of a parameter.
      if take(":") { _ = readType() }
    } while take(",")
    return take(">") ? arguments : nil
  }

  mutating func readType() -> SwiftTypeName {
    guard depth < Self.depthLimit else { return .tooDeep }
    depth += 1
    defer { depth -= 1 }
    var type = readPlainType()
    while true {
      if isMark("?") || isMark("!") {
        index += 1
        type = .optional(type)
      } else if take("&") {
        _ = readPlainType()
        type = .other
      } else if isMark("-"), isMark(">", 1) {
        index += 2
        _ = readType()
        type = .other
      } else if isWord("throws") || isWord("async") {
        index += 1
      } else {
        return type
      }
    }
  }

  private mutating func readPlainType() -> SwiftTypeName {
    while isMark("@") { _ = readAttribute() }
    switch current?.kind {
    case .word("some"), .word("any"), .word("inout"), .word("borrowing"), .word("consuming"),
      .word("sending"), .word("nonisolated"), .mark("~"):
      index += 1
      _ = readType()
      return .other
    case .word, .name: return readNamedType()
    case .mark("["): return readCollectionType()
    case .mark("("):
      let start = index
      index += 1
      let type = readType()
      if take(")") { return type }
      index = start
      skip()
      return .other
    default: return .other
    }
  }

  private mutating func readNamedType() -> SwiftTypeName {
    var name: [String] = []
    var arguments: [SwiftTypeName] = []
    repeat {
      guard let part = takeName() else { return .other }
      name.append(part)
      if isMark("<") {
        guard let found = readArguments() else { return .other }
        arguments = found
      }
    } while take(".")
    return name.last == "Type" ? .other : .named(name, arguments)
  }

  private mutating func readCollectionType() -> SwiftTypeName {
    let start = index
    index += 1
    let element = readType()
    if take("]") { return .array(element) }
    let isTooDeep = element == .tooDeep
    if take(":") {
      let value = readType()
      if take("]") { return .dictionary(element, value) }
    }
    index = start
    skip()
    return isTooDeep ? .tooDeep : .other
  }
}
