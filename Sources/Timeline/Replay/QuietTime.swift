package import Base
package import RideCore

/// A time of a story in which nothing is sent: what happens, and which rules could have sent something.
package struct QuietTime: Hashable, Sendable {
  /// What a rule may fire on: a state that the ride enters, or another event.
  package struct Cause: Hashable, Sendable {
    package var name: String
    /// When it was; the story's start for the state of a ride that begins with one.
    package var at: Timestamp
    package var isState: Bool
  }

  /// The part that rules for one app have in it.
  package struct Silence: Hashable, Sendable {
    package var app: App
    /// For each cause, in the order of time, the rules for the app that fire on it.
    package var rules: [[String]]
    /// What waits at the end.
    package var waiting: [StoryTrace.Waiting]
    /// When rules next fire by the clock in the ride's state.
    package var next: [StoryTrace.Waiting]
  }

  package var span: Range<Timestamp>
  /// The state in which it begins, and what rules may fire on and happens in it.
  package var causes: [Cause] = []
  /// What else happens in it, such as the contact of an app, in the order of time.
  package var changes: [Change] = []
  package var silences: [Silence] = []
  /// Why rules did not fire, by name.
  package var obstacles: [String: StoryTrace.Obstacle] = [:]
}

extension Story {
  /// Returns why nothing is sent after one second and before another one, to people of some apps.
  package func quietTime(after start: Timestamp, before end: Timestamp, for apps: [App])
    -> QuietTime
  {
    let from = Timestamp(epochSeconds: start.epochSeconds + 1)
    var quiet = QuietTime(span: start..<end)
    quiet.causes = [state(before: from)].compactMap(\.self)
    for step in scenario.steps where (from..<max(from, end)).contains(step.at) {
      for change in step.changes {
        if let cause = change.cause(at: step.at) {
          quiet.causes.append(cause)
        } else {
          quiet.changes.append(change)
        }
      }
    }
    quiet.obstacles = trace.obstacles(in: from..<max(from, end))
    let waiting = trace.waiting(before: end)
    let state = quiet.causes.last(where: \.isState)?.name
    quiet.silences = apps.map { app in
      let own = waiting.filter { $0.app == app }
      return QuietTime.Silence(
        app: app,
        rules: quiet.causes.map { cause in
          rules.rules.filter { $0.apps.contains(app) && $0.fires(on: cause.name) }.map(\.name)
        },
        waiting: own,
        next: next(for: app, in: state, from: end).filter { next in
          !own.contains { $0.rule == next.rule }
        })
    }
    return quiet
  }

  /// Returns the state in which the ride is before an instant.
  private func state(before instant: Timestamp) -> QuietTime.Cause? {
    let first = scenario.view.ride?.state.map {
      QuietTime.Cause(name: $0, at: scenario.start, isState: true)
    }
    return scenario.steps.filter { $0.at < instant }.reduce(first) { state, step in
      step.changes.reduce(state) { state, change in
        guard let cause = change.cause(at: step.at), cause.isState else { return state }
        return cause
      }
    }
  }

  /// Returns what rules next send by the clock in a state, the first due first.
  private func next(
    for app: App, in state: String?, from instant: Timestamp
  ) -> [StoryTrace.Waiting] {
    rules.rules.compactMap { rule in
      guard rule.apps.contains(app), rule.firesByClock(in: state) else { return nil }
      let moment = moments.first { moment in
        moment.at >= instant
          && moment.rows.contains { $0.isSent && $0.entry.rule == rule.name && $0.entry.app == app }
      }
      return moment.map { StoryTrace.Waiting(rule: rule.name, app: app, due: $0.at) }
    }.sorted { $0.due < $1.due }
  }
}

extension Change {
  /// What rules may fire on; nil for a change of which they learn nothing at once.
  fileprivate func cause(at instant: Timestamp) -> QuietTime.Cause? {
    switch self {
    case .ride(let update):
      let state = update.state ?? nil
      return QuietTime.Cause(name: state ?? "ride_updated", at: instant, isState: state != nil)
    case .event(let event):
      return QuietTime.Cause(name: event.name, at: instant, isState: false)
    case .phone, .card, .pushToStart, .contact, .seen, .preference, .answers: return nil
    }
  }
}

extension Rule {
  /// Whether it fires on an event of this name: at once, later, or by starting a card.
  fileprivate func fires(on event: String) -> Bool {
    switch when {
    case .on(let names, _): return names.contains(event)
    case .at(let timing): return timing.events.contains(event)
    case .life:
      guard case .liveActivity(let life) = what else { return false }
      return life.start.contains(event) || life.alerts.keys.contains(event)
    }
  }

  /// Whether it fires by the clock while a ride is in a state, or by a time of the ride.
  fileprivate func firesByClock(in state: String?) -> Bool {
    guard case .at(let timing) = when, timing.events.count < max(1, timing.times.count) else {
      return false
    }
    guard let states = timing.states else { return true }
    return state.map(states.contains) ?? false
  }
}
