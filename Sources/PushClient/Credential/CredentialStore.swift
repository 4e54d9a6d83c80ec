import Base
import RideCore
import Synchronization

/// The credentials in use, with one `TokenMint` for each key.
///
/// All connections with a key, those for channels included, present the same token.
final class CredentialStore: Sendable {
  private struct State {
    var credentials: Credentials
    var mints: [SigningKey: TokenMint] = [:]
  }

  private let clock = ServerClock()
  private let state: Mutex<State>

  init(_ credentials: Credentials) {
    state = Mutex(State(credentials: credentials))
  }

  var current: Credentials { state.withLock { $0.credentials } }

  /// Replaces the credentials; connections keep the mint that they have.
  func use(_ credentials: Credentials) {
    state.withLock { state in
      state.credentials = credentials
      let used = Set(PushNetwork.allCases.flatMap { credentials.all(of: $0) })
      state.mints = state.mints.filter { used.contains(.key($0.key)) }
    }
  }

  /// Returns how a new connection with this credential identifies itself.
  func authentication(with credential: Credential) -> Authentication {
    switch credential {
    case .certificate(let certificate): return .certificate(certificate)
    case .key(let key):
      return state.withLock { state in
        if let known = state.mints[key] { return .token(known) }
        let mint = TokenMint(key: key, clock: clock)
        state.mints[key] = mint
        return .token(mint)
      }
    }
  }

  /// How far APNs' clock is ahead of the signing clock.
  var clockLead: Duration { clock.lead }
}

/// How a connection identifies itself to APNs.
enum Authentication: Sendable {
  /// By provider tokens of this mint, one in each request.
  case token(TokenMint)

  /// In the TLS handshake.
  case certificate(ClientCertificate)

  var mint: TokenMint? {
    if case .token(let mint) = self { mint } else { nil }
  }

  var certificate: ClientCertificate? {
    if case .certificate(let certificate) = self { certificate } else { nil }
  }
}

/// How far APNs' clock is ahead of the signing clock, as its answers reveal it.
///
/// All keys share one, so that a new key does not have to learn it from a refused push.
final class ServerClock: Sendable {
  private let correction = Mutex<Duration>(.zero)

  /// A smaller clock error makes no token too old or too new.
  private static let toleratedSkew: Duration = .seconds(60)

  /// Zero unless APNs has reported a difference that matters.
  var lead: Duration { correction.withLock { $0 } }

  /// Records APNs' time from an answer that refused a token.
  ///
  /// - Returns: How far the signing clock is behind, if the difference matters and is new;
  ///   otherwise nil.
  func learn(serverTime: Timestamp, at now: Timestamp) -> Duration? {
    correction.withLock { correction in
      let ahead = serverTime - now
      let change = ahead - correction
      guard abs(change.microseconds) > Self.toleratedSkew.microseconds else { return nil }
      correction = ahead
      return ahead
    }
  }
}
