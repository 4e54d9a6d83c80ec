import Base
import RideCore

// The text of a day's lines: what `DayReader` reads.

extension DayHeader {
  /// The line without its line feed.
  package var json: [UInt8] {
    var members: [(String, JSONValue?)] = [
      ("day", .integer(Self.version)), ("from", .time(from)), ("to", .time(to)),
    ]
    if sample != 100 {
      members.append(
        ("sample", sample == sample.rounded() ? .integer(Int64(sample)) : .number(sample)))
    }
    members += [("schedules", .text(schedules)), ("engine", .text(engine))]
    return DayText.object(members)
  }
}

extension DayLine {
  /// The line without its line feed.
  package var json: [UInt8] {
    var text = Array("{\"at\":\"\(CivilTime.exact(at))\",".utf8)
    if case .event(let event) = content {
      var members: [(String, JSONValue?)] = [
        ("event", .string(event.name)), ("ride", .text(event.ride?.text)),
      ]
      if event.data != .object([:]) { members.append(("data", event.data)) }
      return text + DayText.object(members).dropFirst()
    }
    text += Array("\"\(content.kind)\":".utf8)
    return text + DayText.object(content.members) + [UInt8(ascii: "}")]
  }
}

extension DayLine.Content {
  fileprivate var kind: String {
    switch self {
    case .ride: "ride"
    case .event: "event"
    case .phone: "phone"
    case .card: "card"
    case .pushToStart: "push_to_start"
    case .contact: "contact"
    case .seen: "seen"
    case .preference: "preference"
    case .answer: "answer"
    case .outcome: "outcome"
    }
  }

  fileprivate var members: [(String, JSONValue?)] {
    switch self {
    case .ride(let ride): ride.members
    case .event: []
    case .phone(let token), .card(let token), .pushToStart(let token): token.members
    case .contact(let app, let owner, let installation):
      [
        ("app", .string(app.rawValue)), ("owner_id", .string(owner.text)),
        ("installation_id", .text(installation?.text)),
      ]
    case .seen(let push): push.members
    case .preference(let optOut, let allowed):
      [
        ("app", .string(optOut.app.rawValue)), ("owner_id", .string(optOut.owner.text)),
        ("topic", .string(optOut.topic.text)), ("allowed", .bool(allowed)),
      ]
    case .answer(let answer):
      [
        ("token", .string(answer.token)), ("status", .integer(Int64(answer.status))),
        ("reason", .text(answer.reason)), ("timestamp", answer.timestamp.map { .time($0) }),
        ("after_ms", .integer(answer.after.microseconds / 1000)),
      ]
    case .outcome(let outcome): outcome.members
    }
  }
}

extension DayRide {
  fileprivate var members: [(String, JSONValue?)] {
    var members: [(String, JSONValue?)] = [("id", .string(id.text))]
    for column in columns {
      switch column {
      case .state(let state): members.append(("state", .orNull(state)))
      case .customerID(let owner): members.append(("customer_id", .orNull(owner?.text)))
      case .driverID(let owner): members.append(("driver_id", .orNull(owner?.text)))
      case .pickupAt(let time): members.append(("pickup_at", time.map { .time($0) } ?? .null))
      case .timeZone(let zone): members.append(("time_zone", .string(zone)))
      case .attributes(let values): members.append(("attributes", .object(values)))
      }
    }
    if let participants {
      let people = participants.map { person in
        JSONValue.object([
          "app": .string(person.app.rawValue), "owner_id": .string(person.ownerID.text),
        ])
      }
      members.append(("participants", .array(people)))
    }
    members.append(("updated_at", updatedAt.map { .time($0) }))
    members.append(("removed", isRemoved ? .bool(true) : nil))
    return members
  }
}

extension DayToken {
  fileprivate var members: [(String, JSONValue?)] {
    [
      ("ride", .text(ride?.text)), ("activity_id", .text(activityID)),
      ("app", .string(app.rawValue)), ("owner_id", .string(ownerID.text)),
      ("token", .string(token)), ("environment", .text(environment?.rawValue)),
      ("installation_id", .text(installationID?.text)), ("locale", .text(locale)),
      ("attributes_type", .text(attributesType)), ("frequent", isFrequent ? .bool(true) : nil),
      ("removed", isRemoved ? .bool(true) : nil),
    ]
  }
}

extension DayPush {
  fileprivate var members: [(String, JSONValue?)] {
    [("ride", .string(ride.text)), ("rule", .string(rule)), ("token", .text(token))]
  }
}

extension DayOutcome {
  fileprivate var members: [(String, JSONValue?)] {
    push.members + [
      ("status", .string(status.rawValue)), ("reason", .text(reason)),
      ("app", .text(app?.rawValue)), ("event", .text(event)),
      ("event_at", eventAt.map { .time($0) }), ("type", .text(type?.rawValue)),
      ("priority", priority.map { .integer(Int64($0.rawValue)) }),
      ("card", .text(cardEvent?.rawValue)),
    ]
  }
}

extension JSONValue {
  fileprivate static func orNull(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
  fileprivate static func time(_ time: Timestamp) -> JSONValue { .string(CivilTime.exact(time)) }
}

/// Writes objects whose members keep their order.
enum DayText {
  /// Returns an object without the members that are nil, in this order.
  static func object(_ members: [(String, JSONValue?)]) -> [UInt8] {
    var text: [UInt8] = [UInt8(ascii: "{")]
    for case (let key, let value?) in members {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text.append(json: key)
      text.append(UInt8(ascii: ":"))
      text.append(json: value)
    }
    return text + [UInt8(ascii: "}")]
  }
}
