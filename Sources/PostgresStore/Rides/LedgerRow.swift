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
  /// The person whom it was for; nil if it was for none, and once the person is erased.
  package var ownerID: OwnerID?
  /// `apns-push-type`; of what is no push, its kind.
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
  /// The system of the phone, as `Platform` has it; nil without a phone or once it is deleted.
  package var platform: String?
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
  package var kind: LedgerEntry.Kind { LedgerEntry.Kind(rawValue: pushType) ?? .push }

  /// Whether it was for an Android phone, which FCM reaches.
  package var isAndroid: Bool { platform == Platform.android.rawValue }
}

extension LedgerRow: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    rideID = try columns.next("ride_id")
    eventID = try columns.next("event_id")
    event = try columns.next("event")
    occurredAt = try columns.next("occurred_at")
    rule = try columns.next("rule")
    app = try columns.next("app")
    ownerID = try columns.next("owner_id")
    pushType = try columns.next("push_type")
    cardEvent = try columns.next("card_event")
    status = try columns.next("status")
    reason = try columns.next("reason")
    reasonCode = try columns.next("reason_code")
    attempts = try columns.next("attempts")
    id = try columns.next("apns_id")
    uniqueID = try columns.next("apns_unique_id")
    collapseID = try columns.next("collapse_id")
    priority = try columns.next("priority")
    expiration = try columns.next("expiration")
    tokenSuffix = try columns.next("token_suffix")
    platform = try columns.next(
      "(select d.platform from ridepulse.devices d where d.id = device_id)")
    createdAt = try columns.next("created_at")
    finishedAt = try columns.next("finished_at")
    // The key has another name within, so that `apns_id` is that of the row.
    seenAt = try columns.next(
      """
      (select r.first_seen from (
        select apns_id as push, seen_at as first_seen from ridepulse.receipts) r
       where r.push = apns_id)
      """)
    decidedBy = (try columns.next("decided_by") as Int64?).flatMap(Int32.init(exactly:))
  }

  /// The rows of a ride, oldest first: $1 ride ID.
  static let ofRide = Statement(
    name: "ledger_of_ride",
    sql: """
      select \(selected)
      from ridepulse.ledger where ride_id = $1
      order by occurred_at, coalesce(event_id, 0), created_at, rule, device_id, apns_id
      """)

  /// The rows of an event: $1 ride ID, $2 event's ID.
  static let ofEvent = Statement(
    name: "ledger_of_event",
    sql: """
      select \(selected)
      from ridepulse.ledger where ride_id = $1 and event_id = $2::bigint
      order by created_at, rule, device_id
      """)

  /// The row of a raw push of the last hour: $1 kind, $2 app, $3 address, $4 `apns-id`.
  static let ofRawPush = Statement(
    name: "ledger_of_raw_push",
    sql: """
      select \(selected)
      from ridepulse.ledger
      where ride_id = ridepulse.raw_ride($1, $2, $3) and apns_id = $4::uuid
        and occurred_at > now() - interval '1 hour'
      """)
}
