import Base
package import RideCore
import Synchronization

// Whether this node reaches APNs, and what it does if it does not.
extension Engine.State {
  /// Whether this node takes rides, as far as the database allows; a node that is aside would.
  fileprivate func isClaiming(at uptime: Duration) -> Bool {
    let failing = calls[.claim]?.failing(at: uptime) ?? .zero
    return !isStopping && settling.halt == nil && failing < ReachPolicy.connectInterval
  }
}

extension Engine {
  /// Whether this node leaves all rides to another one, because it cannot reach APNs.
  var isAside: Bool { state.withLock { $0.reach.isAside } }

  /// Checks at once whether APNs can be reached: a connection was opened, or could not be.
  package func connectionsChanged() { reachSignal.notify() }

  /// Sends the pushes of lanes again whose key or certificate was replaced.
  package func credentialsReplaced(where isReplaced: (PushLane) -> Bool) {
    let uptime = time.uptime()
    let lanes = state.withLock { $0.lanes.reset(at: uptime, where: isReplaced) }
    for lane in lanes {
      parts.log(
        .info,
        lane.network == .android ? .laneResumedByServiceAccount : .laneResumedByKey,
        ["app": lane.app.rawValue, "environment": lane.network.rawValue])
    }
  }

  /// Connects while APNs cannot be reached, resumes lanes that waited for a connection, and steps
  /// aside while another node reaches APNs and this one does not, or has no answer from it.
  func watchReachUntilSettled() async {
    while !state.withLock({ $0.hasSettled }) {
      let found = parts.transport.reachability()
      resume(found)
      let wasAside = isAside
      let (now, uptime) = (time.now, time.uptime())
      let (isDue, reach, judged) = state.withLock { state in
        let judged = state.lanes.reach(found, at: now)
        let isDue = state.reach.observe(
          judged, isClaiming: state.isClaiming(at: uptime), at: uptime)
        return (isDue, state.reach.reach, judged)
      }
      if isDue {
        // If the database does not answer, no node is known that could take over.
        let peers = try? await parts.store.report(reach)
        let uptime = time.uptime()
        state.withLock { $0.reach.reported(peers, at: uptime) }
      }
      logAside(before: wasAside, AsideCause(found, judged))
      connect(found)
      await reachSignal.wait(atMost: ReachPolicy.connectInterval, on: parts.clock)
    }
  }

  private func resume(_ found: [PushNetwork: Reachability]) {
    let now = time.now
    for lane in state.withLock({ $0.lanes.observe(found, at: now) }) {
      parts.log(
        .info,
        lane.network == .android ? .fcmReachedAgain : .apnsReachedAgain,
        ["app": lane.app.rawValue, "environment": lane.network.rawValue])
    }
  }

  private func connect(_ found: [PushNetwork: Reachability]) {
    let uptime = time.uptime()
    let networks = state.withLock { state in
      state.isStopping
        ? []
        : state.reach.connects(
          found, paused: state.lanes.unreachable,
          own: state.configuration.networks,
          at: uptime)
    }
    for network in networks { parts.transport.connect(to: network) }
  }

  private func logAside(before: Bool, _ cause: AsideCause) {
    let isAside = isAside
    if isAside == before { return }
    let uptime = time.uptime()
    let isLogged = state.withLock { state in
      isAside ? state.asidePace.failed(cause, at: uptime) : state.asidePace.succeeded(at: uptime)
    }
    if !isAside { claimSignal.notify() }
    guard isLogged else { return }
    if isAside {
      parts.log(
        .error, cause.event, ["fix": "check this node's DNS, network, firewall and proxy"])
    } else {
      parts.log(.info, .claimingResumed)
    }
  }
}
