import RideCore

extension Invariant {
  /// 12. An outage of one service delays no phone of the other.
  ///
  /// Delays are compared only if no other fault of the run causes them.
  static func ofOutages(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("12. An outage of one service delays no phone of the other")
    let incidents = evidence.incidents.incidents
    let outages = incidents.filter { $0.kind == .outage }
    invariant.count("outages of APNs or FCM", outages.count)
    if outages.isEmpty || incidents.contains(where: \.kind.delaysOthers) { return invariant }
    for platform in Platform.allCases {
      let other = platform == .ios ? "FCM" : "APNs"
      let delays = AlertDelays(evidence, of: platform)
      let meanwhile = delays.during(outages.filter { $0.detail == other })
      let otherwise = delays.during(nil)
      invariant.count("alerts to \(platform) phones while \(other) is out", meanwhile.count)
      invariant.count("  milliseconds, 99 of 100", meanwhile.percentile(99))
      invariant.count("alerts to \(platform) phones without an outage", otherwise.count)
      invariant.count("  milliseconds, 99 of 100", otherwise.percentile(99))
      invariant.none(
        "later than \(AlertDelays.limit) s while only \(other) is out",
        meanwhile.filter { $0.delay > AlertDelays.limit }.map(\.row.line).sorted())
    }
    return invariant
  }
}

/// The time from the event to the verdict of each alert to phones of one platform.
private struct AlertDelays {
  typealias Alert = (row: LedgerRow, delay: Double)

  static let limit = 5.0

  private let alerts: [Alert]
  private let outages: [Incident]

  init(_ evidence: Evidence, of platform: Platform) {
    alerts = evidence.ledger.filter { row in
      row.pushType == "alert" && row.status == "accepted" && row.eventID != nil
        && row.phone.flatMap { evidence.phones[$0]?.platform } == platform
    }.map { ($0, $0.finishedAt - $0.occurredAt) }
    outages = evidence.incidents.incidents.filter { $0.kind == .outage }
  }

  /// Returns the alerts of events within these outages, or outside of all with nil.
  ///
  /// What follows an outage is left out: a lane of the service itself recovers then.
  func during(_ chosen: [Incident]?) -> [Alert] {
    alerts.filter { alert in
      func isWithin(_ incident: Incident, after: Double) -> Bool {
        (incident.from...incident.to + after).contains(alert.row.occurredAt)
      }
      guard let chosen else { return !outages.contains { isWithin($0, after: 20) } }
      return chosen.contains { isWithin($0, after: 0) }
    }
  }
}

extension [(row: LedgerRow, delay: Double)] {
  /// Returns a percentile of the delays in milliseconds; 0 without any.
  fileprivate func percentile(_ percent: Int) -> Int {
    let sorted = map(\.delay).sorted()
    return sorted.isEmpty ? 0 : Int(sorted[(sorted.count - 1) * percent / 100] * 1_000)
  }
}
