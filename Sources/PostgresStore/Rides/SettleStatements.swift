import RideCore

/// The statements that settle, journal, renew, park and release claimed rides.
enum SettleStatements {
  /// Restricts the planner to hash joins, for one transaction.
  ///
  /// Each table is read by an index with an array of keys, and the rows found are joined with the
  /// arrays in memory. A plan cached for a batch of one would compare every pair of rows of a large
  /// batch.
  static let hashing = Statement(name: "hashing", sql: "select \(hashes)")

  /// The same, with a limit for waiting on locks.
  static let sets = Statement(name: "sets", sql: "select \(hashes), \(LockLimit.setting)")

  private static let hashes = """
    set_config('enable_seqscan', 'off', true), set_config('enable_nestloop', 'off', true),
      set_config('enable_mergejoin', 'off', true)
    """

  /// Writes the outcomes of rides and releases them, in one transaction for any number of rides.
  ///
  /// $1 node. For each ride $2 ID, $3 fence, $4 memo, $5 next due in microseconds, $6 whether it is
  /// over. $7 consumed events. For each ledger row $8 ride, $9 apns-id, $10 event's ID, $11 event,
  /// $12 rule, $13 app, $14 push type, $15 status, $16 reason, $17 attempts, $18 collapse ID, $19
  /// phone, $20 token suffix, $21 when the event was emitted. For each invalid token $22 ID, $23
  /// since when, $24 reason. For each rule of a ride whose slots were due $25 ride, $26 rule, $27
  /// due, $28 fired, $29 skipped, $30 missed, $31 capped, $32 expired. For each ledger row also $33
  /// priority, $34 expiration, $35 what it does to a card. For each token also $36 its kind. For
  /// each finding about a phone $37 ride, $38 phone, $39 the finding, $40 the push, environment or
  /// microseconds that go with it.
  ///
  /// It returns the fences of the rides that this node held; for all others nothing is written. It
  /// writes only to the engine's own tables and waits for no row lock: an agenda row that another
  /// session has locked counts as not held.
  static let settle = Statement(
    name: "settle",
    sql: """
      with settled as materialized (
        select * from unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::boolean[])
          as s (ride_id, fence, memo, next_due, is_over)
      ), held as materialized (
        select a.ride_id, a.fence, s.memo, s.next_due, s.is_over
        from settled s join ridepulse.agenda a
          on a.ride_id = s.ride_id and a.fence = s.fence and a.node = $1::uuid
        where a.ride_id = any ($2::text[])
        order by a.ride_id
        for update of a skip locked
      ), kept as (
        update ridepulse.agenda a set node = null, leased_until = '-infinity', unread = 0,
          memo = held.memo::jsonb,
          due_at = timestamptz 'epoch' + held.next_due * interval '1 microsecond'
        from held
        where a.ride_id = any ($2::text[]) and a.ride_id = held.ride_id and not held.is_over
      ), ended as (
        delete from ridepulse.agenda a using held
        where a.ride_id = any ($2::text[]) and a.ride_id = held.ride_id and held.is_over
      ), consumed as (
        delete from ridepulse.events e using held
        where e.id = any ($7::bigint[]) and e.ride_id = held.ride_id
      ), written as (
        insert into ridepulse.ledger as l
          (ride_id, apns_id, event_id, event, rule, app, push_type, status, reason, attempts,
           collapse_id, device_id, token_suffix, occurred_at, finished_at, priority, expiration,
           card_event, reason_code)
        select n.ride_id, n.apns_id, n.event_id, n.event, n.rule, n.app, n.push_type, n.status,
          n.reason, n.attempts, n.collapse_id, n.phone, n.token_suffix,
          timestamptz 'epoch' + n.occurred * interval '1 microsecond',
          case when n.status <> 'pending' then clock_timestamp() end,
          n.priority, n.expiration, n.card_event, n.reason_code
        from unnest($8::text[], $9::uuid[], $10::bigint[], $11::text[], $12::text[], $13::text[],
            $14::text[], $15::text[], $16::text[], $17::int[], $18::text[], $19::bigint[],
            $20::text[], $21::bigint[], $33::smallint[], $34::bigint[], $35::text[], $41::text[])
          as n (ride_id, apns_id, event_id, event, rule, app, push_type, status, reason, attempts,
                collapse_id, phone, token_suffix, occurred, priority, expiration, card_event,
                reason_code)
        join held on held.ride_id = n.ride_id
        on conflict (ride_id, apns_id, occurred_at) do update set
          status = excluded.status, reason = excluded.reason,
          reason_code = excluded.reason_code, attempts = excluded.attempts,
          finished_at = excluded.finished_at,
          priority = coalesce(excluded.priority, l.priority),
          expiration = coalesce(excluded.expiration, l.expiration)
      ), gone as materialized (
        -- A registration from here on outweighs it, whatever APNs' clock says.
        select distinct on (kind, id) id, kind, reason, case when since is null then 'infinity'
          else least(timestamptz 'epoch' + since * interval '1 microsecond', clock_timestamp())
          end as since
        from unnest($22::bigint[], $23::bigint[], $24::text[], $36::text[])
          as g (id, since, reason, kind)
        order by kind, id, since desc
      ), found as materialized (
        select f.id, bool_or(f.kind = 'probed') as is_probed, bool_or(f.kind = 'good') as is_good,
          bool_or(f.kind in ('bad', 'probed') and f.value is null) as is_refused,
          (min(f.value) filter (where f.kind = 'bad'))::uuid as probe,
          min(f.value) filter (where f.kind = 'probed') as environment,
          (min(f.value) filter (where f.kind = 'unprobed'))::uuid as unprobed,
          timestamptz 'epoch' + (max(f.value::bigint) filter (where f.kind = 'throttled'))
            * interval '1 microsecond' as quiet_until
        from unnest($37::text[], $38::bigint[], $39::text[], $40::text[])
          as f (ride_id, id, kind, value)
        join held on held.ride_id = f.ride_id
        -- One statement writes a row once, and that it is gone matters more.
        where not exists (select from gone g where g.kind = 'phone' and g.id = f.id)
        group by f.id
      ), noted as (
        insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since, is_refused,
          is_good, is_probed, environment, probe, unprobed, quiet_until)
        select kind, id, reason, since, false, false, false, null, null::uuid, null::uuid,
          null::timestamptz
        from gone
        union all
        select 'phone', id, null, null, is_refused, is_good, is_probed, environment, probe,
          unprobed, quiet_until
        from found
      ), counted as (
        insert into ridepulse.slot_counts as c
          (rule, day, node, due, fired, skipped, missed, capped, expired)
        select s.rule, (now() at time zone 'UTC')::date, $1::uuid, sum(s.due), sum(s.fired),
          sum(s.skipped), sum(s.missed), sum(s.capped), sum(s.expired)
        from unnest($25::text[], $26::text[], $27::bigint[], $28::bigint[], $29::bigint[],
            $30::bigint[], $31::bigint[], $32::bigint[])
          as s (ride_id, rule, due, fired, skipped, missed, capped, expired)
        join held on held.ride_id = s.ride_id
        group by s.rule
        on conflict (rule, day, node) do update set
          due = c.due + excluded.due, fired = c.fired + excluded.fired,
          skipped = c.skipped + excluded.skipped, missed = c.missed + excluded.missed,
          capped = c.capped + excluded.capped, expired = c.expired + excluded.expired
      )
      select fence from held
      """)

  /// Returns the fences of those of rides $2 with fences $3 that node $1 holds, locked or not.
  static let ours = Statement(
    name: "ours",
    sql: """
      select a.fence
      from unnest($2::text[], $3::bigint[]) as o (ride_id, fence)
      join ridepulse.agenda a on a.ride_id = o.ride_id and a.fence = o.fence
      where a.ride_id = any ($2::text[]) and a.node = $1::uuid
      """)

  /// Stores the memos of rides that stay leased: $1 node, $2 ride IDs, $3 fences, $4 memos.
  ///
  /// It returns the rides that are still leased and not locked by another session.
  static let journal = Statement(
    name: "journal",
    sql: """
      with held as materialized (
        select a.ride_id, j.memo
        from unnest($2::text[], $3::bigint[], $4::text[]) as j (ride_id, fence, memo)
        join ridepulse.agenda a on a.ride_id = j.ride_id and a.fence = j.fence
        where a.ride_id = any ($2::text[]) and a.node = $1::uuid and a.leased_until > now()
        order by a.ride_id
        for update of a skip locked
      )
      update ridepulse.agenda a set memo = held.memo::jsonb
      from held where a.ride_id = any ($2::text[]) and a.ride_id = held.ride_id
      returning a.ride_id
      """)

  /// Extends leases: $1 node, $2 ride IDs, $3 fences, $4 lease in milliseconds.
  ///
  /// A row that another session has locked stays unchanged: no node can claim it either.
  static let renew = Statement(
    name: "renew",
    sql: """
      with held as materialized (
        select a.ride_id
        from unnest($2::text[], $3::bigint[]) as r (ride_id, fence)
        join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence
        where a.ride_id = any ($2::text[]) and a.node = $1::uuid
        order by a.ride_id
        for update of a skip locked
      )
      update ridepulse.agenda a set leased_until = now() + $4::bigint * interval '1 millisecond'
      from held where a.ride_id = any ($2::text[]) and a.ride_id = held.ride_id
      """)

  /// Parks a ride: $1 node, $2 ride ID, $3 fence, $4 reason.
  ///
  /// Its pushes may have been sent without a ledger row. The node stays in the row, so that the
  /// next node to claim the ride after `unpark` takes it over. The new fence ends the claim.
  static let park = Statement(
    name: "park",
    sql: """
      update ridepulse.agenda set fence = fence + 1, leased_until = 'infinity', parked_reason = $4,
        parked_at = now()
      where ride_id = $2 and fence = $3::bigint and node = $1::uuid
      """)

  /// The number of failed reads in a row after which a ride is parked.
  static let readAttempts = 3

  /// Counts failed reads of rides, and parks rides that failed too often: $1 node, $2 ride IDs, $3
  /// fences, $4 reasons, $5 whether they were taken over.
  ///
  /// It returns the parked rides.
  static let leaveUnread = Statement(
    name: "leave_unread",
    sql: """
      with counted as (
        update ridepulse.agenda a set unread = a.unread + 1,
          node = case when u.is_taken_over then a.node end,
          leased_until = case when a.unread + 1 < \(readAttempts) then a.leased_until
            else 'infinity' end,
          parked_reason = case when a.unread + 1 >= \(readAttempts) then u.reason end,
          parked_at = case when a.unread + 1 >= \(readAttempts) then now() end
        from unnest($2::text[], $3::bigint[], $4::text[], $5::boolean[])
          as u (ride_id, fence, reason, is_taken_over)
        where a.ride_id = u.ride_id and a.fence = u.fence and a.node = $1::uuid
        returning a.ride_id, a.parked_reason
      )
      select ride_id, parked_reason from counted where parked_reason is not null
      """)

  /// Puts rides that do not exist on the agenda, held by node $1: $2 ride IDs, $3 fences.
  static let openCheck = Statement(
    name: "open_check",
    sql: """
      insert into ridepulse.agenda (ride_id, node, fence, leased_until)
      select ride_id, $1::uuid, fence, now() + interval '1 minute'
      from unnest($2::text[], $3::bigint[]) as c (ride_id, fence)
      """)

  static let begin = Statement(name: "check_begin", sql: "begin")
  /// Runs now what triggers and constraints of others have deferred to the commit.
  static let immediate = Statement(name: "check_immediate", sql: "set constraints all immediate")
  static let rollback = Statement(name: "check_rollback", sql: "rollback")

  /// Releases rides unchanged: $1 node, $2 ride IDs, $3 fences, $4 whether they were taken over.
  ///
  /// A ride is taken over if its previous holder lost it only by the end of the lease; the next
  /// holder must find that in the row, too. The rides are due again at once.
  static let release = Statement(
    name: "release",
    sql: """
      update ridepulse.agenda a set leased_until = '-infinity',
        node = case when r.is_taken_over then a.node end
      from unnest($2::text[], $3::bigint[], $4::boolean[]) as r (ride_id, fence, is_taken_over)
      where a.ride_id = any ($2::text[]) and a.ride_id = r.ride_id and a.fence = r.fence
        and a.node = $1::uuid
      """)

  /// Removes this node: $1 node. Producers need not notify it any more.
  static let leave = Statement(
    name: "leave", sql: "delete from ridepulse.nodes where node = $1::uuid")
}
