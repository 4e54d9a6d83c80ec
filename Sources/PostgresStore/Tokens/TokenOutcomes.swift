import RideCore

/// Applies the answers of APNs to the tokens concerned; settlements only record them.
package struct TokenOutcomes: Sendable {
  private let session: PostgresSession

  /// Uses an open session that no other work waits for, and does not close it.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// What was applied and what is left.
  package struct Progress: Hashable, Sendable {
    /// The number of applied outcomes.
    package var applied = 0
    /// The number of applied outcomes of channels.
    package var channels = 0
    /// The number of outcomes left, because another session has the row or table of their token
    /// locked.
    package var left = 0
    /// Why an outcome could not be applied although nothing was locked.
    package var failure: String?
  }

  /// The maximum number of outcomes that one statement applies.
  static let batch: Int64 = 500
  /// The maximum number of passes before the next kind of token has its turn.
  private static let passes = 50

  /// Applies every outcome that can be applied now.
  ///
  /// It does not wait for row locks, and waits 0.1 s for a table lock.
  ///
  /// - Throws: `PostgresError` if the database does not answer. The outcomes that are left can be
  ///   tried again.
  package func apply() async throws -> Progress {
    var progress = Progress()
    for (kind, statement) in [
      (TokenInvalidation.Kind.phone, TokenOutcomeStatements.phones),
      (.activity, TokenOutcomeStatements.activities), (.start, TokenOutcomeStatements.starts),
      (.channel, TokenOutcomeStatements.channels),
    ] {
      // A token with several outcomes gets one of them in each pass.
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
          // A single token must not block the others.
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
