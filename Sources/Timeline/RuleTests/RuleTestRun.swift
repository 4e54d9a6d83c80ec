package import Base
package import RideCore

/// What the rules did in the scenario of a test.
package struct RuleTestRun: Sendable {
  /// Everything that was sent, emitted or not sent, in order.
  package private(set) var observations: [Observation] = []
  /// The events of all decisions, whether or not a rule matches them.
  private(set) var events: [RideEvent] = []
  /// What was sent to each phone.
  private(set) var feed = ScreenFeed()

  /// What one rule did at one time for one phone, card or person.
  package struct Observation: Sendable {
    package enum Outcome: Sendable {
      /// APNs accepted it.
      case sent(PlannedPush)
      /// The rule emitted an event.
      case emitted(String)
      /// Nothing was sent, for this reason.
      case notSent(LedgerReason?)
      /// It waits on purpose until a later decision: the time of `at`, quiet hours or a receipt.
      case waits(LedgerReason?)
    }

    /// Its index among all.
    let number: Int
    package var at: Timestamp
    package var rule: String
    package var app: App
    package var owner: OwnerID?
    /// The locale of the phone; nil if it has none.
    package var locale: String?
    /// The system of the phone; nil if it concerns no phone.
    package var platform: Platform?
    /// The event or slot that it is about.
    package var event: RideEvent
    package var card: CardEvent?
    package var outcome: Outcome

    /// The push; nil if there is none.
    package var push: PlannedPush? {
      if case .sent(let push) = outcome { push } else { nil }
    }

    /// The reason why nothing was sent; nil if something was.
    package var reason: LedgerReason? {
      switch outcome {
      case .notSent(let reason), .waits(let reason): reason
      case .sent, .emitted: nil
      }
    }

    /// Whether it was sent, or an event emitted.
    package var isAction: Bool {
      switch outcome {
      case .sent, .emitted: true
      case .notSent, .waits: false
      }
    }

    /// Whether it only keeps a card fresh: no event caused it.
    var isRefresh: Bool {
      card == .update && event.id == 0 && event.name == RideEvent.refresh(at: at).name
    }
  }

  /// Replays a test's scenario.
  package init(_ test: RuleTest, by configuration: EngineConfiguration) {
    var replay = test.scenario.replay(by: configuration)
    // The whole last second: what follows a change at once may be microseconds later.
    let end = Timestamp(epochSeconds: test.end.epochSeconds) + .seconds(1)
    while let pass = replay.next(before: end) {
      feed.add(pass)
      record(pass)
    }
  }

  private mutating func record(_ step: Pass) {
    events += step.decision.view.events
    let pushes = Dictionary(
      step.decision.pushes.map { ($0.entry.id, $0) }, uniquingKeysWith: { first, _ in first })
    // Rules emit in the order of their entries.
    var emits = step.settlement.emits.map(\.name)[...]
    let waiting = Set(
      step.settlement.memo.waiting.filter(\.wait.isDeliberate).map(\.entry.id))
    for entry in step.settlement.entries {
      let outcome: Observation.Outcome
      if entry.status == .accepted, let push = pushes[entry.id] {
        outcome = .sent(push)
      } else if entry.reason?.code == .engine(.emitted), let name = emits.popFirst() {
        outcome = .emitted(name)
      } else if waiting.contains(entry.id) {
        outcome = .waits(entry.reason)
      } else {
        outcome = .notSent(entry.reason)
      }
      observations.append(
        Observation(
          number: observations.count, at: step.now, rule: entry.rule, app: entry.app,
          owner: entry.owner,
          locale: step.decision.view.locale(of: entry),
          platform: step.decision.view.platform(of: entry), event: entry.event,
          card: entry.cardEvent,
          outcome: outcome))
    }
    // These have no row in the ledger, only a count.
    let silent =
      step.settlement.falseConditions.keys.map { ($0, LedgerReason.conditionFalse) }
      + step.settlement.outsideStates.keys.map {
        ($0, LedgerReason.leftStates(step.decision.view.ride?.state))
      }
    for (rule, reason) in silent.sorted(by: { $0.0 < $1.0 }) {
      observations.append(
        Observation(
          number: observations.count, at: step.now, rule: rule, app: App(rawValue: ""),
          event: RideEvent(id: 0, name: "ride_updated", at: step.now),
          outcome: .notSent(reason)))
    }
  }
}

extension RuleTest {
  /// Returns the expectations that a run does not meet, in the order of the file.
  package func unmet(by run: RuleTestRun, of rules: RuleSet) -> [UnmetExpectation] {
    RuleTestComparison(self, run, rules: rules).unmet
  }

  /// Returns the lines of a `then` that expects exactly what a run sent.
  package func lines(for run: RuleTestRun) -> [String] {
    var lines: [String] = []
    var seen: Set<String> = []
    let compared = run.observations.filter {
      $0.isAction && !$0.isRefresh && compares($0.rule)
    }
    for observation in compared {
      var push = PushLine(test: self, observation: observation)
      // One line is for the phones of both systems, unless they received different pushes.
      push.hasPlatform = compared.contains { other in
        other.platform != observation.platform
          && RuleTestComparison.isOneFiring(other, observation)
          && PushLine(test: self, observation: other).text != push.text
      }
      let line = push.text
      // Two pushes of one line are one firing if they are about one event.
      if seen.insert("\(line) \(observation.event.id) \(observation.event.at)").inserted {
        lines.append(line)
      }
    }
    return lines
  }
}
