/// Detects when an engine comes to rest after work: a value without a clock.
///
/// What it triggers delays allocations for a few milliseconds, so it never triggers under load, and
/// not after a few rides.
struct RestDetector {
  /// How long nothing must have been due or in flight.
  static let quiet: Duration = .seconds(1)
  /// The least number of rides since the last rest.
  static let leastRides = 1000

  // The start counts as work: it parses rules, and each library initialises itself.
  private var rides = leastRides
  private var quietSince: Duration?

  /// Records a claim, and the number of rides held after it.
  ///
  /// - Returns: true once when the engine has come to rest.
  mutating func claimed(_ count: Int, held: Int, at uptime: Duration) -> Bool {
    rides = min(rides + count, Self.leastRides)
    guard count == 0, held == 0 else {
      quietSince = nil
      return false
    }
    let since = quietSince ?? uptime
    quietSince = since
    guard rides >= Self.leastRides, uptime - since >= Self.quiet else { return false }
    rides = 0
    return true
  }
}
