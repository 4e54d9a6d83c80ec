import Base

/// The token that a connection presents in each request, and where the next one comes from.
struct PresentedToken {
  private enum Source {
    /// A client certificate identifies the sender.
    case none

    /// Tokens that are signed here.
    case signed(TokenMint, ProviderToken)

    /// Tokens that are fetched, which may be missing for a time.
    case fetched(AccessTokenMint?)
  }

  /// What a connection does about its token.
  enum Change {
    case keep

    /// The next pushes present this.
    case adopt([UInt8])

    /// No push is sent until there is another one.
    case wait

    /// The connection is replaced.
    case recycle
  }

  private var source: Source
  private var since: MonotonicTime

  /// The value of `authorization`; empty while there is no token, nil without tokens.
  private(set) var authorization: [UInt8]?

  init(
    _ authentication: Authentication, at wall: Timestamp, _ now: MonotonicTime
  ) throws(SigningKeyError) {
    since = now
    switch authentication {
    case .certificate: source = .none
    case .token(let mint):
      let token = try mint.token(at: wall)
      source = .signed(mint, token)
      authorization = token.authorization
    case .accessToken(let mint):
      source = .fetched(mint)
      authorization = mint?.token()?.authorization ?? []
    }
  }

  /// Returns what to do before the next pushes.
  mutating func renew(at wall: Timestamp, _ now: MonotonicTime) -> Change {
    switch source {
    case .none: return .keep
    case .fetched(let mint):
      let next = mint?.token()?.authorization ?? []
      if next == authorization { return .keep }
      authorization = next
      since = now
      return next.isEmpty ? .wait : .adopt(next)
    case .signed(let mint, let token):
      switch mint.verdict(on: token, usedFor: now - since, at: wall) {
      case .keep: return .keep
      case .recycle: return .recycle
      case .adopt:
        // If signing fails, the old token stays in use and the next turn tries again.
        guard let next = try? mint.token(at: wall) else { return .keep }
        source = .signed(mint, next)
        authorization = next.authorization
        since = now
        return .adopt(next.authorization)
      }
    }
  }

  /// Records that the server refused the token; returns the event.
  func refused(at wall: Timestamp) -> TransportEvent.Kind {
    switch source {
    case .none: return .providerTokenExpired
    case .signed(let mint, let token):
      mint.expired(token, at: wall)
      return .providerTokenExpired
    case .fetched(let mint):
      if let authorization { mint?.refused(authorization) }
      return .accessTokenRefused
    }
  }

  /// Records the server's time from an answer that refused the token; returns how far the signing
  /// clock is behind, if the difference matters and is new.
  func learn(serverTime: Timestamp, at wall: Timestamp) -> Duration? {
    if case .signed(let mint, _) = source {
      return mint.learn(serverTime: serverTime, at: wall)
    }
    return nil
  }
}
