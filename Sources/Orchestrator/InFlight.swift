import Base
import RideCore

/// The rides that this node holds: decided, with outcomes of pushes outstanding or not yet settled.
///
/// A ride is finished when its last push is; a slow answer delays only its own ride.
struct InFlight {
  private struct Flight {
    var claim: RideClaim
    var decision: Decision
    var claimNumber: UInt64
    var outcomes: [PushOutcome?]
    var open: Int
    /// For each push, the next one to the same recipient; empty if each recipient has one push.
    var followers: [Int?]
    /// The engine's uptime after which followers may not be sent.
    var deadline: Duration
    /// The urgency of the ride: the earliest end of validity among its pushes.
    var validUntil: Timestamp?
    /// Until when the phones that the decision read are relied on; nil for any time.
    var freshUntil: Timestamp?
    /// Only of a recorded ride.
    var times: PassTimes?

    func request(slot: Int, index: Int) -> PushRequest {
      let ticket = Ticket(slot: slot, index: index)
      var request = decision.pushes[index].request(ticket: ticket.value)
      request.validUntil = validUntil
      request.freshUntil = freshUntil
      return request
    }
  }

  /// A ride whose pushes have all ended.
  struct Finished {
    var claim: RideClaim
    var decision: Decision
    /// The number of the claim that returned the ride.
    var claimNumber: UInt64
    var outcomes: [PushOutcome]
    /// Only of a recorded ride.
    var times: PassTimes?
  }

  private var slots: [Flight?] = []
  private var freeSlots: [Int] = []
  private var finished: [Finished] = []

  /// The number of rides held: those with pushes in flight and those that wait to be settled.
  private(set) var count = 0

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
    if decision.pushes.isEmpty {
      finished.append(
        Finished(
          claim: claim, decision: decision, claimNumber: claimNumber, outcomes: [], times: times))
      return []
    }
    let chains = RecipientChains(decision.pushes)
    let flight = Flight(
      claim: claim, decision: decision, claimNumber: claimNumber,
      outcomes: Array(repeating: nil, count: decision.pushes.count), open: decision.pushes.count,
      followers: chains.followers, deadline: deadline,
      validUntil: decision.pushes.map(\.validUntil).min(), freshUntil: freshUntil, times: times)
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
      slots[slot] = flight
    } else {
      slot = slots.count
      slots.append(flight)
    }
    return chains.first.map { flight.request(slot: slot, index: $0) }
  }

  /// Returns the lane and recipient of the push with this ticket; nil if its ride is not in flight.
  func target(of ticket: UInt64) -> (lane: PushLane, owner: TokenOwner)? {
    push(of: ticket).map { ($0.lane, $0.tokenOwner) }
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
  /// If a push is to be retried, those after it are held back: a recipient receives its pushes in
  /// order.
  private mutating func follow(
    _ slot: Int, _ index: Int, _ outcome: PushOutcome, at uptime: Duration?
  ) -> PushRequest? {
    guard let flight = slots[slot], !flight.followers.isEmpty,
      let follower = flight.followers[index]
    else { return nil }
    let isSettled = flight.decision.pushes[index].isSettled(by: outcome)
    if isSettled, let uptime, uptime < flight.deadline {
      slots[slot]?.times?.follow(follower, at: uptime)
      return flight.request(slot: slot, index: follower)
    }
    var held: Int? = follower
    while let index = held {
      slots[slot]?.outcomes[index] = .unsent(.heldBack)
      slots[slot]?.open -= 1
      held = flight.followers[index]
    }
    return nil
  }

  private mutating func finish(_ slot: Int) {
    guard slots[slot]?.open == 0, let flight = slots[slot] else { return }
    slots[slot] = nil
    freeSlots.append(slot)
    finished.append(
      Finished(
        claim: flight.claim, decision: flight.decision, claimNumber: flight.claimNumber,
        outcomes: flight.outcomes.compactMap { $0 }, times: flight.times))
  }

  /// Hands out at most `limit` finished rides; they count as held until `settled` is called.
  mutating func takeFinished(atMost limit: Int) -> [Finished] {
    let batch = Array(finished.prefix(limit))
    finished.removeFirst(batch.count)
    return batch
  }

  /// Records that rides are no longer held: they were settled, or their lease is lost.
  mutating func settled(_ rides: Int) {
    count -= rides
  }
}

/// The place of a push in flight: its ride's slot and its index among the ride's pushes.
///
/// Both are packed into the number that the transport returns, so that no lookup table is needed.
private struct Ticket {
  var slot: Int
  var index: Int

  init(slot: Int, index: Int) {
    self.slot = slot
    self.index = index
  }

  init(_ value: UInt64) {
    slot = Int(truncatingIfNeeded: value >> 32)
    index = Int(truncatingIfNeeded: value & 0xffff_ffff)
  }

  var value: UInt64 { UInt64(slot) << 32 | UInt64(index) }
}

/// The pushes of a ride by recipient: those to one are sent one after another, in order.
private struct RecipientChains {
  /// The first push to each recipient, and all pushes without one.
  private(set) var first: [Int] = []
  /// For each push, the next one to its recipient; empty if there is no such push.
  private(set) var followers: [Int?] = []

  init(_ pushes: [PlannedPush]) {
    first.reserveCapacity(pushes.count)
    if pushes.count == 1 {
      first.append(0)
      return
    }
    var last: [LedgerEntry.Recipient: Int] = [:]
    for (index, push) in pushes.enumerated() {
      guard let recipient = push.entry.recipient,
        let earlier = last.updateValue(index, forKey: recipient)
      else {
        first.append(index)
        continue
      }
      if followers.isEmpty { followers = Array(repeating: nil, count: pushes.count) }
      followers[earlier] = index
    }
  }
}
