import APNSClient
import Base
import RideCore

enum TransportLog {
  static func record(_ event: TransportEvent, _ log: Log) {
    let place = "\(event.environment.rawValue) \(event.credential) \(event.connection)"
    switch event.kind {
    case .connected:
      log(.info, "APNs connected", ["connection": place])
    case .connectFailed(let reason, let wait):
      log(
        .warning, "APNs unreachable",
        [
          "connection": place, "reason": reason, "next": "\(wait)",
        ])
    case .goAway(let reason):
      log(.info, "APNs sent GOAWAY", ["connection": place, "reason": reason ?? "none"])
    case .providerTokenExpired:
      log(
        .warning, "APNs refused the provider token as expired; check this node's clock",
        [
          "connection": place
        ])
    case .clockSkew(let behind):
      log(
        .warning, "Database clock differs from APNs' clock; provider tokens corrected",
        ["connection": place, "behind": "\(behind)"])
    case .pingLost:
      log(.warning, "APNs connection lost: PING unanswered", ["connection": place])
    case .streamLimit(let limit):
      log(.debug, "APNs stream limit", ["connection": place, "limit": "\(limit)"])
    case .closed(let reason):
      log(.info, "APNs connection closed", ["connection": place, "reason": reason])
    }
  }
}
