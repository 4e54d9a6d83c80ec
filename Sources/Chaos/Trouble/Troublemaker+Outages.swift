import RideCore

// What happens to rides while nodes or Postgres are away.
extension Troublemaker {
  /// Emits events for a ride whose customer has 5,000 phones.
  mutating func notifyCrowd() async throws {
    let desk = try StepDesk(conninfo: conninfo, diary: diary)
    var ride = SpecialRide("crowd", seed: numbers.next())
    try await desk.perform(ride.begin(), of: ride.id)
    for first in stride(from: 1, to: 5_000, by: 500) {
      try await desk.perform(
        [.phones(app: "customer", owner: ride.customer, numbers: first...first + 499)], of: ride.id)
    }
    while try await waitForOutage(Set(Outages.Kind.allCases), atMost: 20_000) {
      try await desk.perform([.emit("news", data: #"{"text": "to all"}"#)], of: ride.id)
      diary.note(.crowd, from: Diary.now)
      if try await !rest(Int.random(in: 15_000...30_000, using: &numbers)) { break }
    }
    try await desk.perform(ride.end(), of: ride.id)
    await desk.close()
  }

  /// Commits 5,000 events of one ride while no node runs.
  mutating func commitBursts() async throws {
    let desk = try StepDesk(conninfo: conninfo, diary: diary)
    var number = 0
    while try await waitForOutage([.bothNodes], atMost: 25_000) {
      number += 1
      var ride = SpecialRide("burst-\(number)", seed: numbers.next())
      let start = Diary.now
      try await desk.perform(ride.begin(), of: ride.id)
      try await desk.perform([.burst(5_000)], of: ride.id)
      diary.note(.burst, from: start, to: Diary.now, ride.id)
      let goesOn = try await rest(Int.random(in: 40_000...80_000, using: &numbers))
      try await desk.perform(ride.end(), of: ride.id)
      if !goesOn { break }
    }
    await desk.close()
  }

  /// Gives rides to other drivers at the beginning of each outage.
  mutating func reassignDrivers() async throws {
    let desk = try StepDesk(conninfo: conninfo, diary: diary)
    var number = 0
    var rides: [SpecialRide] = []
    repeat {
      for _ in rides.indices {
        var ride = rides.removeFirst()
        for steps in ride.reassign() { try await desk.perform(steps, of: ride.id) }
        diary.note(.reassignment, from: Diary.now, ride.id)
        // One in three ends with this driver, the others go on.
        if Int.random(in: 0..<3, using: &numbers) == 0 {
          try await desk.perform(ride.end(), of: ride.id)
        } else {
          rides.append(ride)
        }
      }
      while rides.count < 4 {
        number += 1
        var ride = SpecialRide("reassigned-\(number)", seed: numbers.next())
        try await desk.perform(ride.begin(), of: ride.id)
        try await desk.perform([.state("driver_assigned")], of: ride.id)
        rides.append(ride)
      }
    } while try await waitForOutage(Set(Outages.Kind.allCases), atMost: 15_000)
    for ride in rides { try await desk.perform(ride.end(), of: ride.id) }
    await desk.close()
  }
}
