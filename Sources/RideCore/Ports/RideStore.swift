/// Where rides, events, phones, the agenda and the ledger are.
///
/// Every call may fail while the database is away, and may then be made again.
public protocol RideStore: Sendable {
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

  /// Writes what became of claimed rides and lets them go.
  ///
  /// - Returns: The rides whose lease had gone to another; nothing was written for those.
  /// - Throws: `RefusedSettlement` where it would be refused however often it is tried.
  func settle(_ settlements: [ClaimedSettlement]) async throws -> [RideID]

  /// Sets a claimed ride aside, untouched, until somebody has looked at it.
  func park(_ ride: RideClaim, reason: String) async throws

  /// Lets claimed rides go untouched, at once.
  func release(_ rides: [RideClaim]) async throws
}

/// What the store refuses for what it is, and not for how things stand.
public struct RefusedSettlement: Error, Hashable, CustomStringConvertible {
  /// The store's own words.
  public var description: String

  /// A settlement that the store refuses, in its own words.
  public init(_ description: String) {
    self.description = description
  }
}

/// The right to settle one ride, until its lease ends or another holder takes it over.
public struct RideClaim: Hashable, Sendable {
  /// The ride.
  public var rideID: RideID
  /// Higher than that of every earlier holder.
  public var fence: Int64

  /// The right to settle one ride.
  public init(rideID: RideID, fence: Int64) {
    self.rideID = rideID
    self.fence = fence
  }
}

/// Rides that were claimed together.
public struct Claim: Sendable {
  /// The database's time.
  public var now: Instant
  /// When the first ride that nobody holds falls due; nil where none is planned.
  public var nextDue: Instant?
  /// The rides, with all that a decision looks at.
  public var rides: [(claim: RideClaim, view: RideView)]

  /// Rides that were claimed together.
  public init(now: Instant, nextDue: Instant?, rides: [(claim: RideClaim, view: RideView)]) {
    self.now = now
    self.nextDue = nextDue
    self.rides = rides
  }
}

/// What a claimed ride keeps in mind from now on, whatever becomes of its holder.
public struct ClaimedMemo: Hashable, Sendable {
  /// The right to write it.
  public var claim: RideClaim
  /// What is kept.
  public var memo: Memo

  /// What a claimed ride keeps in mind.
  public init(claim: RideClaim, memo: Memo) {
    self.claim = claim
    self.memo = memo
  }
}

/// What is to be written for a claimed ride.
public struct ClaimedSettlement: Hashable, Sendable {
  /// The right to write it.
  public var claim: RideClaim
  /// What is written.
  public var settlement: Settlement

  /// What is to be written for a claimed ride.
  public init(claim: RideClaim, settlement: Settlement) {
    self.claim = claim
    self.settlement = settlement
  }
}
