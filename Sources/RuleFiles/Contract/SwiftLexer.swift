/// A token of Swift source, as far as declarations need it.
struct SwiftToken: Equatable {
  enum Kind: Equatable {
    /// A keyword or a name.
    case word(String)
    /// A name in backticks, which is no keyword.
    case name(String)
    case number(String)
    /// A text; nil if it has an interpolation.
    case text(String?)
    /// Any other character.
    case mark(Unicode.Scalar)
  }

  let kind: Kind
  /// The token's first byte.
  let offset: Int
  /// The byte after it.
  let end: Int
  /// Whether it is the first one of its line.
  let startsLine: Bool
}

/// Why source can't be read at all.
struct SwiftFault: Error {
  let offset: Int
  let found: String
  let expected: String
}

/// Splits Swift source into tokens; comments, and what is inside texts and regular expressions, are
/// left out.
///
/// Operators become single characters. Any bytes are accepted; only a comment or a text without an
/// end is an error, because nothing after it could be read.
struct SwiftLexer {
  private let bytes: [UInt8]
  private var index = 0
  private var startsLine = true
  private var tokens: [SwiftToken] = []

  /// More interpolations in interpolations than any source has; the stack has room for them.
  private static let depthLimit = 32

  static func tokens(_ bytes: [UInt8]) throws(SwiftFault) -> [SwiftToken] {
    var lexer = SwiftLexer(bytes)
    while lexer.index < bytes.count { try lexer.next() }
    return lexer.tokens
  }

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  private func byte(_ ahead: Int = 0) -> UInt8? {
    index + ahead < bytes.count ? bytes[index + ahead] : nil
  }

  private func starts(with text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

  private mutating func add(_ kind: SwiftToken.Kind, at offset: Int) {
    tokens.append(SwiftToken(kind: kind, offset: offset, end: index, startsLine: startsLine))
    startsLine = false
  }

  private mutating func next() throws(SwiftFault) {
    let start = index
    switch bytes[index] {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
      startsLine = true
      index += 1
    case 0...32: index += 1
    case UInt8(ascii: "/"):
      if try skipComment() { return }
      if skipRegex() { return add(.text(nil), at: start) }
      index += 1
      add(.mark("/"), at: start)
    case UInt8(ascii: "\""): add(.text(try text(hashes: 0, depth: 0)), at: start)
    case UInt8(ascii: "#"):
      let hashes = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
      if byte(hashes) == UInt8(ascii: "\"") {
        index += hashes
        add(.text(try text(hashes: hashes, depth: 0)), at: start)
      } else if byte(hashes) == UInt8(ascii: "/") {
        try skipExtendedRegex(hashes)
        add(.text(nil), at: start)
      } else {
        for _ in 0..<hashes {
          index += 1
          add(.mark("#"), at: index - 1)
        }
      }
    case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
    case UInt8(ascii: "`"): escapedName()
    case let byte where Self.isLetter(byte):
      add(.word(word()), at: start)
    case let byte:
      index += 1
      add(.mark(Unicode.Scalar(byte)), at: start)
    }
  }

  /// Bytes beyond ASCII count as letters: what is invalid there is none of ours to find.
  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), UInt8(ascii: "$"), 128...255:
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private mutating func word() -> String {
    let start = index
    while let byte = byte(), Self.isLetter(byte) || Self.isDigit(byte) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func escapedName() {
    let start = index
    let name = bytes[(index + 1)...].prefix { $0 != UInt8(ascii: "`") && $0 != UInt8(ascii: "\n") }
    guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: "`") else {
      index += 1
      return add(.mark("`"), at: start)
    }
    index = name.endIndex + 1
    add(.name(String(decoding: name, as: UTF8.self)), at: start)
  }

  private mutating func number() {
    let start = index
    while let byte = byte() {
      let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      let isPoint = byte == UInt8(ascii: ".") && self.byte(1).map(Self.isDigit) ?? false
      let isHexadecimal = bytes[start...].starts(with: "0x".utf8)
      let exponent = isHexadecimal ? UInt8(ascii: "p") : UInt8(ascii: "e")
      let isExponent = isSign && bytes[index - 1] | 0x20 == exponent
      guard Self.isLetter(byte) || Self.isDigit(byte) || isPoint || isExponent else { break }
      index += 1
    }
    add(.number(String(decoding: bytes[start..<index], as: UTF8.self)), at: start)
  }

  /// Skips a comment; false if there is none here.
  private mutating func skipComment() throws(SwiftFault) -> Bool {
    if starts(with: "//") {
      index = bytes[index...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
      return true
    }
    guard starts(with: "/*") else { return false }
    let start = index
    var depth = 0
    repeat {
      if starts(with: "/*") {
        depth += 1
        index += 2
      } else if starts(with: "*/") {
        depth -= 1
        index += 2
      } else if index < bytes.count {
        if bytes[index] == UInt8(ascii: "\n") { startsLine = true }
        index += 1
      } else {
        throw SwiftFault(offset: start, found: "a comment without an end", expected: "*/")
      }
    } while depth > 0
    return true
  }

  /// Skips `/…/`; false if the slash is an operator: what is before and after it decides.
  private mutating func skipRegex() -> Bool {
    guard let after = byte(1), after > 32, after != UInt8(ascii: "/") else { return false }
    switch tokens.last?.kind {
    case .mark(let mark) where ")]}>?!".unicodeScalars.contains(mark): return false
    case .number, .text, .name: return false
    case .word(let word) where !["return", "case", "in", "try", "await"].contains(word):
      return false
    default: break
    }
    var end = index + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
      if bytes[end] == UInt8(ascii: "/") {
        index = end + 1
        return true
      }
      end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    return false
  }

  private mutating func skipExtendedRegex(_ hashes: Int) throws(SwiftFault) {
    let start = index
    let end = Array("/".utf8) + Array(repeating: UInt8(ascii: "#"), count: hashes)
    index += hashes + 1
    while index < bytes.count {
      if bytes[index...].starts(with: end) {
        index += end.count
        return
      }
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    index = bytes.count
    throw SwiftFault(
      offset: start, found: "a regular expression without an end", expected: "/ and its #")
  }
}

// Texts.
extension SwiftLexer {
  /// Reads a text from its first quote on.
  private mutating func text(hashes: Int, depth: Int) throws(SwiftFault) -> String? {
    let start = index
    let isMultiline =
      starts(with: "\"\"\"") && (hashes == 0 || !endsInLine(hashes: hashes))
    let end =
      Array(repeating: UInt8(ascii: "\""), count: isMultiline ? 3 : 1)
      + Array(repeating: UInt8(ascii: "#"), count: hashes)
    index += isMultiline ? 3 : 1
    var value: [UInt8]? = isMultiline ? nil : []
    while index < bytes.count {
      if bytes[index...].starts(with: end) {
        index += end.count
        return value.map { String(decoding: $0, as: UTF8.self) }
      }
      let byte = bytes[index]
      if byte == UInt8(ascii: "\n"), !isMultiline { break }
      let isEscape =
        byte == UInt8(ascii: "\\")
        && bytes[(index + 1)...].prefix { $0 == UInt8(ascii: "#") }.count >= hashes
      guard isEscape else {
        value?.append(byte)
        index += 1
        continue
      }
      index += 1 + hashes
      if self.byte() == UInt8(ascii: "(") {
        value = nil
        index += 1
        try skipInterpolation(depth: depth + 1)
      } else {
        // A quote and a backslash stand for themselves; no raw value of ours has another escape.
        if let escaped = self.byte(), [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(escaped) {
          value?.append(escaped)
        } else {
          value = nil
        }
        index += 1
      }
    }
    throw SwiftFault(
      offset: start, found: "a text without an end",
      expected: isMultiline ? "\"\"\"" : "a quote in the same line")
  }

  /// Returns whether a raw text ends in its line: `#"""#` is a quote, not the start of several lines.
  private func endsInLine(hashes: Int) -> Bool {
    let end = Array("\"".utf8) + Array(repeating: UInt8(ascii: "#"), count: hashes)
    let line = bytes[(index + 1)...].prefix { $0 != 10 && $0 != 13 }
    return line.indices.contains { line[$0...].starts(with: end) }
  }

  private mutating func skipInterpolation(depth: Int) throws(SwiftFault) {
    let start = index
    var open = 1
    while open > 0, index < bytes.count, depth < Self.depthLimit {
      switch bytes[index] {
      case UInt8(ascii: "("): open += 1
      case UInt8(ascii: ")"): open -= 1
      case UInt8(ascii: "\""):
        _ = try text(hashes: 0, depth: depth)
        continue
      case UInt8(ascii: "/"):
        if try skipComment() { continue }
      default: break
      }
      index += 1
    }
    guard open > 0 else { return }
    throw depth < Self.depthLimit
      ? SwiftFault(offset: start, found: "an interpolation without an end", expected: ")")
      : SwiftFault(
        offset: start, found: "an interpolation in \(depth) others",
        expected: "\(Self.depthLimit) at most")
  }
}
