internal import RideCore

/// Reads the last contacts of the owners of rides, for rules with `lost-contact`.
///
/// A phone's row has its owner's contact, too, but an owner without a phone makes contact as well.
struct ContactRead: Sendable {
  let ride: ResultColumn<String>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let contactedAt: ResultColumn<Timestamp>
  /// $1 ride IDs, $2 apps.
  let statement: Statement

  static let all = ContactRead()

  private init() {
    var list = SelectList()
    ride = list.text("r.id")
    app = list.text("c.app")
    owner = list.text("c.owner_id")
    contactedAt = list.time("c.contacted_at")
    statement = Statement(
      name: "claimed_contacts",
      sql: """
        select \(list.sql)
        from ridepulse.rides r
        cross join \(RideOwners.lateral(apps: "$2::text[]")) owner
        join ridepulse.contacts c on c.app = owner.app and c.owner_id = owner.owner_id
        where r.id = any ($1::text[]) and owner.app = any ($2::text[])
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
