@testable import Base
@testable import RideCore

/// An Android phone and rules for it; each test changes one detail of them.
enum AndroidSample {
  static let fid = "cX3fUGh9R0uVxK2mQ7wE1a"
  static let token = "cX3fUGh9R0uVxK2mQ7wE1a:APA91bHun4MxP5egoKMwt2KZFBaFUH"
  /// 2026-11-23T08:00:00Z
  static let at = Timestamp(epochSeconds: 1_795_420_800)

  static func phone(
    _ id: Int64 = 1, owner: OwnerID = "c", token: String = fid, locale: String? = nil
  ) -> Phone {
    var phone = Phone(id: id, app: .customer, ownerID: owner, token: token, locale: locale)
    phone.platform = .android
    return phone
  }

  /// The alert of the message in the design.
  static func alert(_ change: (inout Alert) -> Void = { _ in }) -> Alert {
    var alert = Alert()
    alert.title = LocalizedText(Sample.text("Your driver is here"))
    alert.body = LocalizedText(Sample.text("{{ride.attributes.plate}}"))
    alert.sound = Alert.Sound(Sample.text("default"))
    alert.interruptionLevel = .timeSensitive
    change(&alert)
    return alert
  }

  static func rule(
    _ alert: Alert = alert(), priority: PushPriority? = nil, collapse: String? = "ride-{{ride.id}}",
    data: [String: PayloadTemplate] = [
      "event": .literal(.string("driver_arrived")), "ride_id": .value(Sample.text("{{ride.id}}")),
    ], expires: RuleExpiry = .after(.seconds(287))
  ) -> Rule {
    Rule(
      name: "arrived", app: .customer, when: .on(["driver_arrived"]),
      what: .alert(alert, priority: priority), data: data, expires: expires,
      collapse: collapse.map(Sample.text), source: "sample.yaml:1")
  }

  static func background(
    data: [String: PayloadTemplate] = [:], expires: RuleExpiry = .ofBackground
  ) -> Rule {
    Rule(
      name: "beat", app: .customer, when: .on(["driver_arrived"]), what: .background, data: data,
      expires: expires, source: "sample.yaml:1")
  }

  /// The sample's configuration with a service account for the customers' phones.
  static func book(
    _ rules: [Rule] = [rule()], bundleIDs: [App: String]? = nil,
    environment: APNsEnvironment = .production
  ) -> EngineConfiguration {
    var book = Sample.book(rules, bundleIDs: bundleIDs, environment: environment)
    book.androidApps = [.customer]
    return book
  }

  static func decision(
    _ rule: Rule, phones: [Phone] = [phone()], attributes: String = #"{"plate":"B-RP 1"}"#,
    data: String = "{}", now: Timestamp = at
  ) -> Decision {
    var ride = Ride(id: "4711", state: "driver_arrived")
    ride.customerID = "c"
    ride.attributes = attributes
    let event = RideEvent(id: 1, name: "driver_arrived", at: at, data: data)
    let view = RideView(rideID: "4711", ride: ride, events: [event], phones: phones)
    return decide(view, by: book([rule], bundleIDs: [:]), now: now)
  }

  /// Returns the bodies of the pushes of a rule's firing.
  static func bodies(
    _ rule: Rule, phones: [Phone] = [phone()], attributes: String = #"{"plate":"B-RP 1"}"#,
    data: String = "{}", now: Timestamp = at
  ) -> [String] {
    decision(rule, phones: phones, attributes: attributes, data: data, now: now).pushes
      .map { String(decoding: $0.payload, as: UTF8.self) }
  }

  /// Returns the only message of a rule's firing, as JSON.
  static func message(
    _ rule: Rule, attributes: String = #"{"plate":"B-RP 1"}"#, data: String = "{}",
    now: Timestamp = at
  ) -> JSONValue? {
    bodies(rule, attributes: attributes, data: data, now: now).first
      .flatMap { JSONValue(json: $0.utf8)?["message"] }
  }
}

extension JSONValue {
  /// A key of the message's data.
  func datum(_ key: String) -> JSONValue? { value(at: ["data", key]) }

  /// A key of the message's notification.
  func shown(_ key: String) -> JSONValue? { value(at: ["android", "notification", key]) }
}
