import RideCore

/// A ride that one trouble makes for its own purpose.
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

  /// It comes into being, with a phone of each person.
  mutating func begin() -> [Step] {
    [
      .phone(app: "customer", owner: customer, token: token()),
      .phone(app: "driver", owner: driver, token: token()),
      .request(customer: customer, driver: driver),
    ]
  }

  func end() -> [Step] { [.state("ride_completed")] }

  mutating func token() -> String { RandomToken.make(words: 4, &numbers) }

  /// The transactions in which the ride goes from one driver to the next.
  mutating func reassign() -> [[Step]] {
    let former = driver
    drivers += 1
    driver = "driver-\(id)-\(drivers)"
    let phone = Step.phone(app: "driver", owner: driver, token: token())
    switch Int.random(in: 0..<5, using: &numbers) {
    case 0:
      // Called off, and given to the next one.
      return [[.state("driver_cancelled")], [phone, .driver(driver, state: "driver_assigned")]]
    case 1:
      // Each change in a transaction of its own.
      return [
        [.state("driver_cancelled")], [.driver(nil)], [phone, .driver(driver)],
        [.state("driver_assigned")],
      ]
    case 2:
      // Taken from the one and given to the other in one UPDATE.
      return [[phone, .driver(driver, state: "driver_reassigned")]]
    case 3:
      // Taken away by the UPDATE that also changes the state.
      return [
        [.driver(nil, state: "driver_cancelled")],
        [phone, .driver(driver, state: "driver_assigned")],
      ]
    default:
      // The former driver got it only a moment before.
      return [
        [.emit("driver_assigned", data: "{}"), .emit("chat_message", data: Self.message(former))],
        [.state("driver_cancelled")], [phone, .driver(driver, state: "driver_assigned")],
      ]
    }
  }

  private static func message(_ driver: String) -> String { #"{"text": "for \#(driver)"}"# }
}
