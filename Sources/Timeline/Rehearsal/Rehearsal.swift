import Base
package import RideCore

/// Replays a recorded day, or a part of its rides, by one or two sets of rules.
///
/// It reads the day line by line, and keeps the replay state only of rides that are not over, and the
/// row of each ride. A class, because two replays share its people; each part of a day has its own.
package final class Rehearsal {
  package struct Options: Sendable {
    package var answers = DayAnswers.accepted
    package var seed: UInt64?
    /// The rules to compare with.
    package var against: EngineConfiguration?
    /// Whether the outcomes that the day has are compared with.
    package var comparesRecorded = false
    /// The rides that it replays.
    package var part = DayPart.whole

    package init() {}
  }

  /// What a rehearsal found.
  package struct Result: Sendable {
    package var figures: RehearsalFigures
    /// The figures of the other set of rules, or of what was recorded.
    package var before: RehearsalFigures?
    package var changes = RehearsalChanges()

    package mutating func add(_ other: Result) {
      figures.add(other.figures)
      if let figures = other.before {
        before?.add(figures)
      }
      changes.add(other.changes)
    }
  }

  /// What is kept of each ride of the day.
  private struct Row {
    /// Nil for a person's events, and once the row is deleted.
    var ride: Ride?
    var isOfPerson = false
    var pushes = 0
    var pushesBefore = 0
    var comparison = RideComparison()
    /// The IDs of its cards, by app and activity.
    var cards: [String: Int64] = [:]
  }

  private let header: DayHeader
  private let options: Options
  private let people: DayPeople
  private var after: RehearsalSide
  private var before: RehearsalSide?
  private var recorded: RecordedSide
  private var rows: [RideID: Row] = [:]
  private var changes = RehearsalChanges()
  /// Rides that one of the replays has left since the last line.
  private var leavers: [RideID] = []
  private let apps: [App]
  private let rulesHaveCardTopics: Bool

  package init(_ header: DayHeader, by configuration: EngineConfiguration, _ options: Options) {
    self.header = header
    self.options = options
    let all = [options.against, configuration].compactMap(\.self)
    let people = DayPeople(of: all, inventsPhones: !header.isRecorded, from: header.from)
    self.people = people
    apps = Set(all.flatMap(\.rules.apps)).sorted { $0.rawValue < $1.rawValue }
    recorded = RecordedSide(configuration.rules)
    rulesHaveCardTopics = all.contains { $0.rules.cardsHaveTopics }
    func side(_ configuration: EngineConfiguration) -> RehearsalSide {
      RehearsalSide(
        configuration,
        RehearsalWorld(
          people: people, states: TokenStates(for: configuration.rules), answers: options.answers,
          seed: options.seed),
        inventsCards: !header.isRecorded,
        compares: options.against != nil || options.comparesRecorded,
        comparesFates: options.comparesRecorded)
    }
    after = side(configuration)
    before = options.against.map(side)
  }

  /// Returns whether this part of the day replays a ride.
  private func has(_ ride: RideID) -> Bool {
    options.part.has(ride.text.utf8)
  }

  /// Applies the next line of the day.
  package func add(_ line: DayLine, number: Int) throws(DayProblem) {
    switch line.content {
    case .answer: return
    case .outcome: break
    default:
      guard line.at >= header.from, line.at <= header.to else {
        throw DayProblem(
          line: number, place: "at", "\(CivilTime.exact(line.at)) is outside of the day",
          expected: "a time from \(CivilTime.exact(header.from)) to \(CivilTime.exact(header.to))")
      }
    }
    advance(to: line.at)
    let id = Int64(number) << 10
    switch line.content {
    case .ride(let ride): if has(ride.id) { add(ride, at: line.at, event: id) }
    case .event(let event): try add(event, at: line.at, number)
    case .phone(let token):
      if let phone = people.set(phone: token, id: id, at: line.at) {
        after.world.states.registered(phone: phone)
        before?.world.states.registered(phone: phone)
      }
    case .pushToStart(let token): people.set(start: token, id: id, at: line.at)
    case .card(let token): try add(card: token, at: line.at, number)
    case .contact(let app, let owner, let installation):
      people.contact(app, owner, installation, at: line.at)
    case .seen(let push):
      after.see(push, at: line.at)
      before?.see(push, at: line.at)
    case .preference(let optOut, let allowed):
      people.set(optOut, allowed: allowed)
      guard rulesHaveCardTopics else { return }
      let person = PhoneOwner(optOut.app, optOut.owner)
      after.changePreference(of: person, at: line.at, event: id)
      before?.changePreference(of: person, at: line.at, event: id)
    case .answer: return
    case .outcome(let outcome):
      if options.comparesRecorded, has(outcome.push.ride) { add(outcome, at: line.at) }
    }
  }

  /// Replays the rest of the day, and returns what the rehearsal found.
  package func finish() -> Result {
    advance(to: header.to)
    var result = Result(figures: after.figures)
    if before != nil || options.comparesRecorded {
      result.before = before?.figures ?? recorded.figures
    }
    for id in rows.keys.sorted() {
      guard var row = rows[id] else { continue }
      row.comparison.finish(&changes, ride: id)
      if row.isOfPerson { continue }
      result.figures.rides += 1
      result.figures.ridesByPushes[row.pushes, default: 0] += 1
      result.before?.rides += 1
      result.before?.ridesByPushes[row.pushesBefore, default: 0] += 1
    }
    result.changes = changes
    return result
  }

  // Time.

  private func advance(to instant: Timestamp) {
    while let step = before?.next(before: instant) {
      rows[step.ride]?.pushesBefore += step.pushes
      for push in step.sent { rows[step.ride]?.comparison.add(before: push, to: &changes) }
      if step.hasLeft { leavers.append(step.ride) }
    }
    while let step = after.next(before: instant) {
      rows[step.ride]?.pushes += step.pushes
      for push in step.sent {
        rows[step.ride]?.comparison.add(after: push, to: &changes, ride: step.ride)
      }
      if step.hasLeft { leavers.append(step.ride) }
    }
    finishRides()
  }

  /// Classifies what differs of the rides that both replays have left.
  private func finishRides() {
    if leavers.isEmpty { return }
    defer { leavers = [] }
    // What was recorded may follow a ride's end.
    guard before != nil, !options.comparesRecorded else { return }
    for ride in leavers where !after.has(ride) && before?.has(ride) != true {
      rows[ride]?.comparison.finish(&changes, ride: ride)
    }
  }
}

// What lines state.
extension Rehearsal {
  private func change(
    _ id: RideID, at now: Timestamp, _ change: (inout RideView) -> Bool
  ) {
    let row = rows[id]?.ride
    after.change(id, row, at: now, change)
    before?.change(id, row, at: now, change)
  }

  private func add(_ line: DayRide, at now: Timestamp, event id: Int64) {
    let old = rows[line.id]?.ride
    if line.isRemoved {
      guard old != nil else { return }
      rows[line.id]?.ride = nil
      return change(line.id, at: now) { view in
        view.events.append(
          RideEvent(id: id, name: InternalEvent.rideRemoved.rawValue, at: now))
        return true
      }
    }
    var new = line.applied(to: old)
    if let old, new == old, line.updatedAt == nil { return }
    new.updatedAt = line.updatedAt ?? now
    rows[line.id, default: Row()].ride = new
    // A row that was there before the day emits nothing, and neither does any of a recorded day.
    let wasThere = old == nil && line.updatedAt.map { $0 < now } == true
    let event =
      header.isRecorded || wasThere ? nil : new.changeEvent(after: old, at: now, id: id)
    change(line.id, at: now) { view in
      if let event { view.events.append(event) }
      return event != nil || old == nil
    }
  }

  private func add(_ event: DayEvent, at now: Timestamp, _ number: Int) throws(DayProblem) {
    // What RidePulse emits for itself follows from the other lines.
    if InternalEvent(rawValue: event.name) != nil { return }
    let id = Int64(number) << 10
    guard let ride = event.ride else {
      let data = event.data.text
      for (index, personal) in PersonalEvent.split(data, apps: apps).enumerated() {
        let ride = RideID(ofPerson: personal.ownerID, app: personal.app)
        guard has(ride) else { continue }
        rows[ride, default: Row(isOfPerson: true)].isOfPerson = true
        change(ride, at: now) { view in
          view.events.append(
            RideEvent(id: id + Int64(index), name: event.name, at: now, data: personal.data))
          return true
        }
      }
      return
    }
    guard has(ride) else { return }
    guard let row = rows[ride] else {
      throw DayProblem(
        line: number, place: "ride", "the event \(event.name) of the unknown ride \(ride)",
        expected: "a ride line of it before")
    }
    var emitted = RideEvent(
      id: id, name: event.name, at: now, data: event.data.text)
    emitted.people = EventPeople(customer: row.ride?.customerID, driver: row.ride?.driverID)
    change(ride, at: now) { view in
      view.events.append(emitted)
      return true
    }
  }

  private func add(card line: DayToken, at now: Timestamp, _ number: Int) throws(DayProblem) {
    guard let ride = line.ride, has(ride) else { return }
    guard rows[ride] != nil else {
      throw DayProblem(
        line: number, place: "card.ride", "a card of the unknown ride \(ride)",
        expected: "a ride line of it before")
    }
    let activity = line.app.rawValue + " " + (line.activityID ?? line.token)
    let id = rows[ride]?.cards[activity] ?? Int64(number)
    rows[ride]?.cards[activity] = id
    var card = Card(
      .activity(id), app: line.app, ownerID: line.ownerID, token: line.token,
      environment: line.environment, isFrequent: line.isFrequent, registeredAt: now,
      isGone: line.isRemoved)
    card.installationID = line.installationID
    let name = line.isRemoved ? InternalEvent.cardEnded : .cardRegistered
    change(ride, at: now) { view in
      view.cards.removeAll { $0.target == card.target }
      view.cards.append(card)
      view.events.append(RideEvent(id: Int64(number) << 10, name: name.rawValue, at: now))
      return true
    }
  }

  /// Counts and compares a push of the day itself.
  private func add(_ outcome: DayOutcome, at now: Timestamp) {
    guard let push = recorded.add(outcome, at: now) else { return }
    let ride = outcome.push.ride
    if outcome.status == .accepted { rows[ride]?.pushesBefore += 1 }
    rows[ride]?.comparison.add(before: push, to: &changes)
  }
}
