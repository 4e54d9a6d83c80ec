-- The attached tables, whose rows are copied to rides; 0023_watch.sql attaches them. Contract:
-- docs/attach.md; reasons: docs/decisions/0021-two-triggers-of-watch.md and 0072-row-versions.md.
--
-- Two triggers share the work. ridepulse_read runs with the rights of the role that writes the
-- table, a function that ridepulse.watch makes for the table. Only it reads the row, whose types and
-- casts belong to the table's owner; it stores the mapped values as JSON. ridepulse_watch runs as the owner of this schema: it reads that JSON,
-- never the row. A problem of a row or a mapping never makes the write fail: it is recorded in
-- watch_errors.

create table ridepulse.watches (
  relation         regclass primary key,
  mapping          jsonb not null,
  prefix           text not null unique,
  columns          jsonb not null,
  attributes       jsonb not null,
  constants        jsonb not null,
  states           jsonb not null,
  condition        text,
  ride_function    text,
  time_zone        text,
  watched_at       timestamptz not null default clock_timestamp(),
  backfilled_at    timestamptz,
  backfilled_watch timestamptz,
  backfill_until   timestamptz not null default '-infinity',
  attached_schema  text,
  attached_name    text,
  live_states      text[]
);

comment on table ridepulse.watches is 'The attached tables. Rows of no other table become rides.';
comment on column ridepulse.watches.relation is 'The table.';
comment on column ridepulse.watches.mapping is 'The mapping as it was passed to ridepulse.watch.';
comment on column ridepulse.watches.prefix is
  'The text that precedes the IDs of the table''s rides; no two tables have the same one.';
comment on column ridepulse.watches.columns is
  'Columns of ridepulse.rides, each with the value of the row that is copied to it: a column of '
  'the table, or of the result of ride_function.';
comment on column ridepulse.watches.attributes is
  'Keys of rides.attributes, each with the table''s column that is copied to it.';
comment on column ridepulse.watches.constants is
  'Columns of ridepulse.rides with a constant value; attributes is an object of such values.';
comment on column ridepulse.watches.states is
  'The table''s states, each with the state that rides have for it. Any other state is copied '
  'unchanged.';
comment on column ridepulse.watches.condition is
  'The condition that a row must meet to be a ride; null if the mapping has none.';
comment on column ridepulse.watches.ride_function is
  'The function from a row to ridepulse.rides; null if columns are mapped.';
comment on column ridepulse.watches.time_zone is
  'IANA name of the time zone of pickup_at values without an offset; null if the mapping names '
  'none.';
comment on column ridepulse.watches.watched_at is
  'When ridepulse.watch was last called for the table.';
comment on column ridepulse.watches.backfilled_at is 'When the last backfill of the table ended.';
comment on column ridepulse.watches.backfilled_watch is
  'The watched_at for which the table was last backfilled.';
comment on column ridepulse.watches.backfill_until is
  'Until then no second service begins a backfill of the table.';
comment on column ridepulse.watches.attached_schema is
  'The schema of the table when ridepulse.watch was last called.';
comment on column ridepulse.watches.attached_name is
  'The name of the table when ridepulse.watch was last called.';
comment on column ridepulse.watches.live_states is
  'The active states for which the table was last backfilled; null if it was not since ridepulse.watch '
  'was last called. A row without a ride in another state is not copied until its state changes.';

create view ridepulse.watched as
  select relation as "table", mapping, watched_at, backfilled_at,
    backfilled_watch is not distinct from watched_at as is_backfilled, live_states
  from ridepulse.watches;

comment on view ridepulse.watched is
  'The attached tables, with their mappings. is_backfilled: whether live rows were copied since '
  'ridepulse.watch was last called; live_states: those of which states.';

-- Unlogged: a row matters for a transaction, or for the few that an archiving job takes.
create unlogged table ridepulse.removed_rows (
  ride_id    text primary key,
  state      text,
  removed_at timestamptz not null
);

comment on table ridepulse.removed_rows is
  'Deleted rows of attached tables that had no ride: one that is inserted again within a day has '
  'moved.';
comment on column ridepulse.removed_rows.ride_id is 'The ID that the row''s ride would have.';
comment on column ridepulse.removed_rows.state is 'The state of the row.';
comment on column ridepulse.removed_rows.removed_at is 'When the row was deleted.';

create table ridepulse.unread_rides (
  ride_id  text primary key,
  relation regclass not null,
  since    timestamptz not null default now(),
  sqlstate text not null
);

comment on table ridepulse.unread_rides is
  'Rides whose row of an attached table changed and could not be read since. No clock rule fires '
  'for them.';
comment on column ridepulse.unread_rides.ride_id is 'The ride.';
comment on column ridepulse.unread_rides.relation is 'The attached table.';
comment on column ridepulse.unread_rides.since is 'When the row could first not be read.';
comment on column ridepulse.unread_rides.sqlstate is 'The SQLSTATE of the error.';

-- One row for each table, column and kind of problem, so that the table stays small.
create table ridepulse.watch_errors (
  relation    regclass not null,
  column_name text not null,
  problem     text not null,
  row_id      text,
  detail      text,
  count       bigint not null default 1,
  first_at    timestamptz not null,
  last_at     timestamptz not null,
  primary key (relation, column_name, problem)
) with (fillfactor = 50);

comment on table ridepulse.watch_errors is
  'Problems met while rows of attached tables were copied.';
comment on column ridepulse.watch_errors.relation is 'The attached table.';
comment on column ridepulse.watch_errors.column_name is
  'The column or trigger; empty if the problem concerns the row or the table.';
comment on column ridepulse.watch_errors.problem is
  'The kind of problem; docs/sql.md describes each one.';
comment on column ridepulse.watch_errors.row_id is
  'The ID of the last row concerned, at most 80 characters of it.';
comment on column ridepulse.watch_errors.detail is
  'Details of the last occurrence, at most 200 characters.';
comment on column ridepulse.watch_errors.count is
  'Number of transactions that met the problem: a lower bound.';
comment on column ridepulse.watch_errors.first_at is 'When the problem was first recorded.';
comment on column ridepulse.watch_errors.last_at is 'When the problem was last recorded.';

-- last_at is null for problems that the catalog and ridepulse.unread_rides show now.
create view ridepulse.watch_problems as
  select case when t.oid is null then p.relation::oid::text
      else format('%I.%I', n.nspname, t.relname) end as "table",
    p.column_name, p.problem, p.row_id, p.detail, p.count, p.first_at, p.last_at
  from (
    select w.relation, '' as column_name, 'missing_table' as problem, null::text as row_id,
      null::text as detail, null::bigint as count, null::timestamptz as first_at,
      null::timestamptz as last_at
    from ridepulse.watches w where not exists (select from pg_class c where c.oid = w.relation)
    union all
    select w.relation, m.column_name, 'missing_column'::text, null::text, 'mapped to ' || m.target,
      null::bigint, null::timestamptz, null::timestamptz
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join lateral (
      select key as target, value as column_name from jsonb_each_text(w.columns)
      where w.ride_function is null
      union all
      select 'attributes.' || key, value from jsonb_each_text(w.attributes)
    ) m
    where not exists (
      select from pg_attribute a
      where a.attrelid = w.relation and a.attname = m.column_name and a.attnum > 0
        and not a.attisdropped)
    union all
    select w.relation, wanted.name,
      case when g.is_there then 'disabled_trigger' else 'missing_trigger' end,
      null::text, null::text, null::bigint, null::timestamptz, null::timestamptz
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join (values ('ridepulse_read'), ('ridepulse_watch'), ('ridepulse_read_update'),
      ('ridepulse_watch_update')) wanted (name)
    left join lateral (
      -- Each partition has its own copy of the trigger.
      select bool_or(g.tgenabled in ('D', 'R')) as is_disabled, count(*) > 0 as is_there
      from pg_trigger g
      where g.tgname = wanted.name and g.tgrelid in (
        select w.relation::oid union all select relid::oid from pg_partition_tree(w.relation))
    ) g on true
    where not g.is_there or g.is_disabled
    union all
    select w.relation, ''::text, 'late_trigger'::text, null::text, null::text, null::bigint, null::timestamptz,
      null::timestamptz
    from ridepulse.watches w
    join pg_trigger g on g.tgrelid = w.relation and g.tgname = 'ridepulse_read_update'
    where cardinality(g.tgattr::smallint[]) > 0 and (
      exists (select from pg_trigger b
              where b.tgrelid in (select w.relation::oid
                                  union all select relid::oid from pg_partition_tree(w.relation))
                and not b.tgisinternal and b.tgtype & 19 = 19)
      or exists (select from pg_attribute a where a.attrelid = w.relation and a.attgenerated <> ''
                 and not a.attisdropped))
    union all
    select w.relation, g.tgname, 'old_trigger'::text, null::text, null::text, null::bigint, null::timestamptz,
      null::timestamptz
    from ridepulse.watches w
    join pg_trigger g on g.tgrelid = w.relation
      and g.tgname in ('ridepulse_read', 'ridepulse_read_update') and g.tgargs <> '2\000'::bytea
    union all
    select w.relation, ''::text, 'replaced_table'::text, null::text,
      format('%I.%I', n.nspname, o.relname) collate "default", null::bigint, null::timestamptz,
      null::timestamptz
    from ridepulse.watches w
    join pg_namespace n on n.nspname = w.attached_schema
    join pg_class o on o.relnamespace = n.oid and o.relname = w.attached_name
    where o.oid <> w.relation and exists (select from pg_class c where c.oid = w.relation)
      and not exists (select from ridepulse.watches a where a.relation = o.oid)
    union all
    select u.relation, ''::text, 'unread_ride'::text, (array_agg(u.ride_id order by u.since desc))[1],
      'SQLSTATE ' || (array_agg(u.sqlstate order by u.since desc))[1], count(*), min(u.since),
      null::timestamptz
    from ridepulse.unread_rides u group by u.relation
    union all
    select w.relation, ''::text, 'missing_function'::text, null::text, w.ride_function, null::bigint,
      null::timestamptz, null::timestamptz
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    where not exists (
        select from pg_proc f
        where array[(select n.nspname from pg_namespace n where n.oid = f.pronamespace), f.proname]::text[]
            = parse_ident(w.ride_function) and f.pronargs = 1 and f.proargtypes[0] = c.reltype)
      and w.ride_function is not null
    union all
    select g.tgrelid::regclass, g.tgname, 'disabled_trigger'::text, null::text, null::text, null::bigint, null::timestamptz,
      null::timestamptz
    from pg_trigger g join pg_class c on c.oid = g.tgrelid
    where c.relnamespace = 'ridepulse'::regnamespace and not g.tgisinternal
      and g.tgenabled in ('D', 'R')
    union all
    select e.relation, e.column_name, e.problem, e.row_id, e.detail, e.count, e.first_at, e.last_at
    from ridepulse.watch_errors e
    where e.problem <> 'missing_column' or exists (
      select from pg_attribute a where a.attrelid = e.relation and a.attname = e.column_name)
  ) p
  left join pg_class t on t.oid = p.relation left join pg_namespace n on n.oid = t.relnamespace;

comment on view ridepulse.watch_problems is
  'Problems of attached tables: those that the catalog shows now, and those in watch_errors.';

create function ridepulse.record_watch_error(
  relation regclass, column_name text, problem text, row_id text default null,
  detail text default null
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Once for each transaction, because each further update would leave a dead row.
  if exists (
    select from ridepulse.watch_errors e
    where e.relation = record_watch_error.relation
      and e.column_name = record_watch_error.column_name
      and e.problem = record_watch_error.problem and e.last_at >= now())
    or not pg_try_advisory_xact_lock(hashtextextended(
      'ridepulse.watch_errors ' || relation::oid || ' ' || column_name || ' ' || problem, 0))
  then
    return;
  end if;
  begin
    -- ridepulse.forget and ridepulse.sweep hold rows, too.
    perform from ridepulse.watch_errors e
    where e.relation = record_watch_error.relation
      and e.column_name = record_watch_error.column_name
      and e.problem = record_watch_error.problem
    for no key update skip locked;
    if not found and exists (
      select from ridepulse.watch_errors e
      where e.relation = record_watch_error.relation
        and e.column_name = record_watch_error.column_name
        and e.problem = record_watch_error.problem)
    then
      return;
    end if;
    insert into ridepulse.watch_errors as e
      (relation, column_name, problem, row_id, detail, first_at, last_at)
    values (record_watch_error.relation, record_watch_error.column_name,
            record_watch_error.problem, left(record_watch_error.row_id, 80),
            left(record_watch_error.detail, 200), now(), now())
    on conflict on constraint watch_errors_pkey do update set
      row_id = excluded.row_id, detail = excluded.detail, count = e.count + 1,
      last_at = excluded.last_at;
  exception when serialization_failure then
    null;  -- Another transaction recorded it after this one's snapshot was taken.
  end;
end
$$;

comment on function ridepulse.record_watch_error(regclass, text, text, text, text) is
  'Records a problem in ridepulse.watch_errors, once for each transaction, and waits for no other '
  'transaction. row_id and detail are cut to 80 and 200 characters.';
