/// Why the answer to a push may never have been noted, as far as it can be seen from outside.
struct LostAnswers {
  private let incidents: [Incident]
  private let phones: Set<String>
  /// When a fault struck each connection that takes along answers which have not left yet.
  private let closings: [Int: [Double]]
  /// So long after its arrival a push's verdict may still be under way.
  private static let reach = 60.0

  init(_ evidence: Evidence) {
    incidents = evidence.incidents.incidents
    phones = evidence.currentTokens
    let closing = evidence.arrivals.filter { ["close", "goaway", "no_ping"].contains($0.fault) }
    closings = Dictionary(grouping: closing) { $0.connection }.mapValues { $0.map(\.at) }
  }

  /// Nil where nothing explains it.
  ///
  /// Only a node that ended or lost its lease leaves no row at all: by the time that another one
  /// decides, cards and heartbeats may have other things to say. An alert is said again, but to a
  /// phone whose token was replaced.
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

  /// What happened to the answer between APNs and the node; nil where nothing did.
  func wireCause(of arrival: Arrival) -> String? {
    if arrival.fault == "delay" { return "the answer was delayed" }
    let isClosed = (closings[arrival.connection] ?? []).contains { at in
      (arrival.at...arrival.at + 0.5).contains(at)
    }
    return isClosed ? "the connection was closed" : nil
  }
}
