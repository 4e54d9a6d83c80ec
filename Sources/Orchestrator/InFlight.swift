import RideCore

/// The rides that this node holds: decided, and waiting for the outcomes of their pushes.
///
/// A ride is finished when its last push is; one slow answer holds up its own ride and no other.
struct InFlight {
  private struct Flight {
    var claim: RideClaim
    var decision: Decision
    var look: UInt64
    var outcomes: [PushOutcome?]
    var open: Int
  }

  /// A ride whose pushes have all ended.
  struct Finished {
    var claim: RideClaim
    var decision: Decision
    /// The number of the look that found it.
    var look: UInt64
    var outcomes: [PushOutcome]
  }

  private var slots: [Flight?] = []
  private var freeSlots: [Int] = []
  private var finished: [Finished] = []

  /// How many rides are held: those that wait for outcomes and those that wait to be settled.
  private(set) var count = 0

  /// Whether any ride waits to be settled.
  var hasFinished: Bool { !finished.isEmpty }

  /// The claims of all rides that are not handed out to be settled.
  var claims: [RideClaim] { slots.compactMap { $0?.claim } + finished.map(\.claim) }

  /// Takes a decided ride; returns its pushes for the transport.
  mutating func add(_ claim: RideClaim, _ decision: Decision, look: UInt64) -> [PushRequest] {
    count += 1
    if decision.pushes.isEmpty {
      finished.append(Finished(claim: claim, decision: decision, look: look, outcomes: []))
      return []
    }
    let flight = Flight(
      claim: claim, decision: decision, look: look,
      outcomes: Array(repeating: nil, count: decision.pushes.count), open: decision.pushes.count)
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
      slots[slot] = flight
    } else {
      slot = slots.count
      slots.append(flight)
    }
    // A ticket is the ride's slot and the push's place in it: no table to look it up in.
    return decision.pushes.enumerated().map { index, push in
      push.request(ticket: UInt64(slot) << 32 | UInt64(index))
    }
  }

  /// The lane of the push that a ticket names, while it is in flight.
  func lane(of ticket: UInt64) -> Lanes.Lane? {
    let slot = Int(truncatingIfNeeded: ticket >> 32)
    let index = Int(truncatingIfNeeded: ticket & 0xffff_ffff)
    guard slots.indices.contains(slot), let pushes = slots[slot]?.decision.pushes,
      pushes.indices.contains(index)
    else { return nil }
    return Lanes.Lane(
      environment: pushes[index].environment, app: pushes[index].entry.app.rawValue)
  }

  /// Notes how pushes ended. A report that fits no open push is left aside.
  mutating func note(_ reports: [PushReport]) {
    for report in reports {
      let slot = Int(truncatingIfNeeded: report.ticket >> 32)
      let index = Int(truncatingIfNeeded: report.ticket & 0xffff_ffff)
      guard slots.indices.contains(slot), slots[slot]?.outcomes.indices.contains(index) == true,
        slots[slot]?.outcomes[index] == nil
      else { continue }
      slots[slot]?.outcomes[index] = report.outcome
      slots[slot]?.open -= 1
      guard slots[slot]?.open == 0, let flight = slots[slot] else { continue }
      slots[slot] = nil
      freeSlots.append(slot)
      finished.append(
        Finished(
          claim: flight.claim, decision: flight.decision, look: flight.look,
          outcomes: flight.outcomes.compactMap { $0 }))
    }
  }

  /// Hands out finished rides, at most this many; they count as held until `settled`.
  mutating func takeFinished(atMost limit: Int) -> [Finished] {
    let batch = Array(finished.prefix(limit))
    finished.removeFirst(batch.count)
    return batch
  }

  /// Rides are settled, or their lease is lost: they are not held any more.
  mutating func settled(_ rides: Int) {
    count -= rides
  }
}
