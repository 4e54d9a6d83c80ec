/// What became of an app's pushes within the last five minutes.
package struct AppTraffic: Hashable, Sendable {
  package var app: String
  package var accepted: Int64
  /// Refused, expired, or without an answer.
  package var failed: Int64
  package var waiting: Int64
  /// The most frequent code of those that failed.
  package var failure: String?
  /// The most frequent code of what waits.
  package var wait: String?

  package init(
    app: String, accepted: Int64 = 0, failed: Int64 = 0, waiting: Int64 = 0,
    failure: String? = nil, wait: String? = nil
  ) {
    (self.app, self.accepted, self.failed, self.waiting) = (app, accepted, failed, waiting)
    (self.failure, self.wait) = (failure, wait)
  }

  /// The rows of the ledger that are counted at most.
  package static let limit = 100_000

  private static let recent = "now() - interval '5 minutes'"
  private static let isFailed = "status in ('rejected', 'expired', 'uncertain')"

  /// By the time of settlements, which has an index of its own.
  private static let statement = Statement(
    name: "",
    sql: """
      select app, count(*) filter (where status = 'accepted'),
        count(*) filter (where \(isFailed)), count(*) filter (where status = 'pending'),
        mode() within group (order by reason_code) filter (where \(isFailed)),
        mode() within group (order by reason_code) filter (where status = 'pending')
      from (
        select app, status, reason_code from ridepulse.ledger
        where (created_at > \(recent) or finished_at > \(recent)) and app <> ''
          and push_type not in ('emit', 'escalation')
        limit \(limit)) l
      group by app order by app
      """)

  /// Returns the traffic of each app that had any.
  static func all(_ session: PostgresSession) async throws(PostgresError) -> [AppTraffic] {
    let rows = try await session.run([Call(statement)], timeout: .seconds(5))[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      AppTraffic(
        app: try rows.value(row, 0), accepted: try rows.value(row, 1),
        failed: try rows.value(row, 2), waiting: try rows.value(row, 3),
        failure: rows.string(row, 4), wait: rows.string(row, 5))
    }
  }
}
