// Events that the rules of a ride emit, and their limit: rules that fire each other would never end.

package import Base

/// The events that a ride's rules have emitted lately.
package struct EmitTally: Hashable, Sendable {
  /// When they began to be counted.
  package var since: Timestamp
  package var count = 0
  /// Whether they are those after the ride's end.
  package var isAfterEnd = false

  package init(since: Timestamp) { self.since = since }

  /// The number of events that a ride may emit within `period`.
  ///
  /// Offers to some hundred drivers within minutes are below it.
  package static let limit = 200
  package static let period: Duration = .seconds(600)
  /// The number of events that a ride may emit after its end, however late: no period begins anew, so
  /// that a circle ends.
  package static let limitAfterEnd = 100

  /// Counts one more event; returns the reason if the ride may not emit it.
  mutating func admit() -> LedgerReason? {
    let limit = isAfterEnd ? Self.limitAfterEnd : Self.limit
    if count < limit {
      count += 1
      return nil
    }
    let time = isAfterEnd ? "after the ride's end" : "within \(Self.period.rideText)"
    return LedgerReason(
      .emitLimit, "the ride's rules emitted \(limit) events \(time): do they fire each other?")
  }
}

extension Decider {
  /// Fires a rule that emits an event: once for its cause, in the first part of a pass.
  mutating func fireEmit(
    _ rule: CompiledRule, _ entry: LedgerEntry, _ context: TemplateContext
  ) {
    if !isFirstPart { return }
    if let due = awaitedFiring(of: entry.event) {
      var entry = entry
      // A condition about a person is decided later, for the same one.
      if rule.condition?.scope == .person {
        entry.owner = recipients.recipients(of: rule.app, in: context).first?.owner
      }
      return wait(entry, .until(due), .waiting(until: due))
    }
    emit(rule, entry, context)
  }

  /// Emits the event of a rule, if the ride is in the rule's states.
  mutating func emit(_ rule: CompiledRule, _ entry: LedgerEntry, _ context: TemplateContext) {
    guard let event = rule.emittedEvent else { return }
    if let reason = rule.leftStates(context.ride.state) { return block(entry, reason) }
    if let pause = pause(of: entry) { return wait(entry, of: rule, for: pause) }
    emit(
      EmittedEvent(name: event, data: entry.event.data, at: now), for: entry, .emitted(event))
  }

  /// Emits an event of the ride and ends the entry of its rule; one too many is not emitted.
  mutating func emit(_ event: EmittedEvent, for entry: LedgerEntry, _ reason: LedgerReason) {
    var tally = emitTally
    let refusal = tally.admit()
    decision.emitTally = tally
    if let refusal { return close(entry, .suppressed, refusal) }
    var event = event
    if decision.isTraced { event.trace = decision.traces[entry.event.key]?.parent }
    decision.settlement.emits.append(event)
    close(entry, .accepted, reason)
  }

  /// The ride's tally, begun again after each period, and once when the ride ends.
  private var emitTally: EmitTally {
    let isAfterEnd = decision.view.ride != nil && !decision.isActive
    if let known = decision.emitTally, known.isAfterEnd == isAfterEnd,
      isAfterEnd || known.isCurrent(at: now)
    {
      return known
    }
    var tally = EmitTally(since: now)
    tally.isAfterEnd = isAfterEnd
    return tally
  }
}

extension EmitTally {
  fileprivate func isCurrent(at now: Timestamp) -> Bool { now < since + Self.period }
}

extension Settlement {
  /// Keeps the tally while anything can follow, and no longer than it counts.
  mutating func keep(_ tally: EmitTally?, now: Timestamp) {
    guard let tally, nextDue != nil, tally.isAfterEnd || tally.isCurrent(at: now) else { return }
    memo.emitTally = tally
  }
}

extension EmitTally: StoredObject {
  package static var blank: EmitTally { EmitTally(since: Timestamp(microseconds: 0)) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("since", &since)
    try fields.field("count", &count)
    try fields.field("isAfterEnd", &isAfterEnd)
  }
}
