import Base
import RideCore

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
      .text("node", "uuid") { $0.claim.holder }, .integer("revision", "integer") { $0.revision },
      .integer("decided_at") { $0.pass.decidedAt.microseconds },
      .integer("from_at") { $0.pass.from.microseconds },
      .integer("sample", "integer") { $0.pass.sample.millionths },
      .text("pass") { $0.pass.json },
    ])

  /// Writes the passes of rides that are still held under their claim. It skips rows that another
  /// session has locked: if such a lock ends before the settlement, the ride is settled without its
  /// pass.
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
      insert into ridepulse.recorded
        (ride_id, fence, decided_at, from_at, revision, sample, pass)
      select r.ride_id, r.fence, \(SQLTime.timestamp("r.decided_at")),
        \(SQLTime.timestamp("r.from_at")), r.revision, r.sample, r.pass::jsonb
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
