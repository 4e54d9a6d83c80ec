/// Does what a writing call of the API asks for, once for each key.
package struct APICallStore: Sendable {
  private let session: PostgresSession

  /// A desk over an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// What became of a call.
  package enum Outcome: Hashable, Sendable {
    /// It was done, now or by an earlier request of the same key.
    case answered(status: Int, body: String, isReplayed: Bool)
    /// The first request of this key has not ended yet; nothing was done.
    case isUnderWay
    /// The key was given with another request; nothing was done.
    case isOfAnotherRequest
  }

  private static let answer = Statement(
    name: "api_answer",
    sql: "select outcome, status, body from ridepulse.idempotent_call($1, $2, $3::jsonb)")

  /// How long a call may wait for Postgres, for a row that somebody else holds too.
  static let limit: Duration = .seconds(5)

  /// One round trip, one transaction: the key and the effect are there together or not at all.
  ///
  /// - Parameter arguments: a JSON object, checked before.
  package func answer(
    _ call: String, _ arguments: String, key: String?
  ) async throws(PostgresError) -> Outcome {
    let rows = try await session.run(
      [Call(Self.answer, [key, call, arguments])], timeout: Self.limit)
    let isReplayed = rows[0].string(0, 0) == "replayed"
    switch rows[0].string(0, 0) {
    case "under way": return .isUnderWay
    case "other request": return .isOfAnotherRequest
    default:
      guard let status = rows[0].int64(0, 1), let body = rows[0].string(0, 2) else {
        throw PostgresError(.protocol(reason: "ridepulse.idempotent_call said nothing"))
      }
      return .answered(status: Int(status), body: body, isReplayed: isReplayed)
    }
  }
}
