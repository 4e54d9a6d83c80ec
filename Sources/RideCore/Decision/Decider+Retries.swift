// Retries, and the order in which all of a decision's pushes leave.
extension Decider {
  /// Retries what is due, and what must leave before a newer push to the same phone.
  mutating func retryDuePushes() {
    let retries = decision.view.memo.retries
    if retries.isEmpty { return }
    var places = self.places
    for pending in retries { places.add(pending.entry) }
    let phones = Dictionary(
      decision.view.phones.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let addressed = Set(decision.pushes.compactMap(\.entry.recipient))
    // Each recipient's oldest push goes first, and a push that waits holds back newer ones.
    var waiting: [LedgerEntry.Recipient: Timestamp] = [:]
    var tried = 0
    for var pending in EventOrder.sorted(retries, event: \.entry.event) {
      if closeUnknown(pending.entry) { continue }
      if pending.waitsForCard == true {
        if isLeftToCard(pending.entry, phones) {
          retry(pending, phones)
          continue
        }
        pending.waitsForCard = nil
      }
      let recipient = pending.entry.recipient
      let isAhead = recipient.map(addressed.contains) == true
      if let newer = places.successor(of: pending.entry) {
        close(pending.entry, .superseded, .superseded(by: newer.name))
      } else if let recipient, let due = waiting[recipient] {
        decision.waiting.append(showing(pending, until: max(due, pending.due)))
      } else if tried >= OpenPart.size || pending.due > now && !isAhead {
        decision.waiting.append(showing(pending))
        if let recipient { waiting[recipient] = max(pending.due, now) }
      } else {
        tried += 1
        retry(pending, phones)
      }
    }
    holdBack(waiting)
  }

  /// The places of pushes that are sent, wait for a card, or may have been sent before.
  private var places: CollapseIndex {
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
    let entry = pending.entry
    if let start = entry.startToken { return retryStart(entry, start) }
    if let source = RawPush.Source(of: entry.event, in: decision.view.rideID) {
      return retryRaw(entry, from: source)
    }
    guard let rule = configuration.rules.rule(named: entry.rule) else {
      return close(entry, .suppressed, .ruleGone)
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
    if let reason = rule.leftStates(context.ride.state) {
      return close(entry, .suppressed, reason)
    }
    // A slot concerns whom the ride names now, and the row that its text would show is theirs.
    if entry.isOfSlot, RecipientResolver.present(entry.app, in: context) != owner {
      return close(entry, .suppressed, .otherOwner(of: entry.app))
    }
    if let reason = contact(rule, phone) { return close(entry, .suppressed, reason) }
    let image = recipients.recipient(owner, of: entry.app, in: context, pending.image).image
    let shown = image.map { self.context(entry.event, as: $0) } ?? context
    var planner = Planner(
      rule: rule, context: shown, image: image, configuration: configuration, now: now)
    let cards = cards(showing: entry.event, on: phone, insteadOf: rule)
    if !cards.isEmpty {
      var entry = entry
      planner.setCollapseID(of: &entry)
      return hold(entry, cards, [], by: rule)
    }
    plan(&planner, entry, phone)
  }

  /// Returns the push with the row that its text shows, because the event that holds this row is
  /// consumed now.
  private func showing(_ pending: PendingPush, until due: Timestamp? = nil) -> PendingPush {
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
    for index in decision.postponed.indices { doubt(&decision.postponed[index].entry) }
    for index in decision.waiting.indices { doubt(&decision.waiting[index].entry) }
    for index in decision.held.indices { doubt(&decision.held[index].entry) }
  }
}
