import RideCore

// Pushes of silent lanes: when they were sent, and which end before the transport reports them.
extension InFlight {
  /// A push that was handed to the transport and has no outcome.
  struct OpenPush: Equatable {
    var ticket: UInt64
    var lane: PushLane
    /// When it was handed to the transport, as uptime.
    var sentAt: Duration
    /// How long this node had it in between, because the transport returned it.
    var held: Duration = .zero
    /// Whether its ride waits for it no longer.
    var isWithdrawn = false
  }

  /// Records that pushes were handed to the transport.
  mutating func sent(_ requests: [PushRequest], at uptime: Duration) {
    for request in requests {
      let ticket = Ticket(request.ticket)
      if slots.indices.contains(ticket.slot) { slots[ticket.slot]?.sent(ticket.index, at: uptime) }
    }
  }

  /// Records that the transport had no stream for a push.
  mutating func returned(_ ticket: UInt64, at uptime: Duration) {
    let ticket = Ticket(ticket)
    if slots.indices.contains(ticket.slot) {
      slots[ticket.slot]?.returned(ticket.index, at: uptime)
    }
  }

  /// The pushes that the transport has: they were handed to it and have no outcome.
  var openPushes: [OpenPush] {
    var open = withdrawn.all.map {
      OpenPush(ticket: .max, lane: $0.lane, sentAt: $0.sentAt, isWithdrawn: true)
    }
    for slot in slots.indices {
      guard let ride = slots[slot] else { continue }
      for index in ride.outcomes.indices where ride.outcomes[index] == nil {
        guard let sentAt = ride.sentAt(index), !ride.isReturned(index) else { continue }
        open.append(
          OpenPush(
            ticket: Ticket(slot: slot, index: index).value, lane: ride.decision.pushes[index].lane,
            sentAt: sentAt, held: ride.held(index)))
      }
    }
    return open
  }

  /// Whether the ride of a push has recipients that another service reaches, which would wait for
  /// this push.
  func isAwaitedByOthers(_ ticket: UInt64) -> Bool {
    guard let push = push(of: ticket) else { return false }
    return slots[Ticket(ticket).slot]?.hasOthers(than: push.network) ?? false
  }

  /// Ends pushes of silent lanes for which recipients of another service wait, as unanswered.
  ///
  /// Those that may have no stream yet stay: the transport returns them soon. The transport reports
  /// all of them later, for `removeWithdrawn`.
  ///
  /// - Parameter handsOver: Whether another node reaches the service: then it repeats all pushes that
  ///   may be sent again.
  mutating func withdraw(_ pushes: [OpenPush], handsOver: Bool = false, at uptime: Duration) {
    var reports: [PushReport] = []
    for push in pushes {
      let ticket = Ticket(push.ticket)
      guard !push.isWithdrawn,
        isAwaitedByOthers(push.ticket) || handsOver && mayRepeat(push.ticket),
        slots[ticket.slot]?.isOnStream(ticket.index, at: uptime) == true
      else { continue }
      withdrawn.add(push.ticket, .init(lane: push.lane, sentAt: push.sentAt + push.held))
      reports.append(PushReport(ticket: push.ticket, outcome: .unanswered(.timeout)))
    }
    _ = record(reports, at: nil, answered: uptime)
  }

  private func mayRepeat(_ ticket: UInt64) -> Bool {
    push(of: ticket).map { !$0.isSettled(by: .unanswered(.timeout)) } ?? false
  }

  /// Removes a push that its ride waits for no longer, as the transport has reported it; nil if it
  /// is none of these.
  mutating func removeWithdrawn(_ ticket: UInt64) -> WithdrawnPushes.Push? {
    guard let push = withdrawn.remove(ticket) else { return nil }
    free(Ticket(ticket).slot)
    return push
  }
}
