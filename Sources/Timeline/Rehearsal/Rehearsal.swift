import Base
package import RideCore

/// Replays a recorded day, or a part of its rides, by one or two sets of rules.
///
/// It reads the day line by line, and keeps the replay state only of rides that are not over, and the
/// row of each ride.
package struct Rehearsal {
  package struct Options: Sendable {
    /// What APNs answered on the day; nil if it accepts every push, apart from the faults.
    package var answers: RecordedAnswers?
    /// What APNs answers instead: the changes of a faults file.
    package var faults: [ScenarioStep] = []
    package var seed: UInt64?
    /// The rules to compare with.
    package var against: EngineConfiguration?
    /// Whether the outcomes that the day has are compared with.
    package var comparesRecorded = false
    /// What no phone may show on any ride.
    package var limits: [ScreenLimit.Kind] = []
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
    package var limits = LimitFigures()

    package mutating func add(_ other: Result) {
      figures.add(other.figures)
      if let figures = other.before {
        before?.add(figures)
      }
      changes.add(other.changes)
      limits.add(other.limits)
    }
  }

  /// What is kept of each ride of the day.
  private struct Row {
    var isOfPerson = false
    var pushes = 0
    var pushesBefore = 0
    var comparison = RideComparison()
    /// The limits that its phones broke, until both replays have left it.
    var broken: [LimitBreak] = []
    var brokenBefore: Set<LimitBreak.Key> = []

    /// Counts the limits that were broken, once the ride is over.
    mutating func finish(_ limits: inout LimitFigures) {
      limits.add(before: brokenBefore, after: broken)
      (broken, brokenBefore) = ([], [])
    }
  }

  private let header: DayHeader
  private let options: Options
  private var after: RehearsalSide
  private var before: RehearsalSide?
  private var recorded: RecordedSide
  private var rows: [RideID: Row] = [:]
  private var changes = RehearsalChanges()
  private var limits = LimitFigures()
  /// Rides that one of the replays has left since the last line.
  private var leavers: [RideID] = []
  private let apps: [App]

  package init(_ header: DayHeader, by configuration: EngineConfiguration, _ options: Options) {
    self.header = header
    self.options = options
    let all = [options.against, configuration].compactMap(\.self)
    apps = Set(all.flatMap(\.rules.apps)).sorted { $0.rawValue < $1.rawValue }
    recorded = RecordedSide(configuration.rules)
    let isRecorded = header.isRecorded
    let tables = AppTables(
      for: all, from: header.from, emitsEvents: !isRecorded, inventsPhones: !isRecorded)
    func side(_ configuration: EngineConfiguration) -> RehearsalSide {
      let world = World(
        [], for: configuration, tables: tables, answers: Answers(recorded: options.answers),
        seed: options.seed, startedCards: isRecorded ? .notRegistered : .named)
      var replay = Replay(world, by: configuration, from: header.from)
      for step in options.faults {
        for change in step.changes { replay.add(change, at: step.at) }
      }
      return RehearsalSide(
        replay, compares: options.against != nil || options.comparesRecorded,
        comparesFates: options.comparesRecorded,
        watch: ScreenWatch(options.limits, configuration.rules))
    }
    after = side(configuration)
    before = options.against.map(side)
  }

  /// Applies the next line of the day.
  package mutating func add(_ line: DayLine, number: Int) throws(DayProblem) {
    switch line.content {
    case .answer: return
    case .outcome(let outcome):
      advance(to: line.at)
      if options.comparesRecorded, has(outcome.push.ride) { add(outcome, at: line.at) }
    case .change(let change):
      guard line.at >= header.from, line.at <= header.to else {
        throw DayProblem(
          line: number, path: "at", "\(CivilTime.exact(line.at)) is outside of the day",
          expected: "a time from \(CivilTime.exact(header.from)) to \(CivilTime.exact(header.to))")
      }
      advance(to: line.at)
      for (index, change) in try parts(of: change, number).enumerated() {
        guard let change else { continue }
        let id = Int64(number) << 10 + Int64(index)
        after.apply(change, at: line.at, id: id)
        before?.apply(change, at: line.at, id: id)
      }
    }
  }

  /// Returns whether this part of the day replays a ride.
  private func has(_ ride: RideID) -> Bool {
    options.part.has(ride.text.utf8)
  }

  /// Returns what of a change concerns this part of the day: an event about no ride is one of each
  /// person whom it names, and nil is one of another part.
  private mutating func parts(
    of change: Change, _ number: Int
  ) throws(DayProblem) -> [Change?] {
    switch change {
    case .ride(let update):
      if !has(update.id) { return [] }
      if rows[update.id] == nil, !update.isRemoved { rows[update.id] = Row() }
    case .event(let event):
      // What RidePulse emits for itself follows from the other lines.
      if InternalEvent(rawValue: event.name) != nil { return [] }
      guard let ride = event.ride else { return event.personal(of: apps).map { join($0) } }
      if !has(ride) { return [] }
      guard rows[ride] != nil else {
        throw DayProblem(
          line: number, path: "ride", "the event \(event.name) of the unknown ride \(ride)",
          expected: "a ride line of it before")
      }
    case .card(let card):
      guard let ride = card.ride, has(ride) else { return [] }
      guard rows[ride] != nil else {
        throw DayProblem(
          line: number, path: "card.ride", "a card of the unknown ride \(ride)",
          expected: "a ride line of it before")
      }
    default: break
    }
    return [change]
  }

  private mutating func join(_ personal: NamedEvent) -> Change? {
    guard let ride = personal.ride, has(ride) else { return nil }
    rows[ride, default: Row()].isOfPerson = true
    return .event(personal)
  }

  /// Replays the rest of the day, and returns what the rehearsal found.
  package mutating func finish() -> Result {
    advance(to: header.to)
    for found in before?.finish(at: header.to) ?? [] {
      rows[found.ride]?.brokenBefore.insert(found.key)
    }
    for found in after.finish(at: header.to) { rows[found.ride]?.broken.append(found) }
    var result = Result(figures: after.figures)
    if before != nil || options.comparesRecorded {
      result.before = before?.figures ?? recorded.figures
    }
    for id in rows.keys.sorted() {
      guard var row = rows[id] else { continue }
      row.comparison.finish(&changes, ride: id)
      row.finish(&limits)
      if row.isOfPerson { continue }
      result.figures.rides += 1
      result.figures.ridesByPushes.add(row.pushes)
      result.before?.rides += 1
      result.before?.ridesByPushes.add(row.pushesBefore)
    }
    result.changes = changes
    result.limits = limits
    return result
  }

  // Time.

  private mutating func advance(to instant: Timestamp) {
    while let step = before?.next(before: instant) {
      rows[step.ride]?.pushesBefore += step.pushes
      for push in step.sent { rows[step.ride]?.comparison.add(before: push, to: &changes) }
      rows[step.ride]?.brokenBefore.formUnion(step.broken.map(\.key))
      if step.hasLeft { leavers.append(step.ride) }
    }
    while let step = after.next(before: instant) {
      rows[step.ride]?.pushes += step.pushes
      for push in step.sent {
        rows[step.ride]?.comparison.add(after: push, to: &changes, ride: step.ride)
      }
      rows[step.ride]?.broken += step.broken
      if step.hasLeft { leavers.append(step.ride) }
    }
    finishRides()
  }

  /// Classifies what differs of the rides that both replays have left.
  private mutating func finishRides() {
    defer { leavers = [] }
    for ride in leavers where !after.replay.has(ride) && before?.replay.has(ride) != true {
      rows[ride]?.finish(&limits)
      // What was recorded may follow a ride's end.
      if before == nil || options.comparesRecorded { continue }
      rows[ride]?.comparison.finish(&changes, ride: ride)
    }
  }
}

extension Rehearsal {
  /// Counts and compares a push of the day itself.
  private mutating func add(_ outcome: RecordedOutcome, at now: Timestamp) {
    guard let push = recorded.add(outcome, at: now) else { return }
    let ride = outcome.push.ride
    if outcome.isAcceptedPush { rows[ride]?.pushesBefore += 1 }
    rows[ride]?.comparison.add(before: push, to: &changes)
  }
}
