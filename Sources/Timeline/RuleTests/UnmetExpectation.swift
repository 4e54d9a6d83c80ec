package import Base
import RideCore

/// An expectation of a test that the rules did not meet.
package struct UnmetExpectation: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// An expected push was not sent.
    case notSent = "not sent"
    /// A push was sent that the test does not list.
    case unexpected
    /// A push was sent with other properties.
    case different
    /// The pushes came too often, too rarely or too late.
    case rhythm
    /// A push was sent that must not be.
    case sent
    /// A push was not sent, but for another reason.
    case reason
    /// A rule that must send nothing did not match at all.
    case noMatch = "no match"
    /// A phone shows something else.
    case screen
    /// A phone shows, or does, what the file rules out.
    case never
  }

  /// One value that is not as expected.
  package struct Difference: Hashable, Sendable {
    /// Such as `payload.aps.sound`.
    package var path: String
    package var expected: String
    package var actual: String
  }

  package var kind: Kind
  /// Where the expectation is in the test's file.
  package var location: SourceLocation
  /// The rule's name and where it is defined; nil if the expectation concerns several.
  package var rule: String?
  package var ruleSource: String?
  /// What happened instead, in one line.
  package var message: String
  package var differences: [Difference] = []
  /// Lines for `then` that expect what was sent.
  package var additions: [String] = []
  /// What the phone shows, in lines.
  package var screen: [String] = []

  /// What it is in several lines, without the file: the message, and each difference.
  package var text: String {
    let source = ruleSource.map { " (\($0))" } ?? ""
    var lines = [message + source]
    lines += differences.map { "    \($0.path): expected \($0.expected), actual \($0.actual)" }
    if !screen.isEmpty { lines += ["    the screen:"] + screen.map { "      \($0)" } }
    if !additions.isEmpty {
      lines.append("    if this is right, add to then:")
      lines += additions.map { "      \($0)" }
    }
    return lines.map { Escape.line($0) }.joined(separator: "\n")
  }
}

extension UnmetExpectation {
  /// Compares a part of a JSON text with the whole.
  ///
  /// Objects may have further members, and null stands for a missing one; lists must be of equal
  /// length.
  static func differences(
    of actual: JSONValue?, from expected: JSONValue, at path: String
  ) -> [Difference] {
    switch (expected, actual) {
    case (.object(let members), .object(let all)?):
      return members.sorted { $0.key < $1.key }.flatMap { key, value in
        differences(of: all[key], from: value, at: path + "." + key)
      }
    case (.array(let elements), .array(let all)?) where elements.count == all.count:
      return elements.indices.flatMap { index in
        differences(of: all[index], from: elements[index], at: "\(path)[\(index)]")
      }
    case (.null, nil), (.null, .null?): return []
    case (.integer(let number), .number(let other)?) where Double(number) == other: return []
    case (.number(let number), .integer(let other)?) where number == Double(other): return []
    case (_, let actual?) where actual == expected: return []
    default:
      return [
        Difference(
          path: path, expected: String(decoding: expected.json, as: UTF8.self),
          actual: actual.map { String(decoding: $0.json, as: UTF8.self) } ?? "none"
        ).legible
      ]
    }
  }
}

extension UnmetExpectation.Difference {
  /// The same with invisible characters as escapes, if nothing else differs.
  fileprivate var legible: Self {
    var copy = self
    (copy.expected, copy.actual) = Escape.comparable(expected, actual)
    return copy
  }
}
