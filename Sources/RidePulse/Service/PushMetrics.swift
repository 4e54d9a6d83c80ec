import AdminServer
import Base
import RideCore
import Synchronization

enum PushMetrics {
  /// - Parameter expected: What is exported as 0 until it happens.
  static func families(_ tally: PushTally, _ expected: ExpectedOutcomes) -> [MetricFamily] {
    var ended = MetricFamily(
      .counter, "ridepulse_pushes_total",
      "Verdicts in the ledger, including suppressed and expired pushes, which were not sent.")
    var retried = MetricFamily(
      .counter, "ridepulse_retries_total", "Attempts after which a push is sent again.")
    var deferred = MetricFamily(
      .counter, "ridepulse_deferred_total",
      "Pushes and receipts that wait as their rule states: wait, quiet hours, escalate.")
    let counted = Set(tally.lines.map(\.line))
    let zeros = expected.lines.filter { !counted.contains($0) }.map { (line: $0, count: 0) }
    for (line, count) in tally.lines + zeros {
      var labels = [
        label("app", line.app), MetricFamily.Label("push_type", line.pushType),
      ]
      if line.status != .pending { labels.append(.init("status", line.status.rawValue)) }
      labels.append(.init("reason", line.reason))
      if line.waitsByRule {
        deferred.add(Double(count), labels)
      } else if line.status == .pending {
        retried.add(Double(count), labels)
      } else {
        ended.add(Double(count), labels)
      }
    }
    return [ended, retried, deferred, delays(tally, expected), verdicts(tally.rules)]
      + [slots(tally.slots)] + updates(tally, expected) + cards(tally, expected)
  }

  private static func label(_ name: String, _ app: App) -> MetricFamily.Label {
    .init(name, app.rawValue)
  }

  private static func delays(_ tally: PushTally, _ expected: ExpectedOutcomes) -> MetricFamily {
    var family = MetricFamily(
      .histogram, "ridepulse_commit_to_accepted_seconds",
      "Time from an event's emit, which the rest of its transaction follows, or from a later firing's time, to the ledger row with status accepted."
    )
    for delay in tally.delays {
      family.add(
        delay.times, [label("app", delay.app), .init("push_type", delay.pushType.rawValue)])
    }
    for kind in expected.kinds
    where !tally.delays.contains(where: { $0.app == kind.app && $0.pushType == kind.pushType }) {
      family.add(
        DurationHistogram(),
        [label("app", kind.app), .init("push_type", kind.pushType.rawValue)])
    }
    return family
  }

  private static func verdicts(_ tally: RuleTally) -> MetricFamily {
    var family = MetricFamily(
      .counter, "ridepulse_rule_verdicts_total",
      "Verdicts in the ledger by rule, of \(RuleTally.ruleLimit) rules; all else is counted as \(RuleTally.others)."
    )
    for (rule, counts) in zip(tally.names, tally.counts) {
      for (status, count) in zip(RuleTally.statuses, counts) {
        family.add(Double(count), [.init("rule", rule), .init("status", status.rawValue)])
      }
    }
    return family
  }

  private static func updates(_ tally: PushTally, _ expected: ExpectedOutcomes) -> [MetricFamily] {
    let families = [
      (
        "ridepulse_condition_false_total", tally.falseConditions, expected.conditions,
        "Changes of rides (ride_updated) at which the rule's if was false; they have no ledger row."
      ),
      (
        "ridepulse_outside_while_total", tally.outsideStates, expected.states,
        "Changes of rides (ride_updated) outside of the rule's while; they have no ledger row."
      ),
    ]
    return families.map { name, counts, expected, help in
      var family = MetricFamily(.counter, name, help)
      let zeros = expected.map { ($0, 0) }
      for (rule, count) in counts.merging(zeros, uniquingKeysWith: { count, _ in count }).sorted(
        by: { $0.key < $1.key })
      {
        family.add(Double(count), [.init("rule", rule)])
      }
      return family
    }
  }

  private static func slots(_ slots: SlotTally) -> MetricFamily {
    var family = MetricFamily(
      .counter, "ridepulse_slots_total",
      "Slots of schedule rules, by outcome.")
    for (word, count) in [
      ("fired", slots.fired), ("skipped", slots.skipped), ("missed", slots.missed),
      ("capped", slots.capped), ("expired", slots.expired), ("lost", slots.remainder),
    ] {
      family.add(Double(count), [.init("outcome", word)])
    }
    return family
  }

  private static func cards(_ tally: PushTally, _ expected: ExpectedOutcomes) -> [MetricFamily] {
    var cards = MetricFamily(
      .counter, "ridepulse_card_pushes_total",
      "Live Activity pushes that APNs accepted; those of priority 10 spend the system's budget.")
    let zeros = expected.cards.map { ($0, 0) }
    let lines = tally.cards.merging(zeros) { count, _ in count }.sorted { left, right in
      ("\(left.key.app) \(left.key.event) \(left.key.priority)")
        < ("\(right.key.app) \(right.key.event) \(right.key.priority)")
    }
    for (line, count) in lines {
      cards.add(
        Double(count),
        [
          label("app", line.app), .init("event", line.event.rawValue),
          .init("priority", "\(line.priority)"),
        ])
    }
    var over = MetricFamily(
      .counter, "ridepulse_card_over_budget_total",
      "Urgent Live Activity pushes sent at priority 5 because the hour's budget was spent.")
    let apps = expected.cards.map { ($0.app, 0) }
    for (app, count) in tally.overBudget.merging(apps, uniquingKeysWith: { count, _ in count })
      .sorted(by: { "\($0.key)" < "\($1.key)" })
    {
      over.add(Double(count), [label("app", app)])
    }
    var dropped = MetricFamily(
      .counter, "ridepulse_card_fields_dropped_total",
      "Live Activity pushes sent with null for a value that an optional field can't take.")
    for (app, count) in tally.droppedFields.merging(apps, uniquingKeysWith: { count, _ in count })
      .sorted(by: { "\($0.key)" < "\($1.key)" })
    {
      dropped.add(Double(count), [label("app", app)])
    }
    return [cards, over, dropped]
  }
}

final class ServiceMeter: Sendable {
  private let tally = Mutex(PushTally())
  private let now: @Sendable () -> Timestamp

  /// - Parameter now: The clock of the events, which is the database's.
  init(now: @escaping @Sendable () -> Timestamp) {
    self.now = now
  }

  /// Counts these rules by their names from now on.
  func name(_ rules: RuleSet) { tally.withLock { $0.name(rules) } }

  func handle(_ settlements: [Settlement]) {
    let now = now()
    tally.withLock { $0.add(settlements, at: now) }
  }

  /// The counts since the start.
  var total: PushTally { tally.withLock { $0 } }
}
