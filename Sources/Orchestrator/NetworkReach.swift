import Base
import RideCore

/// Which networks a node reaches, by its connections and by what the services answer.
struct NetworkReach: Equatable {
  /// A network that is connected and answers nothing counts as unreachable while its lanes are
  /// paused.
  var networks: [PushNetwork: Reachability]
  /// Networks that have answered nothing, to which the next push may be sent on trial.
  var onTrial: Set<PushNetwork> = []

  init(_ networks: [PushNetwork: Reachability], onTrial: Set<PushNetwork> = []) {
    (self.networks, self.onTrial) = (networks, onTrial)
  }

  /// The reach of the node; nil while it is unknown.
  ///
  /// One environment of APNs that can be reached is enough: a node without the route to a single
  /// host of Apple's keeps its share of the others. But an open connection to FCM shows nothing
  /// about APNs.
  var ofNode: NodeReach? {
    let services = [true, false].map { isOfFCM in
      let isOwn = { (network: PushNetwork) in (network == .android) == isOfFCM }
      let own = networks.filter { isOwn($0.key) }
      let isTried = onTrial.contains(where: isOwn)
      return Service(
        isKnown: !own.isEmpty, isConnected: own.values.contains(.connected), isOnTrial: isTried)
    }
    if services.contains(where: { $0.isKnown && !$0.isConnected && !$0.isOnTrial }) { return .lost }
    if services.contains(where: { $0.isOnTrial && !$0.isConnected }) { return nil }
    return services.contains(where: \.isKnown) ? .reached : nil
  }

  private struct Service {
    var isKnown: Bool
    var isConnected: Bool
    /// Whether the next push to it may be sent on trial.
    var isOnTrial: Bool
  }
}

extension Lanes {
  /// Judges what the connections show: no connection proves that a service works, only an answer
  /// does.
  func reach(_ found: [PushNetwork: Reachability], at now: Timestamp) -> NetworkReach {
    var result = NetworkReach(found)
    let silent = lanes.filter { lane in
      guard lane.breaker.isSilent, !lane.lane.isOfPosts, let since = lane.silentSince else {
        return false
      }
      return !isAnswered(lane.lane.network, since: since)
    }
    for network in Set(silent.map(\.lane.network)) where found[network] != .unreachable {
      let lanes = silent.filter { $0.lane.network == network }
      if lanes.contains(where: { $0.breaker.isReady(at: now) }) {
        result.networks[network] = nil
        result.onTrial.insert(network)
      } else {
        result.networks[network] = .unreachable
      }
    }
    return result
  }

  private func isAnswered(_ network: PushNetwork, since uptime: Duration) -> Bool {
    lanes.contains {
      $0.lane.network == network && !$0.lane.isOfPosts && $0.silence.isAnswered(since: uptime)
    }
  }
}
