/// Reads comma-separated values as RFC 4180 has them, line by line.
///
/// A line break between quotes belongs to the field. A line feed alone ends a line, too, and an empty
/// line is no record.
package struct CSVReader: Sendable {
  package struct Record: Hashable, Sendable {
    /// The line on which it begins, counted from 1.
    package var line: Int
    package var fields: [String]
  }

  package struct Problem: Error, Hashable, Sendable {
    /// Counted from 1.
    package var line: Int
    package var message: String

    package init(line: Int, message: String) {
      self.line = line
      self.message = message
    }
  }

  package enum Encoding: String, CaseIterable, Sendable {
    case utf8 = "utf-8"
    /// ISO 8859-1, in which each byte is the scalar of its number.
    case latin1 = "latin-1"
  }

  /// The most bytes of a record: one that is longer has a quote that nothing closes.
  package static let recordLimit = 1 << 20

  private enum Place { case fieldStart, plain, quoted, closed }

  private let separator: UInt8
  private let encoding: Encoding
  private var number = 0
  private var record = Record(line: 0, fields: [])
  private var field: [UInt8] = []
  private var size = 0
  private var place = Place.fieldStart

  package init(separator: UInt8 = UInt8(ascii: ","), encoding: Encoding = .utf8) {
    self.separator = separator
    self.encoding = encoding
  }

  /// Reads the next line, without its line feed; returns a record if the line ends one.
  package mutating func read(_ line: [UInt8]) throws(Problem) -> Record? {
    number += 1
    var bytes = line[...]
    if number == 1 { try skipMark(&bytes) }
    if place == .quoted {
      field.append(UInt8(ascii: "\n"))
    } else {
      if bytes.isEmpty || bytes.elementsEqual([Self.carriageReturn]) { return nil }
      record = Record(line: number, fields: [])
      size = 0
    }
    size += bytes.count
    if size > Self.recordLimit {
      throw Problem(
        line: record.line,
        message: "the record has more than \(Self.recordLimit) bytes; a quote is not closed")
    }
    for index in bytes.indices {
      try read(bytes[index], isLast: index == bytes.endIndex - 1)
    }
    if place == .quoted { return nil }
    try endField()
    return record
  }

  /// Fails if the input ended within a field.
  package func finish() throws(Problem) {
    if place == .quoted { throw problem("is not closed: a quote is missing", line: record.line) }
  }

  private static let quote = UInt8(ascii: "\"")
  private static let carriageReturn = UInt8(ascii: "\r")

  /// Skips the byte order mark of UTF-8.
  private func skipMark(_ bytes: inout ArraySlice<UInt8>) throws(Problem) {
    if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
      throw Problem(line: 1, message: "it is UTF-16; convert it: iconv -f UTF-16 -t UTF-8")
    }
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
  }

  private mutating func read(_ byte: UInt8, isLast: Bool) throws(Problem) {
    switch (place, byte) {
    case (.quoted, Self.quote): place = .closed
    case (.quoted, _): field.append(byte)
    case (.closed, Self.quote):
      field.append(byte)
      place = .quoted
    case (.fieldStart, Self.quote): place = .quoted
    case (_, separator): try endField()
    case (_, Self.carriageReturn) where isLast: break
    case (.closed, _): throw problem("has more after its closing quote", line: number)
    case (_, Self.quote):
      throw problem(
        "has a quote but does not begin with one; write \"\" for it and put the field in quotes",
        line: number)
    default:
      field.append(byte)
      place = .plain
    }
  }

  private mutating func endField() throws(Problem) {
    switch encoding {
    case .utf8:
      guard let text = String(validating: field, as: UTF8.self) else {
        throw problem("is not UTF-8", line: number)
      }
      record.fields.append(text)
    case .latin1:
      var text = String.UnicodeScalarView()
      text.append(contentsOf: field.map { Unicode.Scalar($0) })
      record.fields.append(String(text))
    }
    field.removeAll(keepingCapacity: true)
    place = .fieldStart
  }

  private func problem(_ message: String, line: Int) -> Problem {
    Problem(line: line, message: "field \(record.fields.count + 1) \(message)")
  }
}
