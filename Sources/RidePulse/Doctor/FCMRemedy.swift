import PushClient

/// What fixes a service account that may not send.
enum FCMRemedy {
  /// - Parameters:
  ///   - word: The code of FCM or of the token endpoint.
  ///   - text: What Google wrote.
  static func text(_ word: String, _ text: String, variable: String) -> String {
    let newFile =
      "create a key in Firebase's console, Project settings, Service accounts, and put its file where "
      + "\(variable) leads to"
    if word == "SERVICE_DISABLED" {
      return
        "enable the Firebase Cloud Messaging API (fcm.googleapis.com) of the project in Google's "
        + "console, and wait a few minutes"
    }
    switch word {
    case "PERMISSION_DENIED":
      return
        "give the service account the role Firebase Cloud Messaging API Admin in Google's console, "
        + "IAM"
    case "NOT_FOUND": return "compare project_id in the file with Firebase's console"
    case "UNAUTHENTICATED": return "run ridepulse doctor again; then \(newFile)"
    case "invalid_grant" where text.contains("timeframe"): return "timedatectl set-ntp true"
    case "invalid_grant", "invalid_client", "unauthorized_client", "no_access_token", "signing":
      return newFile + "; a running service sends with its last access token for up to an hour"
    case "RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL": return "run ridepulse doctor later"
    case _ where word.hasPrefix("HTTP 5"): return "run ridepulse doctor later"
    default: return "see Google's documentation for \(word), or \(newFile)"
    }
  }
}
