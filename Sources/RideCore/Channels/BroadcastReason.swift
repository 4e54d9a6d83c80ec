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

  /// Returns the explanation of a response, by the class of its status if the reason is unknown.
  package static func of(status: Int, reason: String?) -> BroadcastReason {
    if let reason, let known = table[reason] { return known }
    return switch status {
    case 403: BroadcastReason("APNs does not accept the key", do: "check key, team and environment")
    case 429: BroadcastReason("APNs is asked too often", do: "wait some minutes and try again")
    case 400..<500:
      BroadcastReason("APNs refuses the request", do: "look the reason up on Apple's page")
    default: BroadcastReason("APNs has trouble of its own", do: "try again in 15 minutes")
    }
  }
}

extension BroadcastReason {
  /// The 28 entries of Apple's table, and the alternative spellings seen on the wire.
  package static let table: [String: BroadcastReason] =
    ofChannels.merging(ofKeys) { first, _ in first }.merging(ofService) { first, _ in first }

  private static let notEnabled = BroadcastReason(
    "the app may not broadcast",
    do: "enable the Broadcast Capability of its App ID in Apple's developer portal")

  private static let ofChannels: [String: BroadcastReason] = [
    "FeatureNotEnabled": notEnabled,
    "BroadcastFeatureNotEnabled": notEnabled,
    "MissingChannelId": .init(
      "the request names no channel", do: "give apns-channel-id; RidePulse always does: report it"),
    "BadChannelId": .init(
      "no channel ever had this ID", do: "compare it with `ridepulse channels list`"),
    "ChannelNotRegistered": .init(
      "the channel was deleted", do: "create another one; an ID is never given twice"),
    "BadRequestParams": .init(
      "the JSON has an attribute that Apple does not know", do: "report it: RidePulse wrote it"),
    "BadRequestPayload": .init(
      "the JSON can't be read", do: "report it: RidePulse wrote it"),
    "PayloadEmpty": .init("the request has no payload", do: "report it: RidePulse left it out"),
    "BadMessageId": .init(
      "apns-request-id is no UUID", do: "report it: RidePulse makes them itself"),
    "MissingPushType": .init(
      "the push type is missing", do: "report it: RidePulse always gives LiveActivity"),
    "InvalidPushType": .init(
      "the push type is not LiveActivity", do: "broadcast only Live Activity updates and ends"),
    "CannotCreateChannelConfig": .init(
      "the app has 10,000 channels in this environment, the most that Apple gives",
      do: "delete some: `ridepulse channels reconcile --apply` deletes those that leaked"),
    "BadExpirationDate": .init(
      "apns-expiration is missing or does not suit the channel",
      do: "use 0 for a channel with storage none; any other must have storage latest"),
    "TopicDisallowed": .init(
      "the path must hold the app's own bundle ID, without .push-type.liveactivity",
      do: "correct APNS_<APP>_BUNDLE_ID, and see that the key may serve it"),
    "BadPriority": .init("apns-priority is not 10, 5 or 1", do: "correct the rule's priority"),
    "BadPath": .init(
      "there is no such path, or no such channel any more",
      do: "compare the ID with `ridepulse channels list`; a channel that is gone needs no delete"),
    "MethodNotAllowed": .init(
      "the path does not take this method", do: "report it: RidePulse chose it"),
    "PayloadTooLarge": .init(
      "the payload has more than 5120 bytes", do: "put less into content-state"),
  ]

  private static let ofKeys: [String: BroadcastReason] = [
    "BadCertificate": .init(
      "the client certificate is bad", do: "RidePulse uses none: look for a proxy that does"),
    "BadCertificateEnvironment": .init(
      "the client certificate is for the other environment",
      do: "RidePulse uses none: look for a proxy that does"),
    "TopicMismatch": .init(
      "the client certificate is not the app's",
      do: "RidePulse uses none: look for a proxy that does"),
    "MissingProviderToken": .init(
      "no provider token arrived", do: "look for a proxy that takes headers out"),
    "ExpiredProviderToken": .init(
      "the provider token is older than an hour for APNs", do: "check the clock, then try again"),
    "InvalidProviderToken": .init(
      "key, key ID and team ID do not fit together, or the key was revoked",
      do: "compare APNS_KEY_ID, APNS_TEAM_ID and the .p8 file with Apple's portal"),
    // Apple documents these for keys, not for broadcasts.
    "BadEnvironmentKeyIdInToken": wrongEnvironment,
    "BadEnvironmentKeyInToken": wrongEnvironment,
    "UnrelatedKeyIdInToken": .init(
      "this connection was begun with another key", do: "try again: another one will be opened"),
    "Forbidden": .init("the key may not do this", do: "check its scope in Apple's portal"),
  ]

  private static let wrongEnvironment = BroadcastReason(
    "the key is for the other environment", do: "give --environment, or another key")

  private static let ofService: [String: BroadcastReason] = [
    "TooManyRequests": .init(
      "APNs is asked too often", do: "wait some minutes and try again"),
    "TooManyProviderTokenUpdates": .init(
      "the provider token changed more than once in 20 minutes",
      do: "wait 20 minutes, and look for another sender with the same key"),
    "InternalServerError": unwell,
    "ServiceUnavailable": unwell,
    "Service Unavailable": unwell,
    "Shutdown": .init("this APNs server is being shut down", do: "try again"),
  ]

  private static let unwell = BroadcastReason(
    "APNs has trouble of its own", do: "try again in 15 minutes")
}
