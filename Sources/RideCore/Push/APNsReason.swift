/// A reason that APNs gives for an answer other than 200.
///
/// This is the only table of them: the client, the decision, the metrics, `doctor` and the channel
/// commands take from it what a reason means for each.
package struct APNsReason: Hashable, Sendable {
  /// Where the fault lies, as far as the reason shows it.
  package enum Cause: Hashable, Sendable {
    case deviceToken
    case topic
    case key
    case environment
    case clock
    case other
  }

  /// The status that Apple documents for the reason.
  package var status: Int

  /// The consequences for a push; nil if only the channel API gives the reason.
  package var rule: RefusalRule?

  package var cause: Cause

  /// The explanation to a person; nil if neither channels nor broadcasts get the reason.
  package var explanation: BroadcastReason?

  private init(
    _ status: Int, _ rule: RefusalRule?, cause: Cause = .other,
    _ explanation: BroadcastReason? = nil
  ) {
    self.status = status
    self.rule = rule
    self.cause = cause
    self.explanation = explanation
  }
}

/// Explains one of Apple's reasons for channels and broadcasts, and how to resolve it.
package struct BroadcastReason: Hashable, Sendable {
  /// What APNs means by the reason.
  package var meaning: String

  /// How to resolve it.
  package var advice: String

  init(_ meaning: String, do advice: String) {
    self.meaning = meaning
    self.advice = advice
  }

  /// Returns the explanation of a reason; nil if there is none.
  package static func of(_ reason: String) -> BroadcastReason? {
    // Seen on the wire in this spelling.
    let reason = reason == "Service Unavailable" ? "ServiceUnavailable" : reason
    return APNsReason.table[reason]?.explanation
  }

  /// Returns the explanation of a response, by the class of its status if the reason is unknown.
  package static func of(status: Int, reason: String?) -> BroadcastReason {
    if let reason, let known = of(reason) { return known }
    return switch status {
    case 403: BroadcastReason("APNs does not accept the key", do: "check key, team and environment")
    case 429: BroadcastReason("APNs is asked too often", do: "wait some minutes and try again")
    case 400..<500:
      BroadcastReason("APNs refuses the request", do: "look the reason up on Apple's page")
    default: BroadcastReason("APNs has trouble of its own", do: "try again in 15 minutes")
    }
  }

  fileprivate static let notEnabled = BroadcastReason(
    "the app may not broadcast",
    do: "enable the Broadcast Capability of its App ID in Apple's developer portal")

  fileprivate static let wrongEnvironment = BroadcastReason(
    "the key is for the other environment", do: "give --environment, or another key")

  fileprivate static let unwell = BroadcastReason(
    "APNs has trouble of its own", do: "try again in 15 minutes")
}

extension APNsReason {
  /// Apple's reasons, and those seen on the wire.
  package static let table: [String: APNsReason] =
    badRequests.merging(forbidden) { first, _ in first }.merging(others) { first, _ in first }

  private static let badRequests: [String: APNsReason] = [
    "BadChannelId": .init(
      400, .init(push: .rejected, token: .gone),
      .init(
        "no channel ever had this ID",
        do: "compare it with `ridepulse channels list`")),
    "BadCollapseId": .init(
      400, .init(push: .rejected)),
    "BadDeviceToken": .init(
      400, .init(push: .rejected, token: .suspect), cause: .deviceToken),
    "BadExpirationDate": .init(
      400, .init(push: .rejected),
      .init(
        "apns-expiration is missing or does not suit the channel",
        do: "use 0 for a channel with storage none; any other must have storage latest")),
    "BadMessageId": .init(
      400, .init(push: .rejected),
      .init(
        "apns-request-id is no UUID",
        do: "report it: RidePulse makes them itself")),
    "BadPriority": .init(
      400, .init(push: .rejected),
      .init(
        "apns-priority is not 10, 5 or 1",
        do: "correct the rule's priority")),
    "BadRequestParams": .init(
      400, .init(push: .rejected),
      .init(
        "the JSON has an attribute that Apple does not know",
        do: "report it: RidePulse wrote it")),
    "BadRequestPayload": .init(
      400, .init(push: .rejected),
      .init(
        "the JSON can't be read",
        do: "report it: RidePulse wrote it")),
    "BadTopic": .init(
      400, .init(push: .rejected, isOfConfiguration: true), cause: .topic),
    // The app may not broadcast yet; its other pushes are unaffected.
    "BroadcastFeatureNotEnabled": .init(
      400, .init(push: .again),
      .notEnabled),
    "CannotCreateChannelConfig": .init(
      400, nil,
      .init(
        "the app has 10,000 channels in this environment, the most that Apple gives",
        do: "delete some: `ridepulse channels reconcile --apply` deletes those that leaked")),
    "ChannelNotRegistered": .init(
      400, .init(push: .rejected, token: .gone),
      .init(
        "the channel was deleted",
        do: "create another one; an ID is never given twice")),
    "DeviceTokenNotForTopic": .init(
      400, .init(push: .rejected, token: .suspect), cause: .topic),
    "DuplicateHeaders": .init(
      400, .init(push: .rejected)),
    "FeatureNotEnabled": .init(
      400, .init(push: .again),
      .notEnabled),
    "IdleTimeout": .init(
      400, .init(push: .elsewhere, connection: .replaced)),
    "InvalidPushType": .init(
      400, .init(push: .rejected),
      .init(
        "the push type is not LiveActivity",
        do: "broadcast only Live Activity updates and ends")),
    "MissingChannelId": .init(
      400, .init(push: .rejected),
      .init(
        "the request names no channel",
        do: "give apns-channel-id; RidePulse always does: report it")),
    "MissingDeviceToken": .init(
      400, .init(push: .rejected)),
    "MissingPushType": .init(
      400, .init(push: .rejected),
      .init(
        "the push type is missing",
        do: "report it: RidePulse always gives LiveActivity")),
    "MissingTopic": .init(
      400, .init(push: .rejected, isOfConfiguration: true), cause: .topic),
    "PayloadEmpty": .init(
      400, .init(push: .rejected),
      .init(
        "the request has no payload",
        do: "report it: RidePulse left it out")),
    "TopicDisallowed": .init(
      400, .init(push: .rejected, isOfConfiguration: true), cause: .topic,
      .init(
        "the path must hold the app's own bundle ID, without .push-type.liveactivity",
        do: "correct APNS_<APP>_BUNDLE_ID, and see that the key may serve it")),
    "TopicMismatch": .init(
      400, nil,
      .init(
        "the client certificate is not the app's",
        do: "RidePulse uses none: look for a proxy that does")),
  ]

  // If the key is at fault, the push itself is still good, and is retried until the key works.
  private static let forbidden: [String: APNsReason] = [
    "BadCertificate": .init(
      403, .init(push: .rejected, isOfConfiguration: true),
      .init(
        "the client certificate is bad",
        do: "RidePulse uses none: look for a proxy that does")),
    "BadCertificateEnvironment": .init(
      403, .init(push: .rejected, isOfConfiguration: true),
      .init(
        "the client certificate is for the other environment",
        do: "RidePulse uses none: look for a proxy that does")),
    "ExpiredProviderToken": .init(
      403, .init(push: .elsewhere, connection: .replaced, providerToken: .renewed), cause: .clock,
      .init(
        "the provider token is older than an hour for APNs",
        do: "check the clock, then try again")),
    "Forbidden": .init(
      403, .init(push: .rejected, isOfConfiguration: true),
      .init(
        "the key may not do this",
        do: "check its scope in Apple's portal")),
    "InvalidProviderToken": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "key, key ID and team ID do not fit together, or the key was revoked",
        do: "compare APNS_KEY_ID, APNS_TEAM_ID and the .p8 file with Apple's portal")),
    "MissingProviderToken": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "no provider token arrived",
        do: "look for a proxy that takes headers out")),
    "UnrelatedKeyIdInToken": .init(
      403, .init(push: .elsewhere, connection: .replaced),
      .init(
        "this connection was begun with another key",
        do: "try again: another one will be opened")),
    // Apple documents these for keys, not for broadcasts.
    "BadEnvironmentKeyIdInToken": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .environment,
      .wrongEnvironment),
    "BadEnvironmentKeyInToken": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .environment,
      .wrongEnvironment),
  ]

  private static let others: [String: APNsReason] = [
    "BadPath": .init(
      404, .init(push: .rejected),
      .init(
        "there is no such path, or no such channel any more",
        do: "compare the ID with `ridepulse channels list`; a channel that is gone needs no delete")
    ),
    "MethodNotAllowed": .init(
      405, .init(push: .rejected),
      .init(
        "the path does not take this method",
        do: "report it: RidePulse chose it")),
    "ExpiredToken": .init(
      410, .init(push: .rejected, token: .gone), cause: .deviceToken),
    "Unregistered": .init(
      410, .init(push: .rejected, token: .gone), cause: .deviceToken),
    "PayloadTooLarge": .init(
      413, .init(push: .rejected),
      .init(
        "the payload has more than 5120 bytes",
        do: "put less into content-state")),
    "TooManyProviderTokenUpdates": .init(
      429, .init(push: .again, connection: .replaced),
      .init(
        "the provider token changed more than once in 20 minutes",
        do: "wait 20 minutes, and look for another sender with the same key")),
    "TooManyRequests": .init(
      429, .init(push: .again),
      .init(
        "APNs is asked too often",
        do: "wait some minutes and try again")),
    "InternalServerError": .init(
      500, .init(push: .again),
      .unwell),
    "ServiceUnavailable": .init(
      503, .init(push: .again),
      .unwell),
    "Shutdown": .init(
      503, .init(push: .elsewhere, connection: .replaced),
      .init(
        "this APNs server is being shut down",
        do: "try again")),
  ]
}
