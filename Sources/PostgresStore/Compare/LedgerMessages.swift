package import Base
package import RideCore

/// What was decided for one person by one rule: a row of the ledger for each phone, as one.
package struct LedgerMessage: Hashable, Sendable {
  package var ride: RideID
  package var event: String
  package var rule: String
  package var app: String
  package var owner: OwnerID
  package var occurredAt: Timestamp
  /// When the first of them was accepted, or may have been; nil if none was.
  package var sentAt: Timestamp?
  /// When a card took over the first of them; nil if none did.
  package var coveredAt: Timestamp?
  /// When the first of them was decided.
  package var decidedAt: Timestamp
  /// The status and the reason code of one of them.
  package var status: String
  package var reasonCode: String?
  /// Whether the wanted rules decided all of them.
  package var isOfRules: Bool
}

/// Reads what was decided for people within a time.
package struct LedgerMessages: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// $1 and $2 the begin and the end, $3 rules and events, $4 the digest of rules.
  ///
  /// What is pending has no verdict yet: the time of its first attempt counts. Alerts are always read;
  /// of other pushes, those that the names select.
  private static let page = Statement(
    name: "",
    sql: """
      select \(LedgerMessage.selected)
      from ridepulse.ledger l
      where (l.finished_at >= \(SQLTime.timestamp("$1::bigint"))
          and l.finished_at < \(SQLTime.timestamp("$2::bigint"))
        or l.finished_at is null and l.created_at >= \(SQLTime.timestamp("$1::bigint"))
          and l.created_at < \(SQLTime.timestamp("$2::bigint")))
        and l.owner_id is not null and l.push_type not in ('emit', 'escalation')
        and (l.push_type = 'alert' or l.rule = any ($3::text[]) or l.event = any ($3::text[])
          and l.push_type not in ('liveactivity', 'background'))
      group by l.ride_id, l.event, l.rule, l.app, l.owner_id, l.occurred_at
      """)

  /// How much is read at once.
  private static let slice: Duration = .seconds(3600)

  /// Calls `body` with what was decided from `start` up to `end`, some at a time. The phones of a person
  /// may be in two of the calls.
  ///
  /// - Parameters:
  ///   - names: The rules whose pushes are read even if they are no alerts.
  ///   - digest: Of the rules that `isOfRules` is about.
  /// - Throws: `PostgresError`, or an error of `body`.
  package func read(
    from start: Timestamp, to end: Timestamp, names: [String], digest: String?,
    _ body: ([LedgerMessage]) throws -> Void
  ) async throws {
    var from = start
    while from < end {
      let to = min(from + Self.slice, end)
      let parameters = [
        String(from.microseconds), String(to.microseconds), PostgresArray.literal(names), digest,
      ]
      let rows = try await session.run([Call(Self.page, parameters)], timeout: .seconds(120))[0]
      try body(try LedgerMessage.all(rows))
      from = to
    }
  }

  /// $1 rides.
  private static let ofRides = Statement(
    name: "",
    sql: """
      select \(LedgerRow.selected) from ridepulse.ledger
      where ride_id = any ($1::text[]) and status in ('accepted', 'uncertain')
      order by ride_id, finished_at, apns_id
      """)

  /// Returns the pushes of rides that a service accepted, one for each phone.
  package func accepted(of rides: [RideID]) async throws(PostgresError) -> [LedgerRow] {
    let call = Call(Self.ofRides, [PostgresArray.literal(rides)])
    return try LedgerRow.all(try await session.run([call], timeout: .seconds(60))[0])
  }
}

extension LedgerMessage: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    ride = try columns.next("l.ride_id")
    event = try columns.next("l.event")
    rule = try columns.next("l.rule")
    app = try columns.next("l.app")
    owner = try columns.next("l.owner_id")
    occurredAt = try columns.next("l.occurred_at")
    sentAt = try columns.next(
      "(min(l.finished_at) filter (where l.status in ('accepted', 'uncertain')))")
    coveredAt = try columns.next(
      """
      (min(coalesce(l.finished_at, l.created_at))
        filter (where l.status = 'suppressed' and l.reason_code = 'covered_by_card'))
      """)
    decidedAt = try columns.next("min(coalesce(l.finished_at, l.created_at))")
    status = try columns.next("(array_agg(l.status order by l.apns_id))[1]")
    reasonCode = try columns.next("(array_agg(l.reason_code order by l.apns_id))[1]")
    isOfRules = try columns.next(
      """
      coalesce(bool_and(
        l.decided_by in (select v.id from ridepulse.revisions v where v.rules = $4::text)), false)
      """)
  }
}
