package import RideCore

/// All data about one ride in the database, read in one snapshot.
package struct RideHistory: Sendable {
  /// One row of `ridepulse.ledger`.
  package struct Entry: Sendable {
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
    /// The number of times it was sent to APNs.
    package var attempts: Int64
    /// `apns-id`.
    package var id: String
    /// `apns-collapse-id`.
    package var collapseID: String?
    /// `apns-priority`; nil if nothing was sent.
    package var priority: Int64?
    /// `apns-expiration`, in seconds since 1970.
    package var expiration: Int64?
    /// The token's last six digits.
    package var tokenSuffix: String?
    /// When it was decided.
    package var createdAt: Timestamp
    /// When its verdict was written; nil until then.
    package var finishedAt: Timestamp?
  }

  /// One row of `ridepulse.live_activities`.
  package struct Activity: Sendable {
    /// The row's ID, which is the key in `Memo.cards`.
    package var id: Int64
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
  package var entries: [Entry]
  /// The cards, oldest first.
  package var activities: [Activity]
  /// The last contact of each of its people, for those that have one.
  package var contacts: [Contact]

  /// Whether the database has no data about the ride.
  package var isEmpty: Bool {
    ride == nil && plan == nil && waiting.isEmpty && entries.isEmpty && activities.isEmpty
  }
}

extension RideQueries {
  private static let ledger = Statement(
    name: "history_ledger",
    sql: """
      select event_id, event, \(micros("occurred_at")), rule, app, push_type, card_event, status,
        reason, attempts, apns_id, collapse_id, priority, expiration, token_suffix,
        \(micros("created_at")), \(micros("finished_at"))
      from (
        select * from ridepulse.ledger
        union all select *, null::text from ridepulse.ledger_before) rows
      where ride_id = $1
      order by occurred_at, coalesce(event_id, 0), created_at, rule, device_id, apns_id
      """)

  private static let activities = Statement(
    name: "history_activities",
    sql: """
      select id, activity_id, app, owner_id, right(token, 6), \(micros("registered_at")),
        \(micros("ended_at")), ended_reason
      from ridepulse.live_activities where ride_id = $1 order by id
      """)

  // The owners of a ride, as docs/sql.md defines them under "Who is told".
  private static let contacts = Statement(
    name: "history_contacts",
    sql: """
      select c.app, c.owner_id, \(micros("c.contacted_at"))
      from ridepulse.rides r
      cross join lateral (
        values ('customer', r.customer_id), ('driver', r.driver_id)
        union all
        select left(key, -3), value from jsonb_each_text(
          case jsonb_typeof(r.attributes) when 'object' then r.attributes else '{}' end)
        where key like '%\\_id' and key not in ('customer_id', 'driver_id')
      ) owner (app, owner_id)
      join ridepulse.contacts c on c.app = owner.app and c.owner_id = owner.owner_id
      where r.id = $1 order by c.app
      """)

  private static let plan = Statement(
    name: "history_plan",
    sql: """
      select \(micros("clock_timestamp()")), a.ride_id is not null, \(micros("a.due_at")),
        case when a.leased_until > now() and a.parked_reason is null then a.node end, a.parked_reason
      from (values (1)) one left join ridepulse.agenda a on a.ride_id = $1
      """)

  private static func micros(_ column: String) -> String {
    "(extract(epoch from \(column)) * 1000000)::bigint"
  }

  /// Reads all data about one ride.
  package func history(of id: String) async throws -> RideHistory {
    let rides = PostgresArray.literal([id])
    let results = try await session.run([
      Call(RideSnapshot.begin), Call(RideRead.all.statement, [rides]),
      Call(EventRead.all.statement, [rides, String(EventRead.limit)]),
      Call(RideSnapshot.memos, [rides]), Call(Self.plan, [id]), Call(Self.ledger, [id]),
      Call(Self.activities, [id]), Call(Self.contacts, [id]), Call(RideSnapshot.commit),
    ])
    var reader = ClaimReader(log: Log { _, _, _ in })
    reader.readClaims(results[3])
    reader.rows.readRides(results[1])
    reader.rows.readEvents(results[2])
    let view = reader.claim.rides.first?.view
    let plan = results[4]
    return RideHistory(
      now: Timestamp(microseconds: plan.int64(0, 0) ?? 0), ride: view?.ride,
      plan: plan.bool(0, 1) == true
        ? RideHistory.Plan(
          due: plan.instant(0, 2), node: plan.string(0, 3),
          parkedReason: plan.string(0, 4), memo: view?.memo ?? Memo())
        : nil,
      waiting: view?.events ?? [],
      entries: (0..<results[5].rowCount).map { Self.entry(results[5], $0) },
      activities: (0..<results[6].rowCount).map { Self.activity(results[6], $0) },
      contacts: (0..<results[7].rowCount).map { Self.contact(results[7], $0) })
  }

  private static func entry(_ rows: QueryResult, _ row: Int) -> RideHistory.Entry {
    func text(_ column: Int) -> String { rows.string(row, column) ?? "" }
    return RideHistory.Entry(
      eventID: rows.int64(row, 0), event: text(1),
      occurredAt: rows.instant(row, 2) ?? Timestamp(microseconds: 0), rule: text(3), app: text(4),
      pushType: text(5), cardEvent: rows.string(row, 6), status: text(7),
      reason: rows.string(row, 8), attempts: rows.int64(row, 9) ?? 0, id: text(10),
      collapseID: rows.string(row, 11), priority: rows.int64(row, 12),
      expiration: rows.int64(row, 13), tokenSuffix: rows.string(row, 14),
      createdAt: rows.instant(row, 15) ?? Timestamp(microseconds: 0),
      finishedAt: rows.instant(row, 16))
  }

  private static func contact(_ rows: QueryResult, _ row: Int) -> RideHistory.Contact {
    RideHistory.Contact(
      app: rows.string(row, 0) ?? "", ownerID: OwnerID(rows.string(row, 1) ?? ""),
      contactedAt: rows.instant(row, 2) ?? Timestamp(microseconds: 0))
  }

  private static func activity(_ rows: QueryResult, _ row: Int) -> RideHistory.Activity {
    func text(_ column: Int) -> String { rows.string(row, column) ?? "" }
    return RideHistory.Activity(
      id: rows.int64(row, 0) ?? 0, activityID: text(1), app: text(2), ownerID: OwnerID(text(3)),
      tokenSuffix: text(4), registeredAt: rows.instant(row, 5) ?? Timestamp(microseconds: 0),
      endedAt: rows.instant(row, 6), endedReason: rows.string(row, 7))
  }
}

extension QueryResult {
  /// A timestamp that was read as microseconds since 1970.
  fileprivate func instant(_ row: Int, _ column: Int) -> Timestamp? {
    int64(row, column).map { Timestamp(microseconds: $0) }
  }
}
