import Base
import RideCore

/// Which of a day's rides a core replays.
package struct DayPart: Hashable, Sendable {
  package var index: Int
  package var count: Int

  package static let whole = DayPart(index: 0, count: 1)

  package init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  func has(_ ride: some Collection<UInt8>) -> Bool {
    if count <= 1 { return true }
    var hash = StableHash()
    hash.add(ride)
    return hash.value % UInt64(count) == UInt64(index)
  }
}

/// Reads a day line by line: the header, then what happened, in the order of time.
package struct DayReader: Sendable {
  /// Nil until the first line is read.
  package private(set) var header: DayHeader?
  /// The number of lines read.
  package private(set) var lines = 0
  private var last: Timestamp?

  package init() {}

  /// Reads the next line; nil for the header, for an empty line, and for one about a ride of another
  /// part, which may stay unparsed.
  package mutating func read(
    _ text: [UInt8], of part: DayPart = .whole
  ) throws(DayProblem) -> DayLine? {
    lines += 1
    if part.count > 1, header != nil, let scan = DayScan(text), !part.has(scan.ride) {
      try check(scan.at)
      return nil
    }
    if text.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { return nil }
    let value = try parse(text)
    let line: DayLine
    do throws(StoredFault) {
      guard header != nil else {
        header = try DayHeader(value)
        return nil
      }
      line = try DayLine(value)
    } catch {
      throw DayProblem(error, line: lines)
    }
    try check(line.at)
    return line
  }

  private mutating func check(_ at: Timestamp) throws(DayProblem) {
    if let last, at < last {
      throw DayProblem(
        line: lines, path: "at",
        "\(CivilTime.exact(at)) is before the line above, \(CivilTime.exact(last))",
        expected: "the lines in the order of time")
    }
    last = at
  }

  /// Counts a line without reading it.
  package mutating func skip() { lines += 1 }

  private func parse(_ text: [UInt8]) throws(DayProblem) -> JSONValue {
    do throws(JSONParser.Fault) {
      return try JSONParser.parse(text, depthLimit: 100)
    } catch {
      let column = SourceLocation(ofByte: error.offset, in: text).column
      throw DayProblem(line: lines, path: "column \(column)", "not JSON: \(error.what)")
    }
  }
}
