/// Takes rides through time by the service's own decisions: what would be sent, and when.
///
/// The clock jumps from one due ride to the next. Every push is taken to be accepted at once, and
/// no ride changes: the preview says what follows from how things stand.
public struct Rehearsal: Sendable {
  private let rulebook: Rulebook
  private var views: [RideView]
  private var agenda: Agenda

  /// Rides as they stand, all of them looked at first at `start`.
  public init(_ views: [RideView], by rulebook: Rulebook, from start: Instant) {
    self.views = views
    self.rulebook = rulebook
    agenda = Agenda(views.indices.map { Agenda.Entry(due: start, ride: $0) })
  }

  /// What is decided about the next ride that falls due before an instant; nil where none does.
  ///
  /// Rides that fall due at once come in the order in which they were given.
  public mutating func next(before end: Instant) -> (now: Instant, decision: Decision)? {
    guard let entry = agenda.first, entry.due < end else { return nil }
    let (now, ride) = (entry.due, entry.ride)
    let decision = decide(views[ride], by: rulebook, now: now)
    let accepted = decision.pushes.map { _ in PushOutcome.accepted }
    let settlement = decision.settled(accepted, now: now) { 0 }
    views[ride].memo = settlement.memo
    views[ride].events = []
    views[ride].cards.removeAll { card in
      settlement.gone.contains { $0.kind == .activity && $0.id == card.id }
    }
    if let due = settlement.nextDue, !settlement.isOver {
      // A microsecond at least, so that the clock always moves.
      agenda.replaceFirst(Agenda.Entry(due: max(due, now + .microseconds(1)), ride: ride))
    } else {
      agenda.removeFirst()
    }
    return (now, decision)
  }
}

/// Rides by when they fall due: a binary heap.
private struct Agenda: Sendable {
  struct Entry: Comparable {
    var due: Instant
    var ride: Int

    static func < (left: Entry, right: Entry) -> Bool {
      (left.due, left.ride) < (right.due, right.ride)
    }
  }

  private var entries: [Entry]

  /// Entries that are sorted already.
  init(_ entries: [Entry]) {
    self.entries = entries
  }

  var first: Entry? { entries.first }

  mutating func replaceFirst(_ entry: Entry) {
    var place = 0
    while true {
      var child = 2 * place + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
      if entry < entries[child] { break }
      entries[place] = entries[child]
      place = child
    }
    entries[place] = entry
  }

  mutating func removeFirst() {
    let last = entries.removeLast()
    if !entries.isEmpty { replaceFirst(last) }
  }
}
