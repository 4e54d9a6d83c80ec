// How an event arms a firing of a rule with `at`, and how a newer occurrence replaces it.

import Base
extension Decider {
  /// Fires a rule on an event: at once, or once for each time of `at` that the event arms.
  mutating func fire(_ rule: CompiledRule, on event: RideEvent) {
    var armed: Set<Timestamp> = []
    let times = rule.times(after: event.name)
    for time in times {
      do throws(RenderingError) {
        guard let offset = try time.offset(in: attributes) else { throw time.missingOffset }
        let firing = event.firing(at: event.at + offset)
        // Two times that are the same instant are one firing.
        guard armed.insert(firing.firing).inserted, let context = context(firing) else { continue }
        fire(rule, context)
      } catch {
        if isFirstPart { close(draft(rule, event), .suppressed, error.ledgerReason) }
      }
    }
    if times.isEmpty, let context = context(event) { fire(rule, context) }
  }

  /// Returns when a rule fires that an event armed; nil if it fires now.
  ///
  /// All parts of a pass use the time of the first part: a firing waits for all of its phones, or for
  /// none.
  func awaitedFiring(of event: RideEvent) -> Timestamp? {
    guard let due = event.firesAt else { return nil }
    return due > decision.view.memo.part?.startedAt ?? now ? due : nil
  }

  /// Returns the newer occurrence of an event that replaces the firing it armed for a person; nil if
  /// none does.
  mutating func replacement(of event: RideEvent, for owner: OwnerID, in app: App) -> RideEvent? {
    guard let due = event.firesAt else { return nil }
    for newer in events where newer.name == event.name && newer.id > event.id && newer.at < due {
      guard let context = context(newer) else { continue }
      let people = recipients.recipients(of: app, in: context)
      let concerned = [people.first].compactMap(\.self) + people.others
      if concerned.contains(where: { $0.owner == owner }) { return newer }
    }
    return nil
  }

  /// Returns the newer occurrence that replaces what waits for the time of its rule's `at`.
  mutating func replacement(of item: WaitingItem) -> RideEvent? {
    let entry = item.entry
    guard item.wait.isFirst || entry.kind == .escalation, isFirstPart, let due = entry.event.firesAt
    else { return nil }
    if let owner = entry.owner { return replacement(of: entry.event, for: owner, in: entry.app) }
    // An event to emit concerns the ride.
    return events.first { $0.name == entry.event.name && $0.id > entry.event.id && $0.at < due }
  }

  /// Ends a firing that a newer occurrence of its event replaces; no escalation follows.
  mutating func closeReplaced(_ entry: LedgerEntry, _ owner: OwnerID?, by newer: RideEvent) {
    if !isFirstPart { return }
    var entry = entry
    entry.owner = owner ?? entry.owner
    entry.end(.superseded, .superseded(by: newer.name))
    decision.items.append(Decision.Item(entry: entry, fate: .blocked))
  }
}

extension RuleTime {
  /// The error of an offset that the ride's row does not have.
  var missingOffset: RenderingError {
    guard case .attribute(let keys, _) = offset else { return .missing("at") }
    return .missing((["attributes"] + keys).joined(separator: "."))
  }
}
