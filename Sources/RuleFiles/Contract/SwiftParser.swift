/// Reads the declarations of Swift source: types with their stored properties and cases.
///
/// What it does not need is skipped by its brackets, so that it accepts any tokens. The branches of
/// `#if` are all read.
struct SwiftParser {
  private var cursor: SwiftCursor
  private var depth = 0
  /// The number of open `#if` in the present body.
  private var conditions = 0
  /// Those of the file's own body.
  private var branches = SwiftBranches()

  /// More types in types than any source has; the stack has room for them.
  private static let depthLimit = 48

  static func body(of bytes: [UInt8]) throws(SwiftFault) -> SwiftBody {
    var parser = SwiftParser(cursor: SwiftCursor(try SwiftLexer.tokens(bytes)))
    var body = SwiftBody()
    while parser.cursor.current != nil {
      parser.readMembers(into: &body)
      // A brace that closes nothing.
      parser.cursor.advance()
    }
    return body
  }

  private init(cursor: SwiftCursor) { self.cursor = cursor }
}

// Members.
extension SwiftParser {
  /// What stands before a declaration.
  private struct Prefix {
    var isStatic = false
    /// An attribute, or `lazy`, that may change how a declaration is decoded.
    var obstacle: String?
  }

  /// Attributes that do not change how a declaration is decoded; any other may be a property
  /// wrapper or a macro.
  private static let harmless: Set<String> = [
    "available", "frozen", "MainActor", "objc", "nonobjc", "objcMembers", "usableFromInline",
    "inlinable", "inline", "preconcurrency", "Sendable", "discardableResult", "backDeployed",
    "_spi", "dynamicMemberLookup", "unchecked", "retroactive", "concurrent",
  ]

  /// Reads up to the closing brace of the body, or to the end.
  private mutating func readMembers(into body: inout SwiftBody) {
    while cursor.current != nil, !cursor.isMark("}") { readMember(into: &body) }
  }

  private mutating func readMember(into body: inout SwiftBody) {
    if cursor.isMark("#") { return skipDirective() }
    let prefix = readPrefix()
    guard let token = cursor.current, case .word(let keyword) = token.kind else {
      if cursor.current != nil, !cursor.isMark("}") { cursor.skip() }
      return
    }
    switch keyword {
    case "struct": read(.structure, prefix, into: &body)
    case "enum": read(.enumeration, prefix, into: &body)
    case "extension": read(.extended, prefix, into: &body)
    case "class", "actor": read(.other, prefix, into: &body)
    case "var", "let": readProperties(isConstant: keyword == "let", prefix, into: &body)
    case "case": readCases(into: &body)
    case "typealias": readAlias(into: &body)
    case "init":
      readInitializer(into: &body)
    case "func", "subscript", "deinit", "protocol": skipFunction()
    case "import":
      cursor.advance()
      cursor.skipLine()
    default: cursor.skip()
    }
  }

  private mutating func readInitializer(into body: inout SwiftBody) {
    let first = cursor.index
    let decoder = isDecoder ? cursor.current?.offset : nil
    skipFunction()
    guard let decoder else { return }
    let isOnly = body.decoder == nil && conditions == 0
    body.generatedDecoder = isOnly ? GeneratedDecoder(cursor.tokens(from: first)) : nil
    body.decoder = decoder
  }

  /// Whether the initializer here is `init(from decoder: any Decoder)`.
  private var isDecoder: Bool {
    cursor.isMark("(", 1) && cursor.isWord("from", 2)
      && (4...8).contains { cursor.isWord("Decoder", $0) }
  }

  private mutating func readPrefix() -> Prefix {
    var prefix = Prefix()
    while let token = cursor.current {
      if case .mark("@") = token.kind {
        let name = cursor.readAttribute()
        if let name, !Self.harmless.contains(name) { prefix.obstacle = "@" + name }
      } else if case .word(let word) = token.kind, SwiftCursor.modifiers.contains(word),
        isModifier(word)
      {
        if word == "static" || word == "class" { prefix.isStatic = true }
        if word == "lazy" { prefix.obstacle = word }
        cursor.advance()
        if cursor.isMark("("), cursor.continuesLine { cursor.skip() }
      } else {
        break
      }
    }
    return prefix
  }

  /// Returns whether a word stands before a declaration: `class` also begins one.
  private func isModifier(_ word: String) -> Bool {
    guard word == "class",
      case .word(let next)? = cursor.tokens.dropFirst(cursor.index + 1).first?.kind
    else {
      return word != "class"
    }
    return SwiftCursor.declarationWords.contains(next)
  }

  private mutating func skipDirective() {
    cursor.advance()
    let first = cursor.index
    defer { if depth == 0 { branches.read(cursor.tokens(from: first)) } }
    switch cursor.takeName() {
    case "if": conditions += 1
    case "endif": conditions = max(0, conditions - 1)
    case "else", "elseif": break
    default:
      // A macro, such as #Preview { … }.
      while cursor.continuesLine, cursor.isMark("(") || cursor.isMark("{") { cursor.skip() }
      return
    }
    cursor.skipLine()
  }

  private mutating func read(
    _ kind: SwiftDeclaration.Kind, _ prefix: Prefix, into body: inout SwiftBody
  ) {
    let offset = cursor.current?.offset ?? 0
    cursor.advance()
    guard var name = cursor.takeName().map({ [$0] }) else { return }
    while cursor.take("."), let next = cursor.takeName() { name.append(next) }
    let isGeneric = cursor.skipArguments()
    var inherited: [SwiftTypeName] = []
    if cursor.take(":") { repeat { inherited.append(cursor.readType()) } while cursor.take(",") }
    while cursor.current != nil, !cursor.isMark("{") {
      // Nothing of a `where` clause is needed.
      if cursor.isMark("}") { return }
      cursor.skip()
    }
    var inner = SwiftBody()
    guard depth < Self.depthLimit else {
      cursor.skip()
      body.declarations.append(
        SwiftDeclaration(
          kind: kind, name: name, inherited: inherited, isGeneric: isGeneric,
          attribute: "depth of more than \(Self.depthLimit) types", offset: offset, body: inner))
      return
    }
    cursor.advance()
    // A file may be in `#if canImport(ActivityKit)` as a whole.
    let condition = conditions > 0 && depth > 0 ? "#if" : nil
    let outer = conditions
    (conditions, depth) = (0, depth + 1)
    readMembers(into: &inner)
    (conditions, depth) = (outer, depth - 1)
    _ = cursor.take("}")
    body.declarations.append(
      SwiftDeclaration(
        kind: kind, name: name, inherited: inherited, isGeneric: isGeneric,
        attribute: prefix.obstacle ?? inner.obstacle ?? condition,
        conditions: branches.conditions, offset: offset, body: inner))
  }

  private mutating func readAlias(into body: inout SwiftBody) {
    cursor.advance()
    guard let name = cursor.takeName() else { return }
    let isGeneric = cursor.skipArguments()
    guard cursor.take("=") else { return }
    let type = cursor.readType()
    let isUnsure = conditions > 0 && depth > 0 || body.aliases[name].map { $0 != type } ?? false
    body.aliases[name] = isGeneric || isUnsure ? .other : type
  }

  /// Skips a function, which ends with its body or before the next declaration.
  private mutating func skipFunction() {
    cursor.advance()
    while let token = cursor.current, !cursor.isMark("}") {
      if token.startsLine {
        if cursor.isMark("@") || cursor.isMark("#") { return }
        if case .word(let word) = token.kind, SwiftCursor.declarationWords.contains(word) { return }
      }
      let isBody = cursor.isMark("{")
      cursor.skip()
      if isBody { return }
    }
  }

  private mutating func readCases(into body: inout SwiftBody) {
    cursor.advance()
    if conditions > 0 { body.obstacle = "#if" }
    repeat {
      guard let name = cursor.takeName() else { return }
      let hasPayload = cursor.isMark("(")
      if hasPayload { cursor.skip() }
      var value: SwiftCase.RawValue?
      if cursor.take("=") { value = readRawValue() }
      body.cases.append(SwiftCase(name: name, rawValue: value, hasPayload: hasPayload))
    } while cursor.take(",")
  }

  private mutating func readRawValue() -> SwiftCase.RawValue {
    let isNegative = cursor.take("-")
    defer { cursor.skipExpression() }
    switch cursor.current?.kind {
    case .text(let text?): return .text(text)
    case .number(let digits):
      let number = Int(digits.filter { $0 != "_" })
      return number.map { .number(isNegative ? -$0 : $0) } ?? .unreadable
    default: return .unreadable
    }
  }
}

// Properties.
extension SwiftParser {
  private mutating func readProperties(
    isConstant: Bool, _ prefix: Prefix, into body: inout SwiftBody
  ) {
    cursor.advance()
    var found: [(property: SwiftProperty, isDecoded: Bool)] = []
    repeat {
      guard let offset = cursor.current?.offset, let name = cursor.takeName() else {
        let hasValue = skipPattern()
        if !prefix.isStatic, !(isConstant && hasValue) { body.obstacle = "var (…)" }
        continue
      }
      var property = SwiftProperty(
        name: name, hasValue: false, obstacle: prefix.obstacle, offset: offset)
      if conditions > 0 { property.obstacle = "#if" }
      if cursor.take(":") { property.type = cursor.readType() }
      var isComputed = false
      if cursor.take("=") {
        property.hasValue = true
        let first = cursor.index
        cursor.skipExpression()
        property.type = property.type ?? literalType(first)
      } else if cursor.isMark("{") {
        isComputed = !hasObservers
        cursor.skip()
      }
      // A constant with a value is not decoded.
      found.append((property, !isComputed && !(isConstant && property.hasValue)))
    } while cursor.take(",")
    if prefix.isStatic { return }
    // In `var a, b: Int` the type is that of both.
    var next: SwiftTypeName?
    for index in found.indices.reversed() {
      if found[index].property.type == nil, !found[index].property.hasValue {
        found[index].property.type = next
      }
      next = found[index].property.type
    }
    body.properties += found.filter(\.isDecoded).map(\.property)
  }

  /// Skips a pattern such as `(a, b) = …`, and returns whether it has a value.
  private mutating func skipPattern() -> Bool {
    let first = cursor.index
    cursor.skipExpression()
    return cursor.tokens[first..<max(first, cursor.index)].contains { $0.kind == .mark("=") }
  }

  /// Whether the braces here hold `willSet` or `didSet`, so that the property is stored.
  private var hasObservers: Bool { cursor.isWord("willSet", 1) || cursor.isWord("didSet", 1) }

  /// Returns the type of an expression that ended here, if it is one literal.
  private func literalType(_ first: Int) -> SwiftTypeName? {
    let expression = cursor.tokens[first..<max(first, cursor.index)]
    guard let last = expression.last,
      expression.count == 1 || expression.count == 2 && expression.first?.kind == .mark("-")
    else { return nil }
    switch last.kind {
    case .text: return .named(["String"], [])
    case .number(let digits):
      let isDecimal =
        !digits.hasPrefix("0x") && digits.contains { $0 == "." || $0 == "e" || $0 == "E" }
      return .named([isDecimal ? "Double" : "Int"], [])
    case .word("true"), .word("false"): return .named(["Bool"], [])
    default: return nil
    }
  }
}
