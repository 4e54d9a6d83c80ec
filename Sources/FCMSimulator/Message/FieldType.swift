import SimulatorKit

/// The type of a field of the API, as protobuf's JSON mapping reads it.
indirect enum FieldType: Sendable {
  case string
  case bool
  case int
  case float
  case duration
  case timestamp
  case strings
  case durations
  /// Texts by key.
  case map
  /// One of these names; `lowerCase` allows them in lower case.
  case names(Set<String>, of: String, lowerCase: Bool = false)
  case object([String: FieldType])
  /// Anything: what is not for Android.
  case any

  /// Returns the value with its field names in snake case, and without those that are null.
  func read(_ value: JSON, at path: String) throws(Refusal) -> JSON {
    switch self {
    case .any: return value
    case .object(let fields): return try Self.object(value, fields, at: path)
    case .map: return try Self.map(value, at: path)
    case .strings:
      guard value.array?.allSatisfy({ $0.string != nil }) ?? false else {
        throw Self.wrong(value, "TYPE_STRING", at: path)
      }
    case .durations:
      guard let texts = value.array else { throw Self.wrong(value, Self.durationType, at: path) }
      for (index, text) in texts.enumerated() {
        _ = try FieldType.duration.read(text, at: "\(path)[\(index)]")
      }
    case .string:
      if value.string == nil { throw Self.wrong(value, "TYPE_STRING", at: path) }
    case .bool:
      if case .bool = value { break }
      throw Self.wrong(value, "TYPE_BOOL", at: path)
    case .int:
      if value.whole == nil, value.string.flatMap({ Int($0) }) == nil {
        throw Self.wrong(value, "TYPE_INT32", at: path)
      }
    case .float:
      if value.double == nil { throw Self.wrong(value, "TYPE_FLOAT", at: path) }
    case .duration:
      if value.string.flatMap(Self.seconds) == nil {
        throw Self.wrong(value, Self.durationType, at: path)
      }
    case .timestamp:
      if value.string?.hasSuffix("Z") != true {
        throw Self.wrong(value, "type.googleapis.com/google.protobuf.Timestamp", at: path)
      }
    case .names(let names, let type, let lowerCase):
      guard let text = value.string, names.contains(lowerCase ? text.uppercased() : text) else {
        throw Self.wrong(value, "type.googleapis.com/google.firebase.fcm.v1.\(type)", at: path)
      }
      return .string(text.uppercased())
    }
    return value
  }

  private static let durationType = "type.googleapis.com/google.protobuf.Duration"

  private static func object(
    _ value: JSON, _ fields: [String: FieldType], at path: String
  ) throws(Refusal) -> JSON {
    guard let members = value.object else { throw wrong(value, "message", at: path) }
    var read: [String: JSON] = [:]
    for (key, member) in members.sorted(by: { $0.key < $1.key }) {
      let name = snakeCase(key)
      guard let type = fields[name] else {
        let place = path.isEmpty ? "" : " at '\(path)'"
        throw .malformed(
          "Invalid JSON payload received. Unknown name \"\(key)\"\(place): Cannot find field.",
          field: path.isEmpty ? key : path)
      }
      // Google takes the last one; which of the two was meant can't be known.
      if read[name] != nil {
        throw .malformed("Invalid JSON payload received. \"\(name)\" is there twice", field: path)
      }
      if member == .null { continue }
      read[name] = try type.read(member, at: path.isEmpty ? name : "\(path).\(name)")
    }
    return .object(read)
  }

  private static func map(_ value: JSON, at path: String) throws(Refusal) -> JSON {
    guard let members = value.object else { throw wrong(value, "TYPE_STRING", at: path) }
    for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated()
    where member.value.string == nil {
      throw wrong(member.value, "TYPE_STRING", at: "\(path)[\(index)].value")
    }
    return value
  }

  private static func wrong(_ value: JSON, _ type: String, at path: String) -> Refusal {
    .malformed("Invalid value at '\(path)' (\(type)), \(value.description)", field: path)
  }

  /// `collapseKey` and `collapse_key` are one field.
  private static func snakeCase(_ key: String) -> String {
    guard key.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return key }
    return key.reduce(into: "") { name, letter in
      if letter.isUppercase { name += "_" }
      name += letter.lowercased()
    }
  }

  /// Returns the seconds of a text such as `3.5s`; fractions are cut, as FCM does with `ttl`.
  static func seconds(_ text: String) -> Int? {
    guard text.hasSuffix("s") else { return nil }
    let parts = text.dropLast().split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let seconds = Int(parts[0]) else { return nil }
    if parts.count == 2 {
      let isFraction =
        (1...9).contains(parts[1].utf8.count)
        && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
      if !isFraction { return nil }
    }
    return seconds
  }
}
