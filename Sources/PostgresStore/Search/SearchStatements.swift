/// The SQL of `PushSearch`. The indexes are those of `ridepulse.search_indexes`.
///
/// None is prepared, because a plan for any parameters would not choose partitions and indexes by
/// the values.
enum SearchStatements {
  /// Restricts the planner to indexes for one transaction, and returns the time.
  ///
  /// Statistics of a day's partition come after its rows, and a plan for the empty partition would
  /// read it whole.
  static let settings = Statement(
    name: "",
    sql: """
      select \(SQLTime.now), set_config('enable_seqscan', 'off', true),
        set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)
      """)

  /// The apps whose phones a person may have.
  static let apps = Statement(
    name: "",
    sql: "select app from ridepulse.apps union values ('customer'), ('driver') order by app")

  /// $1 apns-id.
  static let ofPush = Statement(
    name: "",
    sql: """
      select \(LedgerRow.selected) from ridepulse.ledger where apns_id = $1::uuid
      order by occurred_at desc
      """)

  // MARK: A person: $1 owner ID, $2 apps

  /// $3 limit.
  static let phonesOfOwner = ofOwner(FoundPhone.selected, "devices", key: "id")

  /// $3 limit.
  static let startTokensOfOwner = ofOwner(
    FoundStartToken.selected, "push_to_start_tokens", key: "id")

  /// Two lookups, one in the index of each half of the table.
  private static func ofOwner(_ columns: String, _ table: String, key: String) -> Statement {
    func half(_ condition: String) -> String {
      """
      (select \(key) from ridepulse.\(table)
       where app = any ($2::text[]) and owner_id = $1 and disabled_at \(condition))
      """
    }
    return Statement(
      name: "",
      sql: """
        select \(columns) from ridepulse.\(table)
        where \(key) = any (array(\(half("is null")) union all \(half("is not null"))))
        order by disabled_at desc nulls first, registered_at desc, \(key) desc limit $3::int
        """)
  }

  static let contactsOfOwner = Statement(
    name: "",
    sql: """
      select \(RideHistory.Contact.selected) from ridepulse.contacts c
      where c.app = any ($2::text[]) and c.owner_id = $1 order by c.app
      """)

  /// Live cards, and all cards of some rides. $3 ride IDs, $4 limit.
  static let cardsOfOwner = Statement(
    name: "",
    sql: """
      select \(RideHistory.Activity.selected) from ridepulse.live_activities
      where id = any (array(
        (select id from ridepulse.live_activities
         where app = any ($2::text[]) and owner_id = $1 and ended_at is null)
        union all
        (select id from ridepulse.live_activities where ride_id = any ($3::text[])
          and app = any ($2::text[]) and owner_id = $1 and ended_at is not null)))
      order by registered_at desc, id desc limit $4::int
      """)

  /// The rides that name a person, live ones first, then the last changed. $1 owner ID, $2 limit, and
  /// from $3 on each of the apps.
  ///
  /// Each part is limited in the order of the whole, so that no live ride is left out. The key of an
  /// app is a constant to the planner, which uses the service's own index on
  /// `(attributes ->> 'fleet_id')`; the names are parameters, because a session replaces the schema's
  /// name in the text.
  static func ridesOfOwner(apps: [String]) -> Statement {
    let names = apps.indices.map { "$\($0 + 3)" }.joined(separator: ", ")
    let roles = apps.enumerated().map { number, app in
      let name = "$\(number + 3)::text"
      let owner =
        switch app {
        case "customer": "r.customer_id"
        case "driver": "r.driver_id"
        default: "r.attributes ->> (\(name) || '_id')"
        }
      return """
        (select r.id, r.state, r.updated_at, \(name) as app
         from ridepulse.rides r where \(owner) = $1 order by \(liveFirst) limit $2::int)
        """
    }
    let parts =
      roles + [
        """
        (select r.id, r.state, r.updated_at, p.app
         from ridepulse.participants p join ridepulse.rides r on r.id = p.ride_id
         where p.owner_id = $1 and p.app = any (array[\(names)]::text[])
         order by \(liveFirst) limit $2::int)
        """
      ]
    // A person may be in a role and a participant of the same app.
    return Statement(
      name: "",
      sql: """
        select \(FoundRide.selected)
        from (\(parts.joined(separator: " union "))) r
        left join ridepulse.agenda a on a.ride_id = r.id
        order by \(liveFirst) limit $2::int
        """)
  }

  /// A lookup for each ride: for `exists`, the planner may first read the whole agenda.
  private static let liveFirst = """
    (select l.ride_id from ridepulse.agenda l where l.ride_id = r.id) is not null desc,
      r.updated_at desc nulls last, r.id
    """

  /// The pushes to a person's phones, and those of rides that name the person and whose phone is
  /// the person's, deleted or none. $1 ends of tokens, $2 phones, $3 rides, $4 the app by which each
  /// names the person, $5 limit, $6 how far back to look.
  ///
  /// The ledger's owner has no index: a push to a card or without a phone belongs to whom the ride
  /// names now.
  static let pushesOfPerson = Statement(
    name: "",
    sql: """
      with found as (
        (select l.* from ridepulse.ledger l
         where l.token_suffix = any ($1::text[]) and l.device_id = any ($2::bigint[])
           and \(isSince("$6")) \(newestFirst) limit $5::int)
        union
        (select l.* from ridepulse.ledger l
         where l.ride_id = any ($3::text[])
           and (l.ride_id, l.app) in (select * from unnest($3::text[], $4::text[]))
           and \(isReachable) and \(isSince("$6")) \(newestFirst) limit $5::int)
      )
      select \(LedgerRow.selected) from found \(newestFirst) limit $5::int
      """)

  // MARK: A token: $1 the forms of its end, $2 limit

  static let phonesOfToken = ofToken(FoundPhone.selected, "devices")
  static let startTokensOfToken = ofToken(FoundStartToken.selected, "push_to_start_tokens")
  static let cardsOfToken = ofToken(RideHistory.Activity.selected, "live_activities")

  private static func ofToken(_ columns: String, _ table: String) -> Statement {
    Statement(
      name: "",
      sql: """
        select \(columns) from ridepulse.\(table)
        where right(token, 6) = any (array(select right(f, 6) from unnest($1::text[]) f))
          and right(token, length(($1::text[])[1])) = any ($1::text[])
        order by registered_at desc, id desc limit $2::int
        """)
  }

  /// The pushes to tokens with an end, except those to other phones that have it. $1 last six
  /// characters of each form, $2 phones, $3 limit, $4 how far back to look.
  static let pushesOfToken = Statement(
    name: "",
    sql: """
      select \(LedgerRow.selected) from ridepulse.ledger l
      where l.token_suffix = any ($1::text[]) and \(isReachable) and \(isSince("$4"))
      \(newestFirst) limit $3::int
      """)

  /// A lookup for each row: for `not exists`, the planner would first read all phones into a hash.
  private static let isReachable = """
    (l.device_id is null or l.device_id = any ($2::bigint[])
      or (select d.id from ridepulse.devices d where d.id = l.device_id) is null)
    """

  /// Days before that are not read: Postgres leaves their partitions out when the query starts.
  private static func isSince(_ interval: String) -> String {
    "l.occurred_at >= coalesce(now() - \(interval)::interval, '-infinity')"
  }

  private static let newestFirst = "order by occurred_at desc, created_at desc, rule, apns_id"
}
