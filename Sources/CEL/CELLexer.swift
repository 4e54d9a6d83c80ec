import Base

/// A word, a literal or a sign of an expression.
struct CELToken {
  enum Kind: Equatable {
    case identifier(String)
    /// An identifier in backticks, which may name only a field.
    case quotedIdentifier(String)
    case integer(UInt64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case bytes([UInt8])
    case sign(String)
    case end
  }

  var kind: Kind
  /// The scalars of the expression that it consists of.
  var range: Range<Int>
}

/// Splits an expression into tokens.
struct CELLexer {
  let text: [Unicode.Scalar]
  private var position = 0

  init(_ text: [Unicode.Scalar]) { self.text = text }

  static func tokens(of text: [Unicode.Scalar]) throws(CELProblem) -> [CELToken] {
    var lexer = CELLexer(text)
    var tokens: [CELToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(CELProblem) -> CELToken {
    skipSpace()
    let start = position
    guard let scalar = peek() else { return CELToken(kind: .end, range: start..<start) }
    let kind: CELToken.Kind
    if let literal = try quoted() {
      kind = literal
    } else if scalar.isDigit || scalar == "." && peek(1)?.isDigit == true {
      kind = try number()
    } else if scalar.isWordStart {
      kind = .identifier(take { $0.isWordStart || $0.isDigit })
    } else if scalar == "`" {
      kind = try quotedIdentifier()
    } else {
      kind = try sign()
    }
    return CELToken(kind: kind, range: start..<position)
  }

  private mutating func skipSpace() {
    while let scalar = peek() {
      if [" ", "\t", "\n", "\r", "\u{c}"].contains(scalar) {
        position += 1
      } else if scalar == "/", peek(1) == "/" {
        while let scalar = peek(), scalar != "\n" { _ = scalar; position += 1 }
      } else {
        return
      }
    }
  }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    text.indices.contains(position + ahead) ? text[position + ahead] : nil
  }

  private mutating func take(while belongs: (Unicode.Scalar) -> Bool) -> String {
    var taken = String.UnicodeScalarView()
    while let scalar = peek(), belongs(scalar) {
      taken.append(scalar)
      position += 1
    }
    return String(taken)
  }

  private mutating func sign() throws(CELProblem) -> CELToken.Kind {
    guard let first = peek() else { return .end }
    let two = String(first) + (peek(1).map { String($0) } ?? "")
    if ["==", "!=", "<=", ">=", "&&", "||"].contains(two) {
      position += 2
      return .sign(two)
    }
    guard "+-*/%!<>?:.,()[]{}".unicodeScalars.contains(first) else {
      let meant = ["=": "==", "&": "&&", "|": "||"][String(first)]
      throw CELProblem(
        offset: position, found: "\(String(first).quotedBrief)",
        expected: meant.map { "\"\($0)\"" } ?? "a name, a value or an operator")
    }
    position += 1
    return .sign(String(first))
  }

  private mutating func quotedIdentifier() throws(CELProblem) -> CELToken.Kind {
    let start = position
    position += 1
    let name = take { $0.isWordStart || $0.isDigit || [".", "-", "/", " "].contains($0) }
    guard peek() == "`", !name.isEmpty else {
      throw CELProblem(
        offset: start, found: "a backtick",
        expected: "a field's name between backticks: letters, digits, _, -, ., / and spaces")
    }
    position += 1
    return .quotedIdentifier(name)
  }

  // MARK: - Numbers

  private mutating func number() throws(CELProblem) -> CELToken.Kind {
    let start = position
    if peek() == "0", peek(1) == "x" || peek(1) == "X", peek(2)?.isHexDigit == true {
      position += 2
      return try whole(take { $0.isHexDigit }, radix: 16, from: start)
    }
    var digits = take { $0.isDigit }
    var isWhole = true
    if peek() == ".", peek(1)?.isDigit == true {
      isWhole = false
      position += 1
      digits += "." + take { $0.isDigit }
    }
    if peek() == "e" || peek() == "E" {
      let isSigned = peek(1) == "+" || peek(1) == "-"
      if peek(isSigned ? 2 : 1)?.isDigit == true {
        isWhole = false
        digits += "e" + (peek(1) == "-" ? "-" : "")
        position += isSigned ? 2 : 1
        digits += take { $0.isDigit }
      }
    }
    if isWhole { return try whole(digits, radix: 10, from: start) }
    guard let number = Double(digits.hasPrefix(".") ? "0" + digits : digits), number.isFinite else {
      throw tooLarge(start, "a number that a double can hold")
    }
    try endOfNumber()
    return .number(number)
  }

  private mutating func whole(
    _ digits: String, radix: Int, from start: Int
  ) throws(CELProblem) -> CELToken.Kind {
    let isUnsigned = peek() == "u" || peek() == "U"
    if isUnsigned { position += 1 }
    guard let number = UInt64(digits, radix: radix) else {
      throw tooLarge(start, "a whole number of 64 bits")
    }
    try endOfNumber()
    return isUnsigned ? .unsigned(number) : .integer(number)
  }

  private func endOfNumber() throws(CELProblem) {
    guard let scalar = peek(), scalar.isWordStart || scalar.isDigit else { return }
    throw CELProblem(
      offset: position, found: "\(String(scalar).quotedBrief) after a number",
      expected: "an operator, or a text in quotes")
  }

  private func tooLarge(_ start: Int, _ expected: String) -> CELProblem {
    CELProblem(
      offset: start,
      found:
        "the number \(String(String.UnicodeScalarView(text[start..<position])).brief(bytes: 60))",
      expected: expected)
  }

  // MARK: - Texts

  /// Reads a text or bytes, with their prefixes; nil if there is none here.
  private mutating func quoted() throws(CELProblem) -> CELToken.Kind? {
    var prefix = 0
    let isBytes = peek() == "b" || peek() == "B"
    if isBytes { prefix += 1 }
    let isRaw = peek(prefix) == "r" || peek(prefix) == "R"
    if isRaw { prefix += 1 }
    guard let quote = peek(prefix), quote == "\"" || quote == "'" else { return nil }
    let start = position
    position += prefix
    let isTriple = peek(1) == quote && peek(2) == quote
    position += isTriple ? 3 : 1
    var literal = CELTextLiteral(isBytes: isBytes)
    while true {
      guard let scalar = peek(), isTriple || scalar != "\n" && scalar != "\r" else {
        throw CELProblem(
          offset: start, found: "an open quote",
          expected:
            "\(isTriple ? String(repeating: String(quote), count: 3) : String(quote)) at the end of the text"
        )
      }
      if scalar == quote, !isTriple || peek(1) == quote && peek(2) == quote {
        position += isTriple ? 3 : 1
        return literal.kind
      }
      position += 1
      if scalar == "\\", !isRaw { try escape(&literal) } else { literal.append(scalar) }
    }
  }

  private mutating func escape(_ literal: inout CELTextLiteral) throws(CELProblem) {
    let start = position - 1
    guard let scalar = peek() else { return }
    position += 1
    let isAppended: Bool
    switch scalar {
    case "x", "X": isAppended = literal.append(code: hex(2))
    case "u": isAppended = literal.append(scalar: hex(4))
    case "U": isAppended = literal.append(scalar: hex(8))
    case "0"..."3":
      position -= 1
      isAppended = literal.append(code: digits(3, radix: 8))
    default:
      let plain: [Unicode.Scalar: Unicode.Scalar] = [
        "a": "\u{7}", "b": "\u{8}", "f": "\u{c}", "n": "\n", "r": "\r", "t": "\t", "v": "\u{b}",
        "\\": "\\", "?": "?", "\"": "\"", "'": "'", "`": "`",
      ]
      isAppended = plain[scalar] != nil
      plain[scalar].map { literal.append($0) }
    }
    if isAppended { return }
    throw CELProblem(
      offset: start, found: "\("\\\(scalar)".quotedBrief) in a text",
      expected: "an escape such as \\n, \\', \\\\ or \\u00e4, or a text with the prefix r")
  }

  private mutating func hex(_ count: Int) -> UInt32? { digits(count, radix: 16) }

  private mutating func digits(_ count: Int, radix: Int) -> UInt32? {
    guard position + count <= text.count else { return nil }
    let digits = text[position..<position + count]
    guard digits.allSatisfy(\.isHexDigit) else { return nil }
    position += count
    return UInt32(String(String.UnicodeScalarView(digits)), radix: radix)
  }
}

/// The content of a text or of bytes while it is read.
private struct CELTextLiteral {
  let isBytes: Bool
  private var scalars = String.UnicodeScalarView()
  private var bytes: [UInt8] = []

  init(isBytes: Bool) { self.isBytes = isBytes }

  mutating func append(_ scalar: Unicode.Scalar) {
    if isBytes { bytes += Array(String(scalar).utf8) } else { scalars.append(scalar) }
  }

  /// Appends a character, in bytes as UTF-8; returns whether there is such a one.
  mutating func append(scalar code: UInt32?) -> Bool {
    guard let scalar = code.flatMap(Unicode.Scalar.init) else { return false }
    append(scalar)
    return true
  }

  /// Appends a character of a text, or a byte; returns whether there is such a one.
  mutating func append(code: UInt32?) -> Bool {
    guard isBytes else { return append(scalar: code) }
    guard let byte = code.flatMap({ UInt8(exactly: $0) }) else { return false }
    bytes.append(byte)
    return true
  }

  var kind: CELToken.Kind { isBytes ? .bytes(bytes) : .string(String(scalars)) }
}

extension Unicode.Scalar {
  var isDigit: Bool { ("0"..."9").contains(self) }

  var isHexDigit: Bool {
    isDigit || ("a"..."f").contains(self) || ("A"..."F").contains(self)
  }

  fileprivate var isWordStart: Bool {
    ("a"..."z").contains(self) || ("A"..."Z").contains(self) || self == "_"
  }
}
