/// Counts of what became of pushes: what a process tells of itself.
package struct PushTally: Sendable {
  /// Pushes that have one fate.
  package struct Line: Hashable, Sendable {
    /// The app.
    package var app: App
    /// The push type.
    package var pushType: PushType
    /// `pending` is an attempt after which the push goes again.
    package var status: LedgerEntry.Status
    /// `LedgerReason.Code.word`; empty for what APNs accepted.
    package var reason: String
  }

  /// Pushes of one kind that APNs took, by how long that was after what they tell of.
  package struct Delay: Sendable {
    /// The app.
    package var app: App
    /// The push type.
    package var pushType: PushType
    /// How many lay within each bound, and beyond the last.
    package var counts: [Int]
    /// All of them, in seconds.
    package var seconds = 0.0
  }

  /// Pushes to cards.
  package struct CardLine: Hashable, Sendable {
    /// The app.
    package var app: App
    /// What they did.
    package var event: CardEvent
    /// `apns-priority`.
    package var priority: Int
  }

  /// The bounds of `Delay.counts`, in seconds.
  package static let bounds: [Double] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
  ]

  /// Fates, in the order in which each was seen first.
  package private(set) var lines: [(line: Line, count: Int)] = []
  /// Delays.
  package private(set) var delays: [Delay] = []
  /// Slots of all rules.
  package private(set) var slots = SlotTally()
  /// Pushes to cards that APNs took.
  package private(set) var cards: [CardLine: Int] = [:]
  /// Pushes to cards that were to go at priority 10, and went at 5 as the budget was spent.
  package private(set) var overBudget: [App: Int] = [:]
  private var last = 0

  /// Nothing yet.
  package init() {}

  /// Counts what settlements say.
  ///
  /// - Parameter now: when they were written, by the clock of their events.
  package mutating func add(_ settlements: [Settlement], at now: Timestamp) {
    for settlement in settlements {
      for entry in settlement.entries { add(entry, at: now) }
      for tally in settlement.tallies.values { slots += tally }
    }
  }

  private mutating func add(_ entry: LedgerEntry, at now: Timestamp) {
    count(entry)
    guard entry.status == .accepted else { return }
    let seconds = max(0, (now - entry.event.at).inSeconds)
    let place = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    let index =
      delays.firstIndex { $0.pushType == entry.pushType && $0.app == entry.app }
      ?? open(entry.app, entry.pushType)
    delays[index].counts[place] += 1
    delays[index].seconds += seconds
    if let event = entry.cardEvent { count(event, of: entry) }
  }

  private mutating func open(_ app: App, _ pushType: PushType) -> Int {
    delays.append(
      Delay(
        app: app, pushType: pushType, counts: Array(repeating: 0, count: Self.bounds.count + 1)))
    return delays.count - 1
  }

  /// Pushes of one fate come one after another: what was found last is looked at first, and nothing
  /// is hashed or allocated for a push.
  private mutating func count(_ entry: LedgerEntry) {
    let line = Line(
      app: entry.app, pushType: entry.pushType, status: entry.status,
      reason: entry.status == .accepted ? "" : entry.reason?.code.word ?? "")
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
  }
}
