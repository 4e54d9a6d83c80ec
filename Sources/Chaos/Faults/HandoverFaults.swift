import RideCore

// Phones that leave their owner while pushes to them wait.
extension FaultInjector {
  /// Signs out a phone, or registers it for another owner, in the middle of a chain of pushes.
  ///
  /// - Parameter simulator: delays answers, so that the chain lasts; other faults may replace that.
  mutating func handOverPhones(_ simulator: SimulatorControl) async throws {
    let runner = try runner()
    var number = 0
    while try await rest(Int.random(in: 2_000...6_000, using: &numbers)) {
      number += 1
      var ride = SpecialRide("handover-\(number)", seed: numbers.next())
      let platform: Platform =
        !without.contains(.android) && Bool.random(using: &numbers) ? .android : .ios
      let token = RandomToken.make(for: platform, &numbers)
      let customer = ride.customer
      if without.contains(.faults), platform == .ios {
        try await simulator.set([.delay(.milliseconds(300), of: token)])
      }
      try await runner.perform(
        ride.begin()
          + [
            .phone(
              app: "customer", owner: customer, token: token, installation: token,
              platform: platform)
          ],
        of: ride.id)
      let notes = (1...20).map { Step.emit("note_added", data: #"{"number": \#($0)}"#) }
      try await runner.perform(notes, of: ride.id)
      _ = try await rest(Int.random(in: 200...3_000, using: &numbers))
      let next = Step.phone(
        app: "customer", owner: "next-\(customer)", token: token, installation: token,
        platform: platform)
      try await runner.perform(
        [Bool.random(using: &numbers) ? next : .signOut(app: "customer", token: token)],
        of: ride.id)
      incidents.record(Departure(token: token, owner: customer, at: IncidentLog.now))
      _ = try await rest(4_000)
      try await runner.perform(ride.end(), of: ride.id)
    }
  }
}
