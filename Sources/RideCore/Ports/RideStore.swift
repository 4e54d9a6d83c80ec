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

  /// Records that rides of `claimLost` were read, and are decided now.
  ///
  /// - Throws: `StoreFailure`.
  func recordDeciding(_ rides: [RideClaim]) async throws

  /// Records that rides of `claimLost` were decided, and keeps the claims.
  ///
  /// - Returns: The rides that this node no longer holds; these must not act.
  func recordDecided(_ rides: [RideClaim]) async throws -> [RideID]

  /// Records what claimed rides are about to do, and keeps the claims.
  ///
  /// - Returns: The rides whose lease has ended or passed to another holder; these must not act.
  func journal(_ memos: [ClaimedMemo]) async throws -> [RideID]

  /// Grants permits to claimed rides before they send, the oldest firings first.
  ///
  /// - Returns: The permits that are refused.
  func grant(_ rides: [ClaimedRequests]) async throws -> GrantResult

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

/// The permits that `grant` did not grant.
package struct GrantResult: Hashable, Sendable {
  package var refused: Set<PushID>
  /// The rides whose lease has ended or passed to another holder; these must not act.
  package var lost: [RideID]

  package init(refused: Set<PushID> = [], lost: [RideID] = []) {
    self.refused = refused
    self.lost = lost
  }
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

/// The server that keeps a database, and the timeline of its write-ahead log.
///
/// Numbers that the database gives out are unique under one identity only: a standby that is
/// promoted may give some of them out again.
package struct DatabaseIdentity: Hashable, Sendable {
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
