/// Where rides, events, phones, the agenda and the ledger are.
///
/// Every call may fail while the database is away, and may then be made again.
package protocol RideStore: Sendable {
  /// Makes every live ride due, once, where rules that speak by the clock have changed.
  ///
  /// When a ride is due follows from such rules; what an earlier set of them said is void.
  ///
  /// - Returns: How many rides that concerned.
  func adopt(_ rules: RuleSet) async throws -> Int

  /// Takes rides that are due and nobody holds, at most this many, under a lease.
  ///
  /// - Parameter asleep: What producers are told from now on: that this node must be notified of
  ///   new events (true), or that it looks by itself (false).
  func claim(limit: Int, asleep: Bool) async throws -> Claim

  /// Writes down what claimed rides are about to do, and keeps them.
  ///
  /// - Returns: The rides whose lease has ended or gone to another: those must not act.
  func journal(_ memos: [ClaimedMemo]) async throws -> [RideID]

  /// Writes the outcome of claimed rides and releases them, in one transaction.
  ///
  /// - Throws: `StoreFailure`; the same settlements may be given again.
  func settle(_ settlements: [ClaimedSettlement]) async throws -> SettleResult

  /// Settles a ride that does not exist through the same statements, and rolls it back.
  ///
  /// Succeeds if the store can settle at all: what it still refuses is refused for its content.
  func checkSettling() async throws

  /// Extends the lease of claimed rides, so that no other node claims them.
  ///
  /// - Returns: The rides that this node no longer holds.
  func renew(_ rides: [RideClaim]) async throws -> [RideClaim]

  /// Sets a claimed ride aside until an operator unparks it; its pushes may have left.
  func park(_ ride: RideClaim, reason: String) async throws

  /// Releases claimed rides untouched; they are due at once.
  func release(_ rides: [RideClaim]) async throws

  /// Ends every call by then: one that begins later fails at once.
  func endCalls(within limit: Duration)
}

/// The rides of a settlement that were not settled.
package struct SettleResult: Hashable, Sendable {
  /// Another node holds them, or they were settled before; nothing was written for them.
  package var lost: [RideClaim]
  /// Another session has locked their agenda row; nothing was written for them yet.
  package var locked: [RideClaim]

  /// The rides of a settlement that were not settled.
  package init(lost: [RideClaim] = [], locked: [RideClaim] = []) {
    self.lost = lost
    self.locked = locked
  }
}

/// Why the store did not do what it was asked to.
package struct StoreFailure: Error, Hashable, CustomStringConvertible {
  /// What decides whether to repeat, split or set aside.
  package enum Cause: Hashable, Sendable {
    /// The store is away, stopping, read-only or out of resources.
    case unavailable
    /// Another transaction is in the way.
    case conflict
    /// The time limit has passed: less at a time may fit into it.
    case timeout
    /// The values are refused; the same values always are.
    case values
    /// The store refuses for any other reason.
    case refused
  }

  /// What kind of failure it is.
  package var cause: Cause
  /// The store's own words, without a secret.
  package var description: String

  /// A failure and the store's own words.
  package init(_ cause: Cause, _ description: String) {
    self.cause = cause
    self.description = description
  }
}

/// The right to settle one ride, until its lease ends or another holder takes it over.
package struct RideClaim: Hashable, Sendable {
  /// The ride.
  package var rideID: RideID
  /// Higher than that of every earlier holder.
  package var fence: Int64
  /// Whether another holder let it go only with the lease: a release must not hide that.
  package var isTakenOver = false

  /// The right to settle one ride.
  package init(rideID: RideID, fence: Int64) {
    self.rideID = rideID
    self.fence = fence
  }
}

/// Rides that were claimed together.
package struct Claim: Sendable {
  /// The database's time.
  package var now: Timestamp
  /// When the first ride that nobody holds falls due; nil where none is planned.
  package var nextDue: Timestamp?
  /// The rides, with all that a decision looks at.
  package var rides: [(claim: RideClaim, view: RideView)]
  /// How many further rides were due and released at once, because they did not fit in.
  package var released = 0

  /// Rides that were claimed together.
  package init(now: Timestamp, nextDue: Timestamp?, rides: [(claim: RideClaim, view: RideView)]) {
    self.now = now
    self.nextDue = nextDue
    self.rides = rides
  }
}

/// What a claimed ride keeps in mind from now on, whatever becomes of its holder.
package struct ClaimedMemo: Hashable, Sendable {
  /// The right to write it.
  package var claim: RideClaim
  /// What is kept.
  package var memo: Memo

  /// What a claimed ride keeps in mind.
  package init(claim: RideClaim, memo: Memo) {
    self.claim = claim
    self.memo = memo
  }
}

/// What is to be written for a claimed ride.
package struct ClaimedSettlement: Hashable, Sendable {
  /// The right to write it.
  package var claim: RideClaim
  /// What is written.
  package var settlement: Settlement

  /// What is to be written for a claimed ride.
  package init(claim: RideClaim, settlement: Settlement) {
    self.claim = claim
    self.settlement = settlement
  }
}
