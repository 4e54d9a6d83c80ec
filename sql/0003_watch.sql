-- ridepulse.watch(table, mapping): attach a ride service's own table with one call.
--
-- mapping says which column of the table is which column of ridepulse.rides:
--   {"id": "booking_id", "state": "status", "customer_id": "rider_id", "driver_id": "driver_id",
--    "pickup_at": "pickup_time", "time_zone": "tz", "attributes": ["plate", "driver_name"]}
-- id and state must be there. attributes is one jsonb column ("details"), a list of columns, or an
-- object of names to columns ({"plate": "car_plate"}).
-- Rows that are there already are copied silently: nobody is told what happened before.

create function ridepulse.watched_ride(source jsonb, mapping jsonb) returns ridepulse.rides
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  ride ridepulse.rides;
  names jsonb := mapping -> 'attributes';
begin
  ride.id := source ->> (mapping ->> 'id');
  ride.state := source ->> (mapping ->> 'state');
  ride.customer_id := source ->> (mapping ->> 'customer_id');
  ride.driver_id := source ->> (mapping ->> 'driver_id');
  ride.pickup_at := (source ->> (mapping ->> 'pickup_at'))::timestamptz;
  ride.time_zone := coalesce(source ->> (mapping ->> 'time_zone'), 'UTC');
  ride.attributes := coalesce(case jsonb_typeof(names)
    when 'string' then nullif(source -> (names #>> '{}'), 'null')
    when 'array' then
      (select jsonb_object_agg(name, source -> name) from jsonb_array_elements_text(names) name)
    when 'object' then
      (select jsonb_object_agg(key, source -> value) from jsonb_each_text(names))
  end, '{}');
  return ride;
end
$$;

create function ridepulse.watched() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  ride ridepulse.rides := ridepulse.watched_ride(to_jsonb(new), tg_argv[0]::jsonb);
begin
  if ride.id is null then
    return null;
  end if;
  insert into ridepulse.rides as r
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
  values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at, ride.time_zone,
          ride.attributes)
  on conflict (id) do update set
    state = excluded.state, customer_id = excluded.customer_id, driver_id = excluded.driver_id,
    pickup_at = excluded.pickup_at, time_zone = excluded.time_zone,
    attributes = excluded.attributes
  where (r.state, r.customer_id, r.driver_id, r.pickup_at, r.time_zone, r.attributes)
    is distinct from (excluded.state, excluded.customer_id, excluded.driver_id,
                      excluded.pickup_at, excluded.time_zone, excluded.attributes);
  return null;
end
$$;

create function ridepulse.watch("table" regclass, mapping jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array['id', 'state', 'customer_id', 'driver_id', 'pickup_at',
                                 'time_zone', 'attributes'];
  entry record;
begin
  if jsonb_typeof(mapping) is distinct from 'object'
     or not mapping ?& array['id', 'state'] then
    raise exception 'ridepulse.watch needs a mapping with at least "id" and "state"'
      using errcode = 'invalid_parameter_value',
            hint = 'such as {"id": "booking_id", "state": "status"}';
  end if;
  for entry in
    select key as target, value as source from jsonb_each(mapping) where key <> 'attributes'
    union all
    select 'attributes', case jsonb_typeof(value) when 'string' then value else to_jsonb(name) end
    from jsonb_each(mapping) attributes
    left join lateral (
      select jsonb_array_elements_text(value) as name where jsonb_typeof(value) = 'array'
      union all
      select t.value from jsonb_each_text(value) t where jsonb_typeof(attributes.value) = 'object'
    ) names on true
    where attributes.key = 'attributes'
  loop
    if entry.target <> all (known) then
      raise exception 'ridepulse.watch: % is not a column of ridepulse.rides', entry.target
        using errcode = 'undefined_column',
              hint = 'known are ' || array_to_string(known, ', ');
    end if;
    if not exists (
      select from pg_attribute
      where attrelid = "table" and attname = entry.source #>> '{}' and attnum > 0
        and not attisdropped)
    then
      raise exception 'ridepulse.watch: % has no column %, mapped to %',
        "table", coalesce(entry.source::text, 'null'), entry.target
        using errcode = 'undefined_column';
    end if;
  end loop;
  execute format(
    'create or replace trigger ridepulse_watch after insert or update on %s for each row '
    'execute function ridepulse.watched(%L)', "table", mapping::text);
  perform set_config('ridepulse.silent', 'on', true);
  execute format(
    'insert into ridepulse.rides (id, state, customer_id, driver_id, pickup_at, time_zone, '
    'attributes) select r.id, r.state, r.customer_id, r.driver_id, r.pickup_at, r.time_zone, '
    'r.attributes from %s t, ridepulse.watched_ride(to_jsonb(t), %L) r where r.id is not null '
    'on conflict (id) do nothing', "table", mapping::text);
  perform set_config('ridepulse.silent', '', true);
end
$$;
