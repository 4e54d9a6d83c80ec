package import Base

/// Counts the outcomes of pushes, for the metrics of a process.
package struct PushTally: Sendable {
  /// The key of one counter: pushes with the same outcome.
  package struct Line: Hashable, Sendable {
    package var app: App
    /// A push's type; `LedgerEntry.Kind.rawValue` of anything else.
    package var pushType: String
    /// `pending` counts attempts after which the push is retried, and what waits as its rule states.
    package var status: LedgerEntry.Status
    /// A word of `LedgerReason.Code.word`.
    package var reason: String

    /// Whether the push, or its receipt, is awaited as its rule states: no attempt has failed.
    package var waitsByRule: Bool {
      status == .pending && LedgerReason.Engine(rawValue: reason)?.isWaitOfRule ?? false
    }
  }

  /// Accepted pushes of one app and push type, by their delay after the event.
  package struct Delay: Sendable {
    package var app: App
    package var pushType: PushType
    package var times = DurationHistogram()
  }

  /// The key of one counter of pushes to cards.
  package struct CardLine: Hashable, Sendable {
    package var app: App
    package var event: CardEvent
    /// `apns-priority`.
    package var priority: Int
  }

  /// Counts by outcome, in order of first occurrence.
  package private(set) var lines: [(line: Line, count: Int)] = []
  package private(set) var delays: [Delay] = []
  /// The slots of all rules.
  package private(set) var slots = SlotTally()
  /// Pushes to cards that APNs accepted.
  package private(set) var cards: [CardLine: Int] = [:]
  /// Pushes to cards that were sent at priority 5 instead of 10 because the budget was exhausted.
  package private(set) var overBudget: [App: Int] = [:]
  /// Pushes to cards that were sent with null in the place of a value that an optional field can't take.
  package private(set) var droppedFields: [App: Int] = [:]
  /// How often a rule's `if` was false at a change of a ride, by rule.
  package private(set) var falseConditions: [String: Int] = [:]
  /// How often a ride changed outside of a rule's `while`, by rule.
  package private(set) var outsideStates: [String: Int] = [:]
  package private(set) var rules = RuleTally()
  private var last = 0

  package init() {}

  /// Counts verdicts of these rules by their names, as far as `RuleTally` permits.
  package mutating func name(_ rules: RuleSet) { self.rules.name(rules.rules.map(\.name)) }

  /// Counts the outcomes of settlements.
  ///
  /// - Parameter now: when they were written, by the clock of their events.
  package mutating func add(_ settlements: [Settlement], at now: Timestamp) {
    for settlement in settlements {
      for entry in settlement.entries { add(entry, at: now) }
      for tally in settlement.tallies.values { slots += tally }
      falseConditions.merge(settlement.falseConditions, uniquingKeysWith: +)
      outsideStates.merge(settlement.outsideStates, uniquingKeysWith: +)
    }
  }

  private mutating func add(_ entry: LedgerEntry, at now: Timestamp) {
    count(entry)
    rules.add(entry)
    guard entry.isAcceptedPush else { return }
    let index =
      delays.firstIndex { $0.pushType == entry.pushType && $0.app == entry.app }
      ?? open(entry.app, entry.pushType)
    delays[index].times.add(now - entry.event.firing)
    if let event = entry.cardEvent { count(event, of: entry) }
  }

  private mutating func open(_ app: App, _ pushType: PushType) -> Int {
    delays.append(Delay(app: app, pushType: pushType))
    return delays.count - 1
  }

  /// Pushes with the same outcome come in a row: trying the last line first avoids hashing and
  /// allocation for each push.
  private mutating func count(_ entry: LedgerEntry) {
    let line = Line(
      app: entry.app, pushType: entry.typeName, status: entry.status,
      reason: entry.status == .accepted && entry.kind.isSent
        ? "" : entry.reason?.code.word ?? "")
    if lines.indices.contains(last), lines[last].line == line {
      lines[last].count += 1
      return
    }
    if let index = lines.firstIndex(where: { $0.line == line }) {
      last = index
      lines[index].count += 1
    } else {
      last = lines.count
      lines.append((line, 1))
    }
  }

  private mutating func count(_ event: CardEvent, of entry: LedgerEntry) {
    let line = CardLine(app: entry.app, event: event, priority: entry.priority?.rawValue ?? 0)
    cards[line, default: 0] += 1
    if entry.reason?.code == .engine(.overBudget) {
      overBudget[entry.app, default: 0] += 1
    }
    if entry.reason?.code == .engine(.cardFieldDropped) {
      droppedFields[entry.app, default: 0] += 1
    }
  }
}
