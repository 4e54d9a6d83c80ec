import Base
import RideCore

/// The rides that this node holds: decided, with outcomes of pushes outstanding or not yet settled.
///
/// A ride is finished when its last push is; a slow answer delays only its own ride.
struct InFlight {
  var slots: [HeldRide?] = []
  private var freeSlots: [Int] = []
  private var finished: [HeldRide] = []
  var withdrawn = WithdrawnPushes()

  /// The number of rides held: those with pushes in flight and those that wait to be settled.
  private(set) var count = 0

  /// Whether the outcome of any push is outstanding.
  var hasOpen: Bool { openRides > 0 || !withdrawn.isEmpty }

  /// The number of rides with such pushes.
  private var openRides = 0

  /// Whether any ride waits to be settled.
  var hasFinished: Bool { !finished.isEmpty }

  /// The claims of all rides that have not been handed out to be settled.
  var claims: [RideClaim] { slots.compactMap { $0?.claim } + finished.map(\.claim) }

  /// Adds a decided ride; returns the first push to each recipient.
  ///
  /// - Parameters:
  ///   - deadline: the uptime until which the other pushes may follow.
  ///   - freshUntil: until when the phones that the decision read are relied on; nil for any time.
  ///   - times: where to record them; nil for a ride that is not recorded.
  mutating func add(
    _ claim: RideClaim, _ decision: Decision, claimNumber: UInt64, deadline: Duration,
    freshUntil: Timestamp? = nil, times: PassTimes? = nil
  ) -> [PushRequest] {
    count += 1
    var ride = HeldRide(claim, decision, claimNumber: claimNumber, deadline: deadline)
    ride.freshUntil = freshUntil
    ride.times = times
    if ride.open == 0 {
      finished.append(ride)
      return []
    }
    openRides += 1
    let first = ride.chain()
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
      slots[slot] = ride
    } else {
      slot = slots.count
      slots.append(ride)
    }
    return first.map { ride.request(slot: slot, index: $0) }
  }

  /// Returns the lane and recipient of the push with this ticket, and when it was sent, as uptime,
  /// later by the time in which the transport did not have it; nil if its ride is not in flight.
  func target(of ticket: UInt64) -> (lane: PushLane, owner: TokenOwner, sentAt: Duration?)? {
    guard let push = push(of: ticket) else { return nil }
    let ticket = Ticket(ticket)
    let sentAt = slots[ticket.slot].flatMap { ride in
      ride.sentAt(ticket.index).map { $0 + ride.held(ticket.index) }
    }
    return (push.lane, push.tokenOwner, sentAt)
  }

  /// Returns the request of the push with this ticket again; nil if its ride is not in flight.
  func request(of ticket: UInt64) -> PushRequest? {
    if push(of: ticket) == nil { return nil }
    let ticket = Ticket(ticket)
    return slots[ticket.slot]?.request(slot: ticket.slot, index: ticket.index)
  }

  /// Returns the push with this ticket; nil if its ride is not in flight.
  func push(of ticket: UInt64) -> PlannedPush? {
    let ticket = Ticket(ticket)
    guard slots.indices.contains(ticket.slot), let pushes = slots[ticket.slot]?.decision.pushes,
      pushes.indices.contains(ticket.index)
    else { return nil }
    return pushes[ticket.index]
  }

  /// Records outcomes of pushes; returns the pushes that may follow them.
  ///
  /// A report that matches no open push is ignored.
  ///
  /// - Parameters:
  ///   - uptime: the engine's uptime; nil if no further push may be sent.
  ///   - answered: when the answers came, in the engine's uptime.
  mutating func record(
    _ reports: [PushReport], at uptime: Duration?, answered: Duration = .zero
  ) -> [PushRequest] {
    var next: [PushRequest] = []
    for report in reports {
      let ticket = Ticket(report.ticket)
      let (slot, index) = (ticket.slot, ticket.index)
      guard slots.indices.contains(slot), slots[slot]?.outcomes.indices.contains(index) == true,
        slots[slot]?.outcomes[index] == nil
      else { continue }
      slots[slot]?.outcomes[index] = report.outcome
      if let id = report.uniqueID { slots[slot]?.decision.pushes[index].entry.uniqueID = id }
      slots[slot]?.open -= 1
      slots[slot]?.times?.answer(index, at: answered)
      if let request = follow(slot, index, report.outcome, at: uptime) { next.append(request) }
      finish(slot)
    }
    return next
  }

  /// Returns the next push to the same recipient if it may be sent now.
  ///
  /// If a push is to be retried, those after it stay queued behind it: a recipient receives its
  /// pushes in order.
  private mutating func follow(
    _ slot: Int, _ index: Int, _ outcome: PushOutcome, at uptime: Duration?
  ) -> PushRequest? {
    guard slots[slot]?.followers.isEmpty == false, let ride = slots[slot],
      let follower = ride.followers[index]
    else { return nil }
    let isSettled = ride.decision.pushes[index].isSettled(by: outcome)
    if isSettled, let uptime, uptime < ride.deadline {
      slots[slot]?.times?.follow(follower, at: uptime)
      return ride.request(slot: slot, index: follower)
    }
    var held: Int? = follower
    while let index = held {
      slots[slot]?.outcomes[index] = .unsent(.queuedBehind)
      slots[slot]?.open -= 1
      held = ride.followers[index]
    }
    return nil
  }

  private mutating func finish(_ slot: Int) {
    guard slots[slot]?.open == 0, let ride = slots[slot].take() else { return }
    openRides -= 1
    free(slot)
    finished.append(ride)
  }

  /// Lets another ride use a slot, unless its ride is in flight or the transport has pushes of it.
  mutating func free(_ slot: Int) {
    if slots[slot] == nil, !withdrawn.contains(slot: slot) { freeSlots.append(slot) }
  }

  /// Hands out at most `limit` finished rides; they count as held until `settled` is called.
  mutating func takeFinished(atMost limit: Int) -> [HeldRide] {
    let batch = Array(finished.prefix(limit))
    finished.removeFirst(batch.count)
    return batch
  }

  /// Records that rides are no longer held: they were settled, or their lease is lost.
  mutating func settled(_ rides: Int) {
    count -= rides
  }

  /// Frees the memory of rides that were held before, if none is held now.
  mutating func releaseUnused() {
    // A slot of a withdrawn push must not be used again before the transport has reported it.
    guard count == 0, !hasOpen, !hasFinished else { return }
    slots = []
    freeSlots = []
    finished = []
  }
}
