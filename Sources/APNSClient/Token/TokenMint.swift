import Base
import COpenSSL
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

/// A signed provider token.
struct ProviderToken: Hashable, Sendable {
  /// The token's `iat`, in UNIX seconds.
  let issuedAt: Int64

  /// The value of `authorization`: `bearer ` and the JWT.
  let authorization: [UInt8]

  init(signedBy key: SigningKey, issuedAt: Int64) throws(SigningKeyError) {
    self.issuedAt = issuedAt
    // Key ID and team ID consist of A-Z and 0-9, so no JSON escape is needed. `iat` must be a
    // number; Apple tolerates a quoted one today.
    let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
    let claims = #"{"iss":"\#(key.teamID)","iat":\#(issuedAt)}"#
    var message = base64URL(Array(header.utf8))
    message.append(UInt8(ascii: "."))
    message += base64URL(Array(claims.utf8))
    let signature = try key.key.sign(message)
    authorization = Array("bearer ".utf8) + message + [UInt8(ascii: ".")] + base64URL(signature)
  }
}

/// Returns Base64 with the URL alphabet and without padding (RFC 7515, 2).
func base64URL(_ bytes: [UInt8]) -> [UInt8] {
  // OpenSSL also writes a terminating zero.
  var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
  let length = unsafe Int(EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count)))
  text.removeLast(text.count - length)
  while text.last == UInt8(ascii: "=") { text.removeLast() }
  return text.map { byte in
    switch byte {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    default: byte
    }
  }
}
