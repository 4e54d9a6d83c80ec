package import Base
package import RideCore
import Synchronization

/// The failure of settlements, during which an engine neither claims nor sends.
package struct SettlementHalt: Sendable {
  /// The time of the first failure, by the estimated clock of the database.
  package var since: Timestamp
  /// How long settlements have failed.
  package var duration: Duration
  package var failure: StoreFailure

  package init(since: Timestamp, duration: Duration, failure: StoreFailure) {
    (self.since, self.duration, self.failure) = (since, duration, failure)
  }
}

// What the engine does while settlements fail.
extension Engine {
  /// The current settlement failure; nil while settlements succeed.
  package var settlementHalt: SettlementHalt? {
    let uptime = time.uptime()
    return state.withLock { $0.settling.halt }.map { halt in
      SettlementHalt(
        since: time.now - (uptime - halt.since), duration: uptime - halt.since,
        failure: halt.failure)
    }
  }

  /// Updates the settle policy, and logs when settlements begin or cease to fail.
  @discardableResult
  func advance<Value: Sendable>(
    _ body: @Sendable (inout SettlePolicy<HeldRide>, Duration) -> Value
  ) -> Value {
    let uptime = time.uptime()
    let (value, before, after, waits, held) = state.withLock { state in
      let before = state.settling.halt
      let value = body(&state.settling, uptime)
      return (
        value, before, state.settling.halt, state.settling.hasDeferred, state.inFlight.count
      )
    }
    switch (before, after) {
    case (nil, let halt?):
      parts.log(.error, .settlementFailed, ["error": halt.failure.description, "rides_held": held])
    case (let halt?, nil):
      parts.log(.info, .settlementRecovered, ["after": uptime - halt.since])
      claimSignal.notify()
    case (let old?, let new?) where old.failure.cause != new.failure.cause:
      parts.log(.warning, .settlementFailedOtherwise, ["error": new.failure.description])
    default: break
    }
    if after != nil || waits { renewSignal.notify() }
    return value
  }

  /// Renews the leases of held rides while they cannot be settled; otherwise another node would
  /// send again what this one has sent.
  func renewUntilSettled() async {
    var hasFailed = false
    var renewedAt: Duration?
    while !state.withLock({ $0.hasSettled }) {
      let rides = state.withLock { state in
        state.settling.halt == nil && !state.settling.hasDeferred
          ? [] : state.inFlight.claims + state.settling.rides.map(\.claim)
      }
      if rides.isEmpty {
        await renewSignal.wait(on: parts.clock)
        continue
      }
      let now = time.uptime()
      let due = renewedAt.map { $0 + settings.renewInterval } ?? now
      if due > now {
        await renewSignal.wait(atMost: due - now, on: parts.clock)
        continue
      }
      renewedAt = now
      do {
        _ = try await parts.store.renew(rides)
        hasFailed = false
      } catch {
        if !hasFailed {
          parts.log(.error, .leaseRenewalFailed, ["rides": rides.count, "error": "\(error)"])
        }
        hasFailed = true
      }
    }
  }

  /// Releases rides that were claimed while settlements began to fail; nothing was sent for them.
  func releaseClaim(_ claim: Claim) async {
    do {
      try await parts.store.release(claim.rides.map(\.claim))
    } catch {
      parts.log(.warning, .releaseFailed, ["rides": claim.rides.count, "error": "\(error)"])
    }
  }
}
