import Base
import RideCore

// What the lines of a day contain, read from their fields.

extension DayRide {
  init(_ fields: DayFields) throws(DayProblem) {
    self.init(id: RideID(try fields.required("id")))
    if fields.has("state") { columns.append(.state(try fields.text("state"))) }
    if fields.has("customer_id") {
      columns.append(.customerID(try fields.text("customer_id").map { OwnerID($0) }))
    }
    if fields.has("driver_id") {
      columns.append(.driverID(try fields.text("driver_id").map { OwnerID($0) }))
    }
    if fields.has("pickup_at") { columns.append(.pickupAt(try fields.time("pickup_at"))) }
    if let zone = try fields.text("time_zone") { columns.append(.timeZone(zone)) }
    if case .object(let members)? = try fields.object("attributes") {
      columns.append(.attributes(members))
    }
    updatedAt = try fields.time("updated_at")
    isRemoved = try fields.flag("removed") ?? false
    guard let value = fields["participants"] else { return }
    guard case .array(let people) = value else {
      throw fields.problem("participants", "not a list", expected: "a list of app and owner_id")
    }
    var participants: [Participant] = []
    for (index, person) in people.enumerated() {
      let one = try DayFields(
        person, line: fields.line, at: "\(fields.path)participants[\(index)]",
        known: DayKeys.participant)
      let participant = Participant(
        app: App(rawValue: try one.required("app")), ownerID: OwnerID(try one.required("owner_id")))
      if !participants.contains(participant) { participants.append(participant) }
    }
    self.participants = participants
  }
}

extension DayEvent {
  init(_ fields: DayFields) throws(DayProblem) {
    let name = try fields.required("event")
    self.init(name, ride: try fields.text("ride").map { RideID($0) })
    if let data = try fields.object("data") { self.data = data }
  }
}

extension DayToken {
  init(_ fields: DayFields) throws(DayProblem) {
    self.init(
      app: App(rawValue: try fields.required("app")),
      ownerID: OwnerID(try fields.required("owner_id")),
      token: try fields.required("token").lowercased())
    environment = try fields.word("environment", APNsEnvironment.self)
    installationID = try fields.text("installation_id").map { InstallationID($0) }
    locale = try fields.text("locale")
    ride = try fields.text("ride").map { RideID($0) }
    activityID = try fields.text("activity_id")
    isFrequent = try fields.flag("frequent") ?? false
    attributesType = try fields.text("attributes_type")
    isRemoved = try fields.flag("removed") ?? false
  }
}

extension DayPush {
  init(_ fields: DayFields) throws(DayProblem) {
    self.init(
      ride: RideID(try fields.required("ride")), rule: try fields.text("rule") ?? "",
      token: try fields.text("token")?.lowercased())
  }
}

extension DayAnswer {
  init(_ fields: DayFields) throws(DayProblem) {
    guard case .integer(let status)? = fields["status"], (0...999).contains(status) else {
      throw fields.problem(
        "status", "no status", expected: "one of HTTP, or 0 if there was no answer")
    }
    self.init(token: try fields.required("token").lowercased(), status: Int(status))
    reason = try fields.text("reason")
    timestamp = try fields.time("timestamp")
    if let after = try fields.number("after_ms") {
      guard after >= 0, after < 1e12 else {
        throw fields.problem("after_ms", "out of range", expected: "milliseconds, 0 or more")
      }
      self.after = .microseconds(Int64(after * 1000))
    }
  }
}

extension DayOutcome {
  init(_ fields: DayFields) throws(DayProblem) {
    let push = try DayPush(fields)
    guard let status = try fields.word("status", LedgerEntry.Status.self) else {
      throw fields.problem("status", "missing", expected: "a status of deliveries")
    }
    self.init(push, status)
    reason = try fields.text("reason")
    app = try fields.text("app").map(App.init(rawValue:))
    event = try fields.text("event")
    eventAt = try fields.time("event_at")
    type = try fields.word("type", PushType.self)
    if let number = fields["priority"], number != .null {
      guard case .integer(let value) = number, let priority = PushPriority(rawValue: Int(value))
      else {
        throw fields.problem("priority", "no priority of APNs", expected: "1, 5 or 10")
      }
      self.priority = priority
    }
    cardEvent = try fields.word("card", CardEvent.self)
  }
}

extension DayRide {
  /// Returns the row after the line.
  func applied(to old: Ride?) -> Ride {
    var ride = old ?? Ride(id: id, state: nil)
    for column in columns { ride.set(column) }
    if let participants { ride.participants = participants }
    return ride
  }
}
