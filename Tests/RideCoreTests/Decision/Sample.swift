@testable import Base
@testable import RideCore

/// A ride, rules and phones; each test changes one detail of them.
enum Sample {
  static let now = Timestamp(epochSeconds: 1_800_000_000)
  static let customerToken = String(repeating: "c1", count: 32)
  static let driverToken = String(repeating: "d1", count: 32)

  static func text(_ text: String) -> TextTemplate {
    (try? TextTemplate(text)) ?? TextTemplate(literal: "unreadable template")
  }

  static func rule(
    _ name: String = "arrived", app: App = .customer, on events: [String] = ["driver_arrived"],
    body: String = "{{ride.attributes.plate}}", expires: RuleExpiry = .after(.seconds(300)),
    collapse: String? = nil, priority: PushPriority = .immediate,
    data: [String: PayloadTemplate] = [:]
  ) -> Rule {
    var alert = Alert()
    alert.title = LocalizedText(text("Your driver is here"))
    alert.body = LocalizedText(text(body))
    return Rule(
      name: name, app: app, when: .on(events), what: .alert(alert, priority: priority), data: data,
      expires: expires, collapse: collapse.map(text), source: "sample.yaml:1")
  }

  static func book(
    _ rules: [Rule] = [rule()], bundleIDs: [App: String]? = nil,
    environment: APNsEnvironment = .production
  ) -> EngineConfiguration {
    EngineConfiguration(
      rules: RuleSet(
        activeStates: ["requested", "driver_arrived"], finalStates: ["ride_completed"],
        events: ["eta_changed"], rules: rules),
      bundleIDs: bundleIDs ?? [.customer: "com.example.customer", .driver: "com.example.driver"],
      defaultEnvironment: environment)
  }

  static func ride() -> Ride {
    var ride = Ride(id: "r1", state: "driver_arrived")
    ride.customerID = "c"
    ride.driverID = "d"
    ride.attributes = #"{"plate": "B-RP 1", "courier_id": "k"}"#
    return ride
  }

  static func event(_ id: Int64 = 1, _ name: String = "driver_arrived", data: String = "{}")
    -> RideEvent
  {
    RideEvent(id: id, name: name, at: now - .seconds(1), data: data)
  }

  static func phone(
    _ id: Int64 = 1, app: App = .customer, owner: OwnerID = "c", token: String = customerToken,
    environment: APNsEnvironment? = nil, locale: String? = nil
  ) -> Phone {
    Phone(
      id: id, app: app, ownerID: owner, token: token, environment: environment, locale: locale)
  }

  static func view(
    ride: Ride? = ride(), events: [RideEvent] = [event()], phones: [Phone]? = nil,
    memo: Memo = Memo()
  ) -> RideView {
    RideView(
      rideID: "r1", ride: ride, events: events,
      phones: phones
        ?? [phone(), phone(2, app: .driver, owner: "d", token: driverToken)], memo: memo)
  }
}

extension Decision {
  /// The reasons of the pushes that are not sent.
  var reasons: [String] { ended.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" } }
}
