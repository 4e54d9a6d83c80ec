/// Executes writing calls of the API, once for each key.
package struct APICallStore: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The outcome of a call.
  package enum Outcome: Hashable, Sendable {
    /// The call was executed, now or by an earlier request with the same key.
    case answered(status: Int, body: String, isReplayed: Bool)
    /// The first request with this key has not ended yet; nothing was done.
    case isUnderWay
    /// The key was used for another request; nothing was done.
    case isOfAnotherRequest
    /// The ride is in another state than the awaited one, or in none; nothing was done.
    case isInOtherState(String?)
    /// A state was awaited, and there is no such ride; nothing was done.
    case hasNoRide
  }

  private static let answer = Statement(
    name: "api_answer",
    sql: "select outcome, status, body from ridepulse.idempotent_call($1, $2, $3::jsonb, $4)")

  /// How long a call may wait for PostgreSQL, including for a row that another session has locked.
  static let limit: Duration = .seconds(5)

  /// Executes a call in one round trip and one transaction, so that the key and the effect are
  /// committed together or not at all.
  ///
  /// - Parameters:
  ///   - arguments: a JSON object, already validated.
  ///   - awaitedState: the state that the ride must be in; nil for any.
  package func answer(
    _ call: String, _ arguments: String, key: String?, awaitedState: String? = nil
  ) async throws(PostgresError) -> Outcome {
    let rows = try await session.run(
      [Call(Self.answer, [key, call, arguments, awaitedState])], timeout: Self.limit)
    let isReplayed = rows[0].string(0, 0) == "replayed"
    switch rows[0].string(0, 0) {
    case "under way": return .isUnderWay
    case "other request": return .isOfAnotherRequest
    case "other state": return .isInOtherState(rows[0].string(0, 2))
    case "no ride": return .hasNoRide
    default:
      guard let status = rows[0].int64(0, 1), let body = rows[0].string(0, 2) else {
        throw PostgresError(.protocol(reason: "ridepulse.idempotent_call returned no row"))
      }
      return .answered(status: Int(status), body: body, isReplayed: isReplayed)
    }
  }
}
