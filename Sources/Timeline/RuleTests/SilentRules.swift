import Base
import CEL
import RideCore

/// Why rules sent nothing in a test, in words that name what would have to differ.
struct SilentRules {
  private let test: RuleTest
  private let run: RuleTestRun
  private let rules: RuleSet

  init(_ test: RuleTest, _ run: RuleTestRun, _ rules: RuleSet) {
    self.test = test
    self.run = run
    self.rules = rules
  }

  private func rule(_ name: String) -> Rule? { rules.rules.first { $0.name == name } }

  /// Returns the recorded reason; that of a false condition with the values that it read.
  func text(of observation: RuleTestRun.Observation) -> String? {
    guard let reason = observation.reason else { return nil }
    guard reason.code == .engine(.conditionFalse),
      let condition = rule(observation.rule)?.condition
    else { return reason.text }
    let values = values(of: condition, observation)
    return "the condition \(condition.text) is false"
      + (values.isEmpty ? "" : ": " + values.joined(separator: ", "))
  }

  private func values(
    of condition: Condition, _ observation: RuleTestRun.Observation
  ) -> [String] {
    let attributes = attributes(at: observation.at)
    let data = JSONValue(json: observation.event.data.utf8)
    let (ofRide, ofEvent, _) = condition.uses
    let all =
      ofRide.map { ("attributes", $0.path, attributes?.value(at: $0.path)) }
      + ofEvent.map { ("event.data", $0.path, data?.value(at: $0.path)) }
    var lines: [String] = []
    for (name, path, value) in all {
      let line = Self.sentence(([name] + path).joined(separator: "."), value)
      if !lines.contains(line) { lines.append(line) }
    }
    return lines
  }

  /// Returns why a rule did not even match at some time.
  func reason(of name: String, at instant: Timestamp) -> String {
    guard let rule = rule(name) else { return "the rule did not match" }
    switch rule.when {
    case .on(let events, let states): return silence(of: events, states, instant)
    case .at(let timing): return silence(of: timing, instant)
    case .life:
      guard case .liveActivity(let life) = rule.what else { return "the rule did not match" }
      return silence(of: life.start + life.end, nil, instant)
    }
  }

  private func silence(
    of events: [String], _ states: Set<String>?, _ instant: Timestamp
  ) -> String {
    let past = run.events.filter { events.contains($0.name) }
    guard past.contains(where: { test.isSameSecond($0.at, instant) }) else {
      let names = events.joined(separator: " or ")
      var times: [String] = []
      for event in past where times.count < 3 {
        let text = "\(event.name) at \(test.time(event.at))"
        if !times.contains(text) { times.append(text) }
      }
      return "\(names) did not happen then"
        + (times.isEmpty ? "" : ", but \(times.joined(separator: ", "))")
    }
    return outside(states, instant) ?? "the rule did not match"
  }

  private func silence(of timing: Timing, _ instant: Timestamp) -> String {
    let reasons = timing.times.map { missing($0, instant) }
    if let first = reasons.first, let first, reasons.allSatisfy({ $0 != nil }) { return first }
    return outside(timing.states, instant) ?? "no time of \(timing.keyword) is due then"
  }

  /// Returns what a time of `at` lacks; nil if it is known.
  private func missing(_ time: RuleTime, _ instant: Timestamp) -> String? {
    switch time.base {
    case .ride(.pickupAt):
      return test.scenario.ride(at: instant)?.pickupAt == nil ? "pickup_at is not set" : nil
    case .ride(.attribute(let path)):
      return value(path, instant) == nil
        ? "attributes.\(path.joined(separator: ".")) is not set" : nil
    case .event(let event):
      return run.events.contains { $0.name == event && $0.at <= instant }
        ? nil : "\(event) did not happen before"
    case .contact: return nil
    }
  }

  private func outside(_ states: Set<String>?, _ instant: Timestamp) -> String? {
    guard let states else { return nil }
    guard let ride = test.scenario.ride(at: instant) else { return nil }
    guard let state = ride.state else { return "while: the ride is in no state" }
    return states.contains(state) ? nil : "while: the ride is in state \(state)"
  }

  private func attributes(at instant: Timestamp) -> JSONValue? {
    test.scenario.ride(at: instant).flatMap { JSONValue(json: $0.attributes.utf8) }
  }

  private func value(_ path: [String], _ instant: Timestamp) -> JSONValue? {
    let value = attributes(at: instant)?.value(at: path)
    return value == .null ? nil : value
  }

  private static func sentence(_ name: String, _ value: JSONValue?) -> String {
    guard let value, value != .null else { return "\(name) is not set" }
    return "\(name) is \(String(decoding: value.json, as: UTF8.self).brief(bytes: 60))"
  }
}
