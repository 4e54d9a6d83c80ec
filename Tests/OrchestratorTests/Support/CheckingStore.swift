import Base
import RideCore
import Synchronization
import Timeline

/// Rides in memory, with the rules of the real agenda: a lease, a fence, events consumed by ID.
final class CheckingStore: RideStore {
  struct State {
    var now = Timestamp(epochSeconds: 1_800_000_000)
    /// The database's clock, which each claim reads; nil for one that the test sets.
    var clock: (@Sendable () -> Timestamp)?
    /// Rides with their own phones; any other ride is created when an event names it.
    var views: [RideID: RideView] = [:]
    var nextEvent: Int64 = 0
    var nextFence: Int64 = 0
    var events: [RideID: [RideEvent]] = [:]
    var memos: [RideID: Memo] = [:]
    var due: [RideID: Timestamp] = [:]
    var holders: [RideID: Int64] = [:]
    var settled: [Int64: Int] = [:]
    var recorded: [RideID: RecordedPass] = [:]
    var entries: [LedgerEntry] = []
    var permits = PermitBook()
    var gone: [TokenInvalidation] = []
    var claims: [(rides: Int, limit: Int, asleep: Bool)] = []
    /// Whether producers notify a node that has claimed asleep.
    var notifies = false
    var mostHeld = 0
    var failures: [any Error] = []
    /// Why settling a ride fails; nil stands for the synthetic ride of a check.
    var refusal: @Sendable (_ ride: RideID?) -> StoreFailure? = { _ in nil }
    /// Rides whose agenda row another session has locked.
    var locked: Set<RideID> = []
    var parked: [RideID] = []
    var checks = 0
    var renewals: [[RideID]] = []
    /// Whose recipients were read again, in one list for each call; which of them are gone.
    var rereads: [[PushRecipient]] = []
    var changed: Set<Int64> = []
    /// What the other nodes report, and what this one has reported.
    var peers = NodePeers()
    var reaches: [NodeReach?] = []
    var endings = 0
    /// A countdown of journal calls: a call fails while the value is positive after its decrement.
    var journalFailures = 0
    /// Runs after a claim has found rides and before it returns them.
    var onClaim: @Sendable () -> Void = {}
    var waiters: [(@Sendable (State) -> Bool, CheckedContinuation<Void, Never>)] = []
  }

  struct Failure: Error {}

  let state = Mutex(State())

  /// Emits an event of a ride.
  func emit(_ ride: RideID) {
    state.withLock { state in
      state.nextEvent += 1
      let event = RideEvent(id: state.nextEvent, name: "driver_arrived", at: state.now)
      state.events[ride, default: []].append(event)
    }
  }

  /// Adds rides, all of them due at once.
  func add(_ views: [RideView], at now: Timestamp) {
    state.withLock { state in
      state.now = now
      for view in views {
        state.views[view.rideID] = view
        state.events[view.rideID] = view.events.isEmpty ? nil : view.events
        state.due[view.rideID] = now
      }
    }
  }

  /// Moves the clock to the next due ride before `end`; returns false if there is none.
  func advance(before end: Timestamp) -> Bool {
    state.withLock { state in
      guard let due = state.due.values.min(), due < end else { return false }
      state.now = max(state.now, due)
      return true
    }
  }

  /// Makes each of the next calls fail, `times` in all.
  func fail(_ times: Int) {
    state.withLock { $0.failures = Array(repeating: Failure(), count: times) }
  }

  /// Moves the database's clock.
  func advance(by duration: Duration) {
    state.withLock { $0.now = $0.now + duration }
  }

  /// Removes the holders of all rides, as if their leases had ended.
  func stealLeases() {
    state.withLock { $0.holders = [:] }
  }

  /// Returns once the condition holds.
  ///
  /// The condition is checked after each claim, journal, renewal, settlement, check and park call.
  func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMet = state.withLock { state in
        if condition(state) { return true }
        state.waiters.append((condition, continuation))
        return false
      }
      if isMet { continuation.resume() }
    }
  }

  func adopt(_ rules: RuleSet) async throws -> Int { 0 }

  func claim(limit: Int, asleep: Bool) async throws -> Claim {
    try failIfWanted()
    let claim = state.withLock { state in
      if let clock = state.clock { state.now = clock() }
      let ready = Set(state.events.keys).union(state.due.filter { $0.value <= state.now }.keys)
      let free = ready.filter { state.holders[$0] == nil }.sorted().prefix(limit)
      let rides = free.map { ride in
        state.nextFence += 1
        state.holders[ride] = state.nextFence
        return (
          claim: RideClaim(rideID: ride, fence: state.nextFence),
          view: Self.view(ride, state)
        )
      }
      state.claims.append((rides.count, limit, asleep))
      state.mostHeld = max(state.mostHeld, state.holders.count)
      let due = state.due.filter { state.holders[$0.key] == nil }.values.min()
      var claim = Claim(now: state.now, nextDue: due, rides: rides)
      claim.isNotified = asleep && state.notifies
      return claim
    }
    resumeWaiters()
    if !claim.rides.isEmpty { state.withLock { $0.onClaim }() }
    return claim
  }

  func claimLost() async throws -> Claim {
    Claim(now: state.withLock { $0.now }, nextDue: nil, rides: [])
  }

  func recordDeciding(_ rides: [RideClaim]) async throws {}

  func recordDecided(_ rides: [RideClaim]) async throws -> [RideID] { [] }

  func settle(_ settlements: [ClaimedSettlement]) async throws -> SettleResult {
    defer { resumeWaiters() }
    try failIfWanted()
    let refusal = state.withLock { $0.refusal }
    if let failure = settlements.lazy.compactMap({ refusal($0.claim.rideID) }).first {
      throw failure
    }
    return state.withLock { state in
      var result = SettleResult()
      for settlement in settlements {
        if state.locked.contains(settlement.claim.rideID) {
          result.locked.append(settlement.claim)
        } else if !Self.settle(settlement, &state) {
          result.lost.append(settlement.claim)
        }
      }
      return result
    }
  }

  func checkSettling() async throws {
    defer { resumeWaiters() }
    try failIfWanted()
    let refusal = state.withLock { state in
      state.checks += 1
      return state.refusal
    }
    if let failure = refusal(nil) { throw failure }
  }

  func renew(_ rides: [RideClaim]) async throws -> [RideClaim] {
    defer { resumeWaiters() }
    return state.withLock { state in
      state.renewals.append(rides.map(\.rideID))
      return rides.filter { state.holders[$0.rideID] != $0.fence }
    }
  }

  func unchanged(_ recipients: [PushRecipient]) async throws -> Set<PushRecipient> {
    defer { resumeWaiters() }
    try failIfWanted()
    // Pushes that are outdated again and again must leave a thread to other tests.
    try await Task.sleep(for: .milliseconds(1))  // poll: there is no event
    return state.withLock { state in
      state.rereads.append(recipients)
      return Set(recipients.filter { !state.changed.contains($0.id) })
    }
  }

  func report(_ reach: NodeReach?) async throws -> NodePeers {
    defer { resumeWaiters() }
    return state.withLock { state in
      state.reaches.append(reach)
      return state.peers
    }
  }

  func endCalls(within limit: Duration) {
    state.withLock { $0.endings += 1 }
  }

  func park(_ ride: RideClaim, reason: String) async throws {
    defer { resumeWaiters() }
    try failIfWanted()
    state.withLock { state in
      state.parked.append(ride.rideID)
      state.holders[ride.rideID] = nil
      state.events[ride.rideID] = nil
    }
  }

  func journal(_ memos: [ClaimedMemo]) async throws -> [RideID] {
    defer { resumeWaiters() }
    let fails = state.withLock { state in
      guard state.journalFailures > 0 else { return false }
      state.journalFailures -= 1
      return true
    }
    if fails { throw Failure() }
    return state.withLock { state in
      memos.filter { memo in
        guard state.holders[memo.claim.rideID] == memo.claim.fence else { return true }
        state.memos[memo.claim.rideID] = memo.memo
        return false
      }.map(\.claim.rideID)
    }
  }

  func grant(_ rides: [ClaimedRequests]) async throws -> GrantResult {
    defer { resumeWaiters() }
    try failIfWanted()
    return state.withLock { state in
      let holders = state.holders
      let isHeld = { (ride: ClaimedRequests) in holders[ride.claim.rideID] == ride.claim.fence }
      let requests = rides.filter(isHeld).flatMap(\.requests)
      let lost = rides.filter { !isHeld($0) }.map(\.claim.rideID)
      return GrantResult(refused: state.permits.refuse(requests, at: state.now), lost: lost)
    }
  }

  func release(_ rides: [RideClaim]) async throws {
    state.withLock { state in
      for ride in rides where state.holders[ride.rideID] == ride.fence {
        state.holders[ride.rideID] = nil
      }
    }
  }

  private static func view(_ ride: RideID, _ state: State) -> RideView {
    if var view = state.views[ride] {
      view.events = state.events[ride] ?? []
      view.memo = state.memos[ride] ?? Memo()
      // All apps report receipts, as a replay without data about them assumes.
      view.reporters = view.memo.escalationOwners
      return view
    }
    var row = Ride(id: ride, state: "driver_arrived")
    row.customerID = OwnerID(ride.text)
    let phone = Phone(id: 1, app: .customer, ownerID: OwnerID(ride.text), token: "aabb")
    return RideView(
      rideID: ride, ride: row, events: state.events[ride] ?? [], phones: [phone],
      memo: state.memos[ride] ?? Memo())
  }

  /// Returns false if another holder has the ride by now.
  private static func settle(_ settlement: ClaimedSettlement, _ state: inout State) -> Bool {
    let (ride, result) = (settlement.claim.rideID, settlement.settlement)
    guard state.holders[ride] == settlement.claim.fence else { return false }
    state.holders[ride] = nil
    state.recorded[ride] = result.recorded
    for event in result.consumed { state.settled[event.id, default: 0] += 1 }
    state.events[ride]?.removeAll { result.consumed.contains($0.key) }
    if !result.emits.isEmpty, var view = state.views[ride] {
      view.events = state.events[ride] ?? []
      view.memo = state.memos[ride] ?? Memo()
      view.apply(result)
      state.events[ride] = view.events
      state.views[ride] = view
    }
    if state.events[ride]?.isEmpty == true { state.events[ride] = nil }
    state.memos[ride] = result.memo.isEmpty ? nil : result.memo
    state.views[ride]?.cards.removeAll { card in
      result.invalidations.contains { $0.kind == .activity && .activity($0.id) == card.target }
    }
    state.permits.settle(result.permits, at: state.now)
    state.due[ride] = result.nextDue
    state.entries += result.entries
    state.gone += result.invalidations
    return true
  }

  private func failIfWanted() throws {
    let failure = state.withLock { $0.failures.popLast() }
    if let failure { throw failure }
  }

  private func resumeWaiters() {
    let ready = state.withLock { state in
      let ready = state.waiters.filter { $0.0(state) }
      let current = state
      state.waiters.removeAll { $0.0(current) }
      return ready
    }
    for (_, continuation) in ready { continuation.resume() }
  }
}
