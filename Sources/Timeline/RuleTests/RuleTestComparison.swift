import Base
import RideCore

/// Compares what rules did with what a test expects.
struct RuleTestComparison {
  typealias Observation = RuleTestRun.Observation

  private let test: RuleTest
  private let rules: RuleSet
  /// What happened, of the rules that are compared; each push is removed when it is expected.
  private var actions: [Observation]
  private let silences: [Observation]
  private let silentRules: SilentRules
  private(set) var unmet: [UnmetExpectation] = []

  init(_ test: RuleTest, _ run: RuleTestRun, rules: RuleSet) {
    self.test = test
    self.rules = rules
    let compared = run.observations.filter { test.compares($0.rule) }
    actions = compared.filter(\.isAction)
    silences = run.observations.filter { !$0.isAction }
    silentRules = SilentRules(test, run, rules)
    let sent = actions
    switch test.then {
    case nil: break
    case .pushes(let expected, let location)?: compare(expected, location)
    case .rhythm(let rhythm)?: compare(rhythm)
    }
    for expected in test.notSent { compare(expected, sent) }
    unmet += test.screens.compactMap { ScreenComparison(test, run).unmet($0) }
    if !test.never.isEmpty {
      unmet += test.never.compactMap(NeverComparison(test, run, rules).unmet)
    }
    unmet.sort { $0.location < $1.location }
  }

  // MARK: a list of pushes

  private mutating func compare(_ expected: [ExpectedPush], _ location: SourceLocation) {
    // Exact ones first, so that a push that is late is not taken for one that is expected later.
    var open: [ExpectedPush] = []
    for push in expected where !take(push, where: { $0.isEmpty }) { open.append(push) }
    var missing: [ExpectedPush] = []
    for push in open where !take(push, where: { _ in true }) { missing.append(push) }
    for push in missing { reportMissing(push) }
    while let first = actions.first(where: { !$0.isRefresh }) {
      let group = take(groupOf: first)
      // Equal lines of several people are one.
      var lines: [String] = []
      for line in group.map({ PushLine(test: test, observation: $0).text })
      where !lines.contains(line) {
        lines.append(line)
      }
      let what = first.push == nil ? "an event too many" : "one push too many"
      report(
        .unexpected, location, first.rule,
        "\(what): \(title(first)) at \(test.time(first.at))"
          + " to \(phones(group)), on \(first.event.name)", additions: lines)
    }
  }

  /// Removes the pushes at the expected time with the fewest differences, if they are accepted.
  private mutating func take(
    _ expected: ExpectedPush, where accepts: ([UnmetExpectation.Difference]) -> Bool
  ) -> Bool {
    let candidates = groups { observation in
      matches(observation, expected) && test.isSameSecond(observation.at, expected.at)
    }
    let best = candidates.map { ($0, differences($0, expected)) }
      .min { $0.1.count < $1.1.count }
    guard let (group, differences) = best, accepts(differences) else { return false }
    remove(group)
    if !differences.isEmpty {
      report(
        .different, expected.location, expected.rule,
        "\(expected.rule) at \(test.time(expected.at)) was sent otherwise",
        differences: differences)
    }
    return true
  }

  private mutating func reportMissing(_ expected: ExpectedPush) {
    let what = "\(expected.rule) at \(test.time(expected.at)) was not sent"
    let reasons = silences.filter { observation in
      observation.rule == expected.rule && isOf(observation, expected.app, expected.owner)
        && test.isSameSecond(observation.at, expected.at)
    }
    if let reason = reasons.lazy.compactMap(silentRules.text).first {
      return report(.notSent, expected.location, expected.rule, "\(what): \(reason)")
    }
    // The nearest push of the rule that is not expected is probably the one.
    let nearest = groups { matches($0, expected) }.min {
      distance($0[0].at, expected.at) < distance($1[0].at, expected.at)
    }
    guard let group = nearest else {
      let message =
        actionsOfRule(expected.rule)
        ? "\(what): no push of the rule fits"
        : "\(what): \(silentRules.reason(of: expected.rule, at: expected.at))"
      return report(.notSent, expected.location, expected.rule, message)
    }
    remove(group)
    let time = UnmetExpectation.Difference(
      path: "at", expected: test.time(expected.at), actual: test.time(group[0].at))
    report(
      .different, expected.location, expected.rule, "\(what), but at another time",
      differences: [time] + differences(group, expected))
  }

  private func actionsOfRule(_ rule: String) -> Bool { actions.contains { $0.rule == rule } }

  /// Returns the differences of the push that differs most: all phones must receive what is expected.
  private func differences(
    _ group: [Observation], _ expected: ExpectedPush
  ) -> [UnmetExpectation.Difference] {
    group.map { PushComparison(expected).differences(of: $0) }
      .max { $0.count < $1.count } ?? []
  }

  private func matches(_ observation: Observation, _ expected: ExpectedPush) -> Bool {
    guard observation.rule == expected.rule, isOf(observation, expected.app, expected.owner),
      expected.locale == nil || observation.locale == expected.locale,
      expected.platform == nil || observation.platform == expected.platform,
      expected.card == nil || observation.card == expected.card
    else { return false }
    return (expected.emits == nil) == (observation.push != nil)
  }

  private func isOf(_ observation: Observation, _ app: App?, _ owner: OwnerID?) -> Bool {
    (app == nil || observation.app == app) && (owner == nil || observation.owner == owner)
  }

  private func distance(_ one: Timestamp, _ other: Timestamp) -> Duration {
    max(one - other, other - one)
  }

  // MARK: groups of pushes that one expectation covers

  /// Returns the pushes that fit, those about one event at one time together.
  private func groups(_ fits: (Observation) -> Bool) -> [[Observation]] {
    var groups: [[Observation]] = []
    for observation in actions where fits(observation) {
      if let index = groups.firstIndex(where: { Self.isOneFiring($0[0], observation) }) {
        groups[index].append(observation)
      } else {
        groups.append([observation])
      }
    }
    return groups
  }

  static func isOneFiring(_ left: Observation, _ right: Observation) -> Bool {
    left.rule == right.rule && left.app == right.app && left.card == right.card
      && left.event.key == right.event.key
      && left.at.epochSeconds == right.at.epochSeconds && (left.push == nil) == (right.push == nil)
  }

  private mutating func take(groupOf first: Observation) -> [Observation] {
    let group = actions.filter { Self.isOneFiring($0, first) }
    remove(group)
    return group
  }

  private mutating func remove(_ group: [Observation]) {
    let numbers = Set(group.map(\.number))
    actions.removeAll { numbers.contains($0.number) }
  }

  private func phones(_ group: [Observation]) -> String {
    if group.first?.push == nil { return "the ride" }
    let app = group.first?.app.rawValue ?? ""
    return group.count == 1 ? "a phone of the \(app)" : "\(group.count) phones of the \(app)"
  }

  private func title(_ observation: Observation) -> String {
    observation.card.map { "\(observation.rule), card \($0.rawValue)," } ?? observation.rule
  }

  // MARK: a rhythm

  private mutating func compare(_ rhythm: ExpectedRhythm) {
    var firings: [Observation] = []
    while let first = actions.first {
      actions.removeAll { Self.isOneFiring($0, first) }
      if first.push != nil, !first.isRefresh { firings.append(first) }
    }
    var differences: [UnmetExpectation.Difference] = []
    let times = firings.map { test.time($0.at) }
    if let count = rhythm.count, count != firings.count {
      let list = times.isEmpty ? "" : " (\(times.joined(separator: ", ")))"
      differences.append(
        .init(path: "count", expected: "\(count)", actual: "\(times.count)\(list)"))
    }
    if let gap = rhythm.gap {
      for (one, next) in zip(firings, firings.dropFirst()) {
        let actual = next.at - one.at
        if max(actual - gap, gap - actual) <= rhythm.tolerance { continue }
        let about = rhythm.tolerance == .zero ? "" : " ± \(rhythm.tolerance.rideText)"
        differences.append(
          .init(
            path: "gap", expected: gap.rideText + about,
            actual: "\(actual.rideText), from \(test.time(one.at)) to \(test.time(next.at))"))
      }
    }
    if let limit = rhythm.noneAfter {
      for late in firings where late.at > limit && !test.isSameSecond(late.at, limit) {
        differences.append(
          .init(
            path: "none-after", expected: test.time(limit),
            actual: "\(late.rule) at \(test.time(late.at))"))
      }
    }
    if differences.isEmpty { return }
    let names = Set(firings.map(\.rule)).union(test.only ?? [])
    report(
      .rhythm, rhythm.location, names.count == 1 ? names.first : nil,
      "the pushes have another rhythm", differences: differences)
  }

  // MARK: what is not sent

  private mutating func compare(_ expected: ExpectedSilence, _ sent: [Observation]) {
    let what = "\(expected.rule) at \(test.time(expected.at))"
    func fits(_ observation: Observation) -> Bool {
      // A false condition at a change of the ride concerns no app.
      observation.rule == expected.rule && test.isSameSecond(observation.at, expected.at)
        && (expected.platform == nil || observation.platform == expected.platform)
        && (isOf(observation, expected.app, expected.owner) || observation.app.rawValue.isEmpty)
    }
    if let sent = sent.first(where: { fits($0) && $0.push != nil }) {
      return report(
        .sent, expected.location, expected.rule, "\(what) was sent, on \(sent.event.name)")
    }
    let reasons = silences.filter(fits).compactMap(\.reason)
    guard let first = reasons.first else {
      return report(
        .noMatch, expected.location, expected.rule,
        "\(what) did not match: \(silentRules.reason(of: expected.rule, at: expected.at))")
    }
    guard let reason = expected.reason else { return }
    if reasons.contains(where: { $0.code.word == reason || $0.text.contains(reason) }) { return }
    report(
      .reason, expected.location, expected.rule, "\(what) was not sent for another reason",
      differences: [
        .init(path: "reason", expected: reason, actual: "\(first.text) (\(first.code.word))")
      ])
  }

  private mutating func report(
    _ kind: UnmetExpectation.Kind, _ location: SourceLocation, _ rule: String?, _ message: String,
    differences: [UnmetExpectation.Difference] = [], additions: [String] = []
  ) {
    let source = rules.rules.first { $0.name == rule }?.source
    unmet.append(
      UnmetExpectation(
        kind: kind, location: location, rule: rule, ruleSource: source, message: message,
        differences: differences, additions: additions))
  }
}

extension RuleTest {
  /// Returns whether two instants are in the same second from the start on.
  func isSameSecond(_ one: Timestamp, _ other: Timestamp) -> Bool {
    (one - scenario.start).components.seconds == (other - scenario.start).components.seconds
  }
}
