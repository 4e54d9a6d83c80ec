-- When rides entered their states, and what concerns one participant alone.
--
-- The times have a table of their own: ridepulse.rides is the type of the functions that map attached
-- tables, and each of those names all of its columns. Reasons: docs/decisions/0089-me-and-entered-states.md.

-- Rows are written in place, and no index has the times.
create table ridepulse.entered_states (
  ride_id text primary key,
  entered jsonb not null
) with (fillfactor = 70);

comment on table ridepulse.entered_states is
  'When each ride last entered each of its states; rules read it as ride.entered. A ride that was '
  'attached or backfilled in a state has no time of it. Rows go with their ride.';
comment on column ridepulse.entered_states.ride_id is 'The ride.';
comment on column ridepulse.entered_states.entered is
  'By state, the time of its event in microseconds since 1970.';

create function ridepulse.enter_state(ride_id text, state text, at timestamptz, is_new boolean)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Rules name states of at most 64 bytes. The row is limited, whatever a service has as states.
  if octet_length(state) > 64 then
    return;
  end if;
  insert into ridepulse.entered_states as s (ride_id, entered)
  values (enter_state.ride_id, jsonb_build_object(enter_state.state,
    (extract(epoch from enter_state.at) * 1000000)::bigint))
  on conflict on constraint entered_states_pkey do update set
    entered = case when is_new or pg_column_size(s.entered) > 16384 then excluded.entered
      else s.entered || excluded.entered end;
end
$$;

comment on function ridepulse.enter_state(text, text, timestamptz, boolean) is
  'Records when a ride entered a state. is_new: the ride was inserted, so that times of a former one '
  'with its ID do not count.';

-- A row of an attached table that moves to another partition is deleted and inserted again in one
-- transaction: its ride keeps its times.
create function ridepulse.entered_states_removed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.entered_states_removed serves ridepulse.rides alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  delete from ridepulse.entered_states s
  where s.ride_id = old.id and not exists (select from ridepulse.rides r where r.id = old.id);
  return null;
end
$$;

comment on function ridepulse.entered_states_removed() is
  'Trigger function: deletes the times of a ride that is deleted at the end of the transaction. '
  'Errors: 42501 on any table other than ridepulse.rides.';

create constraint trigger entered_states_removed after delete on ridepulse.rides
deferrable initially deferred for each row execute function ridepulse.entered_states_removed();

alter table ridepulse.participants add column attributes jsonb not null default '{}';

comment on column ridepulse.participants.attributes is
  'What concerns this person alone, a JSON object of at most 8 KiB; rules and texts read it as me.';

-- Functions of earlier files are rewritten in place, so that each is spelled once: the time of an entry
-- is that of its event, also of a ride that this transaction has inserted silently; a change of
-- attributes does not count its own row as a further one.
do $do$
declare
  change record;
  changed text;
begin
  for change in select * from (values
    ('ridepulse.ride_changed()', $$  former jsonb;
$$, $$  former jsonb;
  emitted_at timestamptz;
$$),
    ('ridepulse.ride_changed()', $$new.driver_id, former);
$$, $$new.driver_id, former)
  returning created_at into emitted_at;
  if event = new.state and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    perform ridepulse.enter_state(new.id, event, emitted_at, tg_op = 'INSERT');
  end if;
$$),
    ('ridepulse.store_row(ridepulse.watches, text, jsonb, jsonb)',
      $$and ridepulse.is_unannounced(ride);
    end if;
$$, $$and ridepulse.is_unannounced(ride);
      if found then
        perform ridepulse.enter_state(ride.id, ride.state, clock_timestamp(), false);
      end if;
    end if;
$$),
    ('ridepulse.participant_checked()', $$p.ride_id = new.ride_id limit 1000)$$,
      $$p.ride_id = new.ride_id
        and (p.app, p.owner_id) is distinct from (new.app, new.owner_id) limit 1000)$$),
    ('ridepulse.participant_checked()', $$  return new;
$$, $$  if jsonb_typeof(new.attributes) is distinct from 'object' then
    raise exception 'ridepulse.participants needs a JSON object as attributes, got %',
      coalesce(jsonb_typeof(new.attributes), 'NULL') using errcode = 'invalid_parameter_value';
  elsif octet_length(new.attributes::text) > 8192 then
    raise exception 'attributes of ridepulse.participants has % bytes',
      octet_length(new.attributes::text) using errcode = 'invalid_parameter_value',
      hint = 'At most 8192 bytes are allowed; a push has 4096.';
  end if;
  return new;
$$),
    ('ridepulse.put_ride(jsonb)', $$    insert into ridepulse.participants (ride_id, app, owner_id)
    select distinct ride ->> 'id', n.app, n.owner_id
    from jsonb_to_recordset(ride -> 'participants') as n (app text, owner_id text)
    where not exists (
$$, $$    with named as materialized (
      select distinct on (n.app, n.owner_id) n.app, n.owner_id,
        coalesce(n.attributes, '{}') as attributes
      from rows from (jsonb_to_recordset(ride -> 'participants')
        as (app text, owner_id text, attributes jsonb)) with ordinality
        as n (app, owner_id, attributes, number)
      order by n.app, n.owner_id, n.number
    ), changed as (
      update ridepulse.participants p set attributes = n.attributes
      from named n
      where p.ride_id = ride ->> 'id' and p.app = n.app and p.owner_id = n.owner_id
        and p.attributes <> n.attributes
    )
    insert into ridepulse.participants (ride_id, app, owner_id, attributes)
    select ride ->> 'id', n.app, n.owner_id, n.attributes from named n
    where not exists (
$$)) c (function, old, new)
  loop
    changed := replace(pg_get_functiondef(change.function::regprocedure), change.old, change.new);
    if changed = pg_get_functiondef(change.function::regprocedure) then
      raise exception '% has another text than this step expects', change.function;
    end if;
    execute changed;
  end loop;
end
$do$;

comment on function ridepulse.participant_checked() is
  'Trigger function: refuses a participant of an unknown ride or app, the 1001st of a ride, and '
  'attributes that are no JSON object of at most 8 KiB. Errors: 22023; 42501 on any table other than '
  'ridepulse.participants.';

comment on function ridepulse.put_ride(jsonb) is
  'Inserts or replaces a ride, whose triggers emit its events; returns whether it is new. ride: the '
  'columns as members, and the ID; a missing one has its default. participants: a list of objects '
  'with app, owner_id and attributes, the ride''s further people from then on; if it is missing, they '
  'stay.';

-- A changed attribute of a person with a live card makes the ride due, as a removal does: the card
-- may show it. An update that changes nothing does not.
drop trigger removed on ridepulse.participants;

create trigger left_ride after delete on ridepulse.participants for each row
execute function ridepulse.participant_removed();

create trigger changed after update on ridepulse.participants for each row
when (old.* is distinct from new.*)
execute function ridepulse.participant_removed();

comment on function ridepulse.participant_removed() is
  'Trigger function: makes the ride of a removed or changed participant who has a live card due. '
  'Errors: 42501 on any table other than ridepulse.participants.';
