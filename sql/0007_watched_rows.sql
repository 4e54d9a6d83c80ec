-- Copies rows of attached tables to rides; 0008_watch.sql attaches the tables. Contract:
-- docs/sql.md, watch; reasons: docs/decisions/0021-two-triggers-of-watch.md.
--
-- Two triggers share the work. ridepulse_read runs with the rights of the role that writes the
-- table. Only it reads the row, whose types and casts belong to the table's owner; it stores the
-- mapped columns as JSON. ridepulse_watch runs as the owner of this schema: it reads that JSON,
-- never the row. A problem of a row or a mapping never makes the write fail: it is recorded in
-- watch_errors.

create table ridepulse.watches (
  relation   regclass primary key,
  mapping    jsonb not null,
  columns    jsonb not null,
  attributes jsonb not null,
  time_zone  text,
  watched_at timestamptz not null default clock_timestamp()
);

comment on table ridepulse.watches is 'The attached tables. Rows of no other table become rides.';
comment on column ridepulse.watches.relation is 'The table.';
comment on column ridepulse.watches.mapping is 'The mapping as it was passed to ridepulse.watch.';
comment on column ridepulse.watches.columns is
  'Columns of ridepulse.rides, each with the table''s column that is copied to it.';
comment on column ridepulse.watches.attributes is
  'Keys of rides.attributes, each with the table''s column that is copied to it.';
comment on column ridepulse.watches.time_zone is
  'IANA name of the time zone of pickup_at values without an offset; null if the mapping names '
  'none.';
comment on column ridepulse.watches.watched_at is
  'When ridepulse.watch was last called for the table.';

create view ridepulse.watched as
  select relation as "table", mapping, watched_at from ridepulse.watches;

comment on view ridepulse.watched is 'The attached tables, with their mappings.';

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

-- last_at is null for problems that the catalog shows now. Disabled triggers of this schema's own
-- tables are listed, too.
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
    select w.relation, m.column_name, 'missing_column', null, 'mapped to ' || m.target, null, null,
      null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join lateral (
      select key as target, value as column_name from jsonb_each_text(w.columns)
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
      null, null, null, null, null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join (values ('ridepulse_read'), ('ridepulse_watch')) wanted (name)
    left join lateral (
      -- Each partition has its own copy of the trigger.
      select bool_or(g.tgenabled in ('D', 'R')) as is_disabled, count(*) > 0 as is_there
      from pg_trigger g
      where g.tgname = wanted.name and g.tgrelid in (
        select w.relation::oid union all select relid::oid from pg_partition_tree(w.relation))
    ) g on true
    where not g.is_there or g.is_disabled
    union all
    select g.tgrelid::regclass, g.tgname, 'disabled_trigger', null, null, null, null, null
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

create function ridepulse.parse_time(
  value text, zone text, out instant timestamptz, out problem text
)
language plpgsql stable set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
begin
  if value ~* '\d:\d\d(:\d\d(\.\d+)?)?\s*(z|utc|gmt|[+-]\d\d(:?\d\d){0,2})(\s+bc)?\s*$'
     or value ~* '^\s*[+-]?infinity\s*$' then
    instant := value::timestamptz;
  elsif zone is not null then
    instant := value::timestamp at time zone zone;
  elsif value is not null then
    problem := 'no_time_zone';
  end if;
exception when data_exception then
  problem := 'bad_time';
end
$$;

comment on function ridepulse.parse_time(text, text) is
  'Converts a text to a time. zone: the time zone of a text without an offset; may be null. '
  'problem is no_time_zone or bad_time if the conversion fails, otherwise null.';

-- A row without a usable ID is not copied. Any other unusable value is treated as missing, because
-- the rest of the ride is still valid. Each problem is recorded.
create function ridepulse.store_row(
  relation regclass, source jsonb, is_copy boolean default false
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  w ridepulse.watches;
  ride ridepulse.rides;
  problems text[] := '{}';
begin
  select * into w from ridepulse.watches a where a.relation = store_row.relation;
  if not found then
    raise exception 'ridepulse.store_row: % is not attached', store_row.relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Call ridepulse.watch as the owner of the table.';
  end if;
  ride.id := source ->> (w.columns ->> 'id');
  ride.state := source ->> (w.columns ->> 'state');
  ride.customer_id := source ->> (w.columns ->> 'customer_id');
  ride.driver_id := source ->> (w.columns ->> 'driver_id');
  ride.time_zone := coalesce(source ->> (w.columns ->> 'time_zone'), 'UTC');
  if coalesce(ride.id, '') = '' or octet_length(ride.id) > 512 then
    perform ridepulse.record_watch_error(w.relation, w.columns ->> 'id',
      case when ride.id is null then 'null_id' when ride.id = '' then 'empty_id'
        else 'too_long' end, ride.id);
    return;
  end if;
  if octet_length(ride.state) > 512 then
    ride.state := null;
    problems := problems || array['state', 'too_long'];
  end if;
  if octet_length(ride.customer_id) > 512 then
    ride.customer_id := null;
    problems := problems || array['customer_id', 'too_long'];
  end if;
  if octet_length(ride.driver_id) > 512 then
    ride.driver_id := null;
    problems := problems || array['driver_id', 'too_long'];
  end if;
  if ride.time_zone <> 'UTC'
     and (ridepulse.parse_time('2000-01-01', ride.time_zone)).problem is not null then
    ride.time_zone := 'UTC';
    problems := problems || array['time_zone', 'unknown_time_zone'];
  end if;
  if w.columns ? 'pickup_at' then
    declare
      pickup record;
    begin
      select * into pickup
      from ridepulse.parse_time(source ->> (w.columns ->> 'pickup_at'), w.time_zone);
      ride.pickup_at := pickup.instant;
      if pickup.problem is not null then
        problems := problems || array['pickup_at', pickup.problem];
      end if;
    end;
  end if;
  ride.attributes := coalesce(nullif(source -> (w.columns ->> 'attributes'), 'null'), '{}');
  if jsonb_typeof(ride.attributes) <> 'object' then
    ride.attributes := '{}';
    problems := problems || array['attributes', 'not_an_object'];
  end if;
  if w.attributes <> '{}' then
    select jsonb_object_agg(key, source -> value) into ride.attributes
    from jsonb_each_text(w.attributes);
  end if;
  for i in 1 .. cardinality(problems) by 2 loop
    perform ridepulse.record_watch_error(
      w.relation, w.columns ->> problems[i], problems[i + 1], ride.id);
  end loop;
  insert into ridepulse.rides as r
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
  values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at, ride.time_zone,
          ride.attributes)
  on conflict (id) do update set
    state = excluded.state, customer_id = excluded.customer_id, driver_id = excluded.driver_id,
    pickup_at = excluded.pickup_at, time_zone = excluded.time_zone,
    attributes = excluded.attributes
  where not store_row.is_copy
    and (r.state, r.customer_id, r.driver_id, r.pickup_at, r.time_zone, r.attributes)
      is distinct from (excluded.state, excluded.customer_id, excluded.driver_id,
                        excluded.pickup_at, excluded.time_zone, excluded.attributes);
end
$$;

comment on function ridepulse.store_row(regclass, jsonb, boolean) is
  'Copies a row of an attached table to ridepulse.rides. source: the mapped columns as JSON. '
  'is_copy: leaves a ride that exists unchanged. Errors: 55000 if the table is not attached.';

-- Must not be SECURITY DEFINER, because it runs code of the types of the mapped columns.
create function ridepulse.read_row() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  source jsonb;
begin
  execute 'select to_jsonb(x) from (select ' || tg_argv[0] || ' from (select ($1).*) r) x'
    into source using new;
  perform set_config('ridepulse.row', source::text, true);
  return null;
exception when others then
  -- The writer receives errors that a repetition may fix; the second trigger records all others.
  if sqlstate ~ '^(08|25|40|53|55|57|58|XX)' then
    raise;
  end if;
  -- The empty key marks an error: no column has an empty name.
  perform set_config('ridepulse.row', jsonb_build_object('',
    jsonb_build_object('state', sqlstate, 'message', sqlerrm))::text, true);
  return null;
end
$$;

comment on function ridepulse.read_row() is
  'Trigger function of ridepulse_read: stores the mapped columns of the row as JSON in the '
  'setting ridepulse.row of the transaction. Argument: the columns, as a list for SELECT. Errors: '
  'only those that a repetition may fix.';
