-- Copies rows of attached tables to rides; 0009_watch_mapping.sql attaches the tables. Contract:
-- docs/attach.md; reasons: docs/decisions/0021-two-triggers-of-watch.md.
--
-- Two triggers share the work. ridepulse_read runs with the rights of the role that writes the
-- table. Only it reads the row, whose types and casts belong to the table's owner; it stores the
-- mapped values as JSON. ridepulse_watch runs as the owner of this schema: it reads that JSON,
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
  backfill_until   timestamptz not null default '-infinity'
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

create view ridepulse.watched as
  select relation as "table", mapping, watched_at, backfilled_at,
    backfilled_watch is not distinct from watched_at as is_backfilled
  from ridepulse.watches;

comment on view ridepulse.watched is
  'The attached tables, with their mappings. is_backfilled: whether live rows were copied since '
  'ridepulse.watch was last called.';

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

create function ridepulse.mapped_id(w ridepulse.watches, source jsonb) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select w.prefix || nullif(source ->> (w.columns ->> 'id'), '')
$$;

comment on function ridepulse.mapped_id(ridepulse.watches, jsonb) is
  'Returns the ID of a row''s ride; null if the row has none. source: the mapped values as JSON.';

create function ridepulse.mapped_state(w ridepulse.watches, source jsonb) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(w.constants ->> 'state', w.states ->> (source ->> (w.columns ->> 'state')),
    source ->> (w.columns ->> 'state'))
$$;

comment on function ridepulse.mapped_state(ridepulse.watches, jsonb) is
  'Returns the state of a row''s ride. source: the mapped values as JSON.';

create function ridepulse.belongs_to(w ridepulse.watches, id text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select starts_with(id, w.prefix) and not exists (
    select from ridepulse.watches o
    where length(o.prefix) > length(w.prefix) and starts_with(id, o.prefix))
$$;

comment on function ridepulse.belongs_to(ridepulse.watches, text) is
  'Whether a ride ID belongs to the attached table: no other table has a longer prefix of it.';

-- A row without a usable ID is not copied. Any other unusable value is treated as missing, because
-- the rest of the ride is still valid. Each problem is recorded.
create function ridepulse.mapped_ride(w ridepulse.watches, source jsonb) returns ridepulse.rides
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ride ridepulse.rides;
  problem text;
  target text;
  problems text[] := '{}';
begin
  ride.id := ridepulse.mapped_id(w, source);
  if ride.id is null or octet_length(ride.id) > 512 or not ridepulse.belongs_to(w, ride.id) then
    perform ridepulse.record_watch_error(w.relation, w.columns ->> 'id',
      case when source ->> (w.columns ->> 'id') is null then 'null_id'
        when ride.id is null then 'empty_id'
        when octet_length(ride.id) > 512 then 'too_long' else 'foreign_id' end,
      coalesce(ride.id, source ->> (w.columns ->> 'id')));
    return null;
  end if;
  ride.state := ridepulse.mapped_state(w, source);
  ride.customer_id := coalesce(
    w.constants ->> 'customer_id', source ->> (w.columns ->> 'customer_id'));
  ride.driver_id := coalesce(w.constants ->> 'driver_id', source ->> (w.columns ->> 'driver_id'));
  ride.time_zone := coalesce(
    w.constants ->> 'time_zone', source ->> (w.columns ->> 'time_zone'), 'UTC');
  foreach target in array array['state', 'customer_id', 'driver_id'] loop
    if octet_length(to_jsonb(ride) ->> target) > 512 then
      ride := jsonb_populate_record(ride, jsonb_build_object(target, null));
      problems := problems || array[target, 'too_long'];
    end if;
  end loop;
  if ride.time_zone <> 'UTC'
     and (ridepulse.parse_time('2000-01-01', ride.time_zone)).problem is not null then
    ride.time_zone := 'UTC';
    problems := problems || array['time_zone', 'unknown_time_zone'];
  end if;
  select p.instant, p.problem into ride.pickup_at, problem from ridepulse.parse_time(
    coalesce(w.constants ->> 'pickup_at', source ->> (w.columns ->> 'pickup_at')), w.time_zone) p;
  if problem is not null then
    problems := problems || array['pickup_at', problem];
  end if;
  ride.attributes := coalesce(nullif(source -> (w.columns ->> 'attributes'), 'null'), '{}');
  if jsonb_typeof(ride.attributes) <> 'object' then
    ride.attributes := '{}';
    problems := problems || array['attributes', 'not_an_object'];
  end if;
  ride.attributes := coalesce(w.constants -> 'attributes', '{}') || ride.attributes || coalesce(
    (select jsonb_object_agg(key, source -> value) from jsonb_each_text(w.attributes)), '{}');
  for i in 1 .. cardinality(problems) by 2 loop
    perform ridepulse.record_watch_error(
      w.relation, w.columns ->> problems[i], problems[i + 1], ride.id);
  end loop;
  return ride;
end
$$;

comment on function ridepulse.mapped_ride(ridepulse.watches, jsonb) is
  'Returns the ride of a row of an attached table, and records unusable values; null if the row '
  'has no usable ID. source: the mapped values as JSON.';

-- A backfill that has read a row must not insert its ride after the row was removed. It therefore
-- excludes removals, while removals do not exclude each other.
create function ridepulse.remove_ride(w ridepulse.watches, id text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ride ridepulse.rides;
begin
  if id is null or not ridepulse.belongs_to(w, id) then
    return false;
  end if;
  perform pg_advisory_xact_lock_shared(ridepulse.removal_lock(w.relation));
  delete from ridepulse.rides r where r.id = remove_ride.id returning * into ride;
  if not found then
    return false;
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
  values (ride.id, 'ride_removed', jsonb_build_object('ride', to_jsonb(ride)), ride.customer_id,
          ride.driver_id);
  return true;
end
$$;

comment on function ridepulse.remove_ride(ridepulse.watches, text) is
  'Deletes the ride of a row that is gone or no longer meets the condition, and emits '
  'ride_removed. Returns whether there was one.';

create function ridepulse.removal_lock(relation regclass) returns bigint
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select hashtextextended('ridepulse.removal ' || relation::oid, 0)
$$;

comment on function ridepulse.removal_lock(regclass) is
  'Returns the key of the advisory lock that removals of a table''s rides share and its backfill '
  'takes alone.';
