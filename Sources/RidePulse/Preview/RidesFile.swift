import Base
import Foundation
import RideCore
import Timeline

/// Reads rides from a file of JSON lines: the columns of `ridepulse.rides`, with
/// `participants`, `phones`, `events`, `live_activities` and `push_to_start`.
enum RidesFile {
  /// - Throws: `CommandFailure` with the line that can't be read.
  static func read(_ path: String, at instant: Timestamp) throws -> [RideView] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandFailure("--rides: \(path) can't be read")
    }
    var views: [RideView] = []
    var seen: Set<RideID> = []
    for (index, line) in data.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated()
    where !line.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) {
      do {
        var reader = RideLine(views.count)
        let view = try reader.view(line, at: instant)
        guard seen.insert(view.rideID).inserted else {
          throw RideLine.Problem("the ride \(view.rideID) for the second time")
        }
        views.append(view)
      } catch let problem as RideLine.Problem {
        throw CommandFailure(Escape.line("\(path):\(index + 1): \(problem.text)"))
      }
    }
    return views.sorted { $0.rideID < $1.rideID }
  }
}

/// One line of a rides file.
private struct RideLine {
  struct Problem: Error {
    var text: String
    init(_ text: String) { self.text = text }
  }

  private static let keys: Set = [
    "id", "state", "customer_id", "driver_id", "pickup_at", "time_zone", "attributes",
    "updated_at", "entered", "participants", "phones", "events", "live_activities", "push_to_start",
  ]
  private static let participantKeys: Set = ["app", "owner_id", "attributes"]
  private static let phoneKeys: Set = [
    "app", "token", "owner_id", "environment", "locale", "time_zone", "installation_id", "platform",
  ]
  private static let cardKeys: Set = [
    "app", "token", "activity_id", "owner_id", "environment", "frequent", "installation_id",
  ]
  private static let startKeys: Set = [
    "app", "token", "attributes_type", "owner_id", "environment", "installation_id",
  ]
  private static let eventKeys: Set = ["event", "at", "data"]

  private let number: Int

  init(_ number: Int) {
    self.number = number
  }

  mutating func view(_ line: Data, at instant: Timestamp) throws -> RideView {
    let members = try object(JSONValue(json: Array(line)), "the line", Self.keys)
    guard let id = try text(members, "id").map(RideID.init), !id.text.isEmpty else {
      throw Problem("no id")
    }
    var ride = Ride(id: id, state: try text(members, "state"))
    ride.customerID = try text(members, "customer_id").map(OwnerID.init)
    ride.driverID = try text(members, "driver_id").map(OwnerID.init)
    ride.pickupAt = try time(members, "pickup_at")
    ride.updatedAt = try time(members, "updated_at")
    ride.entered = try entries(members)
    ride.timeZone = try text(members, "time_zone") ?? "UTC"
    if ZoneTimes(identifier: ride.timeZone) == nil {
      throw Problem("time_zone \(JSONValue.string(ride.timeZone).text) is not \(ZoneName.expected)")
    }
    let attributes = members["attributes"] ?? .object([:])
    guard case .object = attributes else { throw Problem("attributes is not an object") }
    ride.attributes = String(decoding: attributes.json, as: UTF8.self)
    for person in try list(members, "participants").map(participant)
    where !ride.participants.contains(where: { $0.isPerson(person.ownerID, person.app) }) {
      ride.participants.append(person)
    }
    let events = try list(members, "events").enumerated().map { index, value in
      try event(value, Int64(index + 1), at: instant)
    }
    let phones = try list(members, "phones").enumerated().map { index, value in
      try phone(value, Int64(number * 1000 + index + 1), ride, attributes)
    }
    let cards = try list(members, "live_activities").enumerated().map { index, value in
      try card(value, Int64(number * 1000 + index + 1), ride, attributes, at: instant)
    }
    let tokens = try list(members, "push_to_start").enumerated().map { index, value in
      try startToken(value, Int64(number * 1000 + index + 1), ride, attributes, at: instant)
    }
    return RideView(
      rideID: id, ride: ride, events: events, phones: phones, cards: cards, startTokens: tokens)
  }

  private func participant(_ value: JSONValue) throws -> Participant {
    let members = try object(value, "a participant", Self.participantKeys)
    guard let app = try text(members, "app"), let owner = try text(members, "owner_id") else {
      throw Problem("a participant without app or owner_id")
    }
    let attributes = members["attributes"] ?? .object([:])
    guard case .object = attributes else {
      throw Problem("attributes of a participant is not an object")
    }
    return Participant(
      app: App(rawValue: app), ownerID: OwnerID(owner), attributes: attributes.text)
  }

  /// When the ride entered the states that it has had; the present one is known from `updated_at`.
  private func entries(_ members: [String: JSONValue]) throws -> [String: Timestamp] {
    var entries: [String: Timestamp] = [:]
    if let state = try text(members, "state") { entries[state] = try time(members, "updated_at") }
    guard let stated = members["entered"] else { return entries }
    guard case .object(let times) = stated else { throw Problem("entered is not an object") }
    for state in times.keys { entries[state] = try time(times, state) }
    return entries
  }

  private func event(_ value: JSONValue, _ id: Int64, at instant: Timestamp) throws -> RideEvent {
    let members = try object(value, "an event", Self.eventKeys)
    guard let name = try text(members, "event") else { throw Problem("an event without event") }
    let data = members["data"] ?? .object([:])
    return RideEvent(
      id: id, name: name, at: min(instant, try time(members, "at") ?? instant),
      data: String(decoding: data.json, as: UTF8.self))
  }

  private func phone(
    _ value: JSONValue, _ id: Int64, _ ride: Ride, _ attributes: JSONValue
  ) throws -> Phone {
    let members = try object(value, "a phone", Self.phoneKeys)
    var phone = try registration(members, "a phone", ride, attributes)
    phone.locale = try text(members, "locale")
    phone.timeZone = try text(members, "time_zone")
    return Phone(phone, id: id)
  }

  private func card(
    _ value: JSONValue, _ id: Int64, _ ride: Ride, _ attributes: JSONValue, at instant: Timestamp
  ) throws -> Card {
    let members = try object(value, "a live activity", Self.cardKeys)
    var card = try registration(members, "a live activity", ride, attributes)
    card.isFrequent = members["frequent"] == .bool(true)
    return Card(card, id: id, at: instant)
  }

  private func startToken(
    _ value: JSONValue, _ id: Int64, _ ride: Ride, _ attributes: JSONValue, at instant: Timestamp
  ) throws -> StartToken {
    let members = try object(value, "a push-to-start token", Self.startKeys)
    let start = try registration(members, "a push-to-start token", ride, attributes)
    guard let type = try text(members, "attributes_type") else {
      throw Problem("a push-to-start token without attributes_type")
    }
    return StartToken(start, id: id, type: type, at: instant)
  }

  /// Returns what phones, cards and start tokens share; the owner defaults to the ride's.
  private func registration(
    _ members: [String: JSONValue], _ what: String, _ ride: Ride, _ attributes: JSONValue
  ) throws -> Registration {
    guard let app = try text(members, "app"), let token = try text(members, "token") else {
      throw Problem("\(what) without app or token")
    }
    let usual: OwnerID? =
      switch app {
      case "customer": ride.customerID
      case "driver": ride.driverID
      default:
        try text(try object(attributes, "attributes", nil), app + "_id").map(OwnerID.init)
      }
    var registration = Registration(app: App(rawValue: app), ownerID: "", token: token)
    try setPlatform(members, &registration)
    if let name = try text(members, "environment") {
      registration.environment = APNsEnvironment(rawValue: name)
      if registration.environment == nil {
        throw Problem("environment is neither production nor sandbox")
      }
    }
    registration.ownerID = try text(members, "owner_id").map(OwnerID.init) ?? usual ?? ""
    registration.installationID = try text(members, "installation_id").map(InstallationID.init)
    return registration
  }

  private func setPlatform(
    _ members: [String: JSONValue], _ registration: inout Registration
  ) throws {
    if let name = try text(members, "platform") {
      guard let platform = Platform(rawValue: name) else {
        throw Problem("platform is neither ios nor android")
      }
      registration.platform = platform
    }
    guard registration.platform == .android else {
      registration.token = registration.token.lowercased()
      return
    }
    if FCMRegistration(registration.token) == nil {
      throw Problem("token is not a registration of FCM: at most 512 visible ASCII characters")
    }
    if members["environment"] != nil { throw Problem("environment of an Android phone") }
  }

  private func object(
    _ value: JSONValue?, _ what: String, _ known: Set<String>?
  ) throws -> [String: JSONValue] {
    guard case .object(let members) = value else { throw Problem("\(what) is not a JSON object") }
    for key in members.keys.sorted() {
      guard let known, !known.contains(key) else { continue }
      throw Problem(
        "unknown key \(key) in \(what)\(suggestion(for: key, among: known.sorted()))")
    }
    return members
  }

  private func list(_ members: [String: JSONValue], _ key: String) throws -> [JSONValue] {
    switch members[key] {
    case nil, .null: return []
    case .array(let values): return values
    default: throw Problem("\(key) is not a list")
    }
  }

  private func text(_ members: [String: JSONValue], _ key: String) throws -> String? {
    switch members[key] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw Problem("\(key) is not a text")
    }
  }

  private func time(_ members: [String: JSONValue], _ key: String) throws -> Timestamp? {
    guard let text = try text(members, key) else { return nil }
    if let instant = CivilTime.instant(iso: text) { return instant }
    // The format of Postgres: 2026-11-21 08:00:00+00.
    let iso = text.replacing(" ", with: "T")
    for ending in ["", ":00"] {
      if let instant = CivilTime.instant(iso: iso + ending) { return instant }
    }
    throw Problem("\(key) is not a time such as 2026-11-21T08:00:00Z: \(text)")
  }
}
