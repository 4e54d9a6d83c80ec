import Base
internal import RideCore

/// Reads the last contacts of people, for rules with `at: contact`.
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
