import Base
internal import RideCore

/// The columns of a claim: a row for each claimed ride, and one without a ride if there is none.
struct ClaimColumns: Sendable {
  /// The database's time.
  let now: ResultColumn<Timestamp>
  /// The next due time of a ride without a holder.
  let nextDue: ResultColumn<Timestamp>
  let ride: ResultColumn<String>
  let fence: ResultColumn<Int64>
  /// The location of the ride's row (its ctid), as the claim left it.
  let rowLocation: ResultColumn<String>
  let memo: ResultColumn<String>
  /// Whether another node's lease on the ride ran out.
  let isTakenOver: ResultColumn<Bool>
  /// The end of a former lease, by the clock before it went back.
  let heldUntil: ResultColumn<Timestamp>
  /// The lowest event and due time of rides that are not parked.
  let lowestEvent: ResultColumn<Int64>
  /// The event up to which all rides that were found are claimed, if the scan stopped there.
  let claimedTo: ResultColumn<Int64>
  let lowestDue: ResultColumn<Timestamp>
  let systemIdentifier: ResultColumn<Int64>
  let timeline: ResultColumn<Int64>
  /// Whether this service may claim in this database.
  let mayClaim: ResultColumn<Bool>
  /// Whether the database and all apps of this service are pinned.
  let isPinned: ResultColumn<Bool>
  /// Whether rides wait for `LostClaimStatements.claim`.
  let hasLostClaims: ResultColumn<Bool>
  /// A number that is another one when pauses begin, change or end; null if the role may not read
  /// them.
  let pauses: ResultColumn<Int64>
  let sql: String

  static let all = ClaimColumns()

  private init() {
    var list = SelectList()
    now = list.time("now")
    nextDue = list.time("next_due")
    ride = list.text("ride_id")
    fence = list.integer("fence")
    rowLocation = list.text("place::text")
    memo = list.text("memo::text")
    isTakenOver = list.boolean("is_taken_over")
    heldUntil = list.time("held_until")
    lowestEvent = list.integer("lowest_event")
    claimedTo = list.integer("claimed_to")
    lowestDue = list.time("lowest_due")
    systemIdentifier = list.integer("system_identifier")
    timeline = list.integer("timeline::bigint")
    mayClaim = list.boolean("may_claim")
    isPinned = list.boolean("is_pinned")
    hasLostClaims = list.boolean("has_lost_claims")
    pauses = list.integer("pauses")
    sql = list.sql
  }
}

/// The statements that claim due rides.
enum ClaimStatements {
  /// Restricts the planner to index lookups of single rows, and to one plan for any parameters, for one
  /// transaction.
  ///
  /// The tables behind a claim grow from nothing to millions of rows faster than statistics follow,
  /// and a plan cached for the small table would read the whole large one. Compiling such a plan
  /// takes longer than running it.
  ///
  /// PostgreSQL would plan a statement again each time for as long as that seems cheaper, which takes
  /// longer than running it: a millisecond for the reads of one event. It does so forever for a
  /// scan from the first event: by the statistics, that parameter selects no row.
  static let lookups = Statement(
    name: "lookups",
    sql: """
      select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
        set_config('plan_cache_mode', 'force_generic_plan', true),
        \(LockLimit.setting)
      """)

  /// Claims rides that are due and not leased.
  ///
  /// $1 node, $2 host, $3 asleep, $4 limit, $5 lease in milliseconds, $6 event and $7 due time in
  /// microseconds at which `LowWaterMark` lets the scan begin, $8 whether to return the lowest
  /// ones, $9 holder, $10 to $14 the parameters of `DatabasePin`.
  ///
  /// It returns `ClaimColumns`. Nothing is claimed in a database that does not match the pin.
  /// Existing rows are locked with SKIP LOCKED; new ones are inserted in the order of their IDs, so
  /// that two nodes cannot deadlock. Later statements read the events and columns of the rides:
  /// this statement's snapshot is older than its locks, and could show events that another node has
  /// consumed since.
  ///
  /// A ride is looked up by its ID once, and by its ctid after that: while dead rows cannot be
  /// removed, each lookup by ID passes all former versions of the row. A ride whose row moves
  /// meanwhile waits for the next claim.
  ///
  /// A fifth of the claim is for the newest events: behind a long backlog, a ride that changes now
  /// would otherwise wait until the backlog is gone.
  ///
  /// A ride whose holder let its lease run out is not claimed. It may have ended that node, and
  /// waits in `lost_claims` for a claim of its own. A lease that ends later than any node could have
  /// set is shortened to its usual length: its holder may be at work.
  static let claim = Statement(
    name: "claim",
    sql: """
      with me as (
        -- Registers this node, so that producers know whether it has to be notified.
        insert into ridepulse.nodes as n (node, host, asleep, seen_at, edition)
        values ($1::uuid, $2, $3::boolean, now(), 7)
        on conflict (node) do update set asleep = excluded.asleep, seen_at = excluded.seen_at
        where n.asleep <> excluded.asleep or n.seen_at < now() - interval '2 seconds'
      ), here as materialized (
        select * from ridepulse.claim_place(\(DatabasePin.arguments(from: 10)))
      ), oldest as materialized (
        -- Unconsumed events of rides that no node holds. Here and below, OFFSET 0 keeps a look-up
        -- from becoming a join: while a table is small, that would read all of its index.
        select e.id, e.ride_id, a.place
        from ridepulse.events e left join lateral (
          select a.ctid as place, a.leased_until from ridepulse.agenda a
          where a.ride_id = e.ride_id offset 0) a on true
        where e.id >= $6::bigint and (\(held("$5"))) is not true
          and (select may_claim from here)
        order by e.id limit $4::bigint - $4::bigint / 5
      ), newest as materialized (
        -- The last events, if there are more than those.
        select n.id, n.ride_id, a.place
        from (
          select e.id, e.ride_id from ridepulse.events e
          where e.id > (select max(id) from oldest)
            and (select count(*) from oldest) >= $4::bigint - $4::bigint / 5
          order by e.id desc limit $4::bigint) n
        left join lateral (
          select a.ctid as place, a.leased_until from ridepulse.agenda a
          where a.ride_id = n.ride_id offset 0) a on true
        where (\(held("$5"))) is not true
        order by n.id desc limit $4::bigint / 5
      ), waiting as materialized (
        select ride_id, place from oldest union select ride_id, place from newest
      ), due as materialized (
        -- Rides whose due time has come.
        select ctid as place, due_at from ridepulse.agenda a
        where due_at >= \(dueFloor) and due_at <= now() and not (\(held("$5")))
          and (select may_claim from here)
        order by due_at limit $4::bigint
      ), listed as materialized (
        select place from waiting where place is not null union select place from due
      ), free as materialized (
        -- Locks those that no other node holds or is claiming now.
        select a.ctid as place, a.ride_id, a.fence, a.node is not null as is_taken_over,
          a.leased_until, a.leased_until > now() as is_ahead,
          a.node is not null and a.leased_until > '-infinity' and a.leased_until <= now() as is_lost
        from ridepulse.agenda a
        where not (\(held("$5")))
          and a.ctid = any (array(select place from listed limit $4::bigint))
        for update skip locked
      ), set_aside as (
        -- The new fence ends the claim of the former holder, which may only have been suspended.
        update ridepulse.agenda a set fence = nextval('ridepulse.fence'),
          leased_until = now() + $5::bigint * interval '1 millisecond'
        from free where a.ctid = free.place and free.is_lost
        returning a.ride_id, a.fence, free.fence as former_fence
      ), shortened as (
        -- The clock went back. Whatever the holder sends has times up to the end of its lease.
        update ridepulse.agenda a
        set leased_until = now() + $5::bigint * interval '1 millisecond'
        from free where a.ctid = free.place and free.is_ahead
        returning a.ride_id, a.fence, free.leased_until
      ), counted as (
        -- A claim that was settled since it was counted has another fence, and begins anew.
        insert into ridepulse.lost_claims
          (ride_id, fence, claims, decisions, is_waiting, is_deciding, held_until, lost_at)
        select c.ride_id, c.fence,
          coalesce(l.claims, 0) + (c.is_lost and l.is_waiting is not true)::integer,
          coalesce(l.decisions, 0), c.is_lost or coalesce(l.is_waiting, false),
          coalesce(l.is_deciding, false),
          greatest(l.held_until, c.held_until), coalesce(l.lost_at, now())
        from (
          select ride_id, fence, former_fence, true as is_lost, null::timestamptz as held_until
          from set_aside
          union all
          select ride_id, fence, fence, false, leased_until from shortened) c
        left join lateral (
          select * from ridepulse.lost_claims l
          where l.ride_id = c.ride_id and l.fence = c.former_fence offset 0) l on true
        on conflict (ride_id) do update set fence = excluded.fence, claims = excluded.claims,
          decisions = excluded.decisions, is_waiting = excluded.is_waiting,
          is_deciding = excluded.is_deciding,
          held_until = excluded.held_until, lost_at = excluded.lost_at
      ), renewed as (
        -- Leases rides that are on the agenda.
        update ridepulse.agenda a set node = $9::uuid, fence = nextval('ridepulse.fence'),
          leased_until = now() + $5::bigint * interval '1 millisecond'
        from free where a.ctid = free.place and not free.is_lost and not free.is_ahead
        returning a.ride_id, a.fence, a.ctid as place, a.memo, free.is_taken_over,
          null::timestamptz as held_until
      ), opened as (
        -- Puts rides with a first event on the agenda.
        insert into ridepulse.agenda (ride_id, node, fence, leased_until)
        select w.ride_id, $9::uuid, nextval('ridepulse.fence'),
          now() + $5::bigint * interval '1 millisecond'
        from waiting w where w.place is null order by w.ride_id
        on conflict do nothing
        returning ride_id, fence, ctid as place, null::jsonb as memo, false as is_taken_over,
          null::timestamptz as held_until
      ), claimed as (
        select * from renewed union all select * from opened
      )
      select \(ClaimColumns.all.sql)
      from (
        select clock_timestamp() as now,
          coalesce((select min(due_at) from due),
            (select due_at from ridepulse.agenda
             where due_at > now() and leased_until <= now() order by due_at limit 1)) as next_due,
          claimed.*,
          case when $8::boolean then (select e.id from ridepulse.events e
           where e.id >= $6::bigint and not exists (
             select from ridepulse.agenda a
             where a.ride_id = e.ride_id and a.leased_until = 'infinity' offset 0)
           order by e.id limit 1) end as lowest_event,
          case when (select count(*) from oldest) >= $4::bigint - $4::bigint / 5
              and (select count(*) from claimed) = (select count(*) from listed)
                + (select count(*) from waiting where place is null)
            then (select max(id) from oldest) end as claimed_to,
          case when $8::boolean then (select due_at from ridepulse.agenda
           where due_at >= \(dueFloor) and leased_until < 'infinity'
           order by due_at limit 1) end as lowest_due,
          here.may_claim and (\(LostClaimStatements.exist)
            or exists (select from free where is_lost)) as has_lost_claims,
          here.*
        from here left join claimed on true
        offset 0
      ) result
      """)

  /// Returns the lowest event and due time below the start of claims: $1 and $2 are their $6 and
  /// $7.
  static let belowMark = Statement(
    name: "late",
    sql: """
      select
        (select e.id from ridepulse.events e
         where e.id < $1::bigint and not exists (
           select from ridepulse.agenda a
           where a.ride_id = e.ride_id and a.leased_until = 'infinity' offset 0)
         order by e.id limit 1),
        (select \(SQLTime.micros("due_at")) from ridepulse.agenda
         where due_at < \(SQLTime.timestamp("$2::bigint")) and leased_until < 'infinity'
         order by due_at limit 1)
      """)

  /// The condition under which a claim leaves a row `a` of the agenda as it is; $N is the lease in
  /// milliseconds.
  ///
  /// A lease that ends later than any node could have set is from before the database's clock went
  /// back: it would last for as long as that step.
  static func held(_ lease: String) -> String {
    """
    a.leased_until > now() and (a.leased_until = 'infinity'
              or a.leased_until <= now() + 2 * \(lease)::bigint * interval '1 millisecond')
    """
  }

  private static let dueFloor = """
    coalesce(\(SQLTime.timestamp("$7::bigint")), '-infinity')
    """
}
