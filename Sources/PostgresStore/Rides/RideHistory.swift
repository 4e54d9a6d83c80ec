package import Base
package import RideCore

/// All data about one ride in the database, read in one snapshot.
package struct RideHistory: Sendable {
  /// One row of `ridepulse.live_activities`.
  package struct Activity: Sendable {
    /// The row's ID, which is the key in `Memo.cards`.
    package var id: Int64
    package var rideID: RideID
    /// The activity's own ID.
    package var activityID: String
    package var app: String
    /// The owner of the phone that shows it.
    package var ownerID: OwnerID
    /// The token's last six digits.
    package var tokenSuffix: String
    /// When its token was registered.
    package var registeredAt: Timestamp
    /// When it ended; nil until then.
    package var endedAt: Timestamp?
    /// How it ended: `ended`, `expired`, or Apple's reason.
    package var endedReason: String?
  }

  /// The last contact from an owner's phone.
  package struct Contact: Sendable {
    package var app: String
    /// The owner of the phone.
    package var ownerID: OwnerID
    package var contactedAt: Timestamp
  }

  /// The ride's row on the agenda.
  package struct Plan: Sendable {
    /// When it next needs attention; nil if only its next event makes it due.
    package var due: Timestamp?
    /// The node that has it leased; nil if none has.
    package var node: String?
    /// Why it is parked; nil if it is not.
    package var parkedReason: String?
    /// The memo that the last decision left for the next one.
    package var memo: Memo
  }

  /// The database's time of the read.
  package var now: Timestamp
  package var ride: Ride?
  /// The row on the agenda; nil for a ride that is over or never existed.
  package var plan: Plan?
  /// Events that no decision has consumed yet.
  package var waiting: [RideEvent]
  /// The ledger rows, oldest first.
  package var entries: [LedgerRow]
  /// The cards, oldest first.
  package var activities: [Activity]
  /// The last contact of each of its people, for those that have one.
  package var contacts: [Contact]
  /// The revisions that the ledger rows name.
  package var revisions: [Int32: RecordedRevision]

  /// Whether the database has no data about the ride.
  package var isEmpty: Bool {
    ride == nil && plan == nil && waiting.isEmpty && entries.isEmpty && activities.isEmpty
  }
}

extension RideHistory.Activity {
  private struct Columns: Sendable {
    let id: ResultColumn<Int64>
    let rideID, activityID, app, ownerID, tokenSuffix, endedReason: ResultColumn<String>
    let registeredAt, endedAt: ResultColumn<Timestamp>
    let sql: String

    init() {
      var list = SelectList()
      id = list.integer("id")
      rideID = list.text("ride_id")
      activityID = list.text("activity_id")
      app = list.text("app")
      ownerID = list.text("owner_id")
      tokenSuffix = list.text("right(token, 6)")
      registeredAt = list.time("registered_at")
      endedAt = list.time("ended_at")
      endedReason = list.text("ended_reason")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// The columns that `all` reads, of `ridepulse.live_activities`.
  static let selected = columns.sql

  /// $1 ride ID.
  fileprivate static let ofRide = Statement(
    name: "history_activities",
    sql: "select \(columns.sql) from ridepulse.live_activities where ride_id = $1 order by id")

  static func all(_ rows: QueryResult) -> [Self] {
    (0..<rows.rowCount).map { Self(rows, $0) }
  }

  private init(_ rows: QueryResult, _ row: Int) {
    let columns = Self.columns
    id = rows[row, columns.id] ?? 0
    rideID = RideID(rows[row, columns.rideID] ?? "")
    activityID = rows[row, columns.activityID] ?? ""
    app = rows[row, columns.app] ?? ""
    ownerID = OwnerID(rows[row, columns.ownerID] ?? "")
    tokenSuffix = rows[row, columns.tokenSuffix] ?? ""
    registeredAt = rows[row, columns.registeredAt] ?? Timestamp(microseconds: 0)
    endedAt = rows[row, columns.endedAt]
    endedReason = rows[row, columns.endedReason]
  }
}

extension RideHistory.Contact {
  private struct Columns: Sendable {
    let app, ownerID: ResultColumn<String>
    let contactedAt: ResultColumn<Timestamp>
    let sql: String

    init() {
      var list = SelectList()
      app = list.text("c.app")
      ownerID = list.text("c.owner_id")
      contactedAt = list.time("c.contacted_at")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// The columns that `all` reads, of `ridepulse.contacts c`.
  static let selected = columns.sql

  /// $1 ride ID. The apps are all those that the ride's attributes name owners of.
  fileprivate static let ofRide = Statement(
    name: "history_contacts",
    sql: """
      select \(columns.sql)
      from (
        select o.app, o.owner_id
        from ridepulse.rides r cross join lateral (
          select 'customer' as app, r.customer_id as owner_id
          union all
          select 'driver', r.driver_id
          union all
          select a.app, r.attributes ->> (a.app || '_id') from unnest(\(appsOfRide)) a (app)
          where a.app not in ('customer', 'driver')
        ) o
        where r.id = $1
        union
        select p.app, p.owner_id from ridepulse.participants p where p.ride_id = $1
      ) owner
      join ridepulse.contacts c on c.app = owner.app and c.owner_id = owner.owner_id
      order by c.app, c.owner_id
      """)

  private static let appsOfRide = """
    array(
      select left(key, -3) from jsonb_object_keys(
        case jsonb_typeof(r.attributes) when 'object' then r.attributes else '{}' end) key
      where key like '%\\_id')
    """

  static func all(_ rows: QueryResult) -> [Self] {
    (0..<rows.rowCount).map { Self(rows, $0) }
  }

  private init(_ rows: QueryResult, _ row: Int) {
    let columns = Self.columns
    app = rows[row, columns.app] ?? ""
    ownerID = OwnerID(rows[row, columns.ownerID] ?? "")
    contactedAt = rows[row, columns.contactedAt] ?? Timestamp(microseconds: 0)
  }
}

extension RideHistory.Plan {
  private struct Columns: Sendable {
    let now, due: ResultColumn<Timestamp>
    let isPlanned: ResultColumn<Bool>
    let node, parkedReason: ResultColumn<String>
    let sql: String

    init() {
      var list = SelectList()
      now = list.time("clock_timestamp()")
      isPlanned = list.boolean("a.ride_id is not null")
      due = list.time("a.due_at")
      node = list.text(
        "case when a.leased_until > now() and a.parked_reason is null then a.node end")
      parkedReason = list.text("a.parked_reason")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// $1 ride ID.
  fileprivate static let ofRide = Statement(
    name: "history_plan",
    sql: """
      select \(columns.sql)
      from (values (1)) one left join ridepulse.agenda a on a.ride_id = $1
      """)

  fileprivate static func now(_ rows: QueryResult) -> Timestamp {
    rows[0, columns.now] ?? Timestamp(microseconds: 0)
  }

  /// Reads the only row; nil if the ride is not on the agenda.
  fileprivate init?(_ rows: QueryResult, memo: Memo) {
    let columns = Self.columns
    guard rows[0, columns.isPlanned] == true else { return nil }
    due = rows[0, columns.due]
    node = rows[0, columns.node]
    parkedReason = rows[0, columns.parkedReason]
    self.memo = memo
  }
}

extension RideQueries {
  /// Reads all data about one ride.
  package func history(of id: String) async throws -> RideHistory {
    let rides = PostgresArray.literal([id])
    let results = try await session.run([
      Call(RideSnapshot.begin), Call(RideRead.all.statement, [rides]),
      Call(EventRead.all.statement, [rides, String(EventRead.limit)]),
      Call(RideSnapshot.memos, [rides]), Call(RideHistory.Plan.ofRide, [id]),
      Call(LedgerRow.ofRide, [id]), Call(RideHistory.Activity.ofRide, [id]),
      Call(RideHistory.Contact.ofRide, [id]), Call(ParticipantRead.all.statement, [rides]),
      Call(RideSnapshot.commit),
    ])
    var reader = ClaimReader(log: Log { _, _, _ in })
    reader.readClaims(results[3])
    reader.rows.readRides(results[1])
    reader.rows.readEvents(results[2])
    reader.rows.readParticipants(results[8])
    let view = reader.claim.rides.first?.view
    let entries = LedgerRow.all(results[5])
    return RideHistory(
      now: RideHistory.Plan.now(results[4]), ride: view?.ride,
      plan: RideHistory.Plan(results[4], memo: view?.memo ?? Memo()),
      waiting: view?.events ?? [], entries: entries,
      activities: RideHistory.Activity.all(results[6]),
      contacts: RideHistory.Contact.all(results[7]),
      revisions: try await RevisionRegistry(session: session).named(in: entries))
  }
}
