/// Takes rides through time by the service's own decisions: what would be sent, and when.
///
/// The clock jumps from one due ride to the next. Every push is taken to be accepted at once, every
/// channel to be made, and no ride changes: the preview says what follows from how things stand.
package struct RideReplay: Sendable {
  private let configuration: EngineConfiguration
  private var views: [RideView]
  private var agenda: Heap<Due>

  /// Rides as they stand, all of them looked at first at `start`.
  package init(_ views: [RideView], by configuration: EngineConfiguration, from start: Timestamp) {
    self.views = views
    self.configuration = configuration
    agenda = Heap(views.indices.map { Due(due: start, ride: $0) })
  }

  /// What is decided about the next ride that falls due before an instant; nil where none does.
  ///
  /// Rides that fall due at once come in the order in which they were given.
  package mutating func next(before end: Timestamp) -> (now: Timestamp, decision: Decision)? {
    guard let entry = agenda.first, entry.due < end else { return nil }
    let (now, ride) = (entry.due, entry.ride)
    let decision = decide(views[ride], by: configuration, now: now)
    let accepted = decision.pushes.map { _ in PushOutcome.accepted }
    let settlement = decision.settled(accepted, now: now) { 0 }
    views[ride].memo = settlement.memo
    let consumed = Set(settlement.consumed)
    views[ride].events.removeAll { consumed.contains($0.id) }
    views[ride].cards.removeAll { card in
      settlement.gone.contains { $0.kind == .activity && $0.id == card.id }
    }
    views[ride].channels.removeAll { channel in
      settlement.gone.contains { $0.kind == .channel && $0.id == channel.id }
    }
    open(settlement.needs, ofRide: ride, at: now)
    if !settlement.needs.isEmpty, !settlement.isOver {
      agenda.replaceFirst(with: Due(due: now + .microseconds(1), ride: ride))
    } else if let due = settlement.nextDue, !settlement.isOver {
      // A microsecond at least, so that the clock always moves.
      agenda.replaceFirst(with: Due(due: max(due, now + .microseconds(1)), ride: ride))
    } else {
      _ = agenda.popFirst()
    }
    return (now, decision)
  }

  /// Channels are made as soon as they are needed.
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

/// A ride, by when it falls due.
private struct Due: Comparable, Sendable {
  var due: Timestamp
  var ride: Int

  static func < (left: Due, right: Due) -> Bool {
    (left.due, left.ride) < (right.due, right.ride)
  }
}
