import Base
import PushClient
import RideCore
import Synchronization

/// Logs the events of connections; of attempts to connect that fail again and again, only some.
final class TransportLog: Sendable {
  private let log: Log
  private let start = ContinuousClock.now
  /// Of the attempts to connect, by network and credential.
  private let attempts = Mutex<[String: FailurePace<String>]>([:])

  init(_ log: Log) {
    self.log = log
  }

  func record(_ event: TransportEvent) {
    if isLogged(event) { write(event) }
  }

  private func isLogged(_ event: TransportEvent) -> Bool {
    let uptime = start.duration(to: .now)
    let pool = "\(event.network.rawValue) \(event.credential)"
    return attempts.withLock { attempts in
      switch event.kind {
      case .connectFailed(let reason, _):
        return attempts[pool, default: FailurePace()].failed(reason, at: uptime)
      case .connected:
        _ = attempts[pool]?.succeeded(at: uptime)
        return true
      default: return true
      }
    }
  }

  private func write(_ event: TransportEvent) {
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
