import Base
import RideCore
import Synchronization

/// Signs one token for each time window, for all connections that use the key.
final class TokenMint: Sendable {
  private struct State {
    var schedule = TokenSchedule()
    var latest: ProviderToken?
  }

  let key: SigningKey
  private let clock: ServerClock
  private let state = Mutex(State())

  init(key: SigningKey, clock: ServerClock = ServerClock()) {
    self.key = key
    self.clock = clock
  }

  /// Returns the token that a connection begins to use at this time.
  func token(at now: Timestamp) throws(SigningKeyError) -> ProviderToken {
    try state.withLock { state throws(SigningKeyError) in
      let issuedAt = state.schedule.issuedAt(at: now + clock.lead)
      if let latest = state.latest, latest.issuedAt == issuedAt { return latest }
      let token = try ProviderToken(signedBy: key, issuedAt: issuedAt)
      state.latest = token
      return token
    }
  }

  /// Returns the latest token's age by APNs' clock, as far as it is known; nil if none was signed.
  func age(at now: Timestamp) -> Duration? {
    state.withLock { state in
      state.latest.map { now + clock.lead - Timestamp(epochSeconds: $0.issuedAt) }
    }
  }

  /// Records that APNs reported this token as expired.
  func expired(_ token: ProviderToken, at now: Timestamp) {
    state.withLock { $0.schedule.expired(issuedAt: token.issuedAt, at: now + clock.lead) }
  }

  /// Records APNs' time from an answer that refused a token.
  ///
  /// - Returns: How far the signing clock is behind, if the difference matters and is new;
  ///   otherwise nil.
  func learn(serverTime: Timestamp, at now: Timestamp) -> Duration? {
    clock.learn(serverTime: serverTime, at: now)
  }

  /// Returns what a connection must do that has used a token for `usedFor`.
  func verdict(on token: ProviderToken, usedFor: Duration, at now: Timestamp)
    -> TokenSchedule.TokenAction
  {
    state.withLock {
      $0.schedule.verdict(issuedAt: token.issuedAt, usedFor: usedFor, at: now + clock.lead)
    }
  }
}
