import Foundation
import PostgresStore
import RideCore

/// A ride service with a share of the fleet, which writes the changes of its rides.
struct Producer {
  private struct RideSlot {
    var ride: RideLife
    var due: ContinuousClock.Instant
  }

  let name: String
  let runner: StepRunner
  private let hasStarts: Bool
  private var numbers: SeededGenerator
  private var seats: [RideSlot] = []
  private var rides = 0

  init(
    name: String, conninfo: String, rides: Int, hasStarts: Bool, seed: UInt64,
    incidents: IncidentLog
  ) throws {
    self.name = name
    self.hasStarts = hasStarts
    runner = try StepRunner(conninfo: conninfo, incidents: incidents)
    numbers = SeededGenerator(seed: seed)
    for _ in 0..<rides {
      // The rides begin at different times.
      let due = ContinuousClock.now + .milliseconds(Int.random(in: 0...8_000, using: &numbers))
      seats.append(RideSlot(ride: newRide(), due: due))
    }
  }

  private mutating func newRide() -> RideLife {
    rides += 1
    return RideLife(id: "\(name)\(rides)", hasStarts: hasStarts, seed: numbers.next())
  }

  /// Runs the fleet until the end, and then ends every ride.
  mutating func run(until end: ContinuousClock.Instant) async throws {
    while let next = seats.indices.min(by: { seats[$0].due < seats[$1].due }) {
      if seats[next].due >= end { break }
      try await ContinuousClock().sleep(until: seats[next].due)
      let id = seats[next].ride.id
      let steps = seats[next].ride.next()
      if Int.random(in: 0..<40, using: &numbers) == 0 { try await runner.rollBack(id) }
      try await runner.perform(steps, of: id)
      if seats[next].ride.isOver { seats[next].ride = newRide() }
      seats[next].due = .now + seats[next].ride.pause()
    }
    for index in seats.indices where seats[index].ride.hasBegun {
      try await runner.perform(seats[index].ride.end(), of: seats[index].ride.id)
    }
    await runner.close()
  }
}
