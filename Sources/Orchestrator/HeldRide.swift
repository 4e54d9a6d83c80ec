import Base
import RideCore

/// A ride that this node holds, from the claim that returned it until it is settled.
struct HeldRide: Sendable {
  var claim: RideClaim
  /// The number of the claim that returned the ride.
  var claimNumber: UInt64
  /// Its settlement is complete once all pushes have outcomes.
  var decision: Decision
  /// The outcome of each push; nil while it is in flight.
  var outcomes: [PushOutcome?]
  /// The number of pushes without an outcome.
  var open: Int
  /// For each push, the next one to the same recipient; empty if each recipient has one push.
  private(set) var followers: [Int?] = []
  /// The engine's uptime after which followers may not be sent.
  var deadline: Duration
  /// Until when the phones that the decision read are relied on; nil for any time.
  var freshUntil: Timestamp?
  /// When the first pushes were handed to the transport, as uptime; nil before.
  private var sentAt: Duration?
  /// The same of each push of a chain; empty if each recipient has one push.
  private var chainSentAt: [Duration?] = []
  /// The pushes that the transport returned because they had no stream.
  private var returns: [Int: Return] = [:]
  /// Only of a recorded or traced ride.
  var times: PassTimes?
  /// Of a traced ride, once its settlement is complete.
  private(set) var spans: [TraceSpan] = []
  /// The urgency of the ride: the earliest end of validity among its pushes.
  private var validUntil: Timestamp

  init(_ claim: RideClaim, _ decision: Decision, claimNumber: UInt64, deadline: Duration) {
    self.claim = claim
    self.claimNumber = claimNumber
    self.decision = decision
    self.deadline = deadline
    open = decision.pushes.count
    outcomes = Array(repeating: nil, count: open)
    validUntil = decision.pushes.lazy.map(\.validUntil).min() ?? Timestamp(microseconds: .max)
  }

  /// The size of the ride's JSON in bytes, which is freed when the ride is released.
  var textBytes: Int { decision.view.textBytes }

  /// Returns the request of a push, with the ride's slot in its ticket.
  func request(slot: Int, index: Int) -> PushRequest {
    var request = decision.pushes[index].request
    request.ticket = Ticket(slot: slot, index: index).value
    request.validUntil = validUntil
    request.freshUntil = freshUntil
    return request
  }

  /// Chains the pushes to each recipient, which are sent one after another, in order; returns the
  /// first to each, and all pushes without a recipient.
  mutating func chain() -> [Int] {
    let pushes = decision.pushes
    if pushes.count == 1 { return [0] }
    var first: [Int] = []
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
    return first
  }

  /// Records that a push was handed to the transport.
  mutating func sent(_ index: Int, at uptime: Duration) {
    if !returns.isEmpty { returns[index]?.sent(at: uptime) }
    if followers.isEmpty {
      sentAt = sentAt ?? uptime
    } else {
      if chainSentAt.isEmpty { chainSentAt = Array(repeating: nil, count: outcomes.count) }
      chainSentAt[index] = chainSentAt[index] ?? uptime
    }
  }

  /// Records that the transport had no stream for a push.
  mutating func returned(_ index: Int, at uptime: Duration) {
    returns[index] = Return(at: uptime, held: held(index))
  }

  /// Whether the transport has returned a push and does not have it again.
  func isReturned(_ index: Int) -> Bool { returns[index].map { $0.sentAt == nil } ?? false }

  /// How long this node had a push that the transport had returned.
  func held(_ index: Int) -> Duration { returns.isEmpty ? .zero : returns[index]?.held ?? .zero }

  /// A push that the transport returned.
  private struct Return {
    var at: Duration
    /// How long this node had the push, after all of its returns.
    var held: Duration
    /// When it was handed to the transport again, as uptime; nil while this node has it.
    var sentAt: Duration?

    mutating func sent(at uptime: Duration) {
      if sentAt == nil { held += uptime - at }
      sentAt = uptime
    }
  }

  /// When a push was first handed to the transport, as uptime; nil before.
  func sentAt(_ index: Int) -> Duration? {
    if followers.isEmpty { return sentAt }
    return chainSentAt.isEmpty ? nil : chainSentAt[index]
  }

  /// Whether a push is on a stream: otherwise the transport would have returned it by now.
  func isOnStream(_ index: Int, at uptime: Duration) -> Bool {
    let last = returns[index].map(\.sentAt) ?? sentAt(index)
    return last.map { uptime - $0 >= Self.returnTime } ?? false
  }

  /// How long the transport may keep a push that has no stream, with time to spare.
  private static let returnTime = PushRequest.freshness * 3 / 2

  /// Whether the ride has recipients that only another service than this network's reaches.
  func hasOthers(than network: PushNetwork) -> Bool {
    // The network of a post says nothing about its receiver.
    let isOther = { (push: PlannedPush) in
      push.network.service != network.service && !push.lane.isOfPosts
    }
    if decision.pushes.contains(where: isOther) { return true }
    let view = decision.view
    if network != .android { return view.phones.contains { $0.platform == .android } }
    return view.phones.contains { $0.platform == .ios } || !view.startTokens.isEmpty
      || !view.channels.isEmpty || view.cards.contains { !$0.target.isPhone }
  }

  /// Completes the settlement with the outcomes of the pushes, which have all ended; returns these.
  mutating func settle(at now: Timestamp, doubtful: Set<PushLane>) -> [PushOutcome] {
    let outcomes = outcomes.compactMap(\.self)
    decision.settlement = decision.settled(
      outcomes, now: now, doubtful: doubtful, jitter: { Double.random(in: 0..<1) })
    if let times {
      decision.settlement.recorded = RecordedPass(
        decision, outcomes, decision.settlement, times, now: now)
      if decision.isTraced { spans = SpanBuilder.spans(of: decision, outcomes, times, now: now) }
    }
    return outcomes
  }
}

/// Where a push in flight is: its ride's slot and its index among the ride's pushes.
///
/// Both are packed into the number that the transport returns, so that no lookup table is needed.
struct Ticket {
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
