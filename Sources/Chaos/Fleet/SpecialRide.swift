import RideCore

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
