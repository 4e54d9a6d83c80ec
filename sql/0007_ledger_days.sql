-- The ledger by days (UTC) of what it tells of, so that old days are dropped whole and leave nothing
-- dead behind. See docs/decisions/0012-ledger-by-days.md.

-- Whoever is in the way has a transaction open for longer than it may; nothing is changed then.
set local lock_timeout = '5s';

-- What is made here belongs to whom the old ledger belongs to, whoever runs this.
select set_config('role', tableowner, true) from pg_tables
where schemaname = 'ridepulse' and tablename = 'ledger';

-- A node of before can't write to this ledger, so it must not send either: it names no edition, and
-- its claims fail from here on.
delete from ridepulse.nodes;
alter table ridepulse.nodes add column edition integer not null;

-- A ride that can't be read is tried a few times, by whichever node, and then parked; how often it was
-- in a row, and since when it is parked.
alter table ridepulse.agenda
  add column unread    smallint not null default 0,
  add column parked_at timestamptz;
update ridepulse.agenda set parked_at = now() where parked_reason is not null;

create or replace function ridepulse.unpark(ride_id text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with unparked as (
    update ridepulse.agenda a
    set parked_reason = null, parked_at = null, unread = 0, leased_until = '-infinity',
      due_at = now()
    where a.ride_id = $1 and a.parked_reason is not null
    returning 1
  )
  select exists (select from unparked)
$$;

-- The rows of before stay where they are, as a table that nobody writes to: as a partition it would
-- have to be read from end to end, and given another index.
alter table ridepulse.ledger rename to ledger_before;
alter index ridepulse.ledger_pkey rename to ledger_before_pkey;

-- occurred_at is the same in each attempt of a push, and must stand in the key of a table that is
-- cut by it.
create table ridepulse.ledger (
  like ridepulse.ledger_before including defaults including constraints,
  primary key (ride_id, apns_id, occurred_at)
) partition by range (occurred_at);

-- What has no day: slots of long ago, clocks that are wrong, and everything where nobody may make
-- tables.
create table ridepulse.ledger_default partition of ridepulse.ledger default with (fillfactor = 95);

do $$
declare
  item record;
begin
  for item in
    select case a.grantee when 0 then 'public' else quote_ident(r.rolname) end as grantee,
      a.privilege_type, a.is_grantable
    from pg_class c cross join aclexplode(c.relacl) a left join pg_roles r on r.oid = a.grantee
    where c.oid = 'ridepulse.ledger_before'::regclass and a.grantee <> c.relowner
  loop
    execute format('grant %s on ridepulse.ledger to %s%s', item.privilege_type, item.grantee,
      case when item.is_grantable then ' with grant option' else '' end);
  end loop;
end
$$;

create or replace view ridepulse.deliveries as
  select ride_id, event, rule, app, push_type, status, reason, attempts,
         case when attempts > 0 or status = 'pending' then apns_id end as apns_id,
         collapse_id, created_at, finished_at, token_suffix
  from (select * from ridepulse.ledger union all select * from ridepulse.ledger_before) rows;

-- How long rows are kept, counted from what they tell of, and since when the ledger has days.
create table ridepulse.retention (
  is_only boolean primary key default true check (is_only),
  keep    interval not null default '30 days' check (keep >= interval '1 day'),
  cut_at  timestamptz not null default now()
);
insert into ridepulse.retention default values;

-- Makes the days to come, drops those that are past, and says what it did. It waits for nobody: a
-- lock that is not there at once is left for the next time, since all settlements stand behind the
-- one who waits.
create function ridepulse.rotate_ledger(keep interval default null)
returns table (action text, object text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set lock_timeout = '100ms' as $$
declare
  today constant date := now();
  rules ridepulse.retention;
  day date;
  is_open boolean;
  rows bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('ridepulse.rotate_ledger', 0)) then
    return;
  end if;
  select * into rules from ridepulse.retention;
  keep := coalesce(rotate_ledger.keep, rules.keep, interval '30 days');
  if keep < interval '1 day' then
    raise exception 'ridepulse.rotate_ledger keeps a day at least, got %', keep
      using errcode = 'invalid_parameter_value';
  end if;

  action := 'deleted';
  delete from ridepulse.slot_counts c where c.day < (now() - keep)::date;
  get diagnostics rows = row_count;
  object := rows || ' of slot_counts';
  if rows > 0 then return next; end if;
  delete from ridepulse.ledger_default where ctid = any (array(
    select ctid from ridepulse.ledger_default
    where created_at < now() - keep and status <> 'pending' limit 10000));
  get diagnostics rows = row_count;
  object := rows || ' of ledger_default';
  if rows > 0 then return next; end if;

  -- Nobody has looked at them for as long as anything is kept.
  with gone as (
    delete from ridepulse.agenda a
    where a.parked_reason is not null and a.parked_at < now() - keep returning a.ride_id
  ), told as (
    delete from ridepulse.events e using gone g
    where e.ride_id = g.ride_id and e.created_at < now() - keep
  )
  select count(*) into rows from gone;
  object := rows || ' parked rides';
  if rows > 0 then return next; end if;

  -- Dropping comes first: it takes the ledger's own lock, and what holds locks of partitions must
  -- not wait for that one.
  begin
    for object, day in
      select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'ridepulse.ledger'::regclass and c.relname ~ '^ledger_\d{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() - keep)::date
      order by 2
    loop
      -- From here on nothing in it can become pending.
      execute format('lock table ridepulse.%I in share mode', object);
      execute format('select exists (select from ridepulse.%I where status = ''pending'')', object)
        into is_open;
      if is_open then
        action := 'kept, a push is pending:';
      else
        execute format('drop table ridepulse.%I', object);
        action := 'dropped';
      end if;
      return next;
    end loop;
    if rules.cut_at < now() - keep and pg_relation_size('ridepulse.ledger_before') > 0 then
      -- No row of it is pending: those that were have been moved, and nobody writes there.
      object := 'ledger_before';
      truncate ridepulse.ledger_before;
      action := 'emptied';
      return next;
    end if;
  exception when lock_not_available then
    action := 'in use, left for the next time:';
    return next;
  end;

  for day in select today + n from generate_series(-1, 7) n loop
    object := 'ledger_' || to_char(day, 'YYYYMMDD');
    if to_regclass('ridepulse.' || object) is not null then continue; end if;
    begin
      execute format(
        'create table ridepulse.%I (like ridepulse.ledger including defaults including constraints) '
        'with (fillfactor = 95)', object);
      if day > today then
        -- Said by a clock that is wrong; a few of them must not keep a day from being one.
        execute format(
          'with moved as (delete from ridepulse.ledger_default where ctid = any (array('
          'select ctid from ridepulse.ledger_default where occurred_at >= %L and occurred_at < %L '
          'limit 1000)) returning *) insert into ridepulse.%I select * from moved',
          day::timestamptz, (day + 1)::timestamptz, object);
      end if;
      execute format(
        'alter table ridepulse.ledger attach partition ridepulse.%I for values from (%L) to (%L)',
        object, day::timestamptz, (day + 1)::timestamptz);
      action := 'made';
      return next;
    exception
      when check_violation then
        action := 'not made, ledger_default has rows of it:';
        return next;
      when lock_not_available then
        action := 'in use, left for the next time:';
        return next;
        exit;
    end;
    -- Each one is compared with all that has no day while nobody can write there.
    exit when pg_relation_size('ridepulse.ledger_default') > 64 * 1024 * 1024;
  end loop;
end
$$;

-- The engine does it; whoever runs the engine under another role grants it.
revoke execute on function ridepulse.rotate_ledger(interval) from public;

select count(*) from ridepulse.rotate_ledger();

-- What waits for its next attempt is settled in the new ledger. It is found by the memo that it
-- stands in: the old ledger is not read for it.
set local enable_hashjoin = off;
set local enable_mergejoin = off;

with moved as (
  delete from ridepulse.ledger_before l using ridepulse.agenda a
  where a.memo ? 'retries' and l.ride_id = a.ride_id and l.status = 'pending'
    and (l.card_event is null or l.card_event = 'start')
  returning l.*
)
insert into ridepulse.ledger select * from moved;

-- A card's next attempt tells of what is so then, and when that was is not in the memos of before.
update ridepulse.ledger_before l
set status = 'suppressed', reason = 'the next attempt stands in a row of its own',
  finished_at = clock_timestamp()
from ridepulse.agenda a
where a.memo ? 'cards' and l.ride_id = a.ride_id and l.status = 'pending'
  and l.card_event in ('update', 'end');
