package import Base

/// The right to settle one ride, until its lease ends or another holder takes it over.
package struct RideClaim: Hashable, Sendable {
  package var rideID: RideID
  /// The fencing token: no other claim in the same database has it.
  package var fence: Int64
  /// The ID of the claim: no other claim ever has it, in any database.
  package var holder = ""
  /// The database in which the ride was claimed; nil if that is unknown.
  package var databaseIdentity: DatabaseIdentity?
  /// Where the store keeps the ride's row: a hint that may be outdated; nil without one.
  package var rowLocation: String?
  /// Whether the previous holder lost the ride only when its lease ended: a release must not hide
  /// that.
  package var isTakenOver = false
  /// When a previous holder's lease ended, by the database's clock before it went back.
  package var heldUntil: Timestamp?

  package init(rideID: RideID, fence: Int64) {
    self.rideID = rideID
    self.fence = fence
  }
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
  /// Whether producers that commit after this claim notify the node.
  package var isNotified = false

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

/// The permits that the pushes of a claimed ride need.
package struct ClaimedRequests: Hashable, Sendable {
  /// The right to send the pushes.
  package var claim: RideClaim
  package var requests: [PermitRequest]

  package init(claim: RideClaim, requests: [PermitRequest]) {
    self.claim = claim
    self.requests = requests
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
