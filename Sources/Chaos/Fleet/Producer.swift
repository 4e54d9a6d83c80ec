import Base
import Foundation
import PostgresStore
import RideCore
import Synchronization

/// A ride service with a share of the fleet, which writes the changes of its rides.
struct Producer {
  private struct RideSlot {
    var ride: RideLife
    var due: ContinuousClock.Instant
  }

  let name: String
  let runner: StepRunner
  private let hasStarts: Bool
  private let hasAndroid: Bool
  private let regions: Regions
  private var numbers: SeededGenerator
  private var slots: [RideSlot] = []
  private var rides = 0

  init(
    name: String, conninfo: String, rides: Int, hasStarts: Bool, hasAndroid: Bool,
    regions: Regions = .usual, seed: UInt64, incidents: IncidentLog, commits: CommitLog? = nil
  ) throws {
    self.name = name
    self.hasStarts = hasStarts
    self.hasAndroid = hasAndroid
    self.regions = regions
    runner = try StepRunner(conninfo: conninfo, incidents: incidents, commits: commits)
    numbers = SeededGenerator(seed: seed)
    for _ in 0..<rides {
      // The rides begin at different times.
      let due = ContinuousClock.now + .milliseconds(Int.random(in: 0...8_000, using: &numbers))
      slots.append(RideSlot(ride: newRide(), due: due))
    }
  }

  private mutating func newRide() -> RideLife {
    rides += 1
    return RideLife(
      id: "\(name)\(rides)", hasStarts: hasStarts, hasAndroid: hasAndroid, regions: regions,
      seed: numbers.next())
  }

  /// Runs the fleet until the end, and then ends every ride.
  mutating func run(until end: EndOfRun) async throws {
    while let next = slots.indices.min(by: { slots[$0].due < slots[$1].due }) {
      if slots[next].due >= end.at { break }
      try await ContinuousClock().sleep(until: slots[next].due)
      let id = slots[next].ride.id
      let steps = slots[next].ride.next()
      if Int.random(in: 0..<40, using: &numbers) == 0 { try await runner.rollBack(id) }
      try await runner.perform(steps, of: id)
      if slots[next].ride.isOver { slots[next].ride = newRide() }
      slots[next].due = .now + slots[next].ride.pause()
    }
    for index in slots.indices where slots[index].ride.hasBegun {
      try await runner.perform(slots[index].ride.end(), of: slots[index].ride.id)
    }
    await runner.close()
  }
}

/// When the producers stop; it may become known only during the run.
final class EndOfRun: Sendable {
  private let moment: Mutex<ContinuousClock.Instant>

  init(at moment: ContinuousClock.Instant = .now + .seconds(86_400)) {
    self.moment = Mutex(moment)
  }

  var at: ContinuousClock.Instant { moment.withLock { $0 } }

  func comeNow() { moment.withLock { $0 = .now } }
}

/// A ride that one fault creates for its own purpose.
struct SpecialRide: Sendable {
  let id: String
  let customer: String
  private(set) var driver: String
  private var drivers = 1
  private var numbers: SeededGenerator

  init(_ id: String, seed: UInt64) {
    self.id = id
    customer = "customer-\(id)"
    driver = "driver-\(id)-1"
    numbers = SeededGenerator(seed: seed)
  }

  /// Returns the steps that create the ride, with one phone for each person.
  mutating func begin() -> [Step] {
    [
      .phone(app: "customer", owner: customer, token: token()),
      .phone(app: "driver", owner: driver, token: token()),
      .request(customer: customer, driver: driver),
    ]
  }

  func end() -> [Step] { [.state("ride_completed")] }

  mutating func token() -> String { RandomToken.make(words: 4, &numbers) }

  /// Returns the transactions that move the ride from one driver to the next.
  mutating func reassign() -> [[Step]] {
    let former = driver
    drivers += 1
    driver = "driver-\(id)-\(drivers)"
    let phone = Step.phone(app: "driver", owner: driver, token: token())
    switch Int.random(in: 0..<5, using: &numbers) {
    case 0:
      // The driver cancels, then another one is assigned.
      return [[.state("driver_cancelled")], [phone, .driver(driver, state: "driver_assigned")]]
    case 1:
      // Each change has its own transaction.
      return [
        [.state("driver_cancelled")], [.driver(nil)], [phone, .driver(driver)],
        [.state("driver_assigned")],
      ]
    case 2:
      // A single UPDATE replaces the driver.
      return [[phone, .driver(driver, state: "driver_reassigned")]]
    case 3:
      // The UPDATE that removes the driver also changes the state.
      return [
        [.driver(nil, state: "driver_cancelled")],
        [phone, .driver(driver, state: "driver_assigned")],
      ]
    default:
      // The former driver was assigned only a moment before.
      return [
        [.emit("driver_assigned", data: "{}"), .emit("chat_message", data: Self.message(former))],
        [.state("driver_cancelled")], [phone, .driver(driver, state: "driver_assigned")],
      ]
    }
  }

  private static func message(_ driver: String) -> String { #"{"text": "for \#(driver)"}"# }
}
