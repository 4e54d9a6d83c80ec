import Base
package import RideCore
import Synchronization

/// Tracks since when claims have failed: a value without a clock.
struct ClaimHealth {
  /// A failure of claims that no claim has ended.
  struct Failure: Equatable {
    /// The uptime at which the first claim that failed began.
    var since: Duration
    var failure: StoreFailure
  }

  /// The interval at which a failure that lasts is logged again.
  static let reminder: Duration = .seconds(60)

  private(set) var failure: Failure?
  /// When the current claim began.
  private var began: Duration?
  private var loggedAt: Duration?

  /// Records that a claim begins.
  mutating func begin(at uptime: Duration) {
    began = uptime
  }

  /// Records that a claim failed; returns whether to log it: a new failure, or after a while.
  mutating func failed(_ new: StoreFailure, at uptime: Duration) -> Bool {
    let isKnown = failure?.failure == new && loggedAt.map { uptime - $0 < Self.reminder } == true
    failure = Failure(since: failure?.since ?? began ?? uptime, failure: new)
    if !isKnown { loggedAt = uptime }
    return !isKnown
  }

  /// Records that a claim succeeded; returns the failure that it ended.
  mutating func succeeded() -> Failure? {
    defer { self = ClaimHealth() }
    return failure
  }
}

/// A failure of claims.
package struct ClaimFailure: Sendable {
  /// How long claims have failed without interruption.
  package var duration: Duration
  package var failure: StoreFailure
}

// Whether claims succeed; readiness depends on it.
extension Engine {
  /// The current failure of claims, if it has lasted this long; nil while claims succeed, and while
  /// the node does not claim.
  package func claimFailure(lasting limit: Duration) -> ClaimFailure? {
    let uptime = time.uptime()
    guard let current = state.withLock({ $0.claiming.failure }), uptime - current.since >= limit
    else { return nil }
    return ClaimFailure(duration: uptime - current.since, failure: current.failure)
  }

  func beginClaim() {
    let uptime = time.uptime()
    state.withLock { $0.claiming.begin(at: uptime) }
  }

  /// Returns whether to log the failure.
  func recordClaimFailure(_ error: any Error) -> Bool {
    let failure = Self.failure(error)
    let uptime = time.uptime()
    return state.withLock { $0.claiming.failed(failure, at: uptime) }
  }

  func recordClaimSuccess() {
    let uptime = time.uptime()
    guard let ended = state.withLock({ $0.claiming.succeeded() }) else { return }
    parts.log(.info, "Claim succeeded again", ["after": "\(uptime - ended.since)"])
  }
}
