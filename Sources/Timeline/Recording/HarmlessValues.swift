package import Base
import CEL
package import RideCore

/// Makes attributes and the data of events harmless: what may name, describe or locate a person is
/// replaced.
///
/// Kept are booleans, times, whole numbers other than long ones, numbers with at most two decimals,
/// words that the rules compare with or declare, and codes of currencies; member names that the rules use, or that look like names
/// of fields. IDs become pseudonyms, any other text a stand-in, and positions whole degrees.
package struct HarmlessValues: Sendable {
  private let names: Pseudonyms
  /// Names of attributes that are kept as they are.
  private let kept: Set<String>
  private let words: Set<String>
  /// Member names that the rules use.
  private let fields: Set<String>

  package init(_ names: Pseudonyms, keeping kept: Set<String>, rules: RuleSet) {
    self.names = names
    self.kept = kept
    words = rules.comparedWords.union(rules.attributes?.words ?? []).union(rules.knownEvents)
      .union(rules.apps.map(\.rawValue))
    fields = rules.namedFields.union(rules.comparedWords)
  }

  /// - Parameter now: When they were read; numbers near it are times.
  package func members(
    _ members: [String: JSONValue], at now: Timestamp
  ) -> [String: JSONValue] {
    names.replacesNothing ? members : self.members(members, at: now, isCoordinate: false)
  }

  /// Returns the attributes of a person, which are an object as a text.
  func attributes(_ text: String, at now: Timestamp) -> String {
    guard text != "{}", case .object(let own)? = JSONValue(json: text.utf8) else { return "{}" }
    return JSONValue.object(members(own, at: now)).text
  }

  private func members(
    _ members: [String: JSONValue], at now: Timestamp, isCoordinate: Bool
  ) -> [String: JSONValue] {
    var result: [String: JSONValue] = [:]
    for (key, value) in members {
      result[name(key)] = self.value(
        value, of: key, at: now, isCoordinate: isCoordinate || CoordinateName.contains(key))
    }
    return result
  }

  /// Returns the name of a member: a stand-in for the key of a map, such as a phone number.
  private func name(_ key: String) -> String {
    if kept.contains(key) || fields.contains(key) { return key }
    let isField =
      key.utf8.count <= 40 && key.utf8.count { $0.isDigit } <= 1
      && key.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    return isField ? key : names.text(key)
  }

  private func value(
    _ value: JSONValue, of key: String, at now: Timestamp, isCoordinate: Bool,
    isInList: Bool = false
  ) -> JSONValue {
    if kept.contains(key) { return value }
    if key.hasSuffix("_id"), value != .null { return id(value, of: key) }
    switch value {
    case .null, .bool: return value
    case .object(let members):
      return .object(self.members(members, at: now, isCoordinate: isCoordinate))
    case .array(let values):
      return .array(
        values.map { self.value($0, of: key, at: now, isCoordinate: isCoordinate, isInList: true) })
    case .string(let text): return string(text, isCoordinate: isCoordinate)
    case .integer(let number):
      if isCoordinate { return .integer(0) }
      return abs(Double(number)) < 1e6 || isTime(Double(number), near: now)
        ? value : .integer(names.number(String(number)))
    case .number(let number):
      if isCoordinate { return .integer(Int64(max(-360, min(360, number)).rounded())) }
      if isTime(number, near: now) { return value }
      if abs(number) >= 1e7 { return .integer(names.number(String(number))) }
      // A pair in a list may be a position, whatever it is called.
      if isInList { return .integer(Int64(number.rounded())) }
      return .number(Self.coarse(number))
    }
  }

  /// Returns an amount or a rating as it is, and a number with more decimals to three digits: to about
  /// ten kilometres, if it is a coordinate.
  private static func coarse(_ number: Double) -> Double {
    if (number * 100).rounded() / 100 == number { return number }
    var scale = 1.0
    while abs(number) * scale < 100, scale < 1e6 { scale *= 10 }
    while abs(number) * scale >= 1000 { scale /= 10 }
    return (number * scale).rounded() / scale
  }

  /// One ID, or a list of IDs. A person who is named by a number is the same as by its digits.
  private func id(_ value: JSONValue, of key: String) -> JSONValue {
    if case .array(let values) = value { return .array(values.map { id($0, of: key) }) }
    if value == .null { return value }
    return .string(names.id(key == "ride_id" ? .ride : .owner, value.text))
  }

  private func string(_ text: String, isCoordinate: Bool) -> JSONValue {
    // A text of three letters is looked up, any other is not.
    let isCurrency = text.utf8.count == 3 && CurrencyCode.isKnown(text)
    if text.isEmpty || words.contains(text) || isCurrency || CivilTime.instant(iso: text) != nil {
      return .string(text)
    }
    // A typed field may take its digits as a number: an amount, not a coordinate.
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if !isCoordinate, text.utf8.count < 8, parts.count <= 2,
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }),
      parts.count == 1 || parts[1].count <= 2
    {
      return .string(text)
    }
    return .string(names.text(text))
  }

  /// Whether the number is a time within a year, in seconds, milliseconds or microseconds since 1970.
  private func isTime(_ number: Double, near now: Timestamp) -> Bool {
    let seconds = Double(now.epochSeconds)
    return [1, 1e3, 1e6].contains { abs(number / $0 - seconds) < 366 * 86_400 }
  }
}

/// The words of member names whose numbers are coordinates.
private enum CoordinateName {
  private static let words: Set<String> = [
    "lat", "lats", "lng", "lon", "long", "latitude", "longitude", "coord", "coords", "coordinate",
    "coordinates", "gps", "geo", "geometry", "geojson", "geohash", "point", "points", "position",
    "positions", "location", "locations", "latlng", "latlon", "lnglat", "lonlat", "polyline",
    "route",
    "track", "trace", "waypoint", "waypoints", "bbox", "bounds", "x", "y", "easting", "northing",
  ]
  private static let endings = ["lat", "lng", "lon", "latitude", "longitude"]

  /// Returns whether a word of the name, in any style, is one of a position.
  static func contains(_ name: String) -> Bool {
    let lowercase = name.lowercased()
    if endings.contains(where: lowercase.hasSuffix) { return true }
    var word = ""
    for character in name {
      if !character.isLetter || character.isUppercase {
        if words.contains(word) { return true }
        word = ""
      }
      if character.isLetter { word += character.lowercased() }
    }
    return words.contains(word)
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  fileprivate var isLetter: Bool {
    (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z")
  }
}

extension RuleSet {
  /// The names on the paths that texts and conditions read.
  fileprivate var namedFields: Set<String> {
    var names: Set<String> = []
    for (placeholder, _) in rules.flatMap(\.shownValues) {
      switch placeholder.source {
      case .attributes(let path), .eventData(let path), .me(let path): names.formUnion(path)
      default: continue
      }
    }
    for uses in rules.compactMap(\.condition).map(\.uses) {
      for use in uses.attributes + uses.eventData + uses.me { names.formUnion(use.path) }
    }
    return names
  }

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
