/// Checks a text against the grammar of RFC 8259 and reports where it is invalid.
///
/// Foundation accepts a trailing comma, reports the location of few errors, and keeps either of two
/// members with the same name. A text that passes this check is still decoded by Foundation.
package struct JSONScan {
  /// An error and its byte offset.
  package struct Fault: Error {
    package var offset: Int
    package var what: String
  }

  private let text: [UInt8]
  private let depthLimit: Int
  private var index = 0

  package static func check(_ text: [UInt8], depthLimit: Int) throws(Fault) {
    var scan = JSONScan(text: text, depthLimit: depthLimit)
    try scan.value(depth: 0)
    scan.skipSpace()
    if scan.index < text.count { throw scan.fault("unexpected text after the value") }
  }

  private init(text: [UInt8], depthLimit: Int) {
    self.text = text
    self.depthLimit = depthLimit
  }

  private var next: UInt8? { index < text.count ? text[index] : nil }

  private func fault(_ what: String) -> Fault {
    Fault(offset: index, what: next == nil ? "it ends too early" : what)
  }

  private mutating func skipSpace() {
    while let byte = next, [9, 10, 13, 32].contains(byte) { index += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(Fault) {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): try object(depth: depth + 1)
    case UInt8(ascii: "["): try array(depth: depth + 1)
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func enter(_ depth: Int) throws(Fault) {
    if depth > depthLimit {
      throw fault("objects and arrays are nested more than \(depthLimit) deep")
    }
    index += 1
    skipSpace()
  }

  private mutating func object(depth: Int) throws(Fault) {
    try enter(depth)
    if take("}") { return }
    var names: Set<String> = []
    repeat {
      skipSpace()
      let start = index
      guard next == UInt8(ascii: "\"") else { throw fault("a name in quotes is expected") }
      try string()
      let name = Array(text[start..<index])
      if !names.insert(JSONScan.name(name)).inserted {
        index = start
        throw fault("\(String(decoding: name.prefix(60), as: UTF8.self)) appears twice")
      }
      skipSpace()
      guard take(":") else { throw fault("a colon is expected") }
      try value(depth: depth)
      skipSpace()
    } while take(",")
    guard take("}") else { throw fault("a comma or } is expected") }
  }

  /// Decodes a name's escapes, so that two spellings of one name count as duplicates.
  private static func name(_ quoted: [UInt8]) -> String {
    if quoted.contains(UInt8(ascii: "\\")), case .string(let name) = JSONValue(json: quoted) {
      return name
    }
    return String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
  }

  private mutating func array(depth: Int) throws(Fault) {
    try enter(depth)
    if take("]") { return }
    repeat {
      try value(depth: depth)
      skipSpace()
    } while take(",")
    guard take("]") else { throw fault("a comma or ] is expected") }
  }

  private mutating func word(_ word: String) throws(Fault) {
    guard text[index...].starts(with: word.utf8) else { throw fault("a value is expected") }
    index += word.utf8.count
  }

  private mutating func string() throws(Fault) {
    index += 1
    while !take("\"") {
      guard let byte = next, byte >= 32 else { throw fault("a control character in a text") }
      if byte == UInt8(ascii: "\\") { try escape() } else { index += 1 }
    }
  }

  private mutating func escape() throws(Fault) {
    index += 1
    guard let letter = next, "\"\\/bfnrtu".utf8.contains(letter) else {
      throw fault("an unknown escape")
    }
    index += 1
    guard letter == UInt8(ascii: "u") else { return }
    let unit = try codeUnit()
    if (0xdc00...0xdfff).contains(unit) { throw fault("half a surrogate pair") }
    guard (0xd800...0xdbff).contains(unit) else { return }
    guard take("\\"), take("u"), (0xdc00...0xdfff).contains(try codeUnit()) else {
      throw fault("half a surrogate pair")
    }
  }

  private mutating func codeUnit() throws(Fault) -> Int {
    var unit = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw fault("four hexadecimal digits are expected")
      }
      unit = unit * 16 + digit
      index += 1
    }
    return unit
  }

  private mutating func digits() throws(Fault) {
    let start = index
    while let byte = next, (48...57).contains(byte) { index += 1 }
    if index == start { throw fault("a digit is expected") }
  }

  private mutating func number() throws(Fault) {
    let isNegative = take("-")
    guard let byte = next, (48...57).contains(byte) else {
      throw fault(isNegative ? "a digit is expected" : "a value is expected")
    }
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      _ = take("-") || take("+")
      try digits()
    }
  }
}

extension JSONScan.Fault {
  /// The line and column of the error, as an editor shows them; columns count Unicode scalars.
  package func place(in text: [UInt8]) -> String {
    let before = text[..<offset]
    let line = before.count { $0 == 10 } + 1
    let start = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
    let column = String(decoding: text[start..<offset], as: UTF8.self).unicodeScalars.count + 1
    return "line \(line), column \(column)"
  }
}
