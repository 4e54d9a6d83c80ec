/// The reasons that APNs gives.
package enum APNsReason {
  /// Apple's reasons, and those seen on the wire.
  package static let table: [String: ServiceReason] =
    badRequests.merging(forbidden) { first, _ in first }.merging(others) { first, _ in first }

  private static let badRequests: [String: ServiceReason] = [
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
      400, .init(push: .rejected, isOfConfiguration: true), cause: .topic,
      .init(
        "the topic is not a bundle ID, or not one that APNs knows",
        do: "correct APNS_<APP>_BUNDLE_ID and restart ridepulse serve")),
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
      400, .init(push: .rejected, token: .suspect), cause: .topic,
      .init(
        "the phone's token is of an app with another bundle ID",
        do:
          "compare APNS_<APP>_BUNDLE_ID with the app's own, and see which app registered the token")
    ),
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
      400, .init(push: .rejected, isOfConfiguration: true), cause: .topic,
      .init(
        "the push names no topic",
        do: "set APNS_<APP>_BUNDLE_ID and restart ridepulse serve")),
    "PayloadEmpty": .init(
      400, .init(push: .rejected),
      .init(
        "the request has no payload",
        do: "report it: RidePulse left it out")),
    "TopicDisallowed": .init(
      400, .init(push: .rejected, isOfConfiguration: true), cause: .topic,
      .init(
        "the bundle ID is not one of the team, or not the app's own",
        do:
          "correct APNS_<APP>_BUNDLE_ID, without a suffix such as .push-type.liveactivity, and see "
          + "that key or certificate may serve it")),
  ]

  // If the key is at fault, the push itself is still good, and is retried until the key works.
  private static let forbidden: [String: ServiceReason] = [
    "BadCertificate": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "the client certificate is bad",
        do:
          "compare APNS_<APP>_CERTIFICATE_PATH with Apple's page Certificates: it may have expired "
          + "or been revoked")),
    "BadCertificateEnvironment": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .environment,
      .init(
        "the client certificate is for the other environment",
        do: "name one for both environments in APNS_<APP>_CERTIFICATE_PATH")),
    "ExpiredProviderToken": .init(
      403, .init(push: .elsewhere, connection: .replaced, providerToken: .renewed), cause: .clock,
      .init(
        "the provider token is older than an hour for APNs",
        do: "check the clock, then try again")),
    // Apple asks not to retry this one.
    "Forbidden": .init(
      403, .init(push: .rejected, isOfConfiguration: true), cause: .key,
      .init(
        "the key or certificate may not send this",
        do:
          "check its environments and topics in Apple's portal, then name one that covers the app "
          + "in APNS_<APP>_KEY_ID or APNS_<APP>_SANDBOX_KEY_ID")),
    "InvalidProviderToken": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "key, key ID and team ID do not fit together, or the key was revoked",
        do: "compare APNS_KEY_ID, APNS_TEAM_ID and the .p8 file with Apple's portal, or "
          + "APNS_SANDBOX_…, APNS_<APP>_… and APNS_<APP>_SANDBOX_… if they are set")),
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
    "TopicMismatch": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .topic,
      .init(
        "the key or certificate does not cover the app's bundle ID",
        do: "name one that does: APNS_<APP>_KEY_ID, APNS_<APP>_SANDBOX_KEY_ID or "
          + "APNS_<APP>_CERTIFICATE_PATH; or correct APNS_<APP>_BUNDLE_ID")),
    // Apple documents the first of these; APNs was seen to send the second.
    "BadEnvironmentKeyIdInToken": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .environment,
      .wrongEnvironment),
    "BadEnvironmentKeyInToken": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .environment,
      .wrongEnvironment),
  ]

  private static let others: [String: ServiceReason] = [
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
      429, .init(push: .again, scope: .phone),
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
