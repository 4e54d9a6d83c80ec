// What was tried before, and in which order all of a decision's pushes leave.
extension Decider {
  /// Tries again what is due, and what must leave before a newer push to the same phone.
  mutating func retryWhatIsDue() {
    let retries = decision.view.memo.retries
    if retries.isEmpty { return }
    var places = ScreenPlaces()
    for push in decision.pushes { places.add(push.entry) }
    for alert in decision.held { places.add(alert.entry) }
    for pending in retries { places.add(pending.entry) }
    let phones = Dictionary(
      decision.view.phones.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let addressed = Set(decision.pushes.compactMap(\.entry.phone))
    var tried = 0
    for pending in retries {
      let isAhead = pending.entry.phone.map(addressed.contains) == true
      if let newer = places.successor(of: pending.entry) {
        close(pending.entry, .superseded, "superseded by \(newer.name)")
      } else if tried >= OpenPart.size
        || pending.due > now && (!isAhead || pending.waitsForCard == true)
      {
        decision.waiting.append(showing(pending))
      } else {
        tried += 1
        retry(pending, phones)
      }
    }
  }

  /// A push that failed before goes again, as the ride is now.
  private mutating func retry(_ pending: PendingPush, _ phones: [Int64: Phone]) {
    let entry = pending.entry
    if let start = entry.startToken { return retryStart(entry, start) }
    if entry.event.isLegacyPush(of: decision.view.rideID) { return retryLegacy(entry) }
    guard let rule = rulebook.rules.rule(named: entry.rule) else {
      return close(entry, .suppressed, "the rule is gone")
    }
    guard let phone = entry.phone.flatMap({ phones[$0] }) else {
      return close(entry, .suppressed, "the phone is disabled")
    }
    let owner = entry.owner ?? phone.ownerID
    if phone.ownerID != owner {
      return close(entry, .suppressed, "the phone is another person's by now")
    }
    guard let scope = scope(entry.event) else {
      return close(entry, .suppressed, "ride not found")
    }
    if case .at(let timing) = rule.rule.when, !timing.states.contains(scope.ride.state ?? "") {
      return close(entry, .suppressed, "the ride left the states of the rule")
    }
    if let reason = contact(rule, phone) { return close(entry, .suppressed, reason) }
    if mayBeTold(rule, entry.event, owner) { return hold(entry, owner) }
    let image = recipients.recipient(owner, of: entry.app, in: scope, pending.image).image
    let shown = image.map { self.scope(entry.event, as: $0) } ?? scope
    var planner = Planner(rule: rule, scope: shown, image: image, rulebook: rulebook, now: now)
    plan(&planner, entry, phone)
  }

  /// What waits keeps the row that its text shows: the change that tells it is consumed now.
  private func showing(_ pending: PendingPush) -> PendingPush {
    guard recipients.haveChanged, pending.image == nil, let owner = pending.entry.owner,
      let scope = scope(pending.entry.event)
    else { return pending }
    var pending = pending
    pending.image = recipients.recipient(owner, of: pending.entry.app, in: scope, nil).image
    return pending
  }

  /// Drops pushes that a later one replaces, and puts those to phones in the order of their events.
  mutating func orderPushes() {
    if decision.pushes.count + decision.held.count < 2 { return }
    var places = ScreenPlaces()
    for push in decision.pushes { places.add(push.entry) }
    for alert in decision.held { places.add(alert.entry) }
    var left: [PlannedPush] = []
    left.reserveCapacity(decision.pushes.count)
    for push in decision.pushes {
      if let newer = places.successor(of: push.entry) {
        close(push.entry, .superseded, "superseded by \(newer.name)")
      } else {
        left.append(push)
      }
    }
    decision.pushes = EventOrder.sorted(left)
  }
}

/// The order of a ride's events and slots: events by ID, and slots among them by time.
enum EventOrder {
  /// Pushes to phones in the order of what they tell of; all others keep their places.
  static func sorted(_ pushes: [PlannedPush]) -> [PlannedPush] {
    let places = pushes.indices.filter { pushes[$0].entry.phone != nil }
    let isSorted = zip(places, places.dropFirst()).allSatisfy { earlier, later in
      !pushes[earlier].entry.event.isNewer(than: pushes[later].entry.event)
    }
    if isSorted { return pushes }
    // An event is no earlier than those before it, though the clock was set back between them.
    var times: [Int64: Instant] = [:]
    var latest = Instant(microseconds: .min)
    for event in places.map({ pushes[$0].entry.event }).sorted(by: { $0.id < $1.id })
    where event.id != 0 {
      latest = max(latest, event.at)
      times[event.id] = latest
    }
    func key(_ place: Int) -> (Instant, Int64, Int) {
      let event = pushes[place].entry.event
      return (times[event.id] ?? event.at, event.id, place)
    }
    var sorted = pushes
    for (place, source) in zip(places, places.sorted { key($0) < key($1) }) {
      sorted[place] = pushes[source]
    }
    return sorted
  }
}
