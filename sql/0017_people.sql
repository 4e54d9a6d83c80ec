-- Events carry whom the ride named, and a ledger status for pushes that a later one replaced.

-- customer_id and driver_id are those of the row after the change. former is the row before it, if
-- the change replaced or removed one of the ride's people: texts to a former driver show that row,
-- and never the new driver's data. pickupAt is in microseconds since 1970.
alter table ridepulse.events
  add column customer_id text,
  add column driver_id   text,
  add column former      jsonb;

-- The row before an update of ridepulse.rides; null if its people are the same. Other apps than
-- customer and driver find their owners in attributes, under <app>_id.
create function ridepulse.former_row(old ridepulse.rides, new ridepulse.rides) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if (old.customer_id is null or old.customer_id is not distinct from new.customer_id)
     and (old.driver_id is null or old.driver_id is not distinct from new.driver_id)
     and (old.attributes is not distinct from new.attributes
          or jsonb_typeof(old.attributes) is distinct from 'object'
          or not exists (
            select from jsonb_each(old.attributes) o
            where o.key like '%\_id' and o.value <> 'null'
              and o.value is distinct from new.attributes -> o.key))
  then
    return null;
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'state', old.state, 'customer', old.customer_id, 'driver', old.driver_id,
    'pickupAt', case when isfinite(old.pickup_at)
                  then (extract(epoch from old.pickup_at) * 1000000)::bigint end,
    'timeZone', coalesce(old.time_zone, 'UTC'),
    -- As a text: a template reads it as it was. A row that no push could hold leaves none.
    'attributes', case when pg_column_size(old.attributes) <= 65536
                      and octet_length(old.attributes::text) <= 65536
                    then old.attributes::text else '{}' end));
end
$$;

create or replace function ridepulse.ride_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  event text;
  former jsonb;
begin
  -- Before anything looks at the row: its types would be those of another table's owner.
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.ride_changed serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  if current_setting('ridepulse.silent', true) = 'on' then
    if tg_op = 'UPDATE' then
      return null;
    end if;
    event := 'ride_watched';
  elsif new.state is not null and new.state <> ''
     and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    event := new.state;
  elsif tg_op = 'UPDATE' then
    event := 'ride_updated';
  else
    return null;
  end if;
  if tg_op = 'UPDATE' then
    former := ridepulse.former_row(old, new);
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id, former)
  values (new.id, event, '{}', new.customer_id, new.driver_id, former);
  return null;
end
$$;

create or replace function ridepulse.emit(event text, ride_id text, data jsonb default '{}')
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id bigint;
begin
  perform ridepulse.check_text('emit', 'event', event),
    ridepulse.check_text('emit', 'ride_id', ride_id);
  if jsonb_typeof(data) <> 'object' then
    raise exception 'ridepulse.emit needs a JSON object as data, got %', jsonb_typeof(data)
      using errcode = 'invalid_parameter_value';
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
  select emit.ride_id, emit.event, coalesce(emit.data, '{}'), r.customer_id, r.driver_id
  from (values (1)) one left join ridepulse.rides r on r.id = emit.ride_id
  returning id into new_id;
  return new_id;
end
$$;

-- A look reads a ride's first events only.
drop index ridepulse.events_by_ride;
create index events_by_ride on ridepulse.events (ride_id, id);

-- An owner's phones are addressed in parts, in the order of their IDs.
drop index ridepulse.devices_by_owner;
create index devices_by_owner on ridepulse.devices (app, owner_id, id) where disabled_at is null;

-- The ledger, its partitions and the table of before have the same check under the same name.
do $$
declare
  target regclass;
begin
  for target in
    select c.conrelid from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.conname = 'ledger_status_check' and t.relnamespace = 'ridepulse'::regnamespace
      and c.coninhcount = 0
  loop
    execute format('alter table %s drop constraint ledger_status_check', target);
  end loop;
  -- Partitions keep a constraint of their own next to the inherited one.
  for target in
    select c.conrelid from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.conname = 'ledger_status_check' and t.relnamespace = 'ridepulse'::regnamespace
  loop
    execute format('alter table %s drop constraint ledger_status_check', target);
  end loop;
end
$$;

alter table ridepulse.ledger add constraint ledger_status_check check (status in
  ('pending', 'accepted', 'rejected', 'expired', 'uncertain', 'suppressed', 'superseded'));
