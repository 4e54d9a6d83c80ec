package import RideCore

/// The statements that write and read the passes of sampled rides.
enum RecordStatements {
  private struct Row: Sendable {
    let claim: RideClaim
    let revision: Int32?
    let pass: RecordedPass
  }

  private static let passes = RowParameters<Row>(
    after: 0,
    [
      .text("ride_id") { $0.claim.rideID.text }, .integer("fence") { $0.claim.fence },
      .uuid("node") { $0.claim.holder }, .integer("revision", "integer") { $0.revision },
      .integer("decided_at") { $0.pass.decidedAt.microseconds },
      .integer("from_at") { $0.pass.from.microseconds }, .text("pass") { $0.pass.json },
    ])

  /// Writes the passes of the rides that are still held under their claim, and waits for no row: the
  /// same rides as those that the settlement writes after it, in one transaction.
  private static let record = Statement(
    name: "record",
    sql: """
      with held as materialized (
        select a.ride_id from \(passes.table("r"))
        join ridepulse.agenda a
          on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
        where a.ride_id = any (\(passes.keys))
        order by a.ride_id
        for update of a skip locked
      )
      insert into ridepulse.recorded (ride_id, fence, decided_at, from_at, revision, pass)
      select r.ride_id, r.fence, \(SQLTime.timestamp("r.decided_at")),
        \(SQLTime.timestamp("r.from_at")), r.revision, r.pass::jsonb
      from \(passes.table("r"))
      join held on held.ride_id = r.ride_id
      """)

  /// Returns the call that records a batch; none if no ride of it is sampled.
  ///
  /// It precedes the settlement, which releases the rides.
  static func recording(_ batch: [ClaimedSettlement]) -> [Call] {
    let rows = batch.compactMap { claimed in
      claimed.settlement.recorded.map {
        Row(claim: claimed.claim, revision: claimed.settlement.revision, pass: $0)
      }
    }
    return rows.isEmpty ? [] : [Call(record, passes.arrays(rows))]
  }

  /// Whether passes can be written and partitions made.
  static let isAllowed = Statement(
    name: "may_record",
    sql: """
      select has_table_privilege('ridepulse.recorded', 'insert')
        and has_function_privilege('ridepulse.rotate_recorded()', 'execute')
      """)

  static let rotate = Statement(
    name: "recorded_rotate", sql: "select action, object from ridepulse.rotate_recorded()")
}

/// Reads recorded passes in the order of time, page by page.
package struct RecordedPasses: Sendable {
  /// One row of `ridepulse.recorded`.
  package struct Row: Sendable {
    package var ride: RideID
    package var fence: Int64
    package var from: Timestamp
    package var revision: Int32?
    /// `RecordedPass.json`
    package var pass: String
  }

  private let session: PostgresSession
  private let ride: ResultColumn<String>
  private let fence: ResultColumn<Int64>
  private let from: ResultColumn<Timestamp>
  private let revision: ResultColumn<Int64>
  private let pass: ResultColumn<String>
  private let page: Statement

  static let pageSize = 1000

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
    var list = SelectList()
    ride = list.text("r.ride_id")
    fence = list.integer("r.fence")
    from = list.time("r.from_at")
    revision = list.integer("r.revision")
    pass = list.text("r.pass::text")
    // A pass lasts seconds and contacts count for an hour, so a day's partitions suffice.
    page = Statement(
      name: "recorded_page",
      sql: """
        select \(list.sql) from ridepulse.recorded r
        where r.from_at < \(SQLTime.timestamp("$1::bigint"))
          and (r.from_at, r.fence, r.ride_id)
            > (\(SQLTime.timestamp("$2::bigint")), $3::bigint, $4::text)
          and r.decided_at >= \(SQLTime.timestamp("$2::bigint"))
        order by r.from_at, r.fence, r.ride_id limit \(Self.pageSize)
        """)
  }

  /// Calls `body` with each pass whose earliest time is in the range, earliest first.
  ///
  /// - Throws: `PostgresError`, or an error of `body`.
  package func forEach(
    from start: Timestamp, to end: Timestamp, _ body: (Row) throws -> Void
  ) async throws {
    var last = (from: start, fence: Int64.min, ride: "")
    while true {
      let parameters = [
        String(end.microseconds), String(last.from.microseconds), String(last.fence), last.ride,
      ]
      let rows = try await session.run([Call(page, parameters)], timeout: .seconds(60))[0]
      for row in 0..<rows.rowCount {
        guard let id = rows[row, ride], let fence = rows[row, fence], let at = rows[row, from],
          let pass = rows[row, pass]
        else { continue }
        last = (at, fence, id)
        try body(
          Row(
            ride: RideID(id), fence: fence, from: at,
            revision: rows[row, revision].flatMap { Int32(exactly: $0) }, pass: pass))
      }
      if rows.rowCount < Self.pageSize { return }
    }
  }

  /// Returns whether the session's role may record passes.
  ///
  /// - Throws: `PostgresError`.
  package static func isAllowed(_ session: PostgresSession) async throws -> Bool {
    try await session.run([Call(RecordStatements.isAllowed)])[0].string(0, 0) == "t"
  }
}
