import RideCore
import Synchronization

/// Signs each window's token once, for all connections of the client.
final class TokenMint: Sendable {
  private struct State {
    var schedule = TokenSchedule()
    var key: SigningKey
    /// Rises with each key: tokens of different ones must not meet on one connection.
    var generation = 0
    var latest: ProviderToken?
    /// What APNs' clock is ahead of the one that signs, where it has said so.
    var correction: Duration = .zero
  }

  private let state: Mutex<State>

  init(key: SigningKey) {
    state = Mutex(State(key: key))
  }

  /// Signs with another key from now on.
  func use(_ key: SigningKey) {
    state.withLock { state in
      state.key = key
      state.generation += 1
      state.latest = nil
    }
  }

  /// The token to begin with at this time.
  func token(at now: Timestamp) throws(SigningKeyError) -> ProviderToken {
    try state.withLock { state throws(SigningKeyError) in
      let issuedAt = state.schedule.issuedAt(at: now + state.correction)
      if let latest = state.latest, latest.issuedAt == issuedAt { return latest }
      let token = try ProviderToken(
        signedBy: state.key, issuedAt: issuedAt, generation: state.generation)
      state.latest = token
      return token
    }
  }

  /// How old the latest token is by APNs' clock, as far as that is known, and how far that one is
  /// ahead of the clock that signs.
  func statistics(at now: Timestamp) -> (age: Duration?, ahead: Duration) {
    state.withLock { state in
      let age = state.latest.map {
        now + state.correction - Timestamp(epochSeconds: $0.issuedAt)
      }
      return (age, state.correction)
    }
  }

  /// APNs called this token expired.
  func expired(_ token: ProviderToken, at now: Timestamp) {
    state.withLock { $0.schedule.expired(issuedAt: token.issuedAt, at: now + $0.correction) }
  }

  /// APNs refused a token and said what time it is there.
  ///
  /// - Returns: How far the clock that signs is behind, where that is enough to matter and was not
  ///   known yet.
  func learn(serverTime: Timestamp, at now: Timestamp) -> Duration? {
    state.withLock { state in
      let ahead = serverTime - now
      let change = ahead - state.correction
      guard abs(change.microseconds) > Self.toleratedSkew.microseconds else { return nil }
      state.correction = ahead
      return ahead
    }
  }

  /// A clock that is off by less makes no token too old or too new.
  private static let toleratedSkew: Duration = .seconds(60)

  /// What a connection does that has used a token for so long.
  func verdict(on token: ProviderToken, usedFor: Duration, at now: Timestamp)
    -> TokenSchedule.Verdict
  {
    state.withLock { state in
      if token.generation != state.generation { return .recycle }
      return state.schedule.verdict(
        issuedAt: token.issuedAt, usedFor: usedFor, at: now + state.correction)
    }
  }
}
