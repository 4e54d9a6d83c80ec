// Retries, and the order in which all of a decision's pushes leave.

import Base
extension Decider {
  /// Retries what is due, and what must leave before a newer push to the same phone.
  mutating func retryDuePushes() {
    let retries = decision.view.memo.retries
    if retries.isEmpty { return }
    var places = self.places
    for pending in retries where pending.entry.reason?.code.withholds != true {
      places.add(pending.entry)
    }
    let placesWithWithheld = adding(withheld: retries, to: places)
    let phones = Dictionary(
      decision.view.phones.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let addressed = Set(decision.pushes.compactMap(\.entry.recipient))
    // Each recipient's oldest push goes first, and a push that waits holds back newer ones.
    var waiting: [LedgerEntry.Recipient: Timestamp] = [:]
    var tried = 0
    for var pending in EventOrder.sorted(retries, event: \.entry.event) where pending.awaited == nil
    {
      if closeUnknown(pending.entry) { continue }
      keepPermit(of: pending)
      let phone = pending.entry.phone.flatMap { phones[$0] }
      if pending.waitsForCard == true {
        if isLeftToCard(pending.entry, phones) {
          if mayStillLeave(pending, phone) { retry(pending, phones) }
          continue
        }
        pending.waitsForCard = nil
      }
      let rivals = pending.entry.reason?.code.withholds == true ? placesWithWithheld : places
      if let newer = rivals.successor(of: pending.entry) {
        supersede(pending, by: newer)
        continue
      }
      if isWithheld(pending) {
        decision.waiting.append(showing(pending))
        continue
      }
      let hasWaited = pending.entry.reason?.code == .engine(.waiting)
      let recipient = pending.entry.recipient
      let isAhead = recipient.map(addressed.contains) == true
      let blocked = recipient.flatMap { waiting[$0] }
      let leaves = blocked == nil && tried < OpenPart.size && (pending.due <= now || isAhead)
      // All phones of a firing whose wait is over are decided together.
      if leaves || hasWaited, !mayStillLeave(pending, phone) { continue }
      if leaves {
        tried += 1
        retry(pending, phones)
      } else {
        keepBack(showing(pending, until: blocked.map { max($0, pending.due) }), hasWaited)
        if blocked == nil, let recipient { waiting[recipient] = max(pending.due, now) }
      }
    }
    holdBack(waiting)
  }

  /// Whether the ride's previous holder may have sent a push: not if it is kept back until later.
  func mayHaveLeft(_ pending: PendingPush) -> Bool { !isWithheld(pending) }

  /// Remembers the permit of a push whose earlier attempt failed: it is free again if the push ends.
  private mutating func keepPermit(of pending: PendingPush) {
    guard !isWithheld(pending), let rule = configuration.rules.rule(named: pending.entry.rule),
      let permit = permit(for: pending.entry, by: rule)
    else { return }
    decision.formerPermits.append(permit)
  }

  /// Closes a pending push whose place a newer one takes.
  mutating func supersede(_ pending: PendingPush, by newer: RideEvent) {
    let reason = LedgerReason.superseded(by: newer.name)
    if mayHaveLeft(pending) { return close(pending.entry, .superseded, reason) }
    var entry = pending.entry
    entry.end(.superseded, reason)
    decision.closed.append(entry)
  }

  /// Keeps a push for a later decision, although it is due or could go with another one.
  private mutating func keepBack(_ pending: PendingPush, _ hasWaited: Bool) {
    if !hasWaited { return decision.waiting.append(pending) }
    var pending = pending
    pending.entry.reason = LedgerReason(.heldBack)
    decision.postponed.append(pending)
    if let rule = configuration.rules.rule(named: pending.entry.rule), rule.emittedEvent == nil,
      let context = context(pending.entry.event)
    {
      remember(rule, context)
    }
  }

  /// Returns the places with those of pushes that are kept back, which replace only each other.
  private func adding(withheld retries: [PendingPush], to places: CollapseIndex) -> CollapseIndex {
    let withheld = (retries + decision.postponed).filter { isWithheld($0) }
    return withheld.reduce(into: places) { $0.add($1.entry) }
  }

  /// The places of pushes that are sent, wait for a card, or may have been sent before.
  var places: CollapseIndex {
    var places = CollapseIndex(decision.pushes)
    for held in decision.held { places.add(held.entry) }
    for entry in decision.closed where entry.status == .uncertain { places.add(entry) }
    return places
  }

  /// Postpones new pushes to recipients for which an older push waits.
  private mutating func holdBack(_ waiting: [LedgerEntry.Recipient: Timestamp]) {
    if waiting.isEmpty { return }
    let tried = Set(decision.view.memo.retries.map(\.entry.id))
    let held = decision.pushes.filter { push in
      guard let recipient = push.entry.recipient, waiting[recipient] != nil else { return false }
      return !tried.contains(push.entry.id)
    }
    if held.isEmpty { return }
    let ids = Set(held.map(\.entry.id))
    decision.pushes.removeAll { ids.contains($0.entry.id) }
    for push in held {
      let due = push.entry.recipient.flatMap { waiting[$0] } ?? now
      postpone(push, until: due, LedgerReason(.heldBack))
    }
  }

  /// Retries a pending push, rendered from the ride's current state.
  private mutating func retry(_ pending: PendingPush, _ phones: [Int64: Phone]) {
    var entry = pending.entry
    let hasWaited = entry.reason?.code == .engine(.waiting)
    // Whatever kept it back is over: from here on it is like any other push.
    if entry.reason?.code.withholds == true { entry.reason = nil }
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
      return emit(rule, entry, context)
    }
    guard let phone = entry.phone.flatMap({ phones[$0] }) else {
      return close(entry, .suppressed, .phoneDisabled)
    }
    let owner = entry.owner ?? phone.ownerID
    if phone.ownerID != owner {
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
    if let reason = exclusion(of: owner, in: entry.app, by: rule) ?? contact(rule, phone) {
      return close(entry, .suppressed, reason)
    }
    let before = livePushes
    defer { if hasWaited, livePushes > before { remember(rule, context) } }
    let image = recipients.recipient(owner, of: entry.app, in: context, pending.image).image
    var planner = planner(rule, context, image)
    let cards = cards(showing: entry.event, on: phone, insteadOf: rule)
    if !cards.isEmpty {
      planner.setCollapseID(of: &entry)
      return hold(entry, cards, [], by: rule)
    }
    plan(&planner, entry, phone)
  }

  /// Returns the push with the row that its text shows, because the event that holds this row is
  /// consumed now.
  private mutating func showing(_ pending: PendingPush, until due: Timestamp? = nil) -> PendingPush
  {
    var pending = pending
    if let due { pending.due = due }
    guard recipients.haveChanged, pending.image == nil, let owner = pending.entry.owner,
      let context = context(pending.entry.event)
    else { return pending }
    pending.image = recipients.recipient(owner, of: pending.entry.app, in: context, nil).image
    return pending
  }

  /// Closes pushes that a later one supersedes, and sorts pushes to phones by their events.
  mutating func orderPushes() {
    if decision.pushes.count + decision.held.count < 2 { return }
    let places = self.places
    var left: [PlannedPush] = []
    left.reserveCapacity(decision.pushes.count)
    for push in decision.pushes {
      if let newer = places.successor(of: push.entry) {
        close(push.entry, .superseded, .superseded(by: newer.name))
      } else {
        left.append(push)
      }
    }
    decision.pushes = EventOrder.sorted(left)
  }

  /// Marks each push to a recipient that is kept or sent as possibly sent by the ride's previous
  /// holder.
  mutating func doubtPushes() {
    if !decision.view.isTakenOver { return }
    func doubt(_ entry: inout LedgerEntry) {
      if entry.recipient != nil { entry.doubt = entry.doubt ?? .takenOver }
    }
    // What must not repeat is journalled before it is sent: no journal, no doubt.
    for index in decision.pushes.indices where !decision.pushes[index].mustNotRepeat {
      doubt(&decision.pushes[index].entry)
    }
    for index in decision.postponed.indices where mayHaveLeft(decision.postponed[index]) {
      doubt(&decision.postponed[index].entry)
    }
    for index in decision.waiting.indices where mayHaveLeft(decision.waiting[index]) {
      doubt(&decision.waiting[index].entry)
    }
    for index in decision.held.indices { doubt(&decision.held[index].entry) }
  }
}
