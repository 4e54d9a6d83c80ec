package import Base
package import RideCore

/// One row of `ridepulse.ledger`, as it is stored: a push that was decided, and its outcome.
///
/// `LedgerEntry` is the same before it is stored. Words are not converted to enums, because another
/// version may have written them.
package struct LedgerRow: Hashable, Sendable {
  package var rideID: RideID
  /// The event's ID; nil for a schedule slot.
  package var eventID: Int64?
  /// The event's name.
  package var event: String
  /// When the event happened.
  package var occurredAt: Timestamp
  package var rule: String
  package var app: String
  /// `apns-push-type`.
  package var pushType: String
  /// What it does to a card: `start`, `update` or `end`.
  package var cardEvent: String?
  /// The outcome, in the words of `deliveries.status`.
  package var status: String
  /// The reason for the outcome.
  package var reason: String?
  /// The reason as a code, a word of `LedgerReason.Code.word`.
  package var reasonCode: String?
  /// The number of times it was sent to APNs.
  package var attempts: Int64
  /// `apns-id`.
  package var id: String
  /// `apns-unique-id`, by which Apple's console finds the push; nil if APNs sent none.
  package var uniqueID: String?
  /// `apns-collapse-id`.
  package var collapseID: String?
  /// `apns-priority`; nil if nothing was sent.
  package var priority: Int64?
  /// `apns-expiration`, in seconds since 1970.
  package var expiration: Int64?
  /// The token's last six digits; nil if there was no phone.
  package var tokenSuffix: String?
  /// When it was decided.
  package var createdAt: Timestamp
  /// When its verdict was written; nil until then.
  package var finishedAt: Timestamp?
  /// When an app first reported it as seen; nil if none did.
  package var seenAt: Timestamp?
  /// `Revision.id` of the rules and the program that decided the status; nil if not recorded.
  package var decidedBy: Int32?
}

extension LedgerRow {
  private struct Columns: Sendable {
    let eventID, attempts, priority, expiration, decidedBy: ResultColumn<Int64>
    let rideID, event, rule, app, pushType, cardEvent, status, reason, reasonCode, id, uniqueID,
      collapseID, tokenSuffix: ResultColumn<String>
    let occurredAt, createdAt, finishedAt, seenAt: ResultColumn<Timestamp>
    let sql: String

    init() {
      var list = SelectList()
      rideID = list.text("ride_id")
      eventID = list.integer("event_id")
      event = list.text("event")
      occurredAt = list.time("occurred_at")
      rule = list.text("rule")
      app = list.text("app")
      pushType = list.text("push_type")
      cardEvent = list.text("card_event")
      status = list.text("status")
      reason = list.text("reason")
      reasonCode = list.text("reason_code")
      attempts = list.integer("attempts")
      id = list.text("apns_id")
      uniqueID = list.text("apns_unique_id")
      collapseID = list.text("collapse_id")
      priority = list.integer("priority")
      expiration = list.integer("expiration")
      tokenSuffix = list.text("token_suffix")
      createdAt = list.time("created_at")
      finishedAt = list.time("finished_at")
      // The key has another name within, so that `apns_id` is that of the row.
      seenAt = list.time(
        """
        (select r.first_seen from (
          select apns_id as push, seen_at as first_seen from ridepulse.receipts) r
         where r.push = apns_id)
        """)
      decidedBy = list.integer("decided_by")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// The columns that `all` reads, of `ridepulse.ledger` or of a query with its columns.
  static let selected = columns.sql

  /// The rows of a ride, oldest first: $1 ride ID.
  static let ofRide = Statement(
    name: "ledger_of_ride",
    sql: """
      select \(columns.sql)
      from ridepulse.ledger where ride_id = $1
      order by occurred_at, coalesce(event_id, 0), created_at, rule, device_id, apns_id
      """)

  /// The rows of an event: $1 ride ID, $2 event's ID.
  static let ofEvent = Statement(
    name: "ledger_of_event",
    sql: """
      select \(columns.sql)
      from ridepulse.ledger where ride_id = $1 and event_id = $2::bigint
      order by created_at, rule, device_id
      """)

  /// The row of a raw push of the last hour: $1 kind, $2 app, $3 address, $4 `apns-id`.
  static let ofRawPush = Statement(
    name: "ledger_of_raw_push",
    sql: """
      select \(columns.sql)
      from ridepulse.ledger
      where ride_id = ridepulse.raw_ride($1, $2, $3) and apns_id = $4::uuid
        and occurred_at > now() - interval '1 hour'
      """)

  static func all(_ rows: QueryResult) -> [LedgerRow] {
    (0..<rows.rowCount).map { row in
      LedgerRow(
        rideID: RideID(rows[row, columns.rideID] ?? ""), eventID: rows[row, columns.eventID],
        event: rows[row, columns.event] ?? "",
        occurredAt: rows[row, columns.occurredAt] ?? Timestamp(microseconds: 0),
        rule: rows[row, columns.rule] ?? "", app: rows[row, columns.app] ?? "",
        pushType: rows[row, columns.pushType] ?? "", cardEvent: rows[row, columns.cardEvent],
        status: rows[row, columns.status] ?? "", reason: rows[row, columns.reason],
        reasonCode: rows[row, columns.reasonCode],
        attempts: rows[row, columns.attempts] ?? 0, id: rows[row, columns.id] ?? "",
        uniqueID: rows[row, columns.uniqueID], collapseID: rows[row, columns.collapseID],
        priority: rows[row, columns.priority],
        expiration: rows[row, columns.expiration], tokenSuffix: rows[row, columns.tokenSuffix],
        createdAt: rows[row, columns.createdAt] ?? Timestamp(microseconds: 0),
        finishedAt: rows[row, columns.finishedAt], seenAt: rows[row, columns.seenAt],
        decidedBy: rows[row, columns.decidedBy].flatMap(Int32.init(exactly:)))
    }
  }
}
