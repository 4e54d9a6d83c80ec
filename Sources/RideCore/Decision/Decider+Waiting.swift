// What earlier decisions left waiting: what is due is decided again, and the rest waits on.

import Base

extension Decider {
  /// Decides what waited, except escalations: what is due, and what must leave before a newer push to
  /// the same phone.
  mutating func decideWaiting() {
    let waiting = decision.view.memo.waiting
    if waiting.isEmpty { return }
    let deliberate = (waiting + decision.deferred).filter {
      lastsOnPurpose($0) && !isArmed($0)
    }
    let rivals = Rivals(
      sent: waiting.filter { !$0.wait.isDeliberate }, deliberate: deliberate,
      over: sentCollapseIndex)
    let phones = Dictionary(
      decision.view.phones.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let addressed = Set(decision.pushes.compactMap(\.entry.recipient))
    var tried = 0
    // Each recipient's oldest push goes first, and newer ones are queued behind a push that waits.
    for item in EventOrder.sorted(waiting, event: \.entry.event) where item.wait.awaited == nil {
      if closeUnknown(item.entry) { continue }
      keepPermit(of: item)
      let phone = item.entry.phone.flatMap { phones[$0] }
      if case .card = item.wait, isLeftToCard(item.entry, phones) {
        if mayStillLeave(item, phone) { leave(item, phones) }
        continue
      }
      if let newer = replacement(of: item) {
        closeReplaced(item.entry, nil, by: newer)
        continue
      }
      if let newer = rivals.successor(of: item) {
        supersede(item, by: newer)
        continue
      }
      if lastsOnPurpose(item) {
        keep(showing(item))
        continue
      }
      if let next = nextLook(at: item) {
        var item = showing(item)
        item.wait = item.wait.moved(to: next)
        keep(item)
        continue
      }
      let recipient = item.entry.recipient
      let isAhead = recipient.map(addressed.contains) == true
      let blocked = recipient.flatMap { queues[$0] }
      let isDue = item.due <= now || isAhead || isResumed(item)
      let leaves = blocked == nil && tried < OpenPart.size && isDue
      // All phones of a firing whose time has come are decided together.
      if leaves || item.wait.isFirst, !mayStillLeave(item, phone) { continue }
      if leaves {
        tried += 1
        leave(item, phones)
      } else {
        queue(item, behind: blocked)
        if blocked == nil, let recipient { queues[recipient] = max(item.due, now) }
      }
    }
  }

  /// Whether a wait still lasts on purpose: what waits delays no other push to its phone, and none takes it along.
  ///
  /// Between the parts of a pass nothing falls due: what one firing leaves is decided together,
  /// once all of it is known.
  func lastsOnPurpose(_ wait: Wait) -> Bool {
    wait.isDeliberate && (wait.due > now || !isFirstPart)
  }

  /// The same for an item: a pause that was ended early leaves nothing to wait for.
  func lastsOnPurpose(_ item: WaitingItem) -> Bool {
    lastsOnPurpose(item.wait) && (!isFirstPart || !isResumed(item))
  }

  /// Leaves an item for a later decision although it is due, or could go with another one.
  private mutating func queue(_ item: WaitingItem, behind blocked: Timestamp?) {
    let due = blocked.map { max($0, item.due) } ?? item.due
    guard item.wait.isDeliberate else {
      var item = showing(item)
      item.wait = item.wait.moved(to: due)
      return keep(item)
    }
    wait(
      item.entry, .behind(until: due), LedgerReason(.queuedBehind), image: showing(item).image)
    if item.wait.isFirst, let rule = configuration.rules.rule(named: item.entry.rule),
      rule.emittedEvent == nil, let context = context(item.entry.event)
    {
      remember(rule, context)
    }
  }

  /// Closes a waiting item that a newer push replaces.
  mutating func supersede(_ item: WaitingItem, by newer: RideEvent) {
    let reason = LedgerReason.superseded(by: newer.name)
    // The ride's previous holder can't have sent what waited on purpose.
    if !lastsOnPurpose(item) { return close(item.entry, .superseded, reason) }
    var entry = item.entry
    entry.end(.superseded, reason)
    decision.items.append(Decision.Item(entry: entry, fate: .ended))
  }

  /// Remembers the permit that a push may have from an earlier attempt: it is free again if the push
  /// ends.
  private mutating func keepPermit(of item: WaitingItem) {
    guard let rule = configuration.rules.rule(named: item.entry.rule),
      let permit = permit(for: item.entry, by: rule)
    else { return }
    // The ride's previous holder can't have sent what waited on purpose.
    decision.formerPermits[permit] =
      decision.formerPermits[permit] == true || !lastsOnPurpose(item)
  }

  /// Lets a waiting item leave, rendered from the ride's current state.
  private mutating func leave(_ item: WaitingItem, _ phones: [Int64: Phone]) {
    var entry = item.entry
    let decided = decision.items.count
    defer { namePause(item, since: decided) }
    // Whatever kept it is over: from here on it is like any other push.
    if item.wait.isDeliberate { entry.reason = nil }
    if let start = entry.startToken { return retryStart(entry, start) }
    if let source = RawPush.Source(of: entry.event, in: decision.view.rideID) {
      return retryRaw(entry, from: source)
    }
    guard let rule = configuration.rules.rule(named: entry.rule) else {
      return close(entry, .suppressed, .ruleGone)
    }
    if rule.emittedEvent != nil {
      guard let context = context(entry.event) else {
        return close(entry, .suppressed, .rideNotFound)
      }
      let before = livePushes
      emit(rule, entry, context)
      if item.wait.isFirst, livePushes > before { remember(rule, context) }
      return
    }
    // Its rule may send something else by now.
    if (rule.post?.receiver) != entry.receiver { return close(entry, .suppressed, .ruleGone) }
    let phone = entry.phone.flatMap { phones[$0] }
    guard let owner = entry.owner ?? phone?.ownerID, rule.post != nil || phone != nil else {
      return close(entry, .suppressed, .phoneDisabled)
    }
    if let phone, phone.ownerID != owner {
      return close(
        entry, .suppressed, LedgerReason(.otherOwner, "the phone belongs to another person now"))
    }
    guard let context = context(entry.event) else {
      return close(entry, .suppressed, .rideNotFound)
    }
    // A slot concerns whom the ride names now, and the row that its text would show is theirs.
    if entry.isOfSlot || entry.isOfParticipant == true,
      !RecipientResolver.isPresent(owner, entry.app, in: context)
    {
      let isParticipant = entry.isOfParticipant == true
      return close(
        entry, .suppressed,
        isParticipant ? .noLongerParticipates(entry.app) : .otherOwner(of: entry.app))
    }
    if let reason = optOut(of: owner, in: entry.app, from: rule) { return block(entry, reason) }
    let before = livePushes
    defer { if item.wait.isFirst, livePushes > before { remember(rule, context) } }
    let image = recipients.recipient(owner, of: entry.app, in: context, item.image).image
    var planner = planner(rule, context, image)
    guard let phone else { return planPost(&planner, entry, to: owner) }
    let cards = cards(showing: entry.event, on: phone, insteadOf: rule)
    if !cards.isEmpty {
      planner.setCollapseID(of: &entry)
      return cover(entry, Cover(cards: cards, isSkipped: rule.withCard == .skip))
    }
    plan(&planner, entry, phone)
  }

  /// Returns the item with the row that its text shows, because the event that holds this row is
  /// consumed now.
  private mutating func showing(_ item: WaitingItem) -> WaitingItem {
    guard recipients.haveChanged, item.image == nil, let owner = item.entry.owner,
      let context = context(item.entry.event)
    else { return item }
    var item = item
    item.image = recipients.recipient(owner, of: item.entry.app, in: context, nil).image
    return item
  }
}

/// The pushes that may replace a waiting one on the screen.
///
/// What waits on purpose replaces only its like: it may never be sent.
private struct Rivals {
  private var sent: CollapseIndex
  private var all: CollapseIndex

  /// - Parameter collapseIndex: that of the pushes that are sent now.
  init(sent: [WaitingItem], deliberate: [WaitingItem], over collapseIndex: CollapseIndex) {
    self.sent = collapseIndex
    for item in sent { self.sent.add(item.entry) }
    all = self.sent
    for item in deliberate { all.add(item.entry) }
  }

  func successor(of item: WaitingItem) -> RideEvent? {
    (item.wait.isDeliberate ? all : sent).successor(of: item.entry)
  }
}
