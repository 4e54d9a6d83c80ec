public import RideCore
import Synchronization

/// What an engine is doing.
public struct EngineStatistics: Sendable {
  /// The pushes of one app in one of Apple's worlds.
  public struct Lane: Hashable, Sendable {
    /// Which of Apple's worlds.
    public var environment: APNsEnvironment
    /// The app.
    public var app: String
    /// They wait: APNs did not take them.
    public var isPaused: Bool

    /// The pushes of one app.
    public init(environment: APNsEnvironment, app: String, isPaused: Bool) {
      self.environment = environment
      self.app = app
      self.isPaused = isPaused
    }
  }

  /// Rides that the node holds.
  public var ridesHeld: Int
  /// The lanes that have had pushes.
  public var lanes: [Lane]
  /// How long ago the database last answered a look for due rides; nil: it never did.
  public var sinceLook: Duration?
  /// How far the database's clock was ahead of this machine's then.
  public var databaseAhead: Duration?
  /// How long settlements have failed without a break; zero while they succeed.
  public var settlementFailing: Duration = .zero

  /// What an engine is doing.
  public init(
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
  public var statistics: EngineStatistics {
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
