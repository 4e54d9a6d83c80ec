import RideCore

/// Decides whether a node leaves all rides to other nodes, because it cannot reach APNs: a value
/// without a clock.
struct ReachPolicy {
  /// The least time between two attempts to connect without a push.
  static let connectInterval: Duration = .seconds(2)
  /// The interval at which the node reports an unchanged reach.
  static let reportInterval: Duration = .seconds(4)

  /// The reach of this node; nil while it is unknown.
  private(set) var reach: NodeReach?
  private(set) var isAside = false
  private var peers = NodePeers()
  private var connectedAt: Duration?
  private var lastReport: (reach: NodeReach?, at: Duration)?

  /// Records whether APNs and FCM can be reached; returns whether to report it to the other nodes.
  ///
  /// One environment of APNs that can be reached is enough: a node without the route to a single
  /// host of Apple's keeps its share of the others. But an open connection to FCM says nothing about
  /// APNs.
  mutating func observe(_ found: [PushNetwork: Reachability], at uptime: Duration) -> Bool {
    let services = [found.filter { $0.key != .android }, found.filter { $0.key == .android }]
      .filter { !$0.isEmpty }.map { $0.values.contains(.connected) }
    reach = services.isEmpty ? nil : services.contains(false) ? .lost : .reached
    if reach != .lost { isAside = false }
    guard let lastReport else { return true }
    let interval = reach == .lost ? Self.connectInterval : Self.reportInterval
    return lastReport.reach != reach || uptime - lastReport.at >= interval
  }

  /// Records that the reach was reported, and what the other nodes report; nil if that is unknown.
  mutating func reported(_ peers: NodePeers?, at uptime: Duration) {
    lastReport = (reach, uptime)
    self.peers = peers ?? NodePeers()
    isAside = reach == .lost && self.peers.isAnyReached
  }

  /// Returns the networks to connect to now.
  ///
  /// - Parameters:
  ///   - paused: the networks of lanes that wait for a connection.
  ///   - own: the networks of this node. If another node lost its reach, each service of them whose
  ///     reach is unknown here is tried: what that node can't reach is handed to this one.
  mutating func connects(
    _ found: [PushNetwork: Reachability], paused: Set<PushNetwork>, own: Set<PushNetwork>,
    at uptime: Duration
  ) -> Set<PushNetwork> {
    var wanted = paused
    for (network, reach) in found where reach == .unreachable { wanted.insert(network) }
    if peers.isAnyLost {
      let known = Set(found.keys.map(\.service))
      wanted.formUnion(own.filter { !known.contains($0.service) })
    }
    wanted = wanted.filter { found[$0] != .connected }
    if wanted.isEmpty { return [] }
    if let connectedAt, uptime - connectedAt < Self.connectInterval { return [] }
    connectedAt = uptime
    return wanted
  }
}
