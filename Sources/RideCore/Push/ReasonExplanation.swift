/// Explains a reason for which a push or call fails, and how to resolve it.
package struct ReasonExplanation: Hashable, Sendable {
  /// What the reason means.
  package var meaning: String

  /// How to resolve it; names of variables have `<APP>` in place of an app.
  package var advice: String

  init(_ meaning: String, do advice: String) {
    self.meaning = meaning
    self.advice = advice
  }

  /// Returns the advice for one app.
  ///
  /// - Parameter variable: The app's name in variables, such as `CUSTOMER`.
  package func advice(variable: String) -> String {
    advice.replacing("<APP>", with: variable)
  }

  /// Returns the explanation of a reason of APNs or FCM; nil if there is none.
  package static func of(_ reason: String) -> ReasonExplanation? {
    // Seen on the wire in this spelling.
    let reason = reason == "Service Unavailable" ? "ServiceUnavailable" : reason
    return ServiceReason[reason]?.explanation
  }

  /// Returns the explanation of a response, by the class of its status if the reason is unknown.
  package static func of(status: Int, reason: String?) -> ReasonExplanation {
    if let reason, let known = of(reason) { return known }
    return switch status {
    case 403:
      ReasonExplanation(
        "APNs does not accept the key or certificate", do: "check key, team and environment")
    case 429: ReasonExplanation("APNs is asked too often", do: "wait some minutes and try again")
    case 400..<500:
      ReasonExplanation("APNs refuses the request", do: "look the reason up on Apple's page")
    default: ReasonExplanation("APNs has trouble of its own", do: "try again in 15 minutes")
    }
  }

  static let notEnabled = ReasonExplanation(
    "the app may not broadcast",
    do: "enable the Broadcast Capability of its App ID in Apple's developer portal")

  static let wrongEnvironment = ReasonExplanation(
    "the key is for the other environment",
    do:
      "name a key for this one: APNS_SANDBOX_KEY_ID or APNS_<APP>_SANDBOX_KEY_ID for the sandbox, "
      + "APNS_KEY_ID or APNS_<APP>_KEY_ID for production")

  /// `LedgerReason.Engine.noCredential`
  package static let noCredential = ReasonExplanation(
    "the app has no key or certificate for this environment that may send the push",
    do: "set APNS_<APP>_PRIVATE_KEY_PATH, or APNS_PRIVATE_KEY_PATH for all apps, and restart "
      + "ridepulse serve")

  /// `LedgerReason.Engine.noBundleID`
  package static let noBundleID = ReasonExplanation(
    "the app has no bundle ID", do: "set APNS_<APP>_BUNDLE_ID and restart ridepulse serve")

  /// `LedgerReason.Engine.noServiceAccount`
  package static let noServiceAccount = ReasonExplanation(
    "the app has no service account for its Android phones",
    do: "set FCM_<APP>_SERVICE_ACCOUNT_PATH, or FCM_SERVICE_ACCOUNT_PATH for all apps, and restart "
      + "ridepulse serve")

  static let unwell = ReasonExplanation(
    "APNs has trouble of its own", do: "try again in 15 minutes")
}
