/// Stores rides, events, phones, the agenda and the ledger.
///
/// Every call may fail while the database is unavailable, and may then be made again.
package protocol RideStore: Sendable {
  /// Makes every live ride due, once, if the timing of schedule rules or cards has changed.
  ///
  /// The time when a ride is due follows from this timing; times from an earlier rule set are void.
  ///
  /// - Returns: The number of rides that became due.
  func adopt(_ rules: RuleSet) async throws -> Int

  /// Claims rides that are due and have no holder, at most this many, under a lease.
  ///
  /// - Parameter asleep: What producers must do from now on: notify this node of new events (true),
  ///   or leave it to poll (false).
  func claim(limit: Int, asleep: Bool) async throws -> Claim

  /// Claims rides whose last claim ended with its node: several, or one that did so repeatedly.
  ///
  /// The lease is short: `recordDecided` extends it.
  func claimLost() async throws -> Claim

  /// Records that rides of `claimLost` were decided, and keeps the claims.
  ///
  /// - Returns: The rides that this node no longer holds; these must not act.
  func recordDecided(_ rides: [RideClaim]) async throws -> [RideClaim]

  /// Records what claimed rides are about to do, and keeps the claims.
  ///
  /// - Returns: The rides whose lease has ended or passed to another holder; these must not act.
  func journal(_ memos: [ClaimedMemo]) async throws -> [RideID]

  /// Writes the settlements of claimed rides and releases the rides, in one transaction.
  ///
  /// - Throws: `StoreFailure`; the same settlements may be given again.
  func settle(_ settlements: [ClaimedSettlement]) async throws -> SettleResult

  /// Settles a ride that does not exist with the same statements, and rolls back.
  ///
  /// Success means that the store can settle at all: what it still refuses, it refuses for its
  /// content.
  func checkSettling() async throws

  /// Extends the leases of claimed rides, so that no other node claims them.
  ///
  /// - Returns: The rides that this node no longer holds.
  func renew(_ rides: [RideClaim]) async throws -> [RideClaim]

  /// Parks a claimed ride until an operator unparks it; its pushes may have left.
  func park(_ ride: RideClaim, reason: String) async throws

  /// Releases claimed rides unchanged; they are due at once.
  func release(_ rides: [RideClaim]) async throws

  /// Returns those recipients that are still there, with the same token and owner.
  func unchanged(_ recipients: [PushRecipient]) async throws -> Set<PushRecipient>

  /// Records whether this node reaches APNs, and returns what the other live nodes have recorded.
  func report(_ reach: NodeReach?) async throws -> NodePeers

  /// Ends every call within this time; a call that begins later fails at once.
  func endCalls(within limit: Duration)
}

/// The rides that `settle` was given and did not settle.
package struct SettleResult: Hashable, Sendable {
  /// Another node holds them, or they were settled before; nothing was written for them.
  package var lost: [RideClaim]
  /// Another session has locked their agenda rows; nothing was written for them yet.
  package var locked: [RideClaim]

  package init(lost: [RideClaim] = [], locked: [RideClaim] = []) {
    self.lost = lost
    self.locked = locked
  }
}

/// An error of the store.
package struct StoreFailure: Error, Hashable, CustomStringConvertible {
  /// The kind of failure, which decides whether to repeat, split or park.
  package enum Cause: Hashable, Sendable {
    /// The store is unreachable, stopping, read-only or out of resources.
    case unavailable
    /// Another transaction is in the way.
    case conflict
    /// The time limit has passed: a smaller batch may fit into it.
    case timeout
    /// The values are refused; the same values always will be.
    case values
    /// The store refuses for any other reason.
    case refused
  }

  package var cause: Cause
  /// The store's own message, without secrets.
  package var description: String

  package init(_ cause: Cause, _ description: String) {
    self.cause = cause
    self.description = description
  }
}

/// The right to settle one ride, until its lease ends or another holder takes it over.
package struct RideClaim: Hashable, Sendable {
  package var rideID: RideID
  /// The fencing token: no other claim on the same place has it.
  package var fence: Int64
  /// The ID of the claim: no other claim ever has it, on any place.
  package var holder = ""
  /// Where the ride was claimed; nil if that is unknown.
  package var place: ServerPlace?
  /// Where the store keeps the ride's row: a hint that may be outdated; nil without one.
  package var row: String?
  /// Whether the previous holder lost the ride only when its lease ended: a release must not hide
  /// that.
  package var isTakenOver = false

  package init(rideID: RideID, fence: Int64) {
    self.rideID = rideID
    self.fence = fence
  }
}

/// The server that keeps a database, and the timeline of its write-ahead log.
///
/// Numbers that the database gives out are unique on one place only: a standby that is promoted may
/// give some of them out again.
package struct ServerPlace: Hashable, Sendable {
  /// The server's system identifier, which its standbys share.
  package var systemIdentifier: Int64
  /// Each promotion of a standby raises it.
  package var timeline: Int64

  package init(systemIdentifier: Int64, timeline: Int64) {
    self.systemIdentifier = systemIdentifier
    self.timeline = timeline
  }

  /// The server in the form in which cursors and `pin_problems` show it.
  package var server: String { String(UInt64(bitPattern: systemIdentifier), radix: 16) }
}

/// Rides that were claimed together.
package struct Claim: Sendable {
  /// The database's time.
  package var now: Timestamp
  /// When the first ride without a holder falls due; nil if none is planned.
  package var nextDue: Timestamp?
  /// The rides, each with the view for its decision.
  package var rides: [(claim: RideClaim, view: RideView)]
  /// How many more rides were due and were released at once because they did not fit into the
  /// claim.
  package var released = 0
  /// Whether rides whose last claim ended with its node wait for `claimLost`.
  package var hasLostClaims = false

  package init(now: Timestamp, nextDue: Timestamp?, rides: [(claim: RideClaim, view: RideView)]) {
    self.now = now
    self.nextDue = nextDue
    self.rides = rides
  }
}

/// A memo to write for a claimed ride before it acts, so that the memo outlives the holder.
package struct ClaimedMemo: Hashable, Sendable {
  /// The right to write it.
  package var claim: RideClaim
  package var memo: Memo

  package init(claim: RideClaim, memo: Memo) {
    self.claim = claim
    self.memo = memo
  }
}

/// A settlement to write for a claimed ride.
package struct ClaimedSettlement: Hashable, Sendable {
  /// The right to write it.
  package var claim: RideClaim
  package var settlement: Settlement

  package init(claim: RideClaim, settlement: Settlement) {
    self.claim = claim
    self.settlement = settlement
  }
}
