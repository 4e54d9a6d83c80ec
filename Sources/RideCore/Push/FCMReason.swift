/// The reasons that FCM gives, and those that its client adds where Google's word is ambiguous.
///
/// A word is that of an `FcmError`, or the status of the answer if it has none; `FCMAnswer` of the
/// client chooses it.
package enum FCMReason {
  package static let table: [String: ServiceReason] =
    ofPhone.merging(ofService) { first, _ in first }

  /// What a single phone's address, or the message to it, is refused for.
  private static let ofPhone: [String: ServiceReason] = [
    "UNREGISTERED": .init(
      404, .init(push: .rejected, token: .gone), cause: .deviceToken),
    "INVALID_REGISTRATION": .init(
      400, .init(push: .rejected, token: .suspect), cause: .deviceToken),
    "SENDER_ID_MISMATCH": .init(
      403, .init(push: .rejected, token: .suspect), cause: .topic,
      .init(
        "the phone registered with another Firebase project",
        do: "set FCM_<APP>_SERVICE_ACCOUNT_PATH to a file of the project that the app is built with"
      )),
    "INVALID_ARGUMENT": .init(
      400, .init(push: .rejected),
      .init(
        "FCM does not accept the message",
        do: "read the text of the reason, and run `ridepulse check`")),
    "MESSAGE_TOO_LARGE": .init(
      400, .init(push: .rejected),
      .init(
        "the message has more than 4096 bytes of keys and values",
        do: "put less into the rule's texts, data or content-state")),
    "DEVICE_QUOTA_EXCEEDED": .init(
      429, .init(push: .again, scope: .phone),
      .init(
        "FCM is asked too often for one phone",
        do: "send this phone less: FCM accepts 240 messages a minute")),
    "THIRD_PARTY_AUTH_ERROR": .init(
      401, .init(push: .rejected),
      .init(
        "the registration is not one of an Android app",
        do: "register phones of other platforms with their own service")),
    "UNSPECIFIED_ERROR": .init(
      400, .init(push: .rejected),
      .init(
        "FCM names no reason",
        do: "look at Google's status page")),
  ]

  /// What all messages of a project are refused for.
  private static let ofService: [String: ServiceReason] = [
    "UNAUTHENTICATED": .init(
      401, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "FCM does not accept the access token",
        do: "run `ridepulse doctor`, which gets one and tries it")),
    "PERMISSION_DENIED": .init(
      403, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "the service account may not send, or the project's FCM API is disabled",
        do: "give the service account the role Firebase Cloud Messaging API Admin, and enable "
          + "fcm.googleapis.com in the project")),
    "PROJECT_NOT_FOUND": .init(
      404, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "the project of the service account does not exist, or FCM_URL is not FCM's",
        do: "compare project_id of the file with the Firebase console, and unset FCM_URL")),
    Refusal.tokenEndpoint: .init(
      400, .init(push: .again, isOfConfiguration: true), cause: .key,
      .init(
        "Google gives no access token for the service account",
        do: "create a new key of the service account, and run `ridepulse doctor`")),
    "QUOTA_EXCEEDED": .init(
      429, .init(push: .again, scope: .lane),
      .init(
        "the project sends more than its quota",
        do: "ask Google for more than 600,000 messages a minute, or spread scheduled rules")),
    "INTERNAL": .init(
      500, .init(push: .again), .troubleOfFCM),
    "UNAVAILABLE": .init(
      503, .init(push: .again), .troubleOfFCM),
  ]
}

extension ReasonExplanation {
  fileprivate static let troubleOfFCM = ReasonExplanation(
    "FCM has trouble of its own", do: "look at Google's status page; pushes go again")
}
