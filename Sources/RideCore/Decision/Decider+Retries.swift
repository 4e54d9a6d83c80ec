// Retries, and the order in which all of a decision's pushes leave.
extension Decider {
  /// Retries what is due, and what must leave before a newer push to the same phone.
  mutating func retryWhatIsDue() {
    let retries = decision.view.memo.retries
    if retries.isEmpty { return }
    var places = ScreenPlaces(decision.pushes)
    for pending in retries { places.add(pending.entry) }
    let phones = Dictionary(
      decision.view.phones.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let addressed = Set(decision.pushes.compactMap(\.entry.phone))
    // Each phone's oldest push goes first, and a push that waits holds back newer ones.
    var waiting: [Int64: Timestamp] = [:]
    var tried = 0
    for pending in EventOrder.sorted(retries, event: \.entry.event) {
      let phone = pending.entry.phone
      let isAhead = phone.map(addressed.contains) == true
      if pending.waitsForCard == true, pending.due > now {
        decision.waiting.append(showing(pending))
      } else if pending.waitsForCard != true, let newer = places.successor(of: pending.entry) {
        close(pending.entry, .superseded, .superseded(by: newer.name))
      } else if let phone, let due = waiting[phone] {
        decision.waiting.append(showing(pending, until: max(due, pending.due)))
      } else if tried >= OpenPart.size || pending.due > now && !isAhead {
        decision.waiting.append(showing(pending))
        if let phone { waiting[phone] = max(pending.due, now) }
      } else {
        tried += 1
        retry(pending, phones)
      }
    }
    holdBack(waiting)
  }

  /// Postpones new pushes to phones for which an older push waits.
  private mutating func holdBack(_ waiting: [Int64: Timestamp]) {
    if waiting.isEmpty { return }
    let tried = Set(decision.view.memo.retries.map(\.entry.id))
    let held = decision.pushes.filter { push in
      guard let phone = push.entry.phone, waiting[phone] != nil else { return false }
      return !tried.contains(push.entry.id)
    }
    if held.isEmpty { return }
    let ids = Set(held.map(\.entry.id))
    decision.pushes.removeAll { ids.contains($0.entry.id) }
    for push in held {
      let due = push.entry.phone.flatMap { waiting[$0] } ?? now
      postpone(push, until: due, LedgerReason(.heldBack))
    }
  }

  /// Retries a pending push, rendered from the ride's current state.
  private mutating func retry(_ pending: PendingPush, _ phones: [Int64: Phone]) {
    let entry = pending.entry
    if let start = entry.startToken { return retryStart(entry, start) }
    if entry.event.isLegacyPush(of: decision.view.rideID) { return retryLegacy(entry) }
    guard let rule = configuration.rules.rule(named: entry.rule) else {
      return close(entry, .suppressed, .ruleGone)
    }
    guard let phone = entry.phone.flatMap({ phones[$0] }) else {
      return close(entry, .suppressed, .phoneDisabled)
    }
    let owner = entry.owner ?? phone.ownerID
    if phone.ownerID != owner {
      return close(
        entry, .suppressed, LedgerReason(.otherOwner, "the phone is another person's by now"))
    }
    guard let context = context(entry.event) else {
      return close(entry, .suppressed, .rideNotFound)
    }
    if case .at(let timing) = rule.when, !timing.states.contains(context.ride.state ?? "") {
      return close(entry, .suppressed, .leftStates)
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
    if isCoveredByCard(rule, entry.event, owner) {
      var entry = entry
      planner.place(&entry)
      return hold(entry, owner)
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
    if decision.pushes.count < 2 { return }
    let places = ScreenPlaces(decision.pushes)
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

  /// Marks each push to a phone that is kept or sent as possibly sent by the ride's previous holder.
  mutating func doubtPushes() {
    if !decision.view.isTakenOver { return }
    func doubt(_ entry: inout LedgerEntry) {
      if entry.phone != nil { entry.doubt = entry.doubt ?? .takenOver }
    }
    for index in decision.pushes.indices { doubt(&decision.pushes[index].entry) }
    for index in decision.postponed.indices { doubt(&decision.postponed[index].entry) }
    for index in decision.waiting.indices { doubt(&decision.waiting[index].entry) }
    for index in decision.held.indices { doubt(&decision.held[index].entry) }
  }
}

/// The order of a ride's events and slots: events by ID, and slots between them by time.
enum EventOrder {
  /// Returns the pushes with those to phones in the order of their events; others keep their
  /// places.
  static func sorted(_ pushes: [PlannedPush]) -> [PlannedPush] {
    let places = pushes.indices.filter { pushes[$0].entry.phone != nil }
    let ordered = sorted(places.map { pushes[$0] }, event: \.entry.event)
    var sorted = pushes
    for (place, push) in zip(places, ordered) { sorted[place] = push }
    return sorted
  }

  /// Returns elements in the order of their events.
  static func sorted<Element>(
    _ elements: [Element], event: (Element) -> RideEvent
  ) -> [Element] {
    let events = elements.map(event)
    let isSorted = zip(events, events.dropFirst()).allSatisfy { !$0.isNewer(than: $1) }
    if isSorted { return elements }
    // An event counts as no earlier than its predecessors, even if the clock was set back.
    var times: [Int64: Timestamp] = [:]
    var latest = Timestamp(microseconds: .min)
    for event in events.sorted(by: { $0.id < $1.id }) where event.id != 0 {
      latest = max(latest, event.at)
      times[event.id] = latest
    }
    let keys = events.enumerated().map { place, event in
      (times[event.id] ?? event.at, event.id, place)
    }
    return keys.sorted { $0 < $1 }.map { elements[$0.2] }
  }
}

/// Tracks the newest push for each place on a phone's screen: one phone, push type and collapse ID.
///
/// A push that is sent after a newer one of its place would bring back outdated content. The push
/// type counts because a background push replaces nothing on the screen.
struct ScreenPlaces {
  private struct Place: Hashable {
    var phone: Int64
    var pushType: PushType
    /// Compared by bytes, as at APNs.
    var collapseID: [UInt8]
  }

  private var newest: [Place: RideEvent] = [:]

  init(_ pushes: [PlannedPush] = []) {
    for push in pushes { add(push.entry) }
  }

  /// Adds a push that is sent or waits.
  mutating func add(_ entry: LedgerEntry) {
    guard let place = Self.place(of: entry) else { return }
    if let known = newest[place], !entry.event.isNewer(than: known) { return }
    newest[place] = entry.event
  }

  /// Returns the event whose push takes this one's place; nil if this one is the newest.
  func successor(of entry: LedgerEntry) -> RideEvent? {
    guard let event = Self.place(of: entry).flatMap({ newest[$0] }) else { return nil }
    return event.isNewer(than: entry.event) ? event : nil
  }

  private static func place(of entry: LedgerEntry) -> Place? {
    guard let phone = entry.phone, let collapseID = entry.collapseID else { return nil }
    return Place(phone: phone, pushType: entry.pushType, collapseID: Array(collapseID.utf8))
  }
}
