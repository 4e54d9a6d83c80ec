-- The triggers of rides and events.

create function ridepulse.ride_stamped() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.updated_at := now();
  return new;
end
$$;

comment on function ridepulse.ride_stamped() is 'Trigger: sets updated_at of a changed ride.';

-- Fires only if the app left updated_at unchanged and changed something else.
create trigger stamped before update on ridepulse.rides for each row
when (old.* is distinct from new.* and old.updated_at is not distinct from new.updated_at)
execute function ridepulse.ride_stamped();

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

comment on function ridepulse.former_row(ridepulse.rides, ridepulse.rides) is
  'The row before an update, as JSON, if the update replaced or removed one of its people; '
  'otherwise null. Texts to a former driver show that row, and never the new driver''s data.';

-- A new state is the event of its name; any other change is ride_updated. A change of both is the
-- state's event alone, which renders the ride as it is then. A ride that is added silently, as
-- ridepulse.watch does, notifies no one: the event ride_watched, which no rule matches, puts it on the
-- agenda.
create function ridepulse.ride_changed() returns trigger
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

comment on function ridepulse.ride_changed() is 'Trigger: emits the event of a changed ride.';

create trigger added after insert on ridepulse.rides for each row
execute function ridepulse.ride_changed();

create trigger changed after update on ridepulse.rides for each row
when (old.* is distinct from new.*
      and current_setting('ridepulse.silent', true) is distinct from 'on')
execute function ridepulse.ride_changed();

-- A NOTIFY takes a lock that all committing transactions share. It is therefore sent only if a node
-- sleeps, once for each transaction, and as late as possible: a node looks once more before it trusts
-- its sleep. The NOTIFY queue is one for all databases of the server, and a listener that does not
-- read fills it; once it is full, every commit that notifies fails. At 1 % (80 MB by default) it is not
-- being read: from there on nodes poll.
create function ridepulse.wake() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.events'::regclass then
    raise exception 'ridepulse.wake serves ridepulse.events alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege';
  end if;
  if exists (select from ridepulse.nodes where asleep and seen_at > now() - interval '10 seconds')
     and pg_notification_queue_usage() < 0.01
  then
    perform pg_notify('ridepulse_wake', '');
  end if;
  return null;
end
$$;

comment on function ridepulse.wake() is 'Trigger: notifies sleeping nodes of a new event.';

-- Once for each transaction, without a function: the condition runs with the rights of the writer.
create constraint trigger wake after insert on ridepulse.events deferrable initially deferred
for each row when (
  current_setting('ridepulse.transaction', true) is distinct from pg_current_xact_id()::text
  and set_config('ridepulse.transaction', pg_current_xact_id()::text, true) is not null)
execute function ridepulse.wake();
