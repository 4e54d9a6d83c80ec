package import RideCore

/// A writing call of the API; it accepts the arguments of the SQL function that it invokes.
package struct APICall: Hashable, Sendable {
  /// The name that is passed to `ridepulse.answer`, and the last part of the path.
  package let name: String
  package let fields: [APIField]

  package var path: String { "/v1/\(name)" }

  /// Calls `ridepulse.emit`.
  package static let events = APICall(
    name: "events",
    fields: [
      APIField("event", .word), APIField("ride_id", .word),
      APIField("data", .object, isRequired: false),
    ])

  /// Calls `ridepulse.register_device`.
  package static let devices = APICall(
    name: "devices",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .token),
      APIField("environment", .environment, isRequired: false),
      APIField("installation_id", .word, isRequired: false),
      APIField("locale", .word, isRequired: false),
    ])

  /// Calls `ridepulse.register_live_activity`.
  package static let liveActivities = APICall(
    name: "live-activities",
    fields: [
      APIField("ride_id", .word), APIField("app", .app), APIField("owner_id", .word),
      APIField("token", .token), APIField("activity_id", .word),
      APIField("environment", .environment, isRequired: false),
      APIField("frequent", .flag, isRequired: false),
    ])

  /// Calls `ridepulse.register_push_to_start`.
  package static let pushToStart = APICall(
    name: "push-to-start",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .token),
      APIField("attributes_type", .word),
      APIField("environment", .environment, isRequired: false),
    ])

  /// Calls `ridepulse.contact`.
  package static let contact = APICall(
    name: "contact", fields: [APIField("app", .app), APIField("owner_id", .word)])

  package static let all = [events, devices, liveActivities, pushToStart, contact]

  /// Returns the body's fields as arguments of the SQL function, without optional fields that are
  /// null.
  ///
  /// - Parameter apps: the apps that the service is configured for.
  /// - Throws: the first error found.
  package func arguments(
    _ members: [String: JSONValue], apps: [App]
  ) throws(APIError) -> [String: JSONValue] {
    let known = fields.map(\.name)
    if let stray = members.keys.filter({ !known.contains($0) }).min() {
      let prefixed = known.first { !stray.isEmpty && $0.hasPrefix(stray) }
      throw APIError(
        .unknownField,
        "there is no field \(APIBody.clipped(stray)); \(hint(for: stray, among: known, or: prefixed))",
        field: stray)
    }
    var arguments: [String: JSONValue] = [:]
    for field in fields {
      let value = members[field.name] ?? .null
      if value == .null {
        if !field.isRequired { continue }
        throw APIError(.missingField, "\(field.name) is missing; send it", field: field.name)
      }
      arguments[field.name] = try field.checked(value, apps: apps)
    }
    return arguments
  }
}

/// Reads the `Idempotency-Key` header: requests with the same key are one call.
package enum IdempotencyKey {
  /// Returns the key of a request; nil if it has none.
  ///
  /// - Throws: `invalidIdempotencyKey`.
  package static func of(_ request: HTTPRequest) throws(APIError) -> String? {
    guard let key = request.headers["idempotency-key"] else { return nil }
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (33...126).contains($0) })
    else {
      throw APIError(
        .invalidIdempotencyKey, "Idempotency-Key is not 1 to 255 visible ASCII characters")
    }
    return key
  }
}

package struct APIField: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// A word or an ID: text that is not empty and has no control characters.
    case word
    /// The name of one of the service's apps.
    case app
    /// The token of a phone or a card, in hexadecimal.
    case token
    case environment
    case flag
    case object
  }

  package let name: String
  package let kind: Kind
  package let isRequired: Bool

  package init(_ name: String, _ kind: Kind, isRequired: Bool = true) {
    self.name = name
    self.kind = kind
    self.isRequired = isRequired
  }

  /// The maximum length of an ID in bytes.
  ///
  /// IDs are index keys in the database, and Postgres limits an index row to 2,704 bytes for all
  /// columns.
  static let wordLimit = 512

  /// Returns the value if the field accepts it.
  ///
  /// - Throws: `wrongType` or `invalidValue`, with the accepted values.
  func checked(_ value: JSONValue, apps: [App]) throws(APIError) -> JSONValue {
    switch (kind, value) {
    case (.flag, .bool): break
    case (.object, .object):
      if value.containsNUL {
        throw invalid("contains \\u0000, which Postgres does not store; leave it out")
      }
    case (.word, .string(let text)): try checkWord(text)
    case (.token, .string(let text)):
      if DeviceToken(text) == nil {
        // The message does not quote the value: it may be a real token.
        throw invalid("is not a token: 2 to 512 hexadecimal digits, an even number of them")
      }
    case (.app, .string(let text)):
      try check(text, among: apps.map(\.rawValue).sorted(), "app")
    case (.environment, .string(let text)):
      try check(text, among: APNsEnvironment.allCases.map(\.rawValue), "environment")
    default:
      throw APIError(.wrongType, "\(name) is \(value.typeName); send \(kindName)", field: name)
    }
    return value
  }

  private func checkWord(_ text: String) throws(APIError) {
    if text.isEmpty { throw invalid("is empty; leave it out only where it is optional") }
    if text.utf8.count > Self.wordLimit {
      throw invalid("has \(text.utf8.count) bytes; it may have \(Self.wordLimit)")
    }
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw invalid("contains a control character; leave it out")
    }
  }

  private func check(
    _ text: String, among known: [String], _ what: String
  ) throws(APIError) {
    if known.contains(text) { return }
    throw invalid(
      "names the unknown \(what) \(APIBody.clipped(text)); \(hint(for: text, among: known))")
  }

  private func invalid(_ what: String) -> APIError {
    APIError(.invalidValue, "\(name) \(what)", field: name)
  }

  private var kindName: String {
    switch kind {
    case .word, .app, .token, .environment: "a string"
    case .flag: "true or false"
    case .object: "an object"
    }
  }
}

extension JSONValue {
  fileprivate var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// Whether a string in the value, including a member name, contains a NUL character.
  fileprivate var containsNUL: Bool {
    switch self {
    case .string(let text): text.utf8.contains(0)
    case .array(let values): values.contains(where: \.containsNUL)
    case .object(let members): members.contains { $0.key.utf8.contains(0) || $0.value.containsNUL }
    case .null, .bool, .integer, .number: false
    }
  }
}

/// Returns `did you mean X? known: …` for an unknown word.
private func hint(for word: String, among known: [String], or other: String? = nil) -> String {
  let near = (nearestWord(to: String(word.prefix(100)), among: known) ?? other).map {
    "did you mean \($0)? "
  }
  return "\(near ?? "")known: \(known.joined(separator: ", "))"
}
