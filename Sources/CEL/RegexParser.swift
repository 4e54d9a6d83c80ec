import Base

/// A part of a regular expression.
indirect enum RegexNode {
  case empty
  case scalar(ScalarSet)
  case require(LinearRegex.Assertion)
  case sequence([RegexNode])
  case either([RegexNode])
  case repeated(RegexNode, least: Int, most: Int?)
}

/// Parses the subset of RE2's syntax: no captures, no `\p`, no `\C`; RE2 itself has neither
/// back-references nor lookaround.
struct RegexParser {
  private typealias Mistake = LinearRegex.Mistake

  private struct Flags {
    var ignoresCase = false
    var isMultiline = false
    var dotIsAll = false
  }

  private let text: [Unicode.Scalar]
  private var position = 0
  private var depth = 0

  static func parse(_ pattern: String) throws(LinearRegex.Mistake) -> RegexNode {
    var parser = RegexParser(text: Array(pattern.unicodeScalars))
    guard parser.text.count <= 1000 else {
      throw LinearRegex.Mistake(text: "has more than 1000 characters")
    }
    var flags = Flags()
    let node = try parser.either(&flags)
    if parser.peek() != nil { throw LinearRegex.Mistake(text: "has a ) without a (") }
    return node
  }

  private init(text: [Unicode.Scalar]) { self.text = text }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    text.indices.contains(position + ahead) ? text[position + ahead] : nil
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek() == scalar else { return false }
    position += 1
    return true
  }

  private mutating func take() -> Unicode.Scalar? {
    defer { position += 1 }
    return peek()
  }

  /// Flags that are set within a group hold until its end.
  private mutating func either(_ flags: inout Flags) throws(Mistake) -> RegexNode {
    var branches = [try sequence(&flags)]
    while take("|") { branches.append(try sequence(&flags)) }
    return branches.count == 1 ? branches[0] : .either(branches)
  }

  private mutating func sequence(_ flags: inout Flags) throws(Mistake) -> RegexNode {
    var nodes: [RegexNode] = []
    while let scalar = peek(), scalar != "|", scalar != ")" {
      guard let atom = try atom(&flags) else { continue }
      nodes.append(try repeated(atom))
    }
    return nodes.isEmpty ? .empty : .sequence(nodes)
  }

  private mutating func repeated(_ atom: RegexNode) throws(Mistake) -> RegexNode {
    guard let bounds = try bounds() else { return atom }
    // Whether it takes much or little makes no difference to whether there is a match.
    _ = take("?")
    if let scalar = peek(), ["*", "+", "?"].contains(scalar) {
      throw Mistake(text: "has \(scalar) after another repetition")
    }
    return .repeated(atom, least: bounds.least, most: bounds.most)
  }

  private mutating func bounds() throws(Mistake) -> (least: Int, most: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    let start = position
    guard take("{"), let least = number() else {
      position = start
      return nil
    }
    var most: Int? = least
    if take(",") { most = peek() == "}" ? nil : number() ?? -1 }
    guard take("}"), most != -1 else {
      position = start
      return nil
    }
    guard least <= 1000, most ?? 0 <= 1000, most ?? least >= least else {
      throw Mistake(text: "repeats more than 1000 times, or from more to less")
    }
    return (least, most)
  }

  private mutating func number() -> Int? {
    var number: Int?
    while let scalar = peek(), scalar.isDigit {
      number = min(100_000, (number ?? 0) * 10 + Int(scalar.value) - 48)
      position += 1
    }
    return number
  }

  /// Returns nil for something that matches nothing by itself, such as a flag.
  private mutating func atom(_ flags: inout Flags) throws(Mistake) -> RegexNode? {
    guard let scalar = take() else { return nil }
    switch scalar {
    case "(": return try group(&flags)
    case "[": return .scalar(try set(flags))
    case ".":
      return .scalar(ScalarSet(ranges: flags.dotIsAll ? [] : [10...10], isNegated: true))
    case "^": return .require(flags.isMultiline ? .lineStart : .textStart)
    case "$": return .require(flags.isMultiline ? .lineEnd : .textEnd)
    case "*", "+", "?": throw Mistake(text: "has \(scalar) with nothing to repeat")
    case "\\": return try escape(flags)
    default: return literal(scalar, flags)
    }
  }

  private func literal(_ scalar: Unicode.Scalar, _ flags: Flags) -> RegexNode {
    .scalar(ScalarSet(ranges: [scalar.value...scalar.value], ignoresCase: flags.ignoresCase))
  }

  private mutating func group(_ flags: inout Flags) throws(Mistake) -> RegexNode? {
    depth += 1
    defer { depth -= 1 }
    guard depth <= 50 else { throw Mistake(text: "has more than 50 groups in each other") }
    var inner = flags
    if take("?") {
      if peek() == "P" || peek() == "<" {
        try groupName()
      } else if try setFlags(&inner) {
        flags = inner
        return nil
      }
    }
    let node = try either(&inner)
    guard take(")") else { throw Mistake(text: "has a ( without a )") }
    return node
  }

  private mutating func groupName() throws(Mistake) {
    _ = take("P")
    guard take("<"), peek() != "=", peek() != "!" else {
      throw Mistake(text: "has lookaround, which RE2 does not have")
    }
    var count = 0
    while let scalar = peek(), ScalarSet.word.contains(scalar) {
      position += 1
      count += 1
    }
    guard count > 0, take(">") else { throw Mistake(text: "has a group without a name") }
  }

  /// Reads `i`, `m`, `s` and `U`; returns whether they hold for what follows the group.
  private mutating func setFlags(_ flags: inout Flags) throws(Mistake) -> Bool {
    var isOn = true
    while let scalar = take() {
      switch scalar {
      case "i": flags.ignoresCase = isOn
      case "m": flags.isMultiline = isOn
      case "s": flags.dotIsAll = isOn
      case "U": break
      case "-" where isOn: isOn = false
      case ":": return false
      case ")": return true
      case "=", "!": throw Mistake(text: "has lookaround, which RE2 does not have")
      default: throw Mistake(text: "has (?\(scalar), which is not supported")
      }
    }
    throw Mistake(text: "has a ( without a )")
  }

  // MARK: - Escapes and sets

  private mutating func escape(_ flags: Flags) throws(Mistake) -> RegexNode {
    switch peek() {
    case "A": position += 1; return .require(.textStart)
    case "z": position += 1; return .require(.textEnd)
    case "b": position += 1; return .require(.wordEdge)
    case "B": position += 1; return .require(.noWordEdge)
    default: break
    }
    if let set = escapedSet() { return .scalar(ScalarSet(ranges: set)) }
    return literal(try escapedScalar(), flags)
  }

  private mutating func escapedSet() -> [ClosedRange<UInt32>]? {
    let set: ScalarSet? =
      switch peek() {
      case "d", "D": .digit
      case "w", "W": .word
      case "s", "S": .space
      default: nil
      }
    guard let set, let scalar = take() else { return nil }
    return scalar.properties.isUppercase ? set.inverted : set.ranges
  }

  /// Reads what follows a backslash.
  private mutating func escapedScalar() throws(Mistake) -> Unicode.Scalar {
    guard let scalar = take() else { throw Mistake(text: "ends with a backslash") }
    switch scalar {
    case "a": return "\u{7}"
    case "f": return "\u{c}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "v": return "\u{b}"
    case "x": return try hex()
    case "1"..."9": throw Mistake(text: "has \\\(scalar): RE2 has no references to groups")
    default: break
    }
    let isLetter = scalar.properties.isAlphabetic || scalar.isDigit
    guard scalar.isASCII, !isLetter else {
      throw Mistake(text: "has \\\(scalar), which is not supported")
    }
    return scalar
  }

  private mutating func hex() throws(Mistake) -> Unicode.Scalar {
    var digits = ""
    if take("{") {
      while let scalar = peek(), scalar.isHexDigit {
        digits.unicodeScalars.append(scalar)
        position += 1
      }
      guard take("}") else { throw Mistake(text: "has \\x{ without }") }
    } else {
      for _ in 0..<2 {
        guard let scalar = take(), scalar.isHexDigit else {
          throw Mistake(text: "has \\x without two digits")
        }
        digits.unicodeScalars.append(scalar)
      }
    }
    guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
      throw Mistake(text: "has \\x{\(digits.brief(bytes: 20))}, which is not a character")
    }
    return scalar
  }

  private static let named: [String: [ClosedRange<UInt32>]] = [
    "alnum": [48...57, 65...90, 97...122], "alpha": [65...90, 97...122], "ascii": [0...127],
    "blank": [9...9, 32...32], "cntrl": [0...31, 127...127], "digit": [48...57],
    "graph": [33...126], "lower": [97...122], "print": [32...126],
    "punct": [33...47, 58...64, 91...96, 123...126], "space": [9...13, 32...32],
    "upper": [65...90], "word": ScalarSet.word.ranges, "xdigit": [48...57, 65...70, 97...102],
  ]

  private mutating func set(_ flags: Flags) throws(Mistake) -> ScalarSet {
    var set = ScalarSet(ranges: [], isNegated: take("^"), ignoresCase: flags.ignoresCase)
    var isFirst = true
    while let scalar = peek(), isFirst || scalar != "]" {
      isFirst = false
      if scalar == "[", peek(1) == ":" {
        set.ranges += try namedSet()
        continue
      }
      position += 1
      if scalar == "\\", let ranges = escapedSet() {
        set.ranges += ranges
        continue
      }
      let low = scalar == "\\" ? try escapedScalar() : scalar
      var high = low
      if peek() == "-", let end = peek(1), end != "]" {
        position += 2
        high = end == "\\" ? try escapedScalar() : end
      }
      guard low <= high else { throw Mistake(text: "has a range from \(low) down to \(high)") }
      set.ranges.append(low.value...high.value)
    }
    guard take("]") else { throw Mistake(text: "has a [ without a ]") }
    return set
  }

  private mutating func namedSet() throws(Mistake) -> [ClosedRange<UInt32>] {
    position += 2
    let isNegated = take("^")
    var name = ""
    while let scalar = peek(), scalar != ":", scalar != "]" {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    guard take(":"), take("]"), let ranges = Self.named[name] else {
      throw Mistake(text: "has [:\(name.brief(bytes: 20)):], which is not a set")
    }
    return isNegated ? ScalarSet(ranges: ranges).inverted : ranges
  }
}
