// The order in which the pushes of a decision leave, and which of them replace others.

import Base

extension Decider {
  /// Queues new pushes behind older ones to the same recipient that wait, closes what a newer push
  /// replaces on the screen, sorts what is left by its events, and asks for its permits.
  mutating func order() {
    queuePushes()
    supersedeDeliberate()
    supersedePlanned()
    keepRequests()
  }

  /// Closes what a newer push replaces on the screen, and sorts what is left by its events.
  private mutating func supersedePlanned() {
    // Most decisions send one push, and have nothing that could replace it.
    if decision.pushes.isEmpty || decision.pushes.count + decision.items.count == 1 { return }
    let collapseIndex = sentCollapseIndex
    if decision.pushes.contains(where: { collapseIndex.successor(of: $0.entry) != nil }) {
      let pushes = decision.pushes
      decision.pushes = []
      for push in pushes {
        if let newer = collapseIndex.successor(of: push.entry) {
          close(push.entry, .superseded, .superseded(by: newer.name))
        } else {
          decision.pushes.append(push)
        }
      }
    }
    EventOrder.sort(&decision.pushes)
  }

  /// Keeps the requests for permits of pushes that leave now: the oldest is granted first, and must not
  /// be one that a newer push has replaced.
  private mutating func keepRequests() {
    if decision.permitRequests.isEmpty { return }
    let needed = Set(decision.pushes.compactMap { decision.permits[$0.entry.id]?.id })
    decision.permitRequests.removeAll { !needed.contains($0.permit.id) }
  }

  /// Leaves new pushes to recipients for which an older push waits to a later decision.
  private mutating func queuePushes() {
    if queues.isEmpty { return }
    let waited = Set(decision.view.memo.waiting.map(\.entry.id))
    let pushes = decision.pushes
    decision.pushes = []
    for push in pushes {
      if !waited.contains(push.entry.id), let due = push.entry.recipient.flatMap({ queues[$0] }) {
        wait(push, .behind(until: due), LedgerReason(.queuedBehind))
      } else {
        decision.pushes.append(push)
      }
    }
  }

  /// Closes what waits on purpose from now on, and that a newer push replaces.
  private mutating func supersedeDeliberate() {
    let isAnyDeliberate = decision.items.contains { item in
      if case .waits(let wait, _, isNew: true) = item.fate { lastsOnPurpose(wait) } else { false }
    }
    if !isAnyDeliberate { return }
    let isNew = decision.items.map { $0.waiting(isNew: true) }
    var collapseIndex = sentCollapseIndex
    for case let item? in isNew where !isArmed(item) { collapseIndex.add(item.entry) }
    let items = decision.items
    decision.items = []
    for (item, waiting) in zip(items, isNew) {
      if let waiting, lastsOnPurpose(waiting.wait),
        let newer = collapseIndex.successor(of: waiting.entry)
      {
        supersede(waiting, by: newer)
      } else {
        decision.items.append(item)
      }
    }
  }

  /// Whether an event has armed it for later: until then it replaces nothing.
  func isArmed(_ item: WaitingItem) -> Bool {
    item.entry.event.firesAt.map { $0 > now } ?? false
  }

  /// The collapse keys of pushes that are sent, left to a card, or may have been sent before.
  var sentCollapseIndex: CollapseIndex {
    var collapseIndex = CollapseIndex(decision.pushes)
    for item in decision.items {
      if case .covered = item.fate { collapseIndex.add(item.entry) }
      if item.entry.status == .uncertain { collapseIndex.add(item.entry) }
    }
    return collapseIndex
  }

  /// Marks a push that is held on purpose from now on as possibly sent by the ride's previous holder,
  /// before what holds it began.
  func doubtBeforeHold(of push: inout PlannedPush) {
    if decision.view.mayHaveBeenSent, !push.mustNotRepeat { push.entry.doubtPreviousHolder() }
  }

  /// Marks each push to a recipient that is sent or waits as possibly sent by the ride's previous
  /// holder.
  mutating func doubt() {
    if !decision.view.mayHaveBeenSent { return }
    // What must not repeat is journalled before it is sent: no journal, no doubt.
    for index in decision.pushes.indices where !decision.pushes[index].mustNotRepeat {
      decision.pushes[index].entry.doubtPreviousHolder()
    }
    for index in decision.items.indices {
      switch decision.items[index].fate {
      case .ended, .blocked: break
      case .waits(let wait, _, _) where lastsOnPurpose(wait): break
      case .covered, .waits: decision.items[index].entry.doubtPreviousHolder()
      }
    }
  }
}
