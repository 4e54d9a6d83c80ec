import Base
import PushClient
import RideCore

enum TransportLog {
  static func record(_ event: TransportEvent, _ log: Log) {
    let connection = "\(event.network.rawValue) \(event.credential) \(event.connection)"
    let isFCM = event.network == .android
    switch event.kind {
    case .connected:
      log(.info, isFCM ? "FCM connected" : "APNs connected", ["connection": connection])
    case .connectFailed(let reason, let wait):
      log(
        .warning, isFCM ? "FCM unreachable" : "APNs unreachable",
        [
          "connection": connection, "reason": reason, "next": "\(wait)",
        ])
    case .goAway(let reason):
      log(
        .info, isFCM ? "FCM sent GOAWAY" : "APNs sent GOAWAY",
        ["connection": connection, "reason": reason ?? "none"])
    case .providerTokenExpired:
      log(
        .warning, "APNs refused the provider token as expired; check this node's clock",
        [
          "connection": connection
        ])
    case .accessTokenRefused:
      log(.warning, "FCM refused the access token", ["connection": connection])
    case .accessTokenFetched(let lifetime):
      log(
        .debug, "Access token fetched",
        ["credential": event.credential, "lifetime": "\(lifetime)"])
    case .accessTokenFailed(let problem, let wait, let life):
      log(
        problem.isOfConfiguration ? .error : .warning, "Access token not fetched, retrying",
        [
          "credential": event.credential, "reason": problem.text, "next": "\(wait)",
          "sending": life.map { "with the previous token for \($0.components.seconds) s" }
            ?? "nothing: there is no valid token",
        ])
    case .clockSkew(let behind) where event.network == .android:
      log(
        .warning, "Database clock differs from Google's clock; assertions corrected",
        ["credential": event.credential, "behind": "\(behind)"])
    case .clockSkew(let behind):
      log(
        .warning, "Database clock differs from APNs' clock; provider tokens corrected",
        ["connection": connection, "behind": "\(behind)"])
    case .pingLost:
      log(
        .warning,
        isFCM ? "FCM connection lost: PING unanswered" : "APNs connection lost: PING unanswered",
        ["connection": connection])
    case .streamLimit(let limit):
      log(
        .debug, isFCM ? "FCM stream limit" : "APNs stream limit",
        ["connection": connection, "limit": "\(limit)"])
    case .closed(let reason):
      log(
        .info, isFCM ? "FCM connection closed" : "APNs connection closed",
        ["connection": connection, "reason": reason])
    }
  }
}
