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
    var row: RideUpdate?
    /// Whether the day has a line of its row, which must precede all else about it.
    var isKnown = false
    var at: Timestamp
    /// Events that its rules emitted and that it has not had yet.
    var emitted: [PassContent.Event] = []
    /// Its pushes, by `apns-id`.
    var pushes: [String: PushReference] = [:]
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
    guard let pass = try? PassContent(storedText: json) else { return }
    let decided = pass.decidedAt ?? start
    let at = pass.events.compactMap(\.at).min().map { min($0, decided) } ?? decided
    // Taken out, so that its lists are changed in place.
    var state =
      rides.removeValue(forKey: ride)
      ?? RideState(id: pseudonym(of: ride, pass), at: start)
    if fence >= state.fence {
      state.fence = fence
      let isPerson = ride.isOfPerson
      if !isPerson { addRow(pass.ride, &state, at: at) }
      for change in tokens.changes(in: pass, of: state.isKnown ? state.id : nil, names) {
        append(.change(change), at: at)
      }
      for (change, time) in tokens.contacts(in: pass, names) {
        append(.change(change), at: time)
      }
    }
    for event in pass.events { addEvent(event, ride, &state, decided) }
    for id in pass.seen where state.seen.insert(id).inserted {
      if let push = state.pushes[id] { append(.change(.seen(push)), at: decided) }
    }
    for row in pass.answers {
      var answer = row.record
      answer.token = names.address(answer.token)
      append(.answer(answer), at: row.at ?? decided)
    }
    for row in pass.outcomes {
      var outcome = row.record
      outcome.push.ride = state.id
      outcome.push.token = outcome.push.token.map(names.address)
      if let id = row.id { state.pushes[id] = outcome.push }
      if outcome.status != .pending { append(.outcome(outcome), at: pass.settledAt ?? decided) }
    }
    state.emitted += pass.emits
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
  private func pseudonym(of ride: RideID, _ pass: PassContent) -> RideID {
    let plain = RideID(names.id(.ride, ride.text))
    if !ride.isOfPerson { return plain }
    let named = pass.events.flatMap { event in
      (event.record.data ?? [:]).filter { $0.key.hasSuffix("_id") }.map {
        Participant(app: App(rawValue: String($0.key.dropLast(3))), ownerID: OwnerID($0.value.text))
      }
    }
    let person = (named + pass.phones.map(\.record.person)).first {
      RideID(ofPerson: $0.ownerID, app: $0.app) == ride
    }
    return person.map(names.person).map { RideID(ofPerson: $0.ownerID, app: $0.app) } ?? plain
  }

  private mutating func append(_ content: DayLine.Content, at time: Timestamp) {
    waiting.append((DayLine(at: max(time, start), content), count))
    count += 1
  }

  private mutating func addRow(_ row: RideUpdate?, _ state: inout RideState, at time: Timestamp) {
    state.at = max(state.at, time)
    guard var row else {
      if state.row == nil { return }
      state.row = nil
      var line = RideUpdate(id: state.id)
      line.isRemoved = true
      return append(.change(.ride(line)), at: state.at)
    }
    row.id = state.id
    row.customerID = row.customerID.map { $0.map(names.owner) }
    row.driverID = row.driverID.map { $0.map(names.owner) }
    row.timeZone = row.timeZone ?? "UTC"
    row.attributes = values.members(row.attributes ?? [:], at: time)
    row.participants = row.participants?.map { person in
      var named = names.person(person)
      named.attributes = values.attributes(person.attributes, at: time)
      return named
    }
    let line = row.changes(from: state.row)
    if state.row == nil || line != RideUpdate(id: state.id) {
      append(.change(.ride(line)), at: state.at)
    }
    state.row = row
    state.isKnown = true
  }

  private mutating func addEvent(
    _ event: PassContent.Row<PassContent.Event>, _ ride: RideID, _ state: inout RideState,
    _ decided: Timestamp
  ) {
    guard let at = event.at else { return }
    if let index = state.emitted.firstIndex(of: event.record) {
      state.emitted.remove(at: index)
      return
    }
    let isOfPerson = ride.isOfPerson
    // A ride that never had a row fires nothing.
    guard isOfPerson || state.isKnown else { return }
    let data = values.members(event.record.data ?? [:], at: decided)
    let named = NamedEvent(event.record.name, ride: isOfPerson ? nil : state.id, data: data)
    append(.change(.event(named)), at: at)
  }
}

extension RideUpdate {
  /// Returns what differs from a former row; the whole row if there is none.
  fileprivate func changes(from former: RideUpdate?) -> RideUpdate {
    var line = RideUpdate(id: id)
    let old = former ?? line
    if state != old.state { line.state = state }
    if customerID != old.customerID { line.customerID = customerID }
    if driverID != old.driverID { line.driverID = driverID }
    if pickupAt != old.pickupAt { line.pickupAt = pickupAt }
    if timeZone != old.timeZone { line.timeZone = timeZone }
    if participants ?? [] != old.participants ?? [] { line.participants = participants }
    if updatedAt != old.updatedAt { line.updatedAt = updatedAt }
    // The times of later states follow from the changes of the state.
    if former == nil { line.entered = entered }
    let (before, now) = (old.attributes ?? [:], attributes ?? [:])
    var changed = now.filter { before[$0.key] != $0.value }
    for key in before.keys where now[key] == nil { changed[key] = .null }
    if !changed.isEmpty { line.attributes = changed }
    return line
  }
}
