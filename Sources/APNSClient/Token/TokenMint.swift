import RideCore
import Synchronization

/// Signs each window's token once, for all connections of the client.
final class TokenMint: Sendable {
  private struct State {
    var schedule = TokenSchedule()
    var latest: ProviderToken?
  }

  private let key: SigningKey
  private let state = Mutex(State())

  init(key: SigningKey) {
    self.key = key
  }

  /// The token to begin with at this time.
  func token(at now: Instant) throws(SigningKeyError) -> ProviderToken {
    try state.withLock { state throws(SigningKeyError) in
      let issuedAt = state.schedule.issuedAt(at: now)
      if let latest = state.latest, latest.issuedAt == issuedAt { return latest }
      let token = try ProviderToken(signedBy: key, issuedAt: issuedAt)
      state.latest = token
      return token
    }
  }

  /// APNs called this token expired.
  func expired(_ token: ProviderToken, at now: Instant) {
    state.withLock { $0.schedule.expired(issuedAt: token.issuedAt, at: now) }
  }

  /// What a connection does that has used a token for so long.
  func verdict(on token: ProviderToken, usedFor: Duration, at now: Instant)
    -> TokenSchedule.Verdict
  {
    state.withLock {
      $0.schedule.verdict(issuedAt: token.issuedAt, usedFor: usedFor, at: now)
    }
  }
}
