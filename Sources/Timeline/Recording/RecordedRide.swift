import Base
package import RideCore

/// A recorded ride, decided again: no table keeps the content of pushes, but its passes have all that
/// the decisions read.
package struct RecordedRide: Sendable {
  /// One row of `ridepulse.recorded`.
  package struct StoredPass: Sendable {
    package var fence: Int64
    /// `RecordedPass.json`
    package var json: String

    package init(fence: Int64, json: String) {
      self.fence = fence
      self.json = json
    }
  }

  private struct Sent {
    var push: PlannedPush
    var isTaken = false
  }

  private var sent: [Sent] = []

  /// How far the time of a card's update may be from the recorded one: a service decides a moment
  /// after what is due, a replay at once.
  private static let tolerance: Duration = .seconds(2)

  /// Nothing precedes this time.
  private static let start = Timestamp(epochSeconds: 0)

  /// Decides a ride again.
  ///
  /// - Parameters:
  ///   - passes: In the order of their earliest times.
  ///   - configuration: With the rules that decided them.
  package init(_ ride: RideID, _ passes: [StoredPass], by configuration: EngineConfiguration) {
    let lines = Self.lines(ride, passes, configuration)
    guard let end = lines.last?.at else { return }
    var replay = Self.replay(lines, by: configuration)
    for (number, line) in lines.enumerated() {
      while let pass = replay.next(before: line.at) { add(pass) }
      guard case .change(let change) = line.content else { continue }
      for (index, part) in Self.parts(of: change, configuration.rules.apps).enumerated() {
        replay.apply(part, at: line.at, id: Int64(number + 1) << 10 + Int64(index))
      }
    }
    while let pass = replay.next(before: end + Self.tolerance) { add(pass) }
  }

  private static func lines(
    _ ride: RideID, _ passes: [StoredPass], _ configuration: EngineConfiguration
  ) -> [DayLine] {
    let values = HarmlessValues(.none, keeping: [], rules: configuration.rules)
    var recorder = DayRecorder(.none, values, from: start)
    for pass in passes { recorder.add(ride, fence: pass.fence, json: pass.json) }
    return recorder.lines(before: nil)
  }

  private static func replay(
    _ lines: [DayLine], by configuration: EngineConfiguration
  ) -> Replay {
    var answers = RecordedAnswers()
    for line in lines {
      if case .answer(let answer) = line.content { answers.add(answer, at: line.at) }
    }
    answers.end()
    let tables = AppTables(for: [configuration], from: start, emitsEvents: false)
    let world = World(
      [], for: configuration, tables: tables, answers: Answers(recorded: answers))
    return Replay(world, by: configuration, from: start)
  }

  /// Returns what a replay applies of a change: what RidePulse emits for itself follows from the rest,
  /// and an event about no ride is one of each person.
  private static func parts(of change: Change, _ apps: [App]) -> [Change] {
    guard case .event(let event) = change else { return [change] }
    if InternalEvent(rawValue: event.name) != nil { return [] }
    return event.ride == nil ? event.personal(of: apps).map { .event($0) } : [change]
  }

  private mutating func add(_ pass: Pass) {
    let accepted = Set(pass.settlement.entries.filter(\.isAcceptedPush).map(\.id))
    for push in pass.decision.pushes where accepted.contains(push.entry.id) {
      sent.append(Sent(push: push))
    }
  }

  /// Returns a push of the ledger with its content, once; nil if deciding again did not send it.
  package mutating func take(_ wanted: AcceptedPush) -> PlannedPush? {
    func distance(_ index: Int) -> Int64 {
      abs((sent[index].push.entry.event.at - wanted.eventAt).microseconds)
    }
    let fitting = sent.indices.filter { index in
      !sent[index].isTaken && wanted.isSent(as: sent[index].push)
        && distance(index) <= Self.tolerance.microseconds
    }
    guard let index = fitting.min(by: { distance($0) < distance($1) }) else { return nil }
    sent[index].isTaken = true
    return sent[index].push
  }
}

extension AcceptedPush {
  fileprivate func isSent(as push: PlannedPush) -> Bool {
    guard push.entry.rule == rule, push.entry.app == app, push.entry.cardEvent == cardEvent,
      push.entry.event.name == event
    else { return false }
    guard let tokenSuffix else {
      if case .channel = push.address { return true }
      return false
    }
    return push.address.text.lowercased().hasSuffix(tokenSuffix.lowercased())
  }
}
