import Base
import RideCore
import Timeline

/// Writes why nothing is sent in a time of a story.
struct StoryQuiet {
  private let clock: StoryClock
  private let conditions: [String: String]

  init(_ story: Story) {
    clock = StoryClock(
      zone: ZoneTimes(identifier: story.scenario.zoneName), start: story.scenario.start)
    conditions = story.rules.rules.reduce(into: [:]) { $0[$1.name] = $1.condition?.text }
  }

  /// Returns what happens, and for each app which rules could have sent something.
  func lines(of quiet: QuietTime) -> [String] {
    let clock = clock.at(quiet.span.lowerBound)
    let silences = quiet.silences.map { silence in
      let parts = causes(silence, quiet, clock) + times(silence, clock)
      return "\(silence.app): " + parts.joined(separator: "; ")
    }
    return [happenings(quiet, clock)].compactMap(\.self) + silences
  }

  /// `ride_started since 09:16:00; the driver app made contact, 2 times`
  private func happenings(_ quiet: QuietTime, _ clock: StoryClock) -> String? {
    let causes = quiet.causes.map { cause in
      cause.isState
        ? "\(cause.name) since \(clock(cause.at))" : "\(cause.name) at \(clock(cause.at))"
    }
    let words = quiet.changes.map(words)
    let distinct = words.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let changes = distinct.map { word in
      let count = words.count { $0 == word }
      return count == 1 ? word : "\(word), \(counted(count, "time"))"
    }
    let all = causes + changes
    return all.isEmpty ? nil : all.joined(separator: "; ")
  }

  private func words(_ change: Change) -> String {
    if case .contact(let contact) = change { return "the \(contact.app) app made contact" }
    return ScenarioStep(at: clock.start, [change]).title
  }

  /// What rules for an app do about each cause.
  private func causes(
    _ silence: QuietTime.Silence, _ quiet: QuietTime, _ clock: StoryClock
  ) -> [String] {
    zip(quiet.causes, silence.rules).map { cause, rules in
      if rules.isEmpty { return "no rule fires on \(cause.name)" }
      if cause.at.epochSeconds <= quiet.span.lowerBound.epochSeconds {
        return "\(verb(rules)) on \(cause.name), once, at \(clock(cause.at))"
      }
      return "on \(cause.name): "
        + rules.map { rule in
          "\(rule) did not fire\(why(rule, quiet))"
        }.joined(separator: ", ")
    }
  }

  private func verb(_ rules: [String]) -> String {
    rules.joined(separator: ", ") + (rules.count == 1 ? " fires" : " fire")
  }

  private func why(_ rule: String, _ quiet: QuietTime) -> String {
    switch quiet.obstacles[rule] {
    case .condition: ", because this is false: \(conditions[rule] ?? "its if")"
    case .states: ", because of its while"
    case nil: ""
    }
  }

  /// What is to come for an app.
  private func times(_ silence: QuietTime.Silence, _ clock: StoryClock) -> [String] {
    silence.waiting.map { "\($0.rule) waits until \(clock($0.due))" }
      + silence.next.map { "\($0.rule) is next at \(clock($0.due))" }
  }
}
