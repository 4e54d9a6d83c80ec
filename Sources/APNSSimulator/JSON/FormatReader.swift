/// JSON of a wrong form: the place, the value found and the form expected.
struct FormatError: Error, Equatable, CustomStringConvertible {
  var place = ""
  let found: String
  let expected: String

  var description: String {
    (place.isEmpty ? "" : "\(place): ") + "found \(found), expected \(expected)"
  }
}

/// Reads a JSON object with a fixed set of keys, and reports unknown ones.
struct FormatReader {
  let members: [String: JSON]
  let place: String

  init(_ json: JSON, at place: String, keys: Set<String>) throws(FormatError) {
    guard let members = json.object else {
      throw FormatError(place: place, found: json.description, expected: "an object")
    }
    if let unknown = members.keys.sorted().first(where: { !keys.contains($0) }) {
      let expected = "one of " + keys.sorted().joined(separator: ", ")
      throw FormatError(place: place, found: "key \"\(unknown)\"", expected: expected)
    }
    self.members = members
    self.place = place
  }

  static func json(_ text: [UInt8]) throws(FormatError) -> JSON {
    do {
      return try JSONParser.parse(text)
    } catch {
      throw FormatError(found: "no JSON at byte \(error.offset)", expected: error.expected)
    }
  }

  func error(_ key: String, _ expected: String) -> FormatError {
    let found = members[key]?.description ?? "nothing"
    return FormatError(place: "\(place).\(key)", found: found, expected: expected)
  }

  func string(_ key: String) throws(FormatError) -> String? {
    guard let value = members[key] else { return nil }
    guard let text = value.string else { throw error(key, "a string") }
    return text
  }

  func requiredString(_ key: String) throws(FormatError) -> String {
    guard let text = try string(key) else { throw error(key, "a string") }
    return text
  }

  func integer(_ key: String, in range: ClosedRange<Int> = 0...Int.max)
    throws(FormatError) -> Int?
  {
    guard let value = members[key] else { return nil }
    guard let integer = value.integer, range.contains(integer) else {
      let limit = range.upperBound == .max ? "" : " to \(range.upperBound)"
      throw error(key, "an integer from \(range.lowerBound)\(limit)")
    }
    return integer
  }

  func flag(_ key: String) throws(FormatError) -> Bool {
    guard let value = members[key] else { return false }
    guard value == .bool(true) else { throw error(key, "true") }
    return true
  }
}
