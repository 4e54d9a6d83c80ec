import Base
import PostgresStore
import RideCore

/// A small fleet of simulated rides: computes what happens next, without a clock or a database.
struct Fleet {
  /// A change that the backend of a ride service would write.
  enum Step: Equatable {
    /// A ride is created, and with it both phones; those of `androids` are Android phones.
    case request(
      ride: String, customer: String, driver: String, attributes: String,
      androids: Set<String> = [])
    /// The customer's phone allows a card to be started by push.
    case offerCard(customer: String)
    /// The customer's phone shows a card of the ride.
    case card(ride: String, customer: String)
    /// The ride gets its driver.
    case assign(ride: String, driver: String)
    case state(ride: String, String)
    /// Attributes of the ride change.
    case learn(ride: String, String)
    /// An event that does not change the ride's state.
    case emit(String, ride: String, data: String)
  }

  private struct Planned {
    var at: Duration
    var order: Int
    var step: Step
  }

  private var plan: [Planned] = []
  private var random: SeededGenerator
  private var planned = 0
  private var rideCount = 0
  private let size: Int
  private let lastStart: Duration
  private let hasAndroid: Bool

  /// The duration of the longest simulated ride.
  static let longestRide: Duration = .seconds(17)

  /// Creates a fleet of `size` simultaneous rides; none starts so late that it would still run at
  /// `end`.
  ///
  /// - Parameter hasAndroid: Whether every third phone is an Android phone.
  init(size: Int, end: Duration, seed: UInt64, hasAndroid: Bool = false) {
    self.size = size
    self.hasAndroid = hasAndroid
    lastStart = max(.zero, end - Self.longestRide)
    random = SeededGenerator(seed: seed)
    for index in 0..<size { begin(at: .milliseconds(250 * index)) }
  }

  /// Whether every ride is over and no further one will begin.
  var isOver: Bool { plan.isEmpty }

  /// Returns the steps up to this time since the start, in order.
  mutating func steps(until now: Duration) -> [Step] {
    var steps: [Step] = []
    while let next = plan.indices.min(by: { precedes(plan[$0], plan[$1]) }), plan[next].at <= now {
      let done = plan.remove(at: next)
      steps.append(done.step)
      if case .state(_, let state) = done.step, Self.finalStates.contains(state) {
        begin(at: done.at + .milliseconds(500))
      }
    }
    return steps
  }

  /// The states that end a simulated ride.
  static let finalStates: Set<String> = [
    "ride_completed", "cancelled_by_customer", "cancelled_by_driver", "no_show",
  ]

  private func precedes(_ left: Planned, _ right: Planned) -> Bool {
    (left.at, left.order) < (right.at, right.order)
  }

  /// Plans one ride from its request to its end; one in ten each is cancelled by the customer, is
  /// cancelled by the driver, or ends as a no-show.
  private mutating func begin(at start: Duration) {
    if start > lastStart, rideCount >= size { return }
    rideCount += 1
    let number = rideCount % (size + 1)
    let (ride, driver) = ("ride-\(rideCount)", "driver-\(number)")
    let customer = "customer-\(rideCount)"
    let isAndroid = hasAndroid && rideCount.isMultiple(of: 3)
    let androids = [isAndroid ? customer : nil, hasAndroid && number % 3 == 1 ? driver : nil]
    var now = start
    add(
      .request(
        ride: ride, customer: customer, driver: driver, attributes: Self.attributes(rideCount),
        androids: Set(androids.compactMap(\.self))),
      at: now)
    // Every second app starts the card itself; the others are in the background by then.
    let startsCard = rideCount.isMultiple(of: 2)
    // On Android the app draws the card from the messages, and registers nothing for it.
    if !isAndroid {
      add(
        startsCard ? .card(ride: ride, customer: customer) : .offerCard(customer: customer),
        at: now)
    }
    let offer = #"{"driver_id": "\#(driver)", "seconds": 15}"#
    add(.emit("ride_offer", ride: ride, data: offer), at: later(&now, 400))
    let ending = random.next() % 10
    add(.assign(ride: ride, driver: driver), at: later(&now, 800))
    if ending == 0 {
      return add(.state(ride: ride, "cancelled_by_customer"), at: later(&now, 800))
    }
    if !startsCard, !isAndroid {
      add(.card(ride: ride, customer: customer), at: now + .milliseconds(600))
    }
    add(.state(ride: ride, "driver_en_route"), at: later(&now, 800))
    add(.learn(ride: ride, #"{"eta_epoch": 1795248300}"#), at: later(&now, 800))
    if ending == 1 {
      return add(.state(ride: ride, "cancelled_by_driver"), at: later(&now, 800))
    }
    add(.emit("driver_nearby", ride: ride, data: "{}"), at: later(&now, 800))
    add(.state(ride: ride, "driver_arrived"), at: later(&now, 800))
    if ending == 2 { return add(.state(ride: ride, "no_show"), at: later(&now, 1500)) }
    add(.state(ride: ride, "ride_started"), at: later(&now, 800))
    add(.state(ride: ride, "ride_completed"), at: later(&now, 1500))
  }

  private mutating func add(_ step: Step, at time: Duration) {
    planned += 1
    plan.append(Planned(at: time, order: planned, step: step))
  }

  private mutating func later(_ now: inout Duration, _ least: Int) -> Duration {
    now += .milliseconds(least + Int(random.next() % 1000))
    return now
  }

  private static func attributes(_ number: Int) -> String {
    let names = ["Ana", "Bilal", "Chiara", "Deniz", "Emre", "Fatou", "Goran", "Hana"]
    return """
      {"driver_name": "\(names[number % names.count])", "plate": "B-RP \(1000 + number)", \
      "pickup_address": "\(number) Canal Street", "fare": \(9 + number % 20).5, "currency": "EUR"}
      """
  }
}

/// The demo's ride service: writes the steps of the fleet to Postgres, as a real backend would.
struct FleetBackend {
  let session: PostgresSession

  private static let request = Statement(
    name: "fleet_request",
    sql: """
      insert into ridepulse.rides (id, state, customer_id, time_zone, attributes)
      values ($1, 'requested', $2, 'Europe/Berlin', $3::jsonb)
      """)
  private static let phone = Statement(
    name: "fleet_phone",
    sql: """
      select ridepulse.register_device($1, $2, md5($1 || $2) || md5($2 || $1), locale => $3)
      """)
  private static let androidPhone = Statement(
    name: "fleet_android_phone",
    sql: """
      select ridepulse.register_device(
        $1, $2, 'c' || left(md5($1 || $2), 21), locale => $3, platform => 'android')
      """)
  private static let assign = Statement(
    name: "fleet_assign",
    sql: "update ridepulse.rides set state = 'driver_assigned', driver_id = $2 where id = $1")
  private static let state = Statement(
    name: "fleet_state", sql: "update ridepulse.rides set state = $2 where id = $1")
  private static let emit = Statement(
    name: "fleet_emit", sql: "select ridepulse.emit($2, $1, $3::jsonb)")

  private static let offerCard = Statement(
    name: "fleet_offer_card",
    sql: """
      select ridepulse.register_push_to_start(
        'customer', $1, md5('start' || $1) || md5($1 || 'start'), 'RideAttributes')
      """)
  private static let card = Statement(
    name: "fleet_card",
    sql: """
      select ridepulse.register_live_activity(
        $1, 'customer', $2, md5('card' || $1) || md5($1 || 'card'), 'activity-' || $1)
      """)
  private static let learn = Statement(
    name: "fleet_learn",
    sql: "update ridepulse.rides set attributes = attributes || $2::jsonb where id = $1")

  func perform(_ step: Fleet.Step) async throws {
    _ = try await session.run(calls(for: step))
  }

  private func calls(for step: Fleet.Step) -> [Call] {
    switch step {
    case .request(let ride, let customer, let driver, let attributes, let androids):
      [
        Call(
          androids.contains(customer) ? Self.androidPhone : Self.phone,
          ["customer", customer, ride.hasSuffix("3") ? "de" : "en"]),
        Call(
          androids.contains(driver) ? Self.androidPhone : Self.phone, ["driver", driver, "en"]),
        Call(Self.request, [ride, customer, attributes]),
      ]
    case .assign(let ride, let driver): [Call(Self.assign, [ride, driver])]
    case .state(let ride, let state): [Call(Self.state, [ride, state])]
    case .offerCard(let customer): [Call(Self.offerCard, [customer])]
    case .card(let ride, let customer): [Call(Self.card, [ride, customer])]
    case .learn(let ride, let attributes): [Call(Self.learn, [ride, attributes])]
    case .emit(let event, let ride, let data): [Call(Self.emit, [ride, event, data])]
    }
  }
}
