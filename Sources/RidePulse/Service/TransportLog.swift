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
      log(.info, isFCM ? .fcmConnected : .apnsConnected, ["connection": connection])
    case .connectFailed(let reason, let wait):
      log(
        .warning, isFCM ? .fcmUnreachable : .apnsUnreachable,
        [
          "connection": connection, "reason": reason, "next": wait,
        ])
    case .goAway(let reason):
      log(
        .info, isFCM ? .fcmSentGoAway : .apnsSentGoAway,
        ["connection": connection, "reason": reason ?? "none"])
    case .providerTokenExpired:
      log(.warning, .providerTokenExpired, ["connection": connection])
    case .accessTokenRefused:
      log(.warning, .accessTokenRefused, ["connection": connection])
    case .accessTokenFetched(let lifetime):
      log(.debug, .accessTokenFetched, ["credential": event.credential, "lifetime": lifetime])
    case .accessTokenFailed(let problem, let wait, let life):
      log(
        problem.isOfConfiguration ? .error : .warning, .accessTokenNotFetched,
        [
          "credential": event.credential, "reason": problem.text, "next": wait,
          "sending": life.map { "with the previous token for \($0.components.seconds) s" }
            ?? "nothing: there is no valid token",
        ])
    case .clockSkew(let behind) where event.network == .android:
      log(.warning, .googleClockDiffers, ["credential": event.credential, "behind": behind])
    case .clockSkew(let behind):
      log(.warning, .apnsClockDiffers, ["connection": connection, "behind": behind])
    case .pingLost:
      log(.warning, isFCM ? .fcmPingUnanswered : .apnsPingUnanswered, ["connection": connection])
    case .streamLimit(let limit):
      log(
        .debug, isFCM ? .fcmStreamLimit : .apnsStreamLimit,
        ["connection": connection, "limit": limit])
    case .closed(let reason):
      log(
        .info, isFCM ? .fcmConnectionClosed : .apnsConnectionClosed,
        ["connection": connection, "reason": reason])
    }
  }
}
