@testable import Base
@testable import RideCore

/// A message of a card as an Android app receives it.
struct AndroidArrival {
  let arrival: CardStage.Arrival
  let message: JSONValue

  init?(_ arrival: CardStage.Arrival) {
    guard arrival.push.network == .android, arrival.isCard,
      let message = JSONValue(json: arrival.push.payload)?.value(at: ["message"])
    else { return nil }
    (self.arrival, self.message) = (arrival, message)
  }

  func data(_ key: String) -> String? { message.value(at: ["data", key])?.text }

  func number(_ key: String) -> Int64? { data(key).flatMap { Int64($0) } }

  var seconds: Double { arrival.seconds }
  var phone: Int64 { arrival.push.entry.phone ?? 0 }
  var id: PushID { arrival.push.entry.id }
  var event: String { data("rp_event") ?? "" }
  var timestamp: Int64 { number("rp_ts") ?? 0 }
  var isHigh: Bool { message.value(at: ["android", "priority"]) == .string("HIGH") }
  var ttl: String? { message.value(at: ["android", "ttl"])?.text }
  var token: String? { (message.value(at: ["fid"]) ?? message.value(at: ["token"]))?.text }
  var state: JSONValue? { data("rp_state").flatMap { JSONValue(json: $0.utf8) } }
  var look: JSONValue? { data("rp_look").flatMap { JSONValue(json: $0.utf8) } }
  var status: String? { state?.value(at: ["status"])?.text }
  var eta: Int64? {
    if case .integer(let eta) = state?.value(at: ["eta"]) { eta } else { nil }
  }
  var title: String? { data("rp_alert") == "1" ? data("rp_title") : nil }
}

extension CardStage {
  /// A ride whose customer has one Android phone, and no iPhone.
  static func android(_ ids: Int64..., start: [String] = ["driver_assigned"]) -> CardStage {
    var stage = CardStage(start: start)
    stage.phones = (ids.isEmpty ? [7] : ids).map { Self.androidPhone($0) }
    stage.androidApps = [.customer]
    return stage
  }

  static func androidPhone(
    _ id: Int64 = 7, owner: OwnerID = "c", token: String? = nil
  ) -> Phone {
    var phone = Sample.phone(id, owner: owner, token: token ?? "fcm:Token-\(id)")
    phone.platform = .android
    return phone
  }

  /// The cards' messages to Android phones.
  var messages: [AndroidArrival] { wire.compactMap { AndroidArrival($0) } }

  /// Each message's event, with its phone if there are several.
  var messageEvents: [String] { messages.map(\.event) }

  func messages(to phone: Int64) -> [AndroidArrival] { messages.filter { $0.phone == phone } }
}
