/// Makes attributes and the data of events harmless: what may name or describe a person is replaced.
///
/// Kept are booleans, times, numbers other than long ones, and words that the rules compare with. IDs
/// become pseudonyms, any other text a stand-in.
package struct HarmlessValues: Sendable {
  private let names: Pseudonyms
  /// Names of attributes that are kept as they are.
  private let kept: Set<String>
  private let words: Set<String>

  package init(_ names: Pseudonyms, keeping kept: Set<String>, rules: RuleSet) {
    self.names = names
    self.kept = kept
    words = rules.comparedWords.union(rules.knownEvents).union(rules.apps.map(\.rawValue))
  }

  /// - Parameter now: When they were read; numbers near it are times.
  package func members(
    _ members: [String: JSONValue], at now: Timestamp
  ) -> [String: JSONValue] {
    var result: [String: JSONValue] = [:]
    for (key, value) in members { result[key] = self.value(value, of: key, at: now) }
    return result
  }

  private func value(_ value: JSONValue, of key: String, at now: Timestamp) -> JSONValue {
    if kept.contains(key) { return value }
    if key.hasSuffix("_id"), value != .null { return id(value, of: key) }
    switch value {
    case .null, .bool: return value
    case .object(let members): return .object(self.members(members, at: now))
    case .array(let values): return .array(values.map { self.value($0, of: key, at: now) })
    case .string(let text): return string(text)
    case .integer(let number):
      if abs(Double(number)) < 1e7 || isTime(Double(number), near: now) {
        return Self.isPlace(key) ? .integer(0) : value
      }
      return .integer(names.number(String(number)))
    case .number(let number):
      if Self.isPlace(key) { return .integer(Int64(max(-360, min(360, number)).rounded())) }
      return abs(number) < 1e7 || isTime(number, near: now)
        ? value : .integer(names.number(String(number)))
    }
  }

  /// One ID, or a list of IDs. A person who is named by a number is the same as by its digits.
  private func id(_ value: JSONValue, of key: String) -> JSONValue {
    if case .array(let values) = value { return .array(values.map { id($0, of: key) }) }
    if value == .null { return value }
    return .string(names.id(key == "ride_id" ? .ride : .owner, value.text))
  }

  private func string(_ text: String) -> JSONValue {
    if text.isEmpty || words.contains(text) || CivilTime.instant(iso: text) != nil {
      return .string(text)
    }
    // A typed field may take its digits as a number.
    if text.utf8.count < 8, let number = Double(text), number.isFinite { return .string(text) }
    return .string(names.text(text))
  }

  /// Whether the number is a time within a year, in seconds, milliseconds or microseconds since 1970.
  private func isTime(_ number: Double, near now: Timestamp) -> Bool {
    let seconds = Double(now.epochSeconds)
    return [1, 1e3, 1e6].contains { abs(number / $0 - seconds) < 366 * 86_400 }
  }

  /// Whether a member is a coordinate. A whole degree identifies no street.
  private static func isPlace(_ key: String) -> Bool {
    let name = key.lowercased().filter { $0 != "_" }
    return ["lat", "lng", "lon", "latitude", "longitude"].contains { name.hasSuffix($0) }
  }
}

extension RuleSet {
  /// The texts in quotes in the rules' conditions: words of enumerations.
  var comparedWords: Set<String> {
    rules.reduce(into: []) { words, rule in
      if let text = rule.condition?.text { words.formUnion(Self.quoted(in: text)) }
    }
  }

  static func quoted(in text: String) -> [String] {
    var words: [String] = []
    var rest = text[...]
    while let start = rest.firstIndex(where: { $0 == "'" || $0 == "\"" }) {
      let after = rest[rest.index(after: start)...]
      guard let end = after.firstIndex(of: rest[start]) else { break }
      words.append(String(after[..<end]))
      rest = after[after.index(after: end)...]
    }
    return words
  }
}
