/// Explains why the answer to a push may not be recorded, as far as it is visible from outside.
struct LostAnswers {
  private let incidents: [Incident]
  private let phones: Set<String>
  /// By connection, the times of faults that discard answers not yet sent.
  private let closings: [Int: [Double]]
  /// How long after its arrival the verdict of a push may still be outstanding, in seconds.
  private static let reach = 60.0

  init(_ evidence: Evidence) {
    incidents = evidence.incidents.incidents
    phones = evidence.currentTokens
    let closing = evidence.arrivals.filter { ["close", "goaway", "no_ping"].contains($0.fault) }
    closings = Dictionary(grouping: closing) { $0.connection }.mapValues { $0.map(\.at) }
  }

  /// Returns the cause; nil if there is none.
  ///
  /// A push has no row at all only if its node ended or lost its lease: when another node decides,
  /// cards and heartbeats may have different content. An alert is sent again, except to a phone
  /// whose token was replaced.
  func cause(of arrival: Arrival, hasRow: Bool) -> String? {
    if !hasRow, arrival.pushType == "alert", phones.contains(arrival.token) { return nil }
    for incident in incidents where incident.from >= arrival.at - 0.5 {
      if incident.from > arrival.at + Self.reach { break }
      switch incident.kind {
      case .kill where incident.detail == arrival.node: return "the node was killed"
      case .pause where incident.detail == arrival.node,
        .longPause where incident.detail == arrival.node:
        return "the node was asleep"
      case .clockStep: return "Postgres' clock was set, and the lease may have ended"
      default: break
      }
    }
    return hasRow ? wireCause(of: arrival) : nil
  }

  /// Returns what happened to the answer between APNs and the node; nil if nothing did.
  func wireCause(of arrival: Arrival) -> String? {
    if arrival.fault == "delay" { return "the answer was delayed" }
    let isClosed = (closings[arrival.connection] ?? []).contains { at in
      (arrival.at...arrival.at + 0.5).contains(at)
    }
    return isClosed ? "the connection was closed" : nil
  }
}
