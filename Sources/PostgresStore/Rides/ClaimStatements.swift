/// The statements that claim due rides and read the input of a decision.
///
/// Parameters are texts and text arrays: one set of them for any number of rides.
enum ClaimStatements {
  /// Restricts the planner to index lookups of single rows, for one transaction.
  ///
  /// The tables behind a claim grow from nothing to millions of rows faster than statistics follow,
  /// and a plan cached for the small table would read the whole large one.
  static let lookups = Statement(
    name: "lookups",
    sql: """
      select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true), \(LockLimit.setting)
      """)

  /// Claims rides that are due and not leased.
  ///
  /// $1 node, $2 host, $3 asleep, $4 limit, $5 lease in milliseconds, $6 event and $7 due time in
  /// microseconds at which `LowWaterMark` lets the scan begin, $8 whether to return the lowest
  /// ones.
  ///
  /// It returns at least one row: now, the next due time, the claimed ride if any, its fence and
  /// memo, whether another node's lease on it ran out, and the lowest event and due time of rides
  /// that are not parked. Existing rows are locked with SKIP LOCKED; new ones are inserted in the
  /// order of their IDs, so that two nodes cannot deadlock. Later statements read the events and
  /// columns of the rides: this statement's snapshot is older than its locks, and could show events
  /// that another node has consumed since.
  ///
  /// A ride is looked up by its ID once, and by its ctid after that: while dead rows cannot be
  /// removed, each lookup by ID passes all former versions of the row. A ride whose row moves
  /// meanwhile waits for the next claim.
  static let claim = Statement(
    name: "claim",
    sql: """
      with me as (
        insert into ridepulse.nodes as n (node, host, asleep, seen_at, edition)
        values ($1::uuid, $2, $3::boolean, now(), 7)
        on conflict (node) do update set asleep = excluded.asleep, seen_at = excluded.seen_at
        where n.asleep <> excluded.asleep or n.seen_at < now() - interval '2 seconds'
      ), waiting as materialized (
        select distinct ride_id, place from (
          select e.ride_id, a.ctid as place
          from ridepulse.events e left join ridepulse.agenda a on a.ride_id = e.ride_id
          where e.id >= $6::bigint and (a.leased_until > now()) is not true
          order by e.id limit $4::bigint) oldest
      ), due as materialized (
        select ctid as place, due_at from ridepulse.agenda
        where due_at >= \(dueFloor) and due_at <= now() and leased_until <= now()
        order by due_at limit $4::bigint
      ), free as materialized (
        select a.ctid as place, a.node is not null as is_taken_over from ridepulse.agenda a
        where a.leased_until <= now() and a.ctid = any (array(
          select place from waiting where place is not null union select place from due
          limit $4::bigint))
        for update skip locked
      ), renewed as (
        update ridepulse.agenda a set node = $1::uuid, fence = nextval('ridepulse.fence'),
          leased_until = now() + $5::bigint * interval '1 millisecond'
        from free where a.ctid = free.place
        returning a.ride_id, a.fence, a.memo, free.is_taken_over
      ), opened as (
        insert into ridepulse.agenda (ride_id, node, fence, leased_until)
        select w.ride_id, $1::uuid, nextval('ridepulse.fence'),
          now() + $5::bigint * interval '1 millisecond'
        from waiting w where w.place is null order by w.ride_id
        on conflict do nothing
        returning ride_id, fence, null::jsonb as memo, false
      ), claimed as (
        select * from renewed union all select * from opened
      )
      select (extract(epoch from clock_timestamp()) * 1000000)::bigint,
        (select \(micros("due_at")) from (select coalesce((select min(due_at) from due),
          (select due_at from ridepulse.agenda
           where due_at > now() and leased_until <= now() order by due_at limit 1)) as due_at) next),
        claimed.ride_id, claimed.fence, claimed.memo::text, claimed.is_taken_over,
        case when $8::boolean then (select e.id from ridepulse.events e
         where e.id >= $6::bigint and not exists (
           select from ridepulse.agenda a
           where a.ride_id = e.ride_id and a.leased_until = 'infinity')
         order by e.id limit 1) end,
        case when $8::boolean then (select \(micros("due_at")) from ridepulse.agenda
         where due_at >= \(dueFloor) and leased_until < 'infinity' order by due_at limit 1) end
      from (values (1)) one left join claimed on true
      """)

  /// Returns the lowest event and due time below the start of claims: $1 and $2 are their $6 and
  /// $7.
  static let late = Statement(
    name: "late",
    sql: """
      select
        (select e.id from ridepulse.events e
         where e.id < $1::bigint and not exists (
           select from ridepulse.agenda a
           where a.ride_id = e.ride_id and a.leased_until = 'infinity')
         order by e.id limit 1),
        (select \(micros("due_at")) from ridepulse.agenda
         where due_at < timestamptz 'epoch' + $2::bigint * interval '1 microsecond'
           and leased_until < 'infinity'
         order by due_at limit 1)
      """)

  private static let dueFloor = """
    coalesce(timestamptz 'epoch' + $7::bigint * interval '1 microsecond', '-infinity')
    """

  /// The first unconsumed events of rides. $1 ride IDs, $2 limit for each ride.
  ///
  /// They are read before the rides, so that no event is newer than the ride that it is rendered
  /// from. The seventh column reports that an event, and all that follow it, did not fit.
  static let events = Statement(
    name: "claimed_events",
    sql: """
      select ride_id, id, event, \(micros("created_at")), case when fits then text end,
        bytes, not fits, customer_id, driver_id, case when fits then former::text end
      from (
        select e.*, json.text, json.bytes, e.may_fit
            and sum(coalesce(octet_length(json.text), 0)) over (order by e.id)
              <= \(BoundedJSON.textLimit) as fits
        from (
          select e.*,
            sum(\(BoundedJSON.weight("e.data"))) over (order by e.id)
              <= \(BoundedJSON.statementLimit) as may_fit
          from unnest($1::text[]) r (id)
          cross join lateral (select * from ridepulse.events e where e.ride_id = r.id
                              order by e.id limit $2::bigint) e
        ) e, \(BoundedJSON.lateral("e.data", if: "e.may_fit"))
      ) bounded
      order by id
      """)

  /// The number of events of a ride that one claim handles at most: their pushes settle together.
  static let eventLimit = 1000

  /// The rows of rides. $1 ride IDs.
  ///
  /// The last column reports that a ride did not fit: the smallest ones come first, and a large one
  /// comes alone.
  static let rides = Statement(
    name: "claimed_rides",
    sql: """
      select \(rideColumns), not fits
      from (
        select w.*, json.text, json.bytes, w.may_fit
            and sum(coalesce(octet_length(json.text), 0)) over (order by w.weight, w.id)
              <= \(BoundedJSON.textLimit) as fits
        from (
          select r.*, weight, row_number() over by_weight = 1 or (weight <= \(BoundedJSON.limit)
              and sum(weight) over by_weight <= \(BoundedJSON.statementLimit)) as may_fit
          from ridepulse.rides r,
            lateral (select \(BoundedJSON.weight("r.attributes")) as weight offset 0) weighed
          where r.id = any ($1::text[])
          window by_weight as (order by weight, r.id)
        ) w, \(BoundedJSON.lateral("w.attributes", if: "w.may_fit"))
      ) r
      """)

  /// The columns of a ride `r` in the order in which `RideRows` reads them.
  ///
  /// PostgreSQL stores times that microseconds since 1970 cannot express, such as infinity: they
  /// become the nearest of the years 1 and 9999. NULL needs the `case`, because `greatest` ignores
  /// it and would return a time.
  static let rideColumns = """
    r.id, r.state, r.customer_id, r.driver_id, \(micros("r.pickup_at")), r.time_zone,
    case when r.fits then r.text end, \(micros("r.updated_at")), r.bytes
    """

  private static func micros(_ column: String) -> String {
    """
    (extract(epoch from case when \(column) is not null
      then least(greatest(\(column), '0001-01-01Z'), '9999-01-01Z') end) * 1000000)::bigint
    """
  }

  /// The phones of everyone whom rides and their events concern, and those that memos name.
  ///
  /// $1 ride IDs, $2 apps; for each phone in a memo $3 the ride and $4 the phone's ID; for each
  /// ride that is addressed in parts $5 its ID and $6 the last addressed phone; $7 limit of phones
  /// of an owner, $8 limit of events of a ride. `RecipientResolver` in RideCore decides who is
  /// addressed; this statement may read more phones than that, never fewer.
  static let phones = phones(name: "claimed_phones", contact: "null::bigint")

  /// The same with the last contact of the owners, for rules that use it: one more lookup for each
  /// phone.
  static let phonesWithContacts = phones(name: "claimed_phones_contacts", contact: contact)

  private static func phones(name: String, contact: String) -> Statement {
    Statement(
      name: name,
      sql: """
        with e as materialized (
          select e.* from unnest($1::text[]) r (id)
          cross join lateral (
            select ride_id, data, customer_id, driver_id, former from ridepulse.events e
            where e.ride_id = r.id order by e.id limit $8::bigint) e
        )
        select owner.ride_id, \(phoneColumns), \(contact)
        from (
          select id as ride_id, 'customer' as app, customer_id as owner_id from ridepulse.rides
          where id = any ($1::text[])
          union all
          select id, 'driver', driver_id from ridepulse.rides where id = any ($1::text[])
          union all
          select r.id, a.app, r.attributes ->> (a.app || '_id')
          from ridepulse.rides r, unnest($2::text[]) a (app)
          where r.id = any ($1::text[]) and a.app not in ('customer', 'driver')
          union
          select e.ride_id, a.app, e.data ->> (a.app || '_id')
          from e, unnest($2::text[]) a (app) where e.data <> '{}'
          union
          select e.ride_id, 'customer', e.customer_id from e where e.customer_id is not null
          union
          select e.ride_id, 'driver', e.driver_id from e where e.driver_id is not null
          union
          select e.ride_id, a.app, coalesce(e.former ->> a.app,
            (e.former ->> 'attributes')::jsonb ->> (a.app || '_id'))
          from e, unnest($2::text[]) a (app) where e.former is not null
        ) owner
        left join unnest($5::text[], $6::bigint[]) part (ride_id, after)
          on part.ride_id = owner.ride_id
        cross join lateral (
          select * from ridepulse.current_devices d
          where d.app = owner.app and d.owner_id = owner.owner_id
            and d.id > coalesce(part.after, 0)
          order by d.id limit $7::bigint
        ) d
        where owner.owner_id is not null
        union
        select m.ride_id, \(phoneColumns), \(contact)
        from unnest($3::text[], $4::bigint[]) m (ride_id, phone)
        join ridepulse.current_devices d on d.id = m.phone
        order by 2
        """)
  }

  /// The phones that legacy pushes name by their tokens. $1 ride IDs.
  ///
  /// They are not looked up by owner, because a phone may have been registered for one since its
  /// push was committed.
  static let legacyPhones = Statement(
    name: "claimed_legacy_phones",
    sql: """
      select e.ride_id, \(phoneColumns), null::bigint
      from ridepulse.events e
      join ridepulse.current_devices d
        on d.app = e.data ->> 'app' and d.token = e.data ->> 'token'
      where e.ride_id = any ($1::text[])
      """)

  /// The last contact of the owner of a phone `d`: the column after `phoneColumns`.
  static let contact = """
    (select (extract(epoch from c.contacted_at) * 1000000)::bigint from ridepulse.contacts c
     where c.app = d.app and c.owner_id = d.owner_id)
    """

  /// The columns of a phone `d`, after the ride's ID, in the order in which `RideRows` reads them.
  ///
  /// The last one is `PhoneProblem`; the last contact follows.
  static let phoneColumns = """
    d.id, d.app, d.owner_id, d.token, d.environment, d.locale,
      case when d.refusals > 0 or d.probe is not null or d.is_probed and d.environment is null
          or d.quiet_until > now() then jsonb_strip_nulls(jsonb_build_object(
        'refusals', d.refusals, 'probe', d.probe, 'isProbed', d.is_probed,
        'quietUntil', (extract(epoch from d.quiet_until) * 1000000)::bigint,
        'isQuarantined', d.quarantined_at is not null)) end
    """

  /// The cards of rides, except those that the engine has ended. $1 ride IDs.
  static let cards = Statement(
    name: "claimed_cards",
    sql: """
      select ride_id, id, app, owner_id, token, environment, frequent,
        \(micros("registered_at")), ended_at is not null
      from ridepulse.current_live_activities
      where ride_id = any ($1::text[])
        and (ended_at is null or ended_reason not in ('ended', 'expired'))
      order by id
      """)

  /// The last channel of each ride, app and environment. $1 ride IDs.
  static let channels = Statement(
    name: "claimed_channels",
    sql: """
      select distinct on (ride_id, app, environment) ride_id, id, app, environment, storage,
        channel_id, \(micros("created_at")), unanswered_at is not null, ended_at is not null,
        ended_reason
      from ridepulse.current_channels where ride_id = any ($1::text[])
      order by ride_id, app, environment, id desc
      """)

  /// Start tokens for rides with an event that starts a card, and for starts that are retried.
  ///
  /// $1 ride IDs, $2 apps that have cards, $3 events that start one; for each start in a memo $4
  /// the ride and $5 the token's ID.
  static let startTokens = Statement(
    name: "claimed_start_tokens",
    sql: """
      select owner.ride_id, \(startTokenColumns)
      from (
        select r.id as ride_id, a.app, case a.app when 'customer' then r.customer_id
          when 'driver' then r.driver_id else r.attributes ->> (a.app || '_id') end as owner_id
        from ridepulse.rides r, unnest($2::text[]) a (app)
        where r.id in (select e.ride_id from ridepulse.events e
                       where e.ride_id = any ($1::text[]) and e.event = any ($3::text[]))
      ) owner
      join ridepulse.current_start_tokens t
        on t.app = owner.app and t.owner_id = owner.owner_id
      union
      select m.ride_id, \(startTokenColumns)
      from unnest($4::text[], $5::bigint[]) m (ride_id, token)
      join ridepulse.current_start_tokens t on t.id = m.token
      order by 2
      """)

  /// The columns of a push-to-start token `t`, after the ride's ID, in the order of `RideRows`.
  static let startTokenColumns = """
    t.id, t.app, t.owner_id, t.attributes_type, t.token, t.environment,
      \(micros("t.registered_at"))
    """
}
