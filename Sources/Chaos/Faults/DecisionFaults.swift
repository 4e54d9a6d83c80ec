import RideCore

// Rides that end the node which decides them.
extension FaultInjector {
  /// Makes one ride at a time crash or stall its decision, until it is parked.
  mutating func poisonRides() async throws {
    let admin = try admin()
    let runner = try runner()
    var number = 1
    while try await rest(
      Int.random(in: number == 1 ? 2_000...6_000 : 20_000...40_000, using: &numbers))
    {
      let ride = SpecialRide("poisoned-\(number)", seed: numbers.next())
      let fault = number.isMultiple(of: 2) ? "stall" : "crash"
      try await poison(ride, fault, admin, runner)
      number += 1
    }
  }

  private mutating func poison(
    _ ride: SpecialRide, _ fault: String, _ admin: AdminSession, _ runner: StepRunner
  ) async throws {
    var ride = ride
    try await runner.perform(ride.begin(), of: ride.id)
    let start = IncidentLog.now
    incidents.recordPoisonedRide()
    try await runner.perform([.attribute(Self.attribute, fault)], of: ride.id)
    if try await !isParked(ride.id, by: .now + .seconds(900), admin) {
      incidents.recordViolation("\(ride.id): each decision of it fails, and it is not parked")
    }
    try await runner.perform([.attribute(Self.attribute, nil)], of: ride.id)
    incidents.record(.poisonedRide, from: start, to: IncidentLog.now, ride.id)
    try await admin.executeUntilDone("select ridepulse.unpark('\(ride.id)')")
    incidents.record(.unpark, from: IncidentLog.now, ride.id)
    try await runner.perform(ride.end(), of: ride.id)
  }

  /// The attribute by which a debug build makes a decision fail.
  private static let attribute = "ridepulse_test_decision"
}
