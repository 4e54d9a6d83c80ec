import RideCore

// Steps of Postgres' clock.
extension FaultInjector {
  /// Sets Postgres' clock ahead and back, by less and by more than a lease.
  mutating func step(_ clock: FakeDatabaseClock) async throws {
    while try await rest(Int.random(in: 8_000...30_000, using: &numbers)) {
      let ahead =
        Int.random(in: 0..<3, using: &numbers) == 0 ? 0 : Int.random(in: 1...40, using: &numbers)
      try clock.set(ahead: ahead)
      incidents.record(.clockStep, from: IncidentLog.now, "to \(ahead) s ahead")
    }
    try clock.set(ahead: 0)
    incidents.record(.clockStep, from: IncidentLog.now, "to 0 s ahead")
  }

  /// Sets Postgres' clock back by an hour while a killed node holds rides.
  ///
  /// The leases that it took last for an hour by the clock after the step.
  ///
  /// - Parameter simulator: delays answers, so that the node holds rides; other faults may replace
  ///   that.
  mutating func goBackAnHour(
    _ clock: FakeDatabaseClock, _ nodes: [Node], _ simulator: SimulatorControl
  ) async throws {
    while try await rest(Int.random(in: 20_000...40_000, using: &numbers)) {
      try clock.set(ahead: FakeDatabaseClock.hour)
      incidents.record(.clockStep, from: IncidentLog.now, "to \(FakeDatabaseClock.hour) s ahead")
      _ = try await rest(3_000)
      if without.contains(.faults) { try await simulator.set([.delay(.seconds(3))]) }
      _ = try await rest(2_000)
      await nodes[Int.random(in: 0..<nodes.count, using: &numbers)].kill9(downFor: .seconds(2))
      try clock.set(ahead: 0)
      incidents.record(.clockStep, from: IncidentLog.now, "to 0 s ahead")
      if without.contains(.faults) { try await simulator.set([]) }
      try await waitForLeases()
    }
  }

  /// Rides with events that a lease from before the step still holds.
  private static let leased = """
    select string_agg(a.ride_id, ', ') from ridepulse.agenda a
    where a.leased_until > clock_timestamp() + interval '10 minutes'
      and exists (select from ridepulse.events e where e.ride_id = a.ride_id)
    """

  /// Waits until no such lease holds a ride; other faults may delay that.
  private mutating func waitForLeases() async throws {
    let admin = try admin()
    // Each process of Postgres adopts the step within a second.
    try await Task.sleep(for: .seconds(2))
    let limit = ContinuousClock.now + .seconds(120)
    while let rides = try await admin.value(Self.leased) {
      if ContinuousClock.now > limit {
        return incidents.recordViolation("leases last an hour after a step of the clock: \(rides)")
      }
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}
