package import Base
package import RideCore

/// Reads the passes that were decided within a time, in the order of their earliest times.
package struct RecordedPasses: Sendable {
  /// One row of `ridepulse.recorded`.
  package struct Row: Sendable {
    package var ride: RideID
    package var fence: Int64
    /// The earliest time in the pass.
    package var from: Timestamp
    /// `RecordedPass.json`
    package var pass: String
  }

  /// What a range of time has.
  package struct Summary: Sendable {
    /// The smallest share of rides that a node recorded; nil without passes.
    package var sample: RecordSample?
    /// The digest of the rule files that decided the first pass, and the program's version.
    package var rules: String?
    package var version: String?
  }

  private let session: PostgresSession

  private static let page = Statement(
    name: "recorded_page",
    sql: """
      select \(Row.selected) from ridepulse.recorded r
      where \(range)
        and (r.from_at, r.fence, r.ride_id)
          > (\(SQLTime.timestamp("$3::bigint")), $4::bigint, $5::text)
      order by r.from_at, r.fence, r.ride_id limit \(pageSize)
      """)

  private static let pageSize = 1000

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// $1 and $2 the begin and the end.
  private static let range = """
    r.decided_at >= \(SQLTime.timestamp("$1::bigint"))
    and r.decided_at < \(SQLTime.timestamp("$2::bigint"))
    """

  private static let summary = Statement(
    name: "recorded_summary",
    sql: """
      select (select min(r.sample) from ridepulse.recorded r where \(range)), v.rules, v.version
      from (values (1)) one
      left join lateral (
        select r.revision from ridepulse.recorded r
        where \(range) order by r.decided_at limit 1) first on true
      left join ridepulse.revisions v on v.id = first.revision
      """)

  /// - Throws: `PostgresError`.
  package func summary(from start: Timestamp, to end: Timestamp) async throws -> Summary {
    let bounds = [String(start.microseconds), String(end.microseconds)]
    let rows = try await session.run([Call(Self.summary, bounds)], timeout: .seconds(60))[0]
    return Summary(
      sample: rows.int64(0, 0).flatMap { UInt64(exactly: $0) }.flatMap {
        RecordSample(millionths: $0)
      },
      rules: rows.string(0, 1), version: rows.string(0, 2))
  }

  /// Calls `body` with the passes, some at a time.
  ///
  /// - Throws: `PostgresError`, or an error of `body`.
  package func read(
    from start: Timestamp, to end: Timestamp, _ body: ([Row]) throws -> Void
  ) async throws {
    // An event may have waited for as long as no service ran.
    var last = (from: start - .seconds(366 * 86_400), fence: Int64.min, ride: "")
    while true {
      let parameters = [
        String(start.microseconds), String(end.microseconds), String(last.from.microseconds),
        String(last.fence), last.ride,
      ]
      let result = try await session.run([Call(Self.page, parameters)], timeout: .seconds(60))[0]
      let rows = try Row.all(result)
      guard let end = rows.last else { return }
      last = (end.from, end.fence, end.ride.text)
      try body(rows)
      if rows.count < Self.pageSize { return }
    }
  }

  /// The most passes of a ride that are read.
  package static let rideLimit = 5 * pageSize

  /// Returns the passes of one ride that were decided within a time, in the order of their earliest
  /// times: the first `rideLimit`, and whether there are more. The index is by time: a ride's own is
  /// found among those of the same hours.
  ///
  /// - Parameter earliest: The earliest time that a pass can have.
  package func passes(
    of ride: RideID, from earliest: Timestamp, to end: Timestamp
  ) async throws(PostgresError) -> (rows: [Row], isCut: Bool) {
    var rows: [Row] = []
    var last = (from: earliest, fence: Int64.min)
    while true {
      let parameters = [
        String(earliest.microseconds), String(end.microseconds), ride.text,
        String(last.from.microseconds), String(last.fence),
      ]
      let page = try Row.all(
        try await session.run([Call(Self.ofRide, parameters)], timeout: .seconds(10))[0])
      guard rows.count < Self.rideLimit else { return (rows, !page.isEmpty) }
      rows += page
      guard page.count == Self.pageSize, let end = page.last else { return (rows, false) }
      last = (end.from, end.fence)
    }
  }

  /// $3 the ride's ID, $4 and $5 the place of the last pass before these.
  private static let ofRide = Statement(
    name: "recorded_of_ride",
    sql: """
      select \(Row.selected) from ridepulse.recorded r
      where \(range)
        and (r.from_at, r.fence) > (\(SQLTime.timestamp("$4::bigint")), $5::bigint)
        and r.from_at < \(SQLTime.timestamp("$2::bigint")) and r.ride_id = $3
      order by r.from_at, r.fence limit \(pageSize)
      """)

  /// Returns whether the session's role may record passes.
  ///
  /// - Throws: `PostgresError`.
  package static func isAllowed(_ session: PostgresSession) async throws(PostgresError) -> Bool {
    try await session.run([Call(RecordStatements.isAllowed)])[0].bool(0, 0) ?? false
  }
}

extension RecordedPasses.Row: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    ride = try columns.next("r.ride_id")
    fence = try columns.next("r.fence")
    from = try columns.next("r.from_at")
    pass = try columns.next("r.pass::text")
  }
}
