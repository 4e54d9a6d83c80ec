import Base
import RideCore

/// Something in a day that can't be read, or that contradicts what came before.
package struct DayProblem: Error, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// From 1, with the header.
  package var line: Int
  /// Where in the line: `column 7` of one that is not JSON, otherwise a path such as `ride.state`.
  package var place: String
  package var found: String
  package var expected: String?

  package init(line: Int, place: String = "", _ found: String, expected: String? = nil) {
    self.line = line
    self.place = place
    self.found = found
    self.expected = expected
  }

  /// `7: ride.pickup_at: 8 is not a time; expected …`
  package var description: String {
    let text = "\(line): " + (place.isEmpty ? "" : place + ": ") + found
    return Escape.line(text + (expected.map { "; expected " + $0 } ?? ""))
  }

  package static func < (left: DayProblem, right: DayProblem) -> Bool {
    (left.line, left.place, left.found) < (right.line, right.place, right.found)
  }
}

/// The members of an object of a day's line, read by type.
struct DayFields {
  let line: Int
  /// The names before this object's, such as `ride.`.
  let path: String
  private let members: [String: JSONValue]

  init(
    _ value: JSONValue, line: Int, at path: String = "", known: [String]
  ) throws(DayProblem) {
    self.line = line
    self.path = path.isEmpty ? "" : path + "."
    guard case .object(let members) = value else {
      throw DayProblem(line: line, place: path, "not an object", expected: "an object such as {…}")
    }
    self.members = members
    if members.count <= known.count, members.keys.allSatisfy(known.contains) { return }
    guard let key = members.keys.filter({ !known.contains($0) }).min() else { return }
    throw DayProblem(
      line: line, place: path,
      "the unknown key \(key.quotedBrief)" + suggestion(for: key, among: known),
      expected: "one of " + known.joined(separator: ", "))
  }

  subscript(key: String) -> JSONValue? { members[key] }

  func has(_ key: String) -> Bool { members[key] != nil }

  func problem(_ key: String, _ found: String, expected: String? = nil) -> DayProblem {
    DayProblem(line: line, place: path + key, found, expected: expected)
  }

  /// Returns a text; nil if the member is missing or null.
  func text(_ key: String) throws(DayProblem) -> String? {
    switch members[key] {
    case nil, .null: return nil
    case .string(let text): return text
    case let value?: throw problem(key, "\(value.shown) is not a text", expected: "a text or null")
    }
  }

  /// Returns a text that must be there and must not be empty.
  func required(_ key: String) throws(DayProblem) -> String {
    guard let text = try text(key), !text.isEmpty else {
      throw problem(key, "missing", expected: "a text")
    }
    return text
  }

  func time(_ key: String) throws(DayProblem) -> Timestamp? {
    guard let text = try text(key) else { return nil }
    if let instant = CivilTime.instant(iso: text) { return instant }
    throw problem(
      key, "\(text.quotedBrief) is not a time", expected: "one such as 2026-11-21T08:00:00Z")
  }

  func flag(_ key: String) throws(DayProblem) -> Bool? {
    switch members[key] {
    case nil, .null: return nil
    case .bool(let value): return value
    case let value?: throw problem(key, "\(value.shown) is not a flag", expected: "true or false")
    }
  }

  func number(_ key: String) throws(DayProblem) -> Double? {
    switch members[key] {
    case nil, .null: return nil
    case .integer(let number): return Double(number)
    case .number(let number): return number
    case let value?: throw problem(key, "\(value.shown) is not a number", expected: "a number")
    }
  }

  func object(_ key: String) throws(DayProblem) -> JSONValue? {
    switch members[key] {
    case nil, .null: return nil
    case .object?: return members[key]
    case let value?: throw problem(key, "\(value.shown) is not an object", expected: "an object")
    }
  }

  /// Returns one of the words of a type.
  func word<Word: RawRepresentable & CaseIterable>(
    _ key: String, _ type: Word.Type
  ) throws(DayProblem) -> Word? where Word.RawValue == String {
    guard let text = try text(key) else { return nil }
    if let word = Word(rawValue: text) { return word }
    let known = Word.allCases.map(\.rawValue)
    throw problem(
      key, "\(text.quotedBrief) is not known" + suggestion(for: text, among: known),
      expected: "one of " + known.joined(separator: ", "))
  }
}

extension JSONValue {
  /// The value as an error shows it.
  fileprivate var shown: String {
    switch self {
    case .object: "an object"
    case .array: "a list"
    case .string(let text): text.quotedBrief
    default: text
    }
  }
}
