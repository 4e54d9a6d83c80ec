package import RideCore
import Synchronization

/// What an engine is doing.
package struct EngineStatistics: Sendable {
  /// The pushes of one app in one of Apple's worlds.
  package struct Lane: Hashable, Sendable {
    /// Which of Apple's worlds.
    package var environment: APNsEnvironment
    /// The app.
    package var app: String
    /// They wait: APNs did not take them.
    package var isPaused: Bool

    /// The pushes of one app.
    package init(environment: APNsEnvironment, app: String, isPaused: Bool) {
      self.environment = environment
      self.app = app
      self.isPaused = isPaused
    }
  }

  /// Rides that the node holds.
  package var ridesHeld: Int
  /// The lanes that have had pushes.
  package var lanes: [Lane]
  /// How long ago the database last answered a look for due rides; nil: it never did.
  package var sinceLook: Duration?
  /// How far the database's clock was ahead of this machine's then.
  package var databaseAhead: Duration?
  /// How long settlements have failed without a break; zero while they succeed.
  package var settlementFailing: Duration = .zero

  /// What an engine is doing.
  package init(
    ridesHeld: Int, lanes: [Lane], sinceLook: Duration?, databaseAhead: Duration?
  ) {
    self.ridesHeld = ridesHeld
    self.lanes = lanes
    self.sinceLook = sinceLook
    self.databaseAhead = databaseAhead
  }
}

extension Engine {
  /// What it is doing now.
  package var statistics: EngineStatistics {
    let uptime = time.uptime()
    return state.withLock { state in
      var statistics = EngineStatistics(
        ridesHeld: state.flights.count, lanes: state.lanes.statistics,
        sinceLook: state.look.map { uptime - $0.at }, databaseAhead: state.look?.ahead)
      statistics.settlementFailing = state.settling.halt.map { uptime - $0.since } ?? .zero
      return statistics
    }
  }
}
