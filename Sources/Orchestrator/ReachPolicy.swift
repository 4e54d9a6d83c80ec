import Base
import RideCore

/// Why a node leaves all rides to another one.
enum AsideCause: Hashable, Sendable {
  /// No connection to APNs, or to FCM.
  case noConnection(isOfFCM: Bool)
  /// A connection on which nothing is answered.
  case noAnswer(isOfFCM: Bool)

  /// - Parameters:
  ///   - found: what the connections show.
  ///   - judged: the same by what the services answer.
  init(_ found: [PushNetwork: Reachability], _ judged: NetworkReach) {
    let lost = judged.networks.filter { $0.value == .unreachable }.keys
    let isOfFCM = !lost.contains { $0 != .android }
    let isConnected = lost.contains { ($0 == .android) == isOfFCM && found[$0] == .connected }
    self = isConnected ? .noAnswer(isOfFCM: isOfFCM) : .noConnection(isOfFCM: isOfFCM)
  }

  /// What the log records about it.
  var event: LogEvent {
    switch self {
    case .noConnection(false): .claimingPausedWithoutAPNs
    case .noConnection(true): .claimingPausedWithoutFCM
    case .noAnswer(false): .claimingPausedBySilentAPNs
    case .noAnswer(true): .claimingPausedBySilentFCM
    }
  }
}

/// Decides whether a node leaves all rides to other nodes, because it cannot reach APNs or FCM: a
/// value without a clock.
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
  /// - Parameter isClaiming: Whether this node takes rides; otherwise no other node may rely on it.
  mutating func observe(
    _ found: NetworkReach, isClaiming: Bool = true, at uptime: Duration
  ) -> Bool {
    reach = isClaiming || found.ofNode == .lost ? found.ofNode : nil
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
