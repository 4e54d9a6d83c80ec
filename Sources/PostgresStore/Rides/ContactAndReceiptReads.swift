import Base
internal import RideCore

/// Reads the last contacts of people, for rules with `at: contact` or with `contact` in `if`.
///
/// A phone's row has its owner's contact, too, but an owner without a phone makes contact as well.
struct ContactRead: Sendable {
  let ride: ResultColumn<String>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let contactedAt: ResultColumn<Timestamp>
  /// Its parameters are the rows of `RidePerson`.
  let statement: Statement

  static let all = ContactRead()

  private init() {
    var list = SelectList()
    ride = list.text("person.ride_id")
    app = list.text("person.app")
    owner = list.text("person.owner_id")
    contactedAt = list.time("c.contacted_at")
    statement = Statement(
      name: "contacts_of_people",
      sql: """
        select \(list.sql)
        from \(RidePerson.rows.table("person"))
        cross join lateral (
          select contacted_at from ridepulse.contacts c
          where c.app = person.app and c.owner_id = person.owner_id offset 0
        ) c
        """)
  }
}

/// Reads which owners' phones have ever reported a receipt, of those whom escalations concern.
struct ReporterRead: Sendable {
  let ride: ResultColumn<String>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  /// Its parameters are the rows of `RidePerson`.
  let statement: Statement

  static let all = ReporterRead()

  private init() {
    var list = SelectList()
    ride = list.text("person.ride_id")
    app = list.text("person.app")
    owner = list.text("person.owner_id")
    statement = Statement(
      name: "reporters_of_receipts",
      sql: """
        select \(list.sql)
        from \(RidePerson.rows.table("person"))
        cross join lateral (
          select from ridepulse.receipts r
          where r.app = person.app and r.owner_id = person.owner_id limit 1
        ) r
        """)
  }
}

/// Names the owners of receipts, one a day for each owner: the retention deletes receipts, and who goes
/// on reporting must stay known.
enum OwnersReceiptStatements {
  private struct Row: Sendable {
    let claim: RideClaim
    let receipt: OwnersReceipt
  }

  private static let receipts = RowParameters<Row>(
    after: 0,
    [
      .id("apns_id") { $0.receipt.push }, .text("app") { $0.receipt.owner.app.rawValue },
      .text("owner_id") { $0.receipt.owner.owner.text },
      .text("ride_id") { $0.claim.rideID.text }, .integer("fence") { $0.claim.fence },
      .text("node", "uuid") { $0.claim.holder },
    ])

  /// Only for rides that are still held under their claim: of another one, the owner may have been
  /// erased meanwhile.
  private static let record = Statement(
    name: "record_owners_receipts",
    sql: """
      with held as materialized (
        select a.ride_id from ridepulse.agenda a
        join \(receipts.table("m"))
          on a.ride_id = m.ride_id and a.fence = m.fence and a.node = m.node
        where a.ride_id = any (\(receipts.array("ride_id")))
        order by a.ride_id
        for update of a skip locked
      )
      update ridepulse.receipts r set app = m.app, owner_id = m.owner_id
      from \(receipts.table("m"))
      where r.apns_id = any (\(receipts.keys)) and r.apns_id = m.apns_id
        and m.ride_id in (select ride_id from held)
        and not exists (
          select from ridepulse.receipts o
          where o.app = m.app and o.owner_id = m.owner_id and o.seen_at > r.seen_at - interval '1 day')
      """)

  /// Returns the calls of a batch of settlements: none, as a rule.
  ///
  /// They precede the settlement, which releases the rides.
  static func recording(_ batch: [ClaimedSettlement]) -> [Call] {
    let rows = batch.flatMap { claimed in
      claimed.settlement.ownersReceipts.map { Row(claim: claimed.claim, receipt: $0) }
    }
    return rows.isEmpty ? [] : [Call(record, receipts.arrays(rows))]
  }
}

/// Reads which pushes that escalations await apps have reported as seen.
struct ReceiptRead: Sendable {
  let ride: ResultColumn<String>
  let push: ResultColumn<String>
  /// For each push $1 the ride and $2 its `apns-id`.
  let statement: Statement

  static let all = ReceiptRead()

  private init() {
    var list = SelectList()
    ride = list.text("a.ride_id")
    push = list.text("a.push")
    statement = Statement(
      name: "claimed_receipts",
      sql: """
        select \(list.sql)
        from unnest($1::text[], $2::uuid[]) a (ride_id, push)
        join ridepulse.receipts s on s.apns_id = a.push
        """)
  }
}
