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
    /// The app's installation; nil if the app did not name it.
    package var installationID: InstallationID?
    /// The token's last six digits.
    package var tokenSuffix: String
    /// When its token was registered.
    package var registeredAt: Timestamp
    /// When it ended; nil until then.
    package var endedAt: Timestamp?
    /// How it ended: `ended`, `expired`, `dismissed`, or Apple's reason.
    package var endedReason: String?
    /// Whether it is a card that a person dismissed from an Android phone; others have no row.
    package var isAndroid: Bool
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
  /// The past time that the history is about; nil means now.
  package var time: Timestamp?
  package var ride: Ride?
  /// The row on the agenda; nil for a ride that is over or never existed.
  package var plan: Plan?
  /// Events that no decision has consumed yet.
  package var waiting: [RideEvent]
  /// The ledger rows, oldest first.
  package var entries: [LedgerRow]
  /// The cards, oldest first.
  package var activities: [Activity]
  /// The phones that were sent a push about the ride, or whose person has one of its cards, by ID.
  package var phones: [FoundPhone]
  /// The last contact of each of its people, for those that have one.
  package var contacts: [Contact]
  /// The revisions that the ledger rows name.
  package var revisions: [Int32: RecordedRevision]

  /// Whether the database has no data about the ride.
  package var isEmpty: Bool {
    ride == nil && plan == nil && waiting.isEmpty && entries.isEmpty && activities.isEmpty
  }
}

extension RideHistory.Activity: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    id = try columns.next("id")
    rideID = try columns.next("ride_id")
    activityID = try columns.next("activity_id")
    app = try columns.next("app")
    ownerID = try columns.next("owner_id")
    installationID = try columns.next("installation_id")
    tokenSuffix = try columns.next("right(token, 6)")
    registeredAt = try columns.next("registered_at")
    endedAt = try columns.next("ended_at")
    endedReason = try columns.next("ended_reason")
    isAndroid = try columns.next("coalesce(environment = 'android', false)")
  }

  /// $1 ride ID.
  fileprivate static let ofRide = Statement(
    name: "history_activities",
    sql: "select \(selected) from ridepulse.live_activities where ride_id = $1 order by id")
}

extension FoundPhone {
  /// $1 ride ID.
  fileprivate static let ofRide = Statement(
    name: "history_phones",
    sql: """
      select \(selected) from ridepulse.devices d
      where d.id in (
        select l.device_id from ridepulse.ledger l where l.ride_id = $1
        union
        select o.id from ridepulse.live_activities a
        join ridepulse.devices o on o.app = a.app and o.owner_id = a.owner_id
          and o.disabled_at is null
        where a.ride_id = $1)
      order by d.id limit 200
      """)
}

extension RideHistory.Contact: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    app = try columns.next("c.app")
    ownerID = try columns.next("c.owner_id")
    contactedAt = try columns.next("c.contacted_at")
  }

  /// $1 ride ID. The apps are all those that the ride's attributes name owners of.
  fileprivate static let ofRide = Statement(
    name: "history_contacts",
    sql: """
      select \(selected)
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
}

/// The database's time, and the ride's row on the agenda.
private struct PlanRead: SelectedRecord {
  let now: Timestamp
  private let isPlanned: Bool
  private let due: Timestamp?
  private let node, parkedReason: String?

  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    now = try columns.next("clock_timestamp()")
    isPlanned = try columns.next("a.ride_id is not null")
    due = try columns.next("a.due_at")
    node = try columns.next(
      "case when a.leased_until > now() and a.parked_reason is null then a.node end")
    parkedReason = try columns.next("a.parked_reason")
  }

  /// $1 ride ID.
  static let ofRide = Statement(
    name: "history_plan",
    sql: """
      select \(selected)
      from (values (1)) one left join ridepulse.agenda a on a.ride_id = $1
      """)

  /// Returns the ride's entry on the agenda; nil if it has none.
  func plan(_ memo: Memo) -> RideHistory.Plan? {
    if !isPlanned { return nil }
    return RideHistory.Plan(due: due, node: node, parkedReason: parkedReason, memo: memo)
  }
}

extension RideQueries {
  /// Reads all data about one ride.
  package func history(of id: String) async throws -> RideHistory {
    let rides = PostgresArray.literal([id])
    let results = try await session.run([
      Call(RideSnapshot.begin), Call(RideRead.all.statement, [rides]),
      Call(EventRead.all.statement, [rides, String(ReadSize.bounded.eventLimit)]),
      Call(RideSnapshot.memos, [rides]), Call(PlanRead.ofRide, [id]),
      Call(LedgerRow.ofRide, [id]), Call(RideHistory.Activity.ofRide, [id]),
      Call(RideHistory.Contact.ofRide, [id]), Call(ParticipantRead.all.statement, [rides]),
      Call(FoundPhone.ofRide, [id]), Call(RideSnapshot.commit),
    ])
    var reader = ClaimReader(log: Log { _, _, _ in })
    reader.readClaims(results[3])
    reader.rows.readRides(results[1])
    reader.rows.readEvents(results[2])
    reader.rows.readParticipants(results[8])
    let view = reader.claim.rides.first?.view
    let entries = try LedgerRow.all(results[5])
    guard let plan = try PlanRead.all(results[4]).first else {
      throw PostgresError(.protocol(reason: "no row with the time"))
    }
    return RideHistory(
      now: plan.now, ride: view?.ride, plan: plan.plan(view?.memo ?? Memo()),
      waiting: view?.events ?? [], entries: entries,
      activities: try RideHistory.Activity.all(results[6]),
      phones: try FoundPhone.all(results[9]),
      contacts: try RideHistory.Contact.all(results[7]),
      revisions: try await RevisionRegistry(session: session).named(in: entries))
  }
}
