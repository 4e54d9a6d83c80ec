import Base
import RideCore
import Synchronization

/// The credentials in use, with one `TokenMint` for each key and one `AccessTokenMint` for each
/// service account.
///
/// All connections with a key, those for channels included, present the same token.
final class CredentialStore: Sendable {
  /// Starts fetching the tokens of an account, which sends the given token until it has one.
  typealias MakeMint =
    @Sendable (_ account: ServiceAccount, _ inherited: AccessTokenState.Token?) -> AccessTokenMint

  private struct State {
    var credentials: Credentials
    var mints: [SigningKey: TokenMint] = [:]
    var accessMints: [ServiceAccount: AccessTokenMint] = [:]
    var isClosed = false
  }

  private let clock = ServerClock()
  private let makeMint: MakeMint?
  private let state: Mutex<State>

  /// - Parameter makeMint: Starts fetching the access tokens of an account; nil if no push to FCM
  ///   is sent with these credentials.
  init(
    _ credentials: Credentials,
    makeMint: MakeMint? = nil
  ) {
    self.makeMint = makeMint
    state = Mutex(State(credentials: credentials))
    use(credentials)
  }

  var current: Credentials { state.withLock { $0.credentials } }

  /// Replaces the credentials; connections keep the mint that they have.
  func use(_ credentials: Credentials) {
    let dropped = state.withLock { state in
      state.credentials = credentials
      let used = Set(PushNetwork.allCases.flatMap { credentials.all(of: $0) })
      state.mints = state.mints.filter { used.contains(.key($0.key)) }
      return replaceAccessMints(for: credentials.serviceAccounts, &state)
    }
    for mint in dropped { mint.close() }
  }

  /// Starts fetching for new accounts, before their first push; returns the mints of the others.
  ///
  /// A new key sends with the token of the one that it replaces until it has its own: a key that Google
  /// refuses stops nothing while that is valid.
  private func replaceAccessMints(
    for accounts: Set<ServiceAccount>, _ state: inout State
  ) -> [AccessTokenMint] {
    guard let makeMint, !state.isClosed else { return [] }
    let dropped = state.accessMints.filter { !accounts.contains($0.key) }
    for account in dropped.keys { state.accessMints[account] = nil }
    for account in accounts where state.accessMints[account] == nil {
      state.accessMints[account] = makeMint(account, Self.token(for: account, of: dropped))
    }
    return Array(dropped.values)
  }

  /// Returns the token that an account may send until it has its own: that of a dropped account of the
  /// same project, and of the same address if there is one.
  private static func token(
    for account: ServiceAccount, of dropped: [ServiceAccount: AccessTokenMint]
  ) -> AccessTokenState.Token? {
    let mints = dropped.filter { $0.key.project == account.project }
    let sameAddress = mints.filter { $0.key.clientEmail == account.clientEmail }
    return (sameAddress.isEmpty ? mints : sameAddress).values.compactMap { $0.token() }
      .max { $0.expiresAt < $1.expiresAt }
  }

  /// Ends fetching; the tokens that are there stay valid for open connections.
  func close() {
    let mints = state.withLock { state in
      state.isClosed = true
      return Array(state.accessMints.values)
    }
    for mint in mints { mint.close() }
  }

  /// The access tokens of each service account, in the order of their names.
  func accessTokens() -> [AccessTokenStatistics] {
    state.withLock { $0.accessMints }.values
      .map {
        AccessTokenStatistics(credential: "\($0.account)", age: $0.age, failures: $0.failures)
      }
      .sorted { $0.credential < $1.credential }
  }

  /// Returns how a new connection with this credential identifies itself.
  func authentication(with credential: Credential) -> Authentication {
    switch credential {
    case .certificate(let certificate): return .certificate(certificate)
    case .serviceAccount(let account):
      return .accessToken(state.withLock { $0.accessMints[account] })
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

/// How a connection identifies itself.
enum Authentication: Sendable {
  /// By provider tokens of this mint, one in each request.
  case token(TokenMint)

  /// In the TLS handshake.
  case certificate(ClientCertificate)

  /// By access tokens that this mint fetches, one in each request; nil if none are fetched.
  case accessToken(AccessTokenMint?)

  /// The service to which it identifies.
  var provider: Provider {
    switch self {
    case .token, .certificate: .apns
    case .accessToken: .fcm
    }
  }

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
  static let toleratedSkew: Duration = .seconds(60)

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
