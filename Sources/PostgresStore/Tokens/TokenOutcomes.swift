import RideCore

/// Applies what APNs answered to the tokens that it concerns: settlements only note it.
package struct TokenOutcomes: Sendable {
  private let session: PostgresSession

  /// Works over an open session that nothing else waits for; it does not close it.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// What was done and what is left.
  package struct Progress: Hashable, Sendable {
    /// Outcomes that were applied.
    package var applied = 0
    /// Those of them that ended channels.
    package var channels = 0
    /// Outcomes that were not: another session has their token's row or table locked.
    package var left = 0
    /// Why one could not be applied though nothing was locked.
    package var failure: String?
  }

  /// How many outcomes one statement applies at most.
  static let batch: Int64 = 500
  /// After how many passes the other kinds of tokens get their turn.
  private static let passes = 50

  /// Applies all that can be applied now; waits for no row, and for a table a tenth of a second.
  ///
  /// - Throws: `PostgresError` where the database does not answer. What is left may be tried again.
  package func apply() async throws -> Progress {
    var progress = Progress()
    for (kind, statement) in [
      (TokenInvalidation.Kind.phone, TokenOutcomeStatements.phones),
      (.activity, TokenOutcomeStatements.activities), (.start, TokenOutcomeStatements.starts),
      (.channel, TokenOutcomeStatements.channels),
    ] {
      // A token with several outcomes gets one in each pass.
      var pass = Progress()
      for _ in 0..<Self.passes where !Task.isCancelled {
        pass = try await self.pass(statement, kind)
        progress.applied += pass.applied
        if kind == .channel { progress.channels += pass.applied }
        if pass.applied == 0 || pass.left == 0 { break }
      }
      progress.left += pass.left
      progress.failure = progress.failure ?? pass.failure
    }
    return progress
  }

  private func pass(_ statement: Statement, _ kind: TokenInvalidation.Kind) async throws -> Progress
  {
    var progress = Progress()
    var last = Int64.min
    var limit = Self.batch
    while !Task.isCancelled {
      do {
        let row = try await session.run([
          Call(SettleStatements.sets), Call(LockLimit.short),
          Call(statement, [String(last), String(limit)]),
        ])[2]
        let applied = Int(row.int64(0, 2) ?? 0)
        progress.applied += applied
        progress.left += Int(row.int64(0, 0) ?? 0) - applied
        guard let end = row.int64(0, 1) else { return progress }
        last = end
        limit = min(limit * 2, Self.batch)
      } catch {
        switch error.failure.cause {
        case .unavailable: throw error
        case .conflict:
          progress.left += 1
          return progress
        case .timeout, .values, .refused:
          if limit > 1 {
            limit /= 2
            continue
          }
          // One token holds up no other.
          progress.failure = error.description
          progress.left += 1
          guard let next = try await oldest(kind, over: last) else { return progress }
          last = next
        }
      }
    }
    return progress
  }

  private func oldest(_ kind: TokenInvalidation.Kind, over id: Int64) async throws -> Int64? {
    try await session.run([
      Call(TokenOutcomeStatements.oldest, [String(id), kind.rawValue])
    ])[0].int64(0, 0)
  }
}
