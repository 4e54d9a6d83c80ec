-- How the mapped values of a row become a ride, and how rides are inserted and removed for rows. See
-- 0018_watches.sql.

create function ridepulse.parse_time(
  value text, zone text, out instant timestamptz, out problem text
)
language plpgsql stable set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set standard_conforming_strings = on as $$
begin
  if value ~* '(^|[^a-z])(now|today|tomorrow|yesterday|epoch|allballs|infinity)([^a-z]|$)' then
    problem := 'bad_time';
  elsif value ~* '\d:\d\d(:\d\d(\.\d+)?)?\s*(z|utc|gmt|[+-]\d\d(:?\d\d){0,2})(\s+bc)?\s*$' then
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
  'problem is no_time_zone or bad_time if the conversion fails, otherwise null. Words that Postgres '
  'reads as times, such as tomorrow, are bad.';

-- These are in plpgsql, which keeps plans for a session: a SQL function that can't be inlined is planned
-- again in each transaction.
create function ridepulse.mapped_id(w ridepulse.watches, source jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return w.prefix || nullif(source ->> (w.columns ->> 'id'), '');
end
$$;

comment on function ridepulse.mapped_id(ridepulse.watches, jsonb) is
  'Returns the ID of a row''s ride; null if the row has none. source: the mapped values as JSON.';

create function ridepulse.mapped_state(w ridepulse.watches, source jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(w.constants ->> 'state', w.states ->> (source ->> (w.columns ->> 'state')),
    source ->> (w.columns ->> 'state'));
end
$$;

comment on function ridepulse.mapped_state(ridepulse.watches, jsonb) is
  'Returns the state of a row''s ride. source: the mapped values as JSON.';

create function ridepulse.belongs_to(w ridepulse.watches, id text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return starts_with(id, w.prefix) and not exists (
    select from ridepulse.watches o
    where length(o.prefix) > length(w.prefix) and starts_with(id, o.prefix));
end
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
  pickup text := coalesce(w.constants ->> 'pickup_at', source ->> (w.columns ->> 'pickup_at'));
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
  delete from ridepulse.unread_rides u where u.ride_id = ride.id;
  if found then
    insert into ridepulse.events (ride_id, event, data) values (ride.id, 'ride_watched', '{"read": true}');
  end if;
  ride.state := ridepulse.mapped_state(w, source);
  ride.customer_id := coalesce(
    w.constants ->> 'customer_id', source ->> (w.columns ->> 'customer_id'));
  ride.driver_id := coalesce(w.constants ->> 'driver_id', source ->> (w.columns ->> 'driver_id'));
  ride.time_zone := coalesce(
    w.constants ->> 'time_zone', source ->> (w.columns ->> 'time_zone'), 'UTC');
  if greatest(octet_length(ride.state), octet_length(ride.customer_id),
              octet_length(ride.driver_id)) > 512 then
    foreach target in array array['state', 'customer_id', 'driver_id'] loop
      if octet_length(to_jsonb(ride) ->> target) > 512 then
        ride := jsonb_populate_record(ride, jsonb_build_object(target, null));
        problems := problems || array[target, 'too_long'];
      end if;
    end loop;
  end if;
  if ride.time_zone <> 'UTC'
     and (ridepulse.parse_time('2000-01-01', ride.time_zone)).problem is not null then
    ride.time_zone := 'UTC';
    problems := problems || array['time_zone', 'unknown_time_zone'];
  end if;
  if pickup in ('infinity', '-infinity') and (w.ride_function is not null
       or ridepulse.base_type(w.relation, w.columns ->> 'pickup_at')
         in ('timestamp'::regtype, 'timestamptz'::regtype)) then
    ride.pickup_at := pickup::timestamptz;
  else
    select p.instant, p.problem into ride.pickup_at, problem
    from ridepulse.parse_time(pickup, w.time_zone) p;
  end if;
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

create function ridepulse.removal_lock(relation regclass) returns bigint
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select hashtextextended('ridepulse.removal ' || relation::oid, 0)
$$;

comment on function ridepulse.removal_lock(regclass) is
  'Returns the key of the advisory lock that removals of a table''s rides share and its backfill '
  'takes alone.';

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

create function ridepulse.insert_silently(ride ridepulse.rides) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_new boolean;
begin
  perform set_config('ridepulse.silent', 'on', true);
  insert into ridepulse.rides
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes, updated_at)
  values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at, ride.time_zone,
          ride.attributes, coalesce(ride.updated_at, now()))
  on conflict (id) do nothing;
  is_new := found;
  perform set_config('ridepulse.silent', '', true);
  return is_new;
end
$$;

comment on function ridepulse.insert_silently(ridepulse.rides) is
  'Inserts a ride that no push announces. Returns false if there is one with its ID.';

-- A row that moves to another partition is deleted and inserted again: its ride did not end.
create function ridepulse.restore_ride(id text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  removed jsonb;
begin
  delete from ridepulse.events e
  where e.id in (
    select r.id from ridepulse.events r
    where r.ride_id = restore_ride.id and r.event = 'ride_removed' and r.created_at >= now()
    for update skip locked)
  returning e.data -> 'ride' into removed;
  if not found
     or not ridepulse.insert_silently(jsonb_populate_record(null::ridepulse.rides, removed)) then
    return false;
  end if;
  update ridepulse.events e set data = '{"moved": true}'
  where e.ride_id = restore_ride.id and e.event = 'ride_watched' and e.created_at >= now();
  return true;
end
$$;

comment on function ridepulse.restore_ride(text) is
  'Inserts a ride again that this transaction has removed. Returns whether it did.';

create function ridepulse.has_moved(ride ridepulse.rides) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  removed ridepulse.removed_rows;
begin
  delete from ridepulse.removed_rows r where r.ride_id = ride.id returning * into removed;
  return found and removed.removed_at >= now() - interval '1 day'
    and removed.state is not distinct from ride.state;
end
$$;

comment on function ridepulse.has_moved(ridepulse.rides) is
  'Whether an inserted row without a ride was deleted within the last day, with the same state. '
  'Forgets that.';

-- A trigger that ran before ridepulse_watch has updated the row without changing its state. The ride
-- is announced by the write whose trigger that was.
create function ridepulse.is_unannounced(ride ridepulse.rides) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
      select from ridepulse.events e where e.ride_id = ride.id and e.event = 'ride_watched'
        and e.data = '{}' and e.created_at >= now())
    and not exists (
      select from ridepulse.events e where e.ride_id = ride.id and e.event = ride.state
        and e.created_at >= now())
$$;

comment on function ridepulse.is_unannounced(ridepulse.rides) is
  'Whether this transaction has inserted the ride silently and not emitted its state.';
