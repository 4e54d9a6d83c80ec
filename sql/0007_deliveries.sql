-- Following the verdicts of the ledger, one after another, without missing any.
-- See docs/decisions/0039-following-deliveries.md.

create table ridepulse.settings (
  is_only           boolean primary key default true check (is_only),
  notify_deliveries boolean not null default false
);

comment on table ridepulse.settings is 'One row: what settlements do besides writing the ledger.';
comment on column ridepulse.settings.is_only is 'Always true: the primary key of the only row.';
comment on column ridepulse.settings.notify_deliveries is
  'Whether a settlement with a verdict notifies the channel ridepulse_deliveries. NOTIFY lets only '
  'one transaction commit at a time.';

insert into ridepulse.settings default values;

-- Amazon Aurora refuses the position of a log that it does not write, unless logical replication is on.
-- Its standbys read the storage of the primary, which has all that was committed.
create function ridepulse.wal_timeline() returns integer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer;
exception when object_not_in_prerequisite_state then
  if pg_is_in_recovery() then
    raise;
  end if;
  return 0;
end
$$;

comment on function ridepulse.wal_timeline() is
  'Returns the timeline of the server''s write-ahead log, which each promotion of a standby raises; 0 '
  'where the service that runs the database does not give its position. Errors: 55000 on a standby.';

-- Numbers of transactions mean something on one server and one timeline of its log only.
create function ridepulse.log_place() returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if pg_is_in_recovery() then
    raise exception 'this server is a standby: deliveries can be followed on the primary only'
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Connect to the primary, for example with target_session_attrs=read-write.';
  end if;
  return (select to_hex(system_identifier) from pg_control_system())
    || '.' || upper(lpad(to_hex(ridepulse.wal_timeline()), 8, '0'));
end
$$;

comment on function ridepulse.log_place() is
  'Returns the server and the timeline of its write-ahead log, as cursors name them. Errors: 55000 '
  'on a standby.';

-- The rows of a settlement that has begun are not visible yet, and one that began later may commit
-- first. Settlements lock the ledger before they get a number. So a number that was given out before
-- the locks were read, and that no holder of a lock has, belongs to a settlement that has ended, and
-- a snapshot taken after that sees its rows. Other transactions of the server do not matter, however
-- long they are open. A number is in snapshots a moment before its lock can be read: one that runs in
-- the snapshot and has no lock counts as a settlement's.
create function ridepulse.verdict_horizon(out horizon xid8, out newest xid8)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  oldest bigint;
begin
  -- The snapshot of this statement precedes its execution, and thereby the locks that it reads.
  with locks as materialized (
    select l.* from pg_locks l where l.locktype in ('relation', 'transactionid')
  ), numbers as (
    select x.virtualtransaction, x.pid, x.transactionid::text::bigint as number from locks x
    where x.locktype = 'transactionid' and x.mode = 'ExclusiveLock' and x.granted
  )
  select pg_snapshot_xmax(pg_current_snapshot()), (
    select age from (
      select (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - x.number) & 4294967295 as age
      from locks l join numbers x on x.virtualtransaction = l.virtualtransaction
        and x.pid is not distinct from l.pid
      where l.locktype = 'relation' and l.relation = 'ridepulse.ledger'::regclass
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.mode = 'RowExclusiveLock'
      union all
      select pg_snapshot_xmax(pg_current_snapshot())::text::bigint - r.running::text::bigint
      from pg_snapshot_xip(pg_current_snapshot()) r (running)
      where r.running::text::bigint & 4294967295 not in (select number from numbers)) writers
    -- A larger one is the number of a transaction that began since the snapshot.
    where age < 2147483648
    order by age desc limit 1)
  into newest, oldest;
  horizon := (newest::text::bigint - coalesce(oldest, 0))::text::xid8;
  -- There, all statements of a transaction have its first snapshot.
  if current_setting('transaction_isolation') <> 'read committed'
     and pg_snapshot_xmin(pg_current_snapshot()) < horizon then
    horizon := pg_snapshot_xmin(pg_current_snapshot());
  end if;
end
$$;

comment on function ridepulse.verdict_horizon() is
  'Returns the transaction up to which all settlements have ended (horizon, exclusive), and the next '
  'number to be given out (newest). A statement that begins afterwards sees all their verdicts.';

create function ridepulse.deliveries_cursor(since timestamptz default now()) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  horizon constant xid8 := (ridepulse.verdict_horizon()).horizon;
  first xid8;
begin
  if since is null then
    raise exception 'ridepulse.deliveries_cursor needs a time, got null'
      using errcode = 'invalid_parameter_value', hint = 'Leave it out to begin now.';
  end if;
  if since < now() then
    -- Without "offset 0" the index of verdicts would be read from its beginning.
    select r.settled_xid into first from (
      select l.settled_xid from ridepulse.ledger l
      where l.finished_at >= since and l.status <> 'pending' offset 0) r
    order by r.settled_xid limit 1;
  end if;
  return ridepulse.log_place() || '.'
    || case when first < horizon then first else horizon end
    || '.00000000-0000-0000-0000-000000000000';
end
$$;

comment on function ridepulse.deliveries_cursor(timestamptz) is
  'Returns the cursor before the first verdict since a time, for ridepulse.deliveries_after. It '
  'reads the verdicts since then. Errors: 22023 if since is null; 55000 on a standby.';

-- A verdict is returned only once every settlement that began before its own has ended, so no later
-- commit can place one before the cursor.
create function ridepulse.deliveries_after(cursor text default null, max integer default 1000)
returns table (
  next text, kind text, owner_id text, platform text, reason_code text, ride_id text, event text,
  rule text, app text, push_type text, status text, reason text, attempts integer, apns_id uuid,
  collapse_id text, created_at timestamptz, finished_at timestamptz, token_suffix text,
  seen_at timestamptz, apns_unique_id text
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_custom_plan set standard_conforming_strings = on as $$
declare
  place constant text := ridepulse.log_place();
  limits record;
  parts text[];
  last_xid xid8 := '0';
  last_id uuid := '00000000-0000-0000-0000-000000000000';
begin
  if max is null or max not between 1 and 10000 then
    raise exception 'ridepulse.deliveries_after returns 1 to 10000 rows, got a max of %',
      coalesce(max::text, 'null') using errcode = 'invalid_parameter_value';
  end if;
  limits := ridepulse.verdict_horizon();
  if cursor is not null then
    parts := regexp_match(cursor,
      '^([0-9a-f]{1,16}\.[0-9A-F]{8})\.([0-9]{1,19})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
    if parts is null then
      raise exception 'ridepulse.deliveries_after needs a cursor that it returned'
        using errcode = 'invalid_parameter_value',
              hint = 'Pass the column next of the last row unchanged, or null to begin with the '
                'oldest verdict.';
    end if;
    last_xid := parts[2];
    last_id := parts[3];
    -- After a failover, the verdict of the cursor is there if nothing that was read before is lost.
    if last_xid > limits.newest or split_part(parts[1], '.', 1) <> split_part(place, '.', 1)
       or (parts[1] <> place and not exists (
         select from ridepulse.ledger l
         where l.settled_xid = last_xid and l.apns_id = last_id and l.status <> 'pending'))
    then
      raise exception 'the cursor is of another server, or of commits that a failover has lost'
        using errcode = 'object_not_in_prerequisite_state',
              hint = 'Begin again with ridepulse.deliveries_cursor(since), a while before the '
                'failover or the restore.';
    end if;
  end if;
  return query
    select place || '.' || l.settled_xid || '.' || l.apns_id,
      case when l.push_type in ('emit', 'escalation', 'post') then l.push_type else 'push' end,
      l.owner_id,
      (select d.platform from ridepulse.devices d where d.id = l.device_id), l.reason_code, l.ride_id, l.event, l.rule, l.app,
      case when l.push_type not in ('emit', 'escalation', 'post') then l.push_type end,
      l.status, l.reason, l.attempts,
      case when l.attempts > 0 then l.apns_id end, l.collapse_id, l.created_at, l.finished_at,
      l.token_suffix,
      (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id), l.apns_unique_id
    from ridepulse.ledger l
    where (l.settled_xid, l.apns_id) > (last_xid, last_id) and l.settled_xid < limits.horizon
      and l.status <> 'pending'
    order by l.settled_xid, l.apns_id limit max;
end
$$;

comment on function ridepulse.deliveries_after(text, integer) is
  'Returns the verdicts after a cursor, in the order in which they were committed, each with the '
  'cursor behind it (next) and the columns of the view deliveries. No verdict is skipped; one that '
  'a repeated push changes is returned again. cursor: null begins with the oldest. max: 1 to 10000 '
  'rows. Errors: 22023 if an argument is malformed; 55000 on a standby, and for a cursor of another '
  'server or of commits that a failover has lost.';
