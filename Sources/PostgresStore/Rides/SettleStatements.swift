import RideCore

/// The statement that settles claimed rides, and the settings that precede a write.
enum SettleStatements {
  /// Restricts the planner to hash joins, for one transaction.
  ///
  /// Each table is read by an index with an array of keys, and the rows found are joined with the
  /// arrays in memory. A plan cached for a batch of one would compare every pair of rows of a large
  /// batch.
  static let plannerSettings = Statement(name: "hashing", sql: "select \(hashes)")

  /// The same, with a limit for waiting on locks.
  static let writeSettings = Statement(name: "sets", sql: "select \(hashes), \(LockLimit.setting)")

  private static let hashes = """
    set_config('enable_seqscan', 'off', true), set_config('enable_nestloop', 'off', true),
      set_config('enable_mergejoin', 'off', true),
      set_config('plan_cache_mode', 'force_generic_plan', true)
    """

  /// Writes the outcomes of rides and releases them, in one transaction for any number of rides.
  ///
  /// $1 node, $2 whether any ledger row may exist, then the rows of `SettleRows`.
  ///
  /// A push has a ledger row already if its ride's stored memo keeps it for another attempt, and
  /// otherwise only after interventions by hand. INSERT without ON CONFLICT is cheaper, so other
  /// rides use it unless $2 is true; error 23505 asks the caller to repeat all with $2.
  ///
  /// It returns fence and holder of the rides that are still held under this claim; for all others
  /// only invalid tokens are written. It writes only to the engine's own tables and waits for no row
  /// lock: an agenda row that another session has locked counts as not held.
  ///
  /// If Postgres has failed over since the claim, the events and the ride that the settlement follows
  /// from may be lost, while the claim is not. Such a ride is due again at once, and stays on the
  /// agenda: it is decided again from what there is. An event that was given the ID of a lost one is
  /// not consumed.
  static let settle = settling("settle")

  /// The same, with the events that rules emit, in the transaction that consumes their causes. A
  /// statement of its own, because most settlements emit none.
  static let settleWithEvents = settling(
    "settle_with_events",
    and: """
      , emitted as (
        -- The next decision on the ride handles them; they concern whom the ride names now.
        insert into ridepulse.events (ride_id, event, data, customer_id, driver_id, trace)
        select m.ride_id, m.event, m.data::jsonb, r.customer_id, r.driver_id, m.trace
        from \(SettleRows.emits.table("m"))
        join held on held.ride_id = m.ride_id
        left join (
          select id, customer_id, driver_id from ridepulse.rides
          where id = any (\(SettleRows.emits.keys))) r on r.id = m.ride_id
        order by m.ride_id, m.place
      )
      """)

  /// What a row of the ledger has besides the values of its entry.
  private static let derived = [
    ("finished_at", "case when n.status <> 'pending' then clock_timestamp() end"),
    ("decided_by", "held.revision"),
  ]

  private static let ledgerColumns = (SettleRows.entries.names + derived.map { $0.0 })
    .joined(separator: ", ")

  /// The values of `ledgerColumns`.
  private static let ledgerValues =
    (SettleRows.entries.names.map { name in
      name == "occurred_at"
        ? "\(SQLTime.timestamp("n.occurred_at")) as occurred_at" : "n.\(name)"
    } + derived.map { "\($0.1) as \($0.0)" }).joined(separator: ", ")

  /// All locations (ctids) at which the agenda rows of this settlement may be.
  private static let locations = """
    \(SettleRows.rides.array("place")) || array(select place from new_places)
    """

  /// Locks and returns agenda rows that match their claims.
  ///
  /// A row that moves while the statement runs is at none of the locations, and counts as not held:
  /// the updates below would not reach it either.
  ///
  /// An expression as a join key: while a table is small, the planner would read all of an index
  /// that has the plain column's order.
  private static func held(where condition: String) -> String {
    """
    select a.ride_id, a.fence, a.node, s.memo, s.revision,
                case when s.has_moved then now() else \(SQLTime.timestamp("s.next_due")) end as next_due,
                s.is_over and not s.has_moved as is_over,
                $2::boolean or coalesce(a.memo ? 'waiting', false) as may_have_rows
              from settled s join ridepulse.agenda a
                on a.ride_id || '' = s.ride_id and a.fence = s.fence and a.node = s.node
              where \(condition)
              for update of a skip locked
    """
  }

  private static func settling(_ name: String, and emitting: String = "") -> Statement {
    Statement(
      name: name,
      sql: """
        with here as materialized (
          select * from ridepulse.server_place()
        ), settled as materialized (
          select s.*, coalesce((s.system_identifier, s.timeline) <> (select * from here), false)
              as has_moved
          from \(SettleRows.rides.table("s"))
        ), in_place as materialized (
          -- The rides that this node still holds and whose rows are where the claims left them.
          \(held(where: "a.ctid = any (\(SettleRows.rides.array("place")))"))
        ), new_places as materialized (
          -- By ID, the places of rows that have moved since: none, as a rule.
          select ctid as place from ridepulse.agenda
          where ride_id = any (array(
            select ride_id from settled
            where (select count(*) from in_place) < (select count(*) from settled)
              and ride_id not in (select ride_id from in_place)))
        ), in_new_place as materialized (
          \(held(where: "a.ctid = any (array(select place from new_places))"))
        ), held as materialized (
          -- Everything below concerns only these.
          select * from in_place union all select * from in_new_place
        ), kept as (
          -- Live rides are released with their memo and next due time.
          update ridepulse.agenda a set node = null, leased_until = '-infinity', unread = 0,
            memo = held.memo::jsonb, due_at = held.next_due
          from held
          where a.ctid = any (\(locations)) and a.ride_id || '' = held.ride_id and not held.is_over
        ), ended as (
          -- Rides that are over leave the agenda.
          delete from ridepulse.agenda a using held
          where a.ctid = any (\(locations)) and a.ride_id || '' = held.ride_id and held.is_over
        ), consumed as (
          delete from ridepulse.events e using held, \(SettleRows.events.table("c"))
          where e.id = any (\(SettleRows.events.keys)) and e.ride_id || '' = held.ride_id
            and e.id + 0 = c.id and \(SQLTime.micros("e.created_at")) = c.created_at
        ), entries as materialized (
          -- One ledger row for each push.
          select \(ledgerValues), held.may_have_rows
          from \(SettleRows.entries.table("n"))
          join held on held.ride_id = n.ride_id
        ), added as (
          insert into ridepulse.ledger (\(ledgerColumns))
          select \(ledgerColumns) from entries where not may_have_rows
        ), replaced as (
          -- A later attempt changes the outcome.
          insert into ridepulse.ledger as l (\(ledgerColumns))
          select \(ledgerColumns) from entries where may_have_rows
          on conflict (ride_id, apns_id, occurred_at) do update set
            status = excluded.status, reason = excluded.reason,
            reason_code = excluded.reason_code, attempts = excluded.attempts,
            finished_at = excluded.finished_at,
            priority = coalesce(excluded.priority, l.priority),
            expiration = coalesce(excluded.expiration, l.expiration),
            settled_xid = excluded.settled_xid, decided_by = excluded.decided_by,
            apns_unique_id = coalesce(excluded.apns_unique_id, l.apns_unique_id)
        ), gone as materialized (
          -- Invalid tokens. A registration from here on outweighs that, whatever APNs' clock says.
          select distinct on (kind, id) id, kind, reason, case when since is null then 'infinity'
            else least(\(SQLTime.timestamp("since")), clock_timestamp())
            end as since
          from \(SettleRows.gone.table("g"))
          -- Since a failover, the ID may be that of another token.
          where (system_identifier, timeline) in (select * from here)
          order by kind, id, since desc
        ), found as materialized (
          -- Observations of phones, one row for each phone.
          select f.id, bool_or(f.kind = 'probed') as is_probed, bool_or(f.kind = 'good') as is_good,
            bool_or(f.kind in ('bad', 'probed') and f.value is null) as is_refused,
            (min(f.value) filter (where f.kind = 'bad'))::uuid as probe,
            min(f.value) filter (where f.kind = 'probed') as environment,
            (min(f.value) filter (where f.kind = 'unprobed'))::uuid as unprobed,
            \(SQLTime.timestamp("(max(f.value::bigint) filter (where f.kind = 'throttled'))"))
              as quiet_until
          from \(SettleRows.observations.table("f"))
          join held on held.ride_id = f.ride_id
          -- One statement writes a row once, and that it is gone matters more.
          where not exists (select from gone g where g.kind = 'phone' and g.id = f.id)
          group by f.id
        ), recorded as (
          -- Recorded here, and applied to the tokens later: a token's row may be locked.
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
          -- Schedule slots by outcome, for each rule, day and node.
          insert into ridepulse.slot_counts as c
            (rule, day, node, due, fired, skipped, missed, capped, expired)
          select s.rule, (now() at time zone 'UTC')::date, $1::uuid, sum(s.due), sum(s.fired),
            sum(s.skipped), sum(s.missed), sum(s.capped), sum(s.expired)
          from \(SettleRows.tallies.table("s"))
          join held on held.ride_id = s.ride_id
          group by s.rule
          on conflict (rule, day, node) do update set
            due = c.due + excluded.due, fired = c.fired + excluded.fired,
            skipped = c.skipped + excluded.skipped, missed = c.missed + excluded.missed,
            capped = c.capped + excluded.capped, expired = c.expired + excluded.expired
        )\(emitting)
        select fence, node, (
          -- Only if switched on: NOTIFY lets one transaction commit at a time.
          select pg_notify('ridepulse_deliveries', '') from ridepulse.settings
          where is_only and notify_deliveries
            and exists (select from entries where status <> 'pending')
            and pg_notification_queue_usage() < 0.01)
        from held
        """)
  }
}
