internal import RideCore

/// Reads phones, after the ID of the ride that they are read for.
struct PhoneRead: Sendable {
  let ride: ResultColumn<String>
  let id: ResultColumn<Int64>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let token: ResultColumn<String>
  let environment: ResultColumn<String>
  let locale: ResultColumn<String>
  let installation: ResultColumn<String>
  /// `PhoneProblem` as JSON; nil for a phone without one.
  let problem: ResultColumn<String>
  /// The last contact that may have been this phone's; nil if it was not read.
  let contactedAt: ResultColumn<Timestamp>
  /// The topics that the owner has turned off; nil for none, and if they were not read.
  let optOuts: ResultColumn<String>
  private let sql: String

  /// With the last contacts, for rules that use them: two more lookups for each phone.
  static let withContacts = PhoneRead(contacts: true)
  static let withoutContacts = PhoneRead()

  /// - Parameter optOuts: whether to read what owners have turned off, for rules with a topic: one
  ///   more lookup for each phone.
  private init(contacts: Bool = false, optOuts: Bool = false) {
    var list = SelectList()
    ride = list.text("ride_id")
    id = list.integer("d.id")
    app = list.text("d.app")
    owner = list.text("d.owner_id")
    token = list.text("d.token")
    environment = list.text("d.environment")
    locale = list.text("d.locale")
    installation = list.text("d.installation_id")
    problem = list.text(
      """
      case when d.refusals > 0 or d.probe is not null or d.is_probed and d.environment is null
          or d.quiet_until > now() then jsonb_strip_nulls(jsonb_build_object(
        'refusals', d.refusals, 'probe', d.probe, 'isProbed', d.is_probed,
        'quietUntil', \(SQLTime.micros("d.quiet_until")),
        'isQuarantined', d.quarantined_at is not null)) end
      """)
    contactedAt = list.time(
      micros: contacts
        ? """
        (select \(SQLTime.micros("k.contacted_at")) from (\(Self.contact)) k)
        """ : "null::bigint")
    self.optOuts = list.text(optOuts ? OptOutColumn.sql(of: "d") : OptOutColumn.none)
    sql = list.sql
  }

  /// The last contact of a phone `d`, or of its owner on an unknown phone.
  ///
  /// For a phone whose installation is unknown, any contact of its owner counts.
  private static let contact = """
    select case when d.installation_id is null then c.contacted_at
      else nullif(greatest(coalesce(c.unnamed_at, c.contacted_at), i.contacted_at), '-infinity')
      end as contacted_at
    from ridepulse.contacts c
    left join ridepulse.installation_contacts i on i.app = c.app and i.owner_id = c.owner_id
      and i.installation_id = d.installation_id
    where c.app = d.app and c.owner_id = d.owner_id
    """

  /// The phones of everyone whom rides and their events concern, and those that memos name.
  ///
  /// $1 ride IDs, $2 apps; for each phone in a memo $3 the ride and $4 the phone's ID; for each
  /// ride that is addressed in parts $5 its ID and $6 the last addressed phone; $7 limit of phones
  /// of an owner, $8 limit of events of a ride. `RecipientResolver` in RideCore decides who is
  /// addressed; this statement may read more phones than that, never fewer.
  static let ofRides = withoutContacts.ofRides("claimed_phones")
  static let ofRidesWithContacts = withContacts.ofRides("claimed_phones_contacts")
  private static let ofRidesWithOptOuts =
    PhoneRead(optOuts: true).ofRides("claimed_phones_topics")
  private static let ofRidesWithBoth =
    PhoneRead(contacts: true, optOuts: true).ofRides("claimed_phones_contacts_topics")

  /// The statement that reads what these rules depend on.
  static func ofRides(for rules: RuleSet) -> Statement {
    switch (rules.asksForContacts, rules.asksForPreferences) {
    case (false, false): ofRides
    case (true, false): ofRidesWithContacts
    case (false, true): ofRidesWithOptOuts
    case (true, true): ofRidesWithBoth
    }
  }

  private func ofRides(_ name: String) -> Statement {
    Statement(
      name: name,
      sql: """
        with e as materialized (
          select e.* from unnest($1::text[]) r (id)
          cross join lateral (
            select ride_id, data, customer_id, driver_id, former from ridepulse.events e
            where e.ride_id = r.id order by e.id limit $8::bigint) e
        )
        select \(sql)
        from (
          select r.id as ride_id, o.app, o.owner_id
          from ridepulse.rides r, \(RideOwners.lateral(apps: "$2::text[]")) o
          where r.id = any ($1::text[])
          union
          \(RideOwners.participants)
          union
          -- Events name people of their own, and those of the ride before and after its change.
          select e.ride_id, a.app, named.owner_id
          from e, unnest($2::text[]) a (app), \(RideOwners.named(in: "e.data", app: "a.app")) named
          where e.data <> '{}'
          union
          select e.ride_id, 'customer', e.customer_id from e where e.customer_id is not null
          union
          select e.ride_id, 'driver', e.driver_id from e where e.driver_id is not null
          union
          select e.ride_id, a.app, coalesce(e.former ->> a.app,
            (e.former ->> 'attributes')::jsonb ->> (a.app || '_id'))
          from e, unnest($2::text[]) a (app) where e.former is not null
        ) owner
        left join unnest($5::text[], $6::bigint[]) part (part_ride_id, after)
          on part.part_ride_id = owner.ride_id
        cross join lateral (
          select * from ridepulse.current_devices d
          where d.app = owner.app and d.owner_id = owner.owner_id
            and d.id > coalesce(part.after, 0)
          order by d.id limit $7::bigint
        ) d
        where owner.owner_id is not null
        union all
        -- Phones of retries, which may belong to owners that the ride no longer names. Some are
        -- listed again: `RideRows.readPhones` skips them at less cost.
        select \(sql)
        from unnest($3::text[], $4::bigint[]) m (ride_id, phone)
        join ridepulse.current_devices d on d.id = m.phone
        order by 2
        """)
  }

  /// The phones that raw pushes name by their tokens. $1 ride IDs.
  ///
  /// They are not looked up by owner, because a phone may have been registered for one since its
  /// push was committed.
  static let ofRawPushes = Statement(
    name: "claimed_raw_phones",
    sql: """
      select \(withoutContacts.sql)
      from ridepulse.events e
      join ridepulse.current_devices d
        on d.app = e.data ->> 'app' and d.token = e.data ->> 'token'
      where e.ride_id = any ($1::text[])
      """)

  /// The phones of owners, with their last contacts and what they have turned off: $1 ride ID, $2 apps, $3 owners.
  static let ofOwners = Statement(
    name: "phones_of_owners",
    sql: """
      select \(PhoneRead(contacts: true, optOuts: true).sql)
      from unnest($2::text[], $3::text[]) owner (owner_app, owner)
      cross join (select $1::text as ride_id) ride
      join ridepulse.current_devices d on d.app = owner_app and d.owner_id = owner
      order by d.id
      """)
}

/// The owners of a ride's phones, as docs/sql.md defines them: SQL that all reads share.
enum RideOwners {
  /// A lateral table `(app, owner_id)` of a ride `r`, with a row for the customer, the driver and
  /// each other app. Who else takes part is in `participants`.
  ///
  /// - Parameter apps: SQL for an array of apps; it may refer to `r`.
  static func lateral(apps: String) -> String {
    """
    lateral (
      select 'customer' as app, r.customer_id as owner_id
      union all
      select 'driver', r.driver_id
      union all
      select a.app, r.attributes ->> (a.app || '_id') from unnest(\(apps)) a (app)
      where a.app not in ('customer', 'driver')
    )
    """
  }

  /// A select of `(ride_id, app, owner_id)` of the participants of the rides $1.
  ///
  /// If there are none in the whole table, no ride is looked up.
  static let participants = """
    select p.ride_id, p.app, p.owner_id from ridepulse.participants p
    where p.ride_id = any ($1::text[]) and (select exists (select from ridepulse.participants))
    """

  /// A lateral table `(owner_id)` of the people whom an event's data names for an app: one ID, or a
  /// list of IDs.
  ///
  /// - Parameters:
  ///   - data: SQL for the data.
  ///   - app: SQL for the app.
  static func named(in data: String, app: String) -> String {
    let value = "\(data) -> (\(app) || '_id')"
    return """
      lateral (
        select \(data) ->> (\(app) || '_id') as owner_id
        where jsonb_typeof(\(value)) <> 'array'
        union all
        select jsonb_array_elements_text(\(value)) where jsonb_typeof(\(value)) = 'array'
      )
      """
  }
}
