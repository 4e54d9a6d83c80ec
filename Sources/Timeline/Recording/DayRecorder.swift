package import Base
package import RideCore

/// Makes the lines of a day from recorded passes: sorted by time, each row whole once and then only
/// what changed, and nothing that names a person.
package struct DayRecorder {
  /// What was written of a ride so far.
  struct RideState {
    /// Its pseudonym.
    let id: RideID
    var fence = Int64.min
    var row: DayRide?
    /// Whether the day has a line of its row, which must precede all else about it.
    var isKnown = false
    var columns: [RideColumn] = []
    var attributes: [String: JSONValue] = [:]
    var at: Timestamp
    /// Events that its rules emitted and that it has not had yet.
    var emitted: [RecordedFields] = []
    /// Its pushes, by `apns-id`.
    var pushes: [String: DayPush] = [:]
    var seen: Set<String> = []
  }

  let names: Pseudonyms
  let values: HarmlessValues
  let start: Timestamp
  var rides: [RideID: RideState] = [:]
  var tokens = RecordedTokens()
  private var waiting: [(line: DayLine, order: Int)] = []
  private var count = 0

  /// - Parameter start: When the day begins; what is older gets this time.
  package init(_ names: Pseudonyms, _ values: HarmlessValues, from start: Timestamp) {
    self.names = names
    self.values = values
    self.start = start
  }

  /// Adds a pass. Passes come in the order of their earliest times.
  ///
  /// - Parameters:
  ///   - fence: That of its claim; a pass before the last one of its ride changes no row.
  ///   - json: `RecordedPass.json`
  package mutating func add(_ ride: RideID, fence: Int64, json: String) {
    guard let value = JSONValue(json: json.utf8) else { return }
    let pass = RecordedFields(value)
    let decided = pass.time("decided_at") ?? start
    let events = pass.list("events")
    let at = events.compactMap { $0.time("at") }.min().map { min($0, decided) } ?? decided
    // Taken out, so that its lists are changed in place.
    var state =
      rides.removeValue(forKey: ride)
      ?? RideState(id: pseudonym(of: ride, pass), at: start)
    if fence >= state.fence {
      state.fence = fence
      let isPerson = ride.isOfPerson
      if !isPerson { addRow(pass["ride"], &state, at: at) }
      for line in tokens.changes(in: pass, of: state.isKnown ? state.id : nil, names) {
        append(line, at: at)
      }
      for (line, time) in tokens.contacts(in: pass, names) { append(line, at: time) }
    }
    for event in events { addEvent(event, ride, &state, decided) }
    addSeen(pass, &state, at: decided)
    for answer in pass.list("answers") {
      append(.answer(DayAnswer(answer, names)), at: answer.time("at") ?? decided)
    }
    let settled = pass.time("settled_at") ?? decided
    for entry in pass.list("outcomes") {
      guard let outcome = DayOutcome(entry, ride: state.id, names) else {
        continue
      }
      if let id = entry.text("id") { state.pushes[id] = outcome.push }
      if outcome.status != .pending { append(.outcome(outcome), at: settled) }
    }
    state.emitted += pass.list("emits")
    rides[ride] = state
  }

  /// The number of rides of the day, as `rehearse` counts them: those with a line of their row.
  package var rideCount: Int { rides.values.count(where: \.isKnown) }

  /// Returns the lines that nothing still to be added can precede, in order.
  ///
  /// - Parameter from: The earliest time of the next pass; nil after the last one.
  package mutating func lines(before from: Timestamp?) -> [DayLine] {
    waiting.sort { ($0.line.at, $0.order) < ($1.line.at, $1.order) }
    let end = from.map { limit in
      waiting.firstIndex { $0.line.at >= max(limit, start) } ?? waiting.count
    }
    let ready = waiting.prefix(end ?? waiting.count).map(\.line)
    waiting.removeFirst(ready.count)
    return ready
  }

  /// Returns the ID of a ride in the day. That of a person's pseudo ride follows from the person's
  /// pseudonym, as in the replay of the day.
  private func pseudonym(of ride: RideID, _ pass: RecordedFields) -> RideID {
    let plain = RideID(names.id(.ride, ride.text))
    if !ride.isOfPerson { return plain }
    let named = pass.list("events").flatMap { event in
      event.object("data").filter { $0.key.hasSuffix("_id") }.map {
        (app: App(rawValue: String($0.key.dropLast(3))), owner: $0.value.text)
      }
    }
    let phones = pass.list("phones").compactMap { phone in
      phone.text("app").flatMap { app in
        phone.text("owner_id").map { (app: App(rawValue: app), owner: $0) }
      }
    }
    let person = (named + phones).first { RideID(ofPerson: OwnerID($0.owner), app: $0.app) == ride }
    return person.map {
      RideID(ofPerson: OwnerID(names.id(.owner, $0.owner)), app: $0.app)
    } ?? plain
  }

  private mutating func append(_ content: DayLine.Content, at time: Timestamp) {
    waiting.append((DayLine(at: max(time, start), content), count))
    count += 1
  }

  private mutating func addRow(
    _ value: JSONValue?, _ state: inout RideState, at time: Timestamp
  ) {
    state.at = max(state.at, time)
    var line = DayRide(id: state.id)
    guard let value else {
      if state.row == nil { return }
      line.isRemoved = true
      state.row = nil
      (state.columns, state.attributes) = ([], [:])
      return append(.ride(line), at: state.at)
    }
    let row = RecordedFields(value)
    let columns = columns(of: row)
    line.columns = columns.filter { !state.columns.contains($0) }
    let attributes = values.members(row.object("attributes"), at: time)
    var changed = attributes.filter { state.attributes[$0.key] != $0.value }
    for key in state.attributes.keys where attributes[key] == nil { changed[key] = .null }
    if !changed.isEmpty { line.columns.append(.attributes(changed)) }
    let people = row.list("participants").compactMap { Participant($0, names) }
    if people != state.row?.participants ?? [] { line.participants = people }
    let updated = row.time("updated_at")
    if updated != state.row?.updatedAt { line.updatedAt = updated }
    let isNews =
      state.row == nil || !line.columns.isEmpty || line.participants != nil
      || line.updatedAt != nil
    if isNews { append(.ride(line), at: state.at) }
    (state.columns, state.attributes) = (columns, attributes)
    state.isKnown = true
    line.participants = people
    line.updatedAt = updated
    state.row = line
  }

  private func columns(of row: RecordedFields) -> [RideColumn] {
    let owner = { (key: String) in row.text(key).map { OwnerID(names.id(.owner, $0)) } }
    return [
      .state(row.text("state")), .customerID(owner("customer_id")), .driverID(owner("driver_id")),
      .pickupAt(row.time("pickup_at")), .timeZone(row.text("time_zone") ?? "UTC"),
    ]
  }

  private mutating func addEvent(
    _ event: RecordedFields, _ ride: RideID, _ state: inout RideState, _ decided: Timestamp
  ) {
    guard let name = event.text("event"), let at = event.time("at") else { return }
    let isEmitted = { (known: RecordedFields) in
      known.text("event") == name && known["data"] == event["data"]
    }
    if let place = state.emitted.firstIndex(where: isEmitted) {
      state.emitted.remove(at: place)
      return
    }
    let isOfPerson = ride.isOfPerson
    // A ride that never had a row fires nothing.
    guard isOfPerson || state.isKnown else { return }
    var line = DayEvent(name, ride: isOfPerson ? nil : state.id)
    line.data = .object(values.members(event.object("data"), at: decided))
    append(.event(line), at: at)
  }

  private mutating func addSeen(
    _ pass: RecordedFields, _ state: inout RideState, at time: Timestamp
  ) {
    guard case .array(let ids)? = pass["seen"] else { return }
    for case .string(let id) in ids where state.seen.insert(id).inserted {
      if let push = state.pushes[id] { append(.seen(push), at: time) }
    }
  }
}
