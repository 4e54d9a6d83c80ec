/// Takes rides through time with the service's own decisions: what would be sent, and when.
///
/// The clock jumps from one due ride to the next. Every push is assumed to be accepted at once,
/// every channel to be created, and no ride changes: the preview shows what follows from the
/// present state.
package struct RideReplay: Sendable {
  private let configuration: EngineConfiguration
  private var views: [RideView]
  private var agenda: Heap<Due>
  /// What `at-most` counts, over all rides.
  private var permits: PermitBook

  /// Creates a replay of rides in their present state, all of them due first at `start`.
  ///
  /// - Parameter permits: what was sent before.
  package init(
    _ views: [RideView], by configuration: EngineConfiguration, from start: Timestamp,
    permits: PermitBook = PermitBook()
  ) {
    self.views = views
    self.permits = permits
    self.configuration = configuration
    agenda = Heap(views.indices.map { Due(due: start, ride: $0) })
  }

  /// Returns the decision on the next ride that falls due before an instant; nil if there is none.
  ///
  /// Rides that are due at the same time come in the order in which they were given.
  package mutating func next(before end: Timestamp) -> (now: Timestamp, decision: Decision)? {
    guard let entry = agenda.first, entry.due < end else { return nil }
    let (now, ride) = (entry.due, entry.ride)
    let decision = decide(views[ride], by: configuration, now: now)
    let accepted = decision.pushes.map { _ in PushOutcome.accepted }
    let settlement = decision.settled(accepted, now: now) { 0 }
    views[ride].apply(settlement)
    if !settlement.permits.isEmpty {
      permits.settle(settlement.permits, at: now)
      views[ride].permits = permits.permits(of: views[ride])
    }
    open(settlement.needs, ofRide: ride, at: now)
    if !settlement.needs.isEmpty, !settlement.isOver {
      agenda.replaceFirst(with: Due(due: now + .microseconds(1), ride: ride))
    } else if !settlement.permits.requests.isEmpty {
      // The permits are there, and the pushes leave in the same instant.
      agenda.replaceFirst(with: Due(due: now, ride: ride))
    } else if let due = settlement.nextDue, !settlement.isOver {
      // At least a microsecond later, so that the clock always advances.
      agenda.replaceFirst(with: Due(due: max(due, now + .microseconds(1)), ride: ride))
    } else {
      _ = agenda.popFirst()
    }
    return (now, decision)
  }

  /// Creates the channels that a ride needs, at once.
  private mutating func open(_ needs: [ChannelNeed], ofRide ride: Int, at now: Timestamp) {
    for need in needs {
      guard let id = ChannelID("preview") else { continue }
      views[ride].channels.append(
        RideChannel(
          id: Int64.max, app: need.app, environment: configuration.defaultEnvironment,
          storage: need.storage, createdAt: now, standing: .open(id)))
    }
  }
}

extension RideView {
  /// Applies a settlement as the database does, so that the view is what the next claim would read.
  package mutating func apply(_ settlement: Settlement) {
    let consumed = Set(settlement.consumed)
    events.removeAll { consumed.contains($0.key) }
    append(settlement.emits, after: settlement)
    memo = settlement.isOver ? Memo() : settlement.memo
    for token in settlement.invalidations {
      switch token.kind {
      case .phone: phones.removeAll { $0.id == token.id }
      case .start: startTokens.removeAll { $0.id == token.id }
      case .channel:
        for index in channels.indices where channels[index].id == token.id {
          channels[index].standing =
            RideChannel.isOver(endedReason: token.reason) ? .over : .closed
        }
      // An ended card is removed; one whose token is gone stays, so that no other replaces it.
      case .activity where token.since == nil: cards.removeAll { $0.target == .activity(token.id) }
      case .activity:
        for index in cards.indices where cards[index].target == .activity(token.id) {
          cards[index].isGone = true
        }
      }
    }
  }
}

extension RideView {
  /// Adds emitted events, with IDs above those of all events that the ride has had.
  private mutating func append(_ emits: [EmittedEvent], after settlement: Settlement) {
    if emits.isEmpty { return }
    let known =
      events.map(\.id) + settlement.consumed.map(\.id)
      + (memo.retries + settlement.memo.retries).map(\.entry.event.id)
      + settlement.entries.map(\.event.id)
    lastEmitted = max(lastEmitted, known.max() ?? 0)
    let people = ride.map { EventPeople(customer: $0.customerID, driver: $0.driverID) }
    for emitted in emits where lastEmitted < .max {
      lastEmitted += 1
      var event = RideEvent(
        id: lastEmitted, name: emitted.name, at: emitted.at, data: emitted.data)
      event.people = people
      events.append(event)
    }
  }
}

/// A ride and the time when it is due.
private struct Due: Comparable, Sendable {
  var due: Timestamp
  var ride: Int

  static func < (left: Due, right: Due) -> Bool {
    (left.due, left.ride) < (right.due, right.ride)
  }
}
