import Base
import RideCore

/// Rides in fixed situations, all after a driver set out at the same time.
struct Scene {
  /// A ride at the time of its decision.
  struct Moment {
    var view: RideView
    var now: Timestamp
  }

  let configuration: EngineConfiguration
  static let start = Timestamp(epochSeconds: 1_795_248_000)

  /// - Parameter androidApps: The apps with a service account of FCM.
  init(rules: RuleSet, androidApps: Set<App> = []) {
    var configuration = EngineConfiguration(
      rules: rules,
      bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
    configuration.revision = Revision(rules: rules.digest, version: "cost")
    configuration.androidApps = androidApps
    self.configuration = configuration
  }

  /// Returns a function that decides and returns the number of pushes.
  func decision(_ moment: Moment) -> () -> Int {
    let configuration = configuration
    return { decide(moment.view, by: configuration, now: moment.now).pushes.count }
  }

  /// Returns the settlement after APNs has accepted all pushes.
  static func accepted(_ decision: Decision, at now: Timestamp) -> Settlement {
    decision.settled(
      Array(repeating: .accepted, count: decision.pushes.count), now: now, jitter: { 0.5 })
  }

  // MARK: Situations

  /// One rule fires on an event, for one phone.
  func arrived(_ number: Int) -> Moment {
    changed(to: "driver_arrived", number, [customerPhone(number)])
  }

  /// Two rules fire on an event, each for two phones.
  func waitingFee() -> Moment {
    let people = [customerPhone(1), customerPhone(1, id: 2), driverPhone(1), driverPhone(1, id: 4)]
    var moment = enRoute(1, people, after: .seconds(120))
    moment.view.ride?.state = "driver_arrived"
    moment.view.events = [
      event(2, "waiting_fee_started", at: Self.start + .seconds(119), of: moment.view)
    ]
    return moment
  }

  /// A slot of `every: 20m` is due, whatever the ride's share of the two minutes that spread slots.
  func heartbeat() -> Moment {
    enRoute(1, [customerPhone(1), driverPhone(1)], after: .seconds(22 * 60 + 1))
  }

  /// A card shows a new arrival time.
  func cardUpdate() -> Moment {
    var card = Card(
      .activity(1), app: .customer, ownerID: "customer-1", token: token(9),
      registeredAt: Self.start)
    card.installationID = "installation-1"
    var moment = enRoute(1, [], cards: [card], after: .seconds(121))
    moment.view.ride?.attributes = attributes(1, arrival: 1_795_249_999)
    moment.view.events = [
      event(2, "eta_changed", at: Self.start + .seconds(120), of: moment.view)
    ]
    moment.view.events[0].data = #"{"eta_epoch": 1795249999}"#
    return moment
  }

  /// One rule fires on an event, for one Android phone.
  func arrivedOnAndroid() -> Moment {
    changed(to: "driver_arrived", 1, [androidPhone()])
  }

  /// The card of an Android phone, which started by push, shows a new arrival time.
  ///
  /// No rule has an alert for the event.
  func androidCardUpdate() -> Moment {
    var moment = begun(in: "driver_assigned", 1, [androidPhone()], after: .seconds(121))
    moment.view.ride?.attributes = attributes(1, arrival: 1_795_249_999)
    moment.view.events = [
      event(2, "destination_changed", at: Self.start + .seconds(120), of: moment.view)
    ]
    return moment
  }

  /// A ride is claimed between two slots.
  func nothingDue() -> Moment {
    enRoute(1, [customerPhone(1), driverPhone(1)], after: .seconds(600))
  }

  // MARK: Rides

  /// A ride whose driver set out, and whose pushes about that are settled.
  private func enRoute(
    _ number: Int, _ phones: [Phone], cards: [Card] = [], after passed: Duration
  ) -> Moment {
    begun(in: "driver_en_route", number, phones, cards: cards, after: passed)
  }

  /// A ride that came into a state, and whose pushes about that are settled.
  private func begun(
    in state: String, _ number: Int, _ phones: [Phone], cards: [Card] = [], after passed: Duration
  ) -> Moment {
    var ride = Ride(id: RideID("ride-\(number)"), state: state)
    ride.customerID = OwnerID("customer-\(number)")
    ride.driverID = OwnerID("driver-\(number)")
    ride.pickupAt = Self.start + .seconds(600)
    ride.timeZone = "Europe/Berlin"
    ride.attributes = attributes(number, arrival: 1_795_248_300)
    ride.updatedAt = Self.start
    var view = RideView(rideID: ride.id, ride: ride, phones: phones, cards: cards)
    view.events = [event(1, state, at: Self.start, of: view)]
    let now = Self.start + .seconds(1)
    let settlement = Self.accepted(decide(view, by: configuration, now: now), at: now)
    view.events = []
    view.memo = settlement.memo
    return Moment(view: view, now: Self.start + passed)
  }

  private func changed(to state: String, _ number: Int, _ phones: [Phone]) -> Moment {
    var moment = enRoute(number, phones, after: .seconds(120))
    let at = Self.start + .seconds(119)
    moment.view.ride?.state = state
    moment.view.ride?.updatedAt = at
    moment.view.events = [event(Int64(number) + 1000, state, at: at, of: moment.view)]
    return moment
  }

  private func event(
    _ id: Int64, _ name: String, at: Timestamp, of view: RideView
  ) -> RideEvent {
    var event = RideEvent(id: id, name: name, at: at)
    event.people = EventPeople(
      customer: view.ride?.customerID, driver: view.ride?.driverID, former: nil)
    return event
  }

  private func attributes(_ number: Int, arrival: Int) -> String {
    #"{"plate": "B-RP \#(number)", "vehicle": "VW ID.4", "eta_epoch": \#(arrival), "#
      + #""driver_name": "Ana", "pickup_address": "Torstraße 1"}"#
  }

  private func customerPhone(_ number: Int, id: Int64? = nil) -> Phone {
    let id = id ?? Int64(number)
    return Phone(
      id: id, app: .customer, ownerID: OwnerID("customer-\(number)"), token: token(id),
      environment: .production, locale: "de-DE")
  }

  private func driverPhone(_ number: Int, id: Int64 = 3) -> Phone {
    Phone(
      id: id, app: .driver, ownerID: OwnerID("driver-\(number)"), token: token(id),
      environment: .production, locale: "en-GB")
  }

  private func androidPhone() -> Phone {
    var phone = Phone(
      id: 1, app: .customer, ownerID: "customer-1", token: "cX3abcdefghijklmnopqrs",
      locale: "de-DE")
    phone.platform = .android
    return phone
  }

  private func token(_ number: Int64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "a", count: 64 - digits.count) + digits
  }
}
