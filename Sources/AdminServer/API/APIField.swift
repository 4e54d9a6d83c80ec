package import Base
package import RideCore

/// A field of a body, or a variable part of a path.
package struct APIField: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// A word or an ID: text that is not empty and has no control characters.
    case word
    /// The name of one of the service's apps.
    case app
    /// A topic, in the form in which rules name it.
    case topic
    /// The token of a phone or a card, in hexadecimal.
    case token
    /// The token of a phone of either system; `APICall.checkPhone` compares it with the system.
    case phoneToken
    case environment
    /// A system whose phones can be registered.
    case platform
    case flag
    case object
    /// A time in ISO 8601 with its offset from UTC.
    case time
    /// The name of an IANA time zone.
    case timeZone
    /// `never-store` or a duration such as `5m`; the argument is its seconds.
    case expiry
    /// A JSON object that is sent to a phone; the argument is its text.
    case payload
    /// A value of `apns-push-type`.
    case pushType
    /// A value of `apns-priority`.
    case priority
    /// The ID of a broadcast channel.
    case channel
    /// A value of `apns-collapse-id`.
    case collapseID
    /// A value of `apns-id`.
    case pushID
    /// A list of people, each with an app and an owner.
    case participants
    /// Why an app reports the end of a card.
    case cardEnd
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

  static let notOfAPNs = "is not a token: 2 to 512 hexadecimal digits, an even number of them"

  /// Returns the value if the field accepts it.
  ///
  /// - Throws: `wrongType` or `invalidValue`, with the accepted values.
  package func checked(_ value: JSONValue, apps: [App]) throws(APIError) -> JSONValue {
    switch (kind, value) {
    case (.flag, .bool): break
    case (.object, .object):
      if value.containsNUL {
        throw invalid("contains \\u0000, which Postgres does not store; leave it out")
      }
    case (.word, .string(let text)): try checkWord(text)
    case (.topic, .string(let text)):
      try checkWord(text)
      if !Topic.isValid(text) {
        throw invalid(
          "is \(APIBody.clipped(text)); a topic has a-z, 0-9, - and _, at most 64")
      }
    case (.time, .string(let text)):
      if CivilTime.instant(iso: text) == nil {
        throw invalid(
          "is \(APIBody.clipped(text)); send ISO 8601 with an offset, such as 2026-11-21T08:00:00+01:00"
        )
      }
    case (.timeZone, .string(let text)):
      if ZoneTimes(identifier: text) == nil {
        throw invalid(
          "names the unknown zone \(APIBody.clipped(text)); send an IANA name, such as Europe/Berlin"
        )
      }
    case (.token, .string(let text)):
      if DeviceToken(text) == nil {
        // The message does not quote the value: it may be a real token.
        throw invalid(Self.notOfAPNs)
      }
    case (.phoneToken, .string(let text)):
      if FCMRegistration(text) == nil {
        throw invalid("is not a token: 1 to 512 characters of ASCII without spaces")
      }
    case (.app, .string(let text)):
      try check(text, among: apps.map(\.rawValue).sorted(), "app")
    case (.environment, .string(let text)):
      try check(text, among: APNsEnvironment.allCases.map(\.rawValue), "environment")
    case (.platform, .string(let text)):
      try check(text, among: Platform.allCases.map(\.rawValue), "platform")
    case (.cardEnd, .string(let text)):
      try check(text, among: ["dismissed", "signed_out"], "reason")
    case (.pushType, .string(let text)):
      try check(text, among: PushType.allCases.map(\.rawValue), "push type")
    case (.priority, .integer(let number)):
      if Int(exactly: number).flatMap(PushPriority.init) == nil {
        throw invalid("is \(number); send 10 (at once), 5 (when it suits the phone) or 1")
      }
    case (.channel, .string(let text)):
      if ChannelID(text) == nil { throw invalid("is not a channel ID in base64") }
    case (.collapseID, .string(let text)):
      if CollapseID(text) == nil {
        throw invalid("is not 1 to 64 bytes without control characters and outer spaces")
      }
    case (.pushID, .string(let text)):
      if PushID(text) == nil {
        throw invalid("is \(APIBody.clipped(text)); send a UUID, the apns-id of the push")
      }
    case (.participants, .array(let people)): return try participants(people, apps)
    case (.expiry, .string(let text)):
      guard let expiry = RuleExpiry(text: text) else {
        throw invalid(
          "is \(APIBody.clipped(text)); send a duration such as 30s, 5m or 1h30m, or never-store")
      }
      return .integer(expiry.storage.components.seconds)
    case (.payload, .object):
      if let number = value.inexactInteger {
        throw invalid(
          "contains a whole number beyond 64 bits, about \(number); send it as a string: it would be "
            + "rounded")
      }
      return .string(String(decoding: value.json, as: UTF8.self))
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

  func invalid(_ what: String) -> APIError {
    APIError(.invalidValue, "\(name) \(what)", field: name)
  }

  private var kindName: String {
    switch kind {
    case .word, .app, .topic, .token, .phoneToken, .environment, .platform, .time, .timeZone,
      .expiry, .pushType, .channel, .collapseID, .pushID, .cardEnd:
      "a string"
    case .priority: "a whole number"
    case .flag: "true or false"
    case .object, .payload: "an object"
    case .participants: "a list of objects with app, owner_id and attributes"
    }
  }
}

extension JSONValue {
  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// The first number that may have been a whole number beyond 64 bits, which is rounded when it is
  /// read.
  fileprivate var inexactInteger: Double? {
    switch self {
    case .number(let number): abs(number) >= 0x1p63 ? number : nil
    case .array(let values): values.lazy.compactMap(\.inexactInteger).first
    case .object(let members): members.values.lazy.compactMap(\.inexactInteger).first
    case .null, .bool, .integer, .string: nil
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

/// Refuses names that are not known: without a misspelled one, a call would do more than was meant.
///
/// - Parameters:
///   - path: What the error names; nil for the first unknown name itself.
///   - problem: Makes the beginning of the message of that name, which may be cut.
func refuseStray(
  _ names: some Sequence<String>, known: [String], at path: String? = nil,
  _ problem: (String) -> String
) throws(APIError) {
  guard let stray = names.filter({ !known.contains($0) }).min() else { return }
  let prefixed = known.first { !stray.isEmpty && $0.hasPrefix(stray) }
  let advice = known.isEmpty ? "send no body" : hint(for: stray, among: known, or: prefixed)
  throw APIError(
    .unknownField, "\(problem(APIBody.clipped(stray))); \(advice)", field: path ?? stray)
}

/// Returns `did you mean X? known: …` for an unknown word.
func hint(for word: String, among known: [String], or other: String? = nil) -> String {
  let near = (nearestWord(to: String(word.prefix(100)), among: known) ?? other).map {
    "did you mean \($0)? "
  }
  return "\(near ?? "")known: \(known.joined(separator: ", "))"
}
