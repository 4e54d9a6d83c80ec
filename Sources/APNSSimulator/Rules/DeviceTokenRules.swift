import SimulatorKit

/// Rules that check the token against the registry.
///
/// They come last, because Apple reports the state of a token only for a push that is otherwise
/// correct.
enum DeviceTokenRules {
  static let all: [Rule] = [
    Rule("token is of this environment") { push in
      let environment = push.context.environment
      guard let bound = entry(push)?.environment, bound != environment else { return nil }
      return Refusal(.badDeviceToken, "a \(bound) token, and this is \(environment)")
    },
    Rule("token is for the topic") { push in
      guard let bound = entry(push)?.topic, bound != push.topic else { return nil }
      return Refusal(.deviceTokenNotForTopic, "this token is for \(bound)")
    },
    Rule("token is registered") { push in
      guard let since = entry(push)?.unregisteredSince else { return nil }
      return Refusal(.unregistered, "unregistered since \(since) ms", timestamp: since)
    },
    Rule("token has not expired") { push in
      guard let since = entry(push)?.expiredSince else { return nil }
      return Refusal(.expiredToken, "expired since \(since) ms", timestamp: since)
    },
    Rule("token is pushed to within its rate") { push in
      push.context.isOverTokenRate
        ? Refusal(.tooManyRequests, "more pushes to this token than --token-rate allows") : nil
    },
  ]

  private static func entry(_ push: Push) -> DeviceToken? {
    push.deviceToken.flatMap { push.context.deviceTokens[$0] }
  }
}

/// The state of one device token; a token without an entry suits any known topic.
struct DeviceToken: Equatable, Sendable {
  /// The whole `apns-topic` with its suffix: a Live Activity's token differs from the phone's.
  var topic: String?
  var environment: Environment?
  /// Milliseconds.
  var unregisteredSince: Int?
  /// Milliseconds.
  var expiredSince: Int?
  /// The phone that the inbox shows it on, together with the phone's other tokens.
  var phone: String?
}

struct DeviceTokenRegistry: Equatable, Sendable {
  private var tokens: [String: DeviceToken] = [:]

  var count: Int { tokens.count }

  subscript(_ token: some StringProtocol) -> DeviceToken? {
    get { tokens.isEmpty ? nil : tokens[token.lowercased()] }
    set { tokens[token.lowercased()] = newValue }
  }

  mutating func merge(_ other: DeviceTokenRegistry) {
    tokens.merge(other.tokens) { _, new in new }
  }
}

extension DeviceTokenRegistry {
  private static let keys: Set<String> = [
    "token", "topic", "environment", "unregistered_since", "expired_since", "phone",
  ]

  /// Parses `{"tokens": [{"token": "…", "topic": …, "environment": …, "unregistered_since": ms,
  /// "phone": …}]}`.
  init(text: [UInt8]) throws(FormatError) {
    let json = try FormatReader.json(text)
    guard let entries = json.object?["tokens"]?.array else {
      throw FormatError(found: json.description, expected: "{\"tokens\": [{\"token\": \"…\"}]}")
    }
    for (index, entry) in entries.enumerated() {
      try add(FormatReader(entry, at: "tokens[\(index)]", keys: Self.keys))
    }
  }

  private mutating func add(_ reader: FormatReader) throws(FormatError) {
    let token = try reader.requiredString("token")
    guard RequestRules.isDeviceToken(token) else {
      throw reader.error("token", "64 to 512 hex digits, an even number")
    }
    let environment = try reader.string("environment")
    guard environment.map({ Environment(rawValue: $0) != nil }) ?? true else {
      throw reader.error("environment", "production or sandbox")
    }
    self[token] = DeviceToken(
      topic: try reader.string("topic"),
      environment: environment.flatMap { Environment(rawValue: $0) },
      unregisteredSince: try reader.integer("unregistered_since"),
      expiredSince: try reader.integer("expired_since"), phone: try reader.string("phone"))
  }
}
