-- The triggers on rides, participants and events.

create function ridepulse.ride_stamped() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.updated_at is not distinct from new.updated_at and old is distinct from new then
    new.updated_at := now();
  end if;
  return new;
end
$$;

comment on function ridepulse.ride_stamped() is
  'Trigger function: sets updated_at of a ride that changed to the start of the transaction, unless the '
  'update sets it.';

-- Conditions of these triggers are in their functions: Postgres reads that of a WHEN again for each
-- statement, which costs more than the call.
create trigger stamped before update on ridepulse.rides for each row
execute function ridepulse.ride_stamped();

create function ridepulse.former_row(old ridepulse.rides, new ridepulse.rides) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
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
    -- As a text, from which templates are rendered unchanged. Attributes too large for any push are
    -- dropped.
    'attributes', case when pg_column_size(old.attributes) <= 65536
                      and octet_length(old.attributes::text) <= 65536
                    then old.attributes::text else '{}' end));
end
$$;

comment on function ridepulse.former_row(ridepulse.rides, ridepulse.rides) is
  'Returns the row before an update as JSON if the update replaced or removed one of the ride''s '
  'people, otherwise null. Texts to a former driver are rendered from that row, and never from '
  'the new driver''s data. pickupAt is in microseconds since 1970; attributes is JSON as a text, '
  '{} if it has more than 64 KiB.';

-- A new state emits the event of its name; any other change emits ride_updated. A change of both
-- emits only the state's event, which is rendered from the whole row. A ride that is inserted
-- silently, as by ridepulse.watch, causes no push: it emits ride_watched, which no rule matches, to
-- be put on the agenda.
create function ridepulse.ride_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  event text;
  former jsonb;
  emitted_at timestamptz;
begin
  -- Must precede any use of the row, whose types would belong to the owner of the other table.
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.ride_changed serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  if tg_op = 'UPDATE' and (old is not distinct from new
       or current_setting('ridepulse.silent', true) = 'on') then
    return null;
  elsif current_setting('ridepulse.silent', true) = 'on' then
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
  values (new.id, event, '{}', new.customer_id, new.driver_id, former)
  returning created_at into emitted_at;
  if event = new.state and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    perform ridepulse.enter_state(new.id, event, emitted_at, tg_op = 'INSERT');
  end if;
  return null;
end
$$;

comment on function ridepulse.ride_changed() is
  'Trigger function: emits the event of a new or changed ride. Errors: 42501 on any table other '
  'than ridepulse.rides.';

create trigger added after insert on ridepulse.rides for each row
execute function ridepulse.ride_changed();

create trigger changed after update on ridepulse.rides for each row
execute function ridepulse.ride_changed();

create function ridepulse.rides_removed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.rides_removed serves ridepulse.rides alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  delete from ridepulse.participants p where p.ride_id in (select g.id from gone g);
  delete from ridepulse.unread_rides u where u.ride_id in (select g.id from gone g);
  return null;
end
$$;

comment on function ridepulse.rides_removed() is
  'Trigger function: deletes the participants and the marks of deleted rides. Errors: 42501 on any '
  'table other than ridepulse.rides.';

create trigger removed after delete on ridepulse.rides referencing old table as gone
for each statement execute function ridepulse.rides_removed();

create function ridepulse.participant_checked() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Must precede any use of the row, whose types would belong to the owner of the other table.
  if tg_relid <> 'ridepulse.participants'::regclass then
    raise exception 'ridepulse.participant_checked serves ridepulse.participants alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  perform ridepulse.check_text('participants', 'ride_id', new.ride_id),
    ridepulse.check_app('participants', new.app),
    ridepulse.check_text('participants', 'owner_id', new.owner_id);
  if not exists (select from ridepulse.rides r where r.id = new.ride_id) then
    raise exception 'ridepulse.participants names a ride that does not exist'
      using errcode = 'invalid_parameter_value',
            hint = 'Insert the ride first, in the same transaction if you like.';
  elsif (select count(*) from (
      select from ridepulse.participants p where p.ride_id = new.ride_id
        and (p.app, p.owner_id) is distinct from (new.app, new.owner_id) limit 1000) known) >= 1000
  then
    raise exception 'the ride has 1000 participants, the most that are allowed'
      using errcode = 'invalid_parameter_value',
            hint = 'Name those whom an event concerns in its data, or emit an event for each.';
  end if;
  if jsonb_typeof(new.attributes) is distinct from 'object' then
    raise exception 'ridepulse.participants needs a JSON object as attributes, got %',
      coalesce(jsonb_typeof(new.attributes), 'NULL') using errcode = 'invalid_parameter_value';
  elsif octet_length(new.attributes::text) > 8192 then
    raise exception 'attributes of ridepulse.participants has % bytes',
      octet_length(new.attributes::text) using errcode = 'invalid_parameter_value',
      hint = 'At most 8192 bytes are allowed; a push has 4096.';
  end if;
  return new;
end
$$;

comment on function ridepulse.participant_checked() is
  'Trigger function: refuses a participant of an unknown ride or app, the 1001st of a ride, and '
  'attributes that are no JSON object of at most 8 KiB. Errors: 22023; 42501 on any table other than '
  'ridepulse.participants.';

create trigger checked before insert or update on ridepulse.participants for each row
execute function ridepulse.participant_checked();

-- Who takes part later receives what fires from then on, so an insert emits nothing. A card of one
-- who takes part no longer must end; that of an Android phone, which has no row, does with the ride's
-- next decision.
create function ridepulse.participant_removed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.participants'::regclass then
    raise exception 'ridepulse.participant_removed serves ridepulse.participants alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  insert into ridepulse.events (ride_id, event, data)
  select old.ride_id, 'card_ended', '{}'
  where exists (
    select from ridepulse.live_activities a
    where a.app = old.app and a.owner_id = old.owner_id and a.ride_id = old.ride_id
      and a.ended_at is null)
    or ridepulse.has_android(old.app, old.owner_id)
      and exists (select from ridepulse.agenda a where a.ride_id = old.ride_id);
  return null;
end
$$;

comment on function ridepulse.participant_removed() is
  'Trigger function: makes the ride of a removed or changed participant who has a live card due. '
  'Errors: 42501 on any table other than ridepulse.participants.';

-- A changed attribute of a person with a live card makes the ride due, as a removal does: the card
-- may show it. An update that changes nothing does not.
create trigger left_ride after delete on ridepulse.participants for each row
execute function ridepulse.participant_removed();

create trigger changed after update on ridepulse.participants for each row
when (old.* is distinct from new.*)
execute function ridepulse.participant_removed();

-- NOTIFY takes a lock for which all committing transactions compete. It is therefore sent only
-- while a node sleeps, once for each transaction, and as late as possible: a node claims once more
-- after it has announced its sleep. All databases of a server share one NOTIFY queue, and a
-- listener that does not read it fills it; once it is full, every commit that notifies fails. From
-- 1 % on (80 MB by default) it is not being read: no NOTIFY is sent, and nodes poll.
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

comment on function ridepulse.wake() is
  'Trigger function: notifies sleeping nodes of a new event. Errors: 42501 on any table other '
  'than ridepulse.events.';

-- Fires once for each transaction. The condition calls no function of this schema, because it runs
-- with the rights of the writer.
create constraint trigger wake after insert on ridepulse.events deferrable initially deferred
for each row when (
  current_setting('ridepulse.transaction', true) is distinct from pg_current_xact_id()::text
  and set_config('ridepulse.transaction', pg_current_xact_id()::text, true) is not null)
execute function ridepulse.wake();
