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
      guard let bound = entry(push)?.topic, bound != push.header("apns-topic") else { return nil }
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
  ]

  private static func entry(_ push: Push) -> DeviceToken? {
    push.deviceToken.flatMap { push.context.deviceTokens[$0] }
  }
}
