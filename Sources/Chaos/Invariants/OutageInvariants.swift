import RideCore

extension Invariant {
  /// 12. An outage of one service delays no phone of the other.
  ///
  /// A ride with phones of both kinds waits for pushes of the service that is out until its lane counts
  /// as silent, and for each probe. Delays are compared only if no other fault of the run causes them.
  static func ofOutages(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("12. An outage of one service delays no phone of the other")
    let incidents = evidence.incidents.incidents
    let outages = incidents.filter { $0.kind == .outage }
    invariant.count("outages of APNs or FCM", outages.count)
    if outages.isEmpty || incidents.contains(where: \.kind.delaysOthers) { return invariant }
    for platform in Platform.allCases {
      let other = (platform == .ios ? Platform.android : .ios).service
      let delays = AlertDelays(evidence, of: platform)
      let meanwhile = delays.during(outages.filter { $0.detail == other })
      let otherwise = delays.during(nil)
      invariant.count("alerts to \(platform) phones while \(other) is out", meanwhile.count)
      invariant.count("  milliseconds, 99 of 100", meanwhile.percentile(99))
      invariant.count("alerts to \(platform) phones without an outage", otherwise.count)
      invariant.count("  milliseconds, 99 of 100", otherwise.percentile(99))
      let mixed = delays.ofMixedRides(outages.filter { $0.detail == other })
      invariant.count("alerts of rides with phones of both, while \(other) is out", mixed.count)
      invariant.count("  milliseconds, 99 of 100", mixed.percentile(99))
      invariant.none(
        "later than \(AlertDelays.limit) s while only \(other) is out",
        meanwhile.filter { $0.delay > AlertDelays.limit }.map(\.row.line).sorted())
      invariant.none(
        "the same, of rides with phones of both",
        mixed.filter { $0.delay > AlertDelays.limit }.map(\.row.line).sorted())
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
  /// The rides that also have a phone of the other platform.
  private let mixed: Set<String>

  init(_ evidence: Evidence, of platform: Platform) {
    alerts = evidence.ledger.filter { row in
      row.pushType == "alert" && row.status == "accepted" && row.eventID != nil
        && row.phone.flatMap { evidence.phones[$0]?.platform } == platform
    }.map { ($0, $0.finishedAt - $0.occurredAt) }
    outages = evidence.incidents.incidents.filter { $0.kind == .outage }
    mixed = Set(
      evidence.ledger.filter { row in
        row.phone.flatMap { evidence.phones[$0] }.map { $0.platform != platform } ?? false
          || row.pushType == "liveactivity" && platform == .android && row.phone == nil
      }.map(\.ride))
  }

  /// Returns the alerts within these outages, of rides that have phones of both platforms.
  func ofMixedRides(_ chosen: [Incident]) -> [Alert] {
    within(chosen).filter { mixed.contains($0.row.ride) }
  }

  /// Returns the alerts of rides with phones of this platform alone: of events within these outages,
  /// or outside of all with nil.
  func during(_ chosen: [Incident]?) -> [Alert] {
    within(chosen).filter { !mixed.contains($0.row.ride) }
  }

  /// What follows an outage is left out: a lane of the service itself recovers then.
  private func within(_ chosen: [Incident]?) -> [Alert] {
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
