import RideCore

// Changes to rides while nodes or Postgres are down.
extension FaultInjector {
  /// Emits events for a ride whose customer has 5,000 phones.
  mutating func notifyCrowd() async throws {
    let runner = try StepRunner(conninfo: conninfo, incidents: incidents)
    var ride = SpecialRide("crowd", seed: numbers.next())
    try await runner.perform(ride.begin(), of: ride.id)
    for first in stride(from: 1, to: 5_000, by: 500) {
      try await runner.perform(
        [.phones(app: "customer", owner: ride.customer, numbers: first...first + 499)], of: ride.id)
    }
    while try await waitForOutage(Set(Outages.Kind.allCases), atMost: 20_000) {
      try await runner.perform([.emit("news", data: #"{"text": "to all"}"#)], of: ride.id)
      incidents.record(.crowd, from: IncidentLog.now)
      if try await !rest(Int.random(in: 15_000...30_000, using: &numbers)) { break }
    }
    try await runner.perform(ride.end(), of: ride.id)
    await runner.close()
  }

  /// Commits 5,000 events of one ride while no node runs.
  mutating func commitBursts() async throws {
    let runner = try StepRunner(conninfo: conninfo, incidents: incidents)
    var number = 0
    while try await waitForOutage([.bothNodes], atMost: 25_000) {
      number += 1
      var ride = SpecialRide("burst-\(number)", seed: numbers.next())
      let start = IncidentLog.now
      try await runner.perform(ride.begin(), of: ride.id)
      try await runner.perform([.burst(5_000)], of: ride.id)
      incidents.record(.burst, from: start, to: IncidentLog.now, ride.id)
      let goesOn = try await rest(Int.random(in: 40_000...80_000, using: &numbers))
      try await runner.perform(ride.end(), of: ride.id)
      if !goesOn { break }
    }
    await runner.close()
  }

  /// Assigns rides to other drivers at the beginning of each outage.
  mutating func reassignDrivers() async throws {
    let runner = try StepRunner(conninfo: conninfo, incidents: incidents)
    var number = 0
    var rides: [SpecialRide] = []
    repeat {
      for _ in rides.indices {
        var ride = rides.removeFirst()
        for steps in ride.reassign() { try await runner.perform(steps, of: ride.id) }
        incidents.record(.reassignment, from: IncidentLog.now, ride.id)
        // A third of the rides end with this driver, the others continue.
        if Int.random(in: 0..<3, using: &numbers) == 0 {
          try await runner.perform(ride.end(), of: ride.id)
        } else {
          rides.append(ride)
        }
      }
      while rides.count < 4 {
        number += 1
        var ride = SpecialRide("reassigned-\(number)", seed: numbers.next())
        try await runner.perform(ride.begin(), of: ride.id)
        try await runner.perform([.state("driver_assigned")], of: ride.id)
        rides.append(ride)
      }
    } while try await waitForOutage(Set(Outages.Kind.allCases), atMost: 15_000)
    for ride in rides { try await runner.perform(ride.end(), of: ride.id) }
    await runner.close()
  }
}
