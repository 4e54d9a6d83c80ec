// The rows of a recorded pass as JSON. Times are microseconds since 1970.

import Base

extension JSONValue {
  static func micros(_ time: Timestamp) -> JSONValue { .integer(time.microseconds) }
}

extension [String: JSONValue] {
  /// Sets a list, unless it is empty.
  mutating func set(_ key: String, _ values: [JSONValue]) {
    if !values.isEmpty { self[key] = .array(values) }
  }
}

extension Ride {
  var recorded: JSONValue {
    var members: [String: JSONValue] = [
      "time_zone": .string(timeZone), "attributes": JSONValue(json: attributes.utf8) ?? .null,
    ]
    members["state"] = .text(state)
    members["customer_id"] = .text(customerID?.text)
    members["driver_id"] = .text(driverID?.text)
    members["pickup_at"] = pickupAt.map { .micros($0) }
    members["updated_at"] = updatedAt.map { .micros($0) }
    members.set(
      "participants",
      participants.map {
        .object(["app": .string($0.app.rawValue), "owner_id": .string($0.ownerID.text)])
      })
    return .object(members)
  }
}

extension RideEvent {
  var recorded: JSONValue {
    .object([
      "event": .string(name), "at": .micros(at), "data": JSONValue(json: data.utf8) ?? .null,
    ])
  }
}

extension Phone {
  func recorded(since recent: Timestamp) -> JSONValue {
    var members: [String: JSONValue] = [
      "app": .string(app.rawValue), "owner_id": .string(ownerID.text), "token": .string(token),
    ]
    members["environment"] = .text(environment?.rawValue)
    members["installation_id"] = .text(installationID?.text)
    members["locale"] = .text(locale)
    members["contacted_at"] = contactedAt.flatMap { $0 >= recent ? .micros($0) : nil }
    return .object(members)
  }
}

extension Card {
  /// Nil for the card of a channel, which no phone registered.
  var recorded: JSONValue? {
    guard case .activity(let id) = target else { return nil }
    var members: [String: JSONValue] = [
      "app": .string(app.rawValue), "owner_id": .string(ownerID.text), "token": .string(token),
      "activity": .integer(id), "registered_at": .micros(registeredAt),
    ]
    members["environment"] = .text(environment?.rawValue)
    members["installation_id"] = .text(installationID?.text)
    if isFrequent { members["frequent"] = .bool(true) }
    if isGone { members["removed"] = .bool(true) }
    return .object(members)
  }
}

extension StartToken {
  var recorded: JSONValue {
    var members: [String: JSONValue] = [
      "app": .string(app.rawValue), "owner_id": .string(ownerID.text), "token": .string(token),
      "attributes_type": .string(attributesType),
    ]
    members["environment"] = .text(environment?.rawValue)
    members["installation_id"] = .text(installationID?.text)
    return .object(members)
  }
}

extension OwnerContact {
  var recorded: JSONValue {
    .object([
      "app": .string(app.rawValue), "owner_id": .string(owner.text), "at": .micros(at),
    ])
  }
}

extension LedgerEntry {
  func recorded(token: String?) -> JSONValue {
    var members: [String: JSONValue] = [
      "id": .string(id.description), "rule": .string(rule), "app": .string(app.rawValue),
      "event": .string(event.name), "event_at": .micros(event.at),
      "type": .string(pushType.rawValue), "status": .string(status.rawValue),
    ]
    members["token"] = .text(token)
    members["reason"] = .text(reason?.code.word)
    members["priority"] = priority.map { .integer(Int64($0.rawValue)) }
    members["card"] = .text(cardEvent?.rawValue)
    return .object(members)
  }
}
