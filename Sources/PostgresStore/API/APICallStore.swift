package import RideCore

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

  /// $1 the `traceparent` of the events that the transaction emits.
  private static let trace = Statement(
    name: "api_trace", sql: "select set_config('ridepulse.traceparent', $1, true)")

  /// How long a call may wait for PostgreSQL, including for a row that another session has locked.
  static let limit: Duration = .seconds(5)

  /// Executes a call in one round trip and one transaction, so that the key and the effect are
  /// committed together or not at all.
  ///
  /// - Parameters:
  ///   - arguments: a JSON object, already validated.
  ///   - awaitedState: the state that the ride must be in; nil for any.
  ///   - trace: the span of the caller, for the events that the call emits; nil for none.
  package func answer(
    _ call: String, _ arguments: String, key: String?, awaitedState: String? = nil,
    trace: TraceParent? = nil
  ) async throws(PostgresError) -> Outcome {
    let setting = trace.map { [Call(Self.trace, [$0.text])] } ?? []
    let results = try await session.run(
      setting + [Call(Self.answer, [key, call, arguments, awaitedState])], timeout: Self.limit)
    let rows = results[results.count - 1]
    let isReplayed = rows.string(0, 0) == "replayed"
    switch rows.string(0, 0) {
    case "under way": return .isUnderWay
    case "other request": return .isOfAnotherRequest
    case "other state": return .isInOtherState(rows.string(0, 2))
    case "no ride": return .hasNoRide
    default:
      guard let status = rows.int64(0, 1), let body = rows.string(0, 2) else {
        throw PostgresError(.protocol(reason: "ridepulse.idempotent_call returned no row"))
      }
      return .answered(status: Int(status), body: body, isReplayed: isReplayed)
    }
  }
}
