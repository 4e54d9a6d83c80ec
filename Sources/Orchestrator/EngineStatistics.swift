package import RideCore
import Synchronization

/// A snapshot of an engine's state.
package struct EngineStatistics: Sendable {
  /// The pushes of one app in one network.
  package struct Lane: Hashable, Sendable {
    package var network: PushNetwork
    package var app: String
    /// Why the circuit breaker pauses the lane; nil if it does not.
    package var pausedBy: PauseCause?
    /// How long pushes took from the transport's acceptance to the service's answer.
    package var answers = DurationHistogram()

    package init(network: PushNetwork, app: String, pausedBy: PauseCause?) {
      self.network = network
      self.app = app
      self.pausedBy = pausedBy
    }
  }

  /// The number of rides that the node holds.
  package var ridesHeld: Int
  /// The lanes that have had pushes.
  package var lanes: [Lane]
  /// The time since the database last answered a claim; nil if it never has.
  package var sinceClaim: Duration?
  /// How far the database's clock was ahead of this machine's at that answer.
  package var databaseAhead: Duration?
  /// How long settlements have failed without interruption; zero while they succeed.
  package var settlementFailing: Duration = .zero
  /// How long claims, or other calls without which rides are not sent, have failed without
  /// interruption; zero while they succeed.
  package var claimFailing: Duration = .zero
  /// Whether the node leaves all rides to another one, because it cannot reach APNs.
  package var isAside = false
  /// How long claims took that the database answered, with the reading of their rides.
  package var claims = DurationHistogram()
  /// How long settlements took that were written, batch by batch.
  package var settlements = DurationHistogram()

  package init(
    ridesHeld: Int, lanes: [Lane], sinceClaim: Duration?, databaseAhead: Duration?
  ) {
    self.ridesHeld = ridesHeld
    self.lanes = lanes
    self.sinceClaim = sinceClaim
    self.databaseAhead = databaseAhead
  }
}

extension Engine {
  /// The current statistics.
  package var statistics: EngineStatistics {
    let uptime = time.uptime()
    return state.withLock { state in
      var statistics = EngineStatistics(
        ridesHeld: state.inFlight.count, lanes: state.lanes.statistics,
        sinceClaim: state.lastClaim.map { uptime - $0.at }, databaseAhead: state.lastClaim?.ahead)
      statistics.settlementFailing = state.settling.halt.map { uptime - $0.since } ?? .zero
      statistics.claimFailing =
        state.callFailures(lasting: .zero, at: uptime).map(\.duration).max() ?? .zero
      statistics.isAside = state.reach.isAside
      (statistics.claims, statistics.settlements) = (state.claimTimes, state.settleTimes)
      return statistics
    }
  }
}
