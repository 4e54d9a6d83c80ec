-- Further people of a ride, and events about no ride. Contract: docs/sql.md; reasons:
-- docs/decisions/0059-people-of-a-ride.md.

create table ridepulse.participants (
  ride_id  text not null,
  app      text not null,
  owner_id text not null,
  primary key (ride_id, app, owner_id)
);

create index participants_by_owner on ridepulse.participants (owner_id, app);

comment on table ridepulse.participants is
  'Further people of rides, written by the service''s backend: they receive what the ride''s own '
  'customer, driver and so on receive. They go with their ride.';
comment on column ridepulse.participants.ride_id is 'The ride, which must exist.';
comment on column ridepulse.participants.app is 'The app whose phones receive the pushes.';
comment on column ridepulse.participants.owner_id is 'The owner of these phones, 1 to 512 bytes.';

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
      select from ridepulse.participants p where p.ride_id = new.ride_id limit 1000) known) >= 1000
  then
    raise exception 'the ride has 1000 participants, the most that are allowed'
      using errcode = 'invalid_parameter_value',
            hint = 'Name those whom an event concerns in its data, or emit an event for each.';
  end if;
  return new;
end
$$;

comment on function ridepulse.participant_checked() is
  'Trigger function: refuses a participant of an unknown ride or app, and the 1001st of a ride. '
  'Errors: 22023; 42501 on any table other than ridepulse.participants.';

create trigger checked before insert or update on ridepulse.participants for each row
execute function ridepulse.participant_checked();

-- Who takes part later receives what fires from then on, so an insert emits nothing. A card of one
-- who takes part no longer must end.
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
      and a.ended_at is null);
  return null;
end
$$;

comment on function ridepulse.participant_removed() is
  'Trigger function: makes the ride of a removed participant who has a live card due. Errors: 42501 '
  'on any table other than ridepulse.participants.';

create trigger removed after delete or update on ridepulse.participants for each row
execute function ridepulse.participant_removed();

create function ridepulse.rides_removed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.rides_removed serves ridepulse.rides alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  delete from ridepulse.participants p where p.ride_id in (select g.id from gone g);
  return null;
end
$$;

comment on function ridepulse.rides_removed() is
  'Trigger function: deletes the participants of deleted rides. Errors: 42501 on any table other '
  'than ridepulse.rides.';

create trigger removed after delete on ridepulse.rides referencing old table as gone
for each statement execute function ridepulse.rides_removed();

-- Each person has an event and a pseudo ride of their own: their events stay in order, and what is
-- stored for one person names no other. The data keeps all keys but those of other people.
create function ridepulse.emit_to_people(event text, data jsonb)
returns table (event_id bigint, ride_id text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  keys constant text[] := array(
    select k.app || '_id' from (
      select 'customer' as app union select 'driver' union select a.app from ridepulse.apps a) k
    order by 1);
  named text[] := '{}';
  owners text[] := '{}';
  item record;
begin
  perform ridepulse.check_text('emit', 'event', emit_to_people.event);
  if jsonb_typeof(emit_to_people.data) <> 'object' then
    raise exception 'ridepulse.emit needs a JSON object as data, got %',
      jsonb_typeof(emit_to_people.data) using errcode = 'invalid_parameter_value';
  end if;
  for item in
    select m.key, p.value #>> '{}' as owner, jsonb_typeof(p.value) as kind
    from jsonb_each(emit_to_people.data) m
    cross join lateral jsonb_array_elements(
      case jsonb_typeof(m.value) when 'array' then m.value else jsonb_build_array(m.value) end
    ) with ordinality p (value, place)
    where m.key = any (keys) and m.value not in ('null', '""') order by m.key, p.place
  loop
    if item.kind not in ('string', 'number') then
      raise exception '% of ridepulse.emit contains %', item.key,
        case item.kind when 'null' then 'null' else 'a value of type ' || item.kind end
        using errcode = 'invalid_parameter_value', hint = 'Send an ID, or a list of IDs.';
    end if;
    perform ridepulse.check_text('emit', item.key, item.owner);
    named := named || left(item.key, -3);
    owners := owners || item.owner;
  end loop;
  if cardinality(owners) = 0 then
    raise exception 'ridepulse.emit needs a ride, or a person in data'
      using errcode = 'invalid_parameter_value',
            hint = format('Send a ride_id, or one of: %s.', array_to_string(keys, ', '));
  elsif cardinality(owners) > 1000 then
    raise exception 'data of ridepulse.emit names % people', cardinality(owners)
      using errcode = 'invalid_parameter_value', hint = 'Name 1000 at most in one call.';
  end if;
  return query
    insert into ridepulse.events (ride_id, event, data)
    select ridepulse.raw_ride('person', p.app, p.owner_id), emit_to_people.event,
      (emit_to_people.data - keys) || jsonb_build_object(p.app || '_id', p.owner_id)
    from (
      select n.app, n.owner_id, min(n.place) as place
      from unnest(named, owners) with ordinality n (app, owner_id, place)
      group by n.app, n.owner_id) p
    order by p.place
    returning id, events.ride_id;
end
$$;

comment on function ridepulse.emit_to_people(text, jsonb) is
  'Emits an event about no ride, once for each person whom data names by <app>_id; returns the IDs, '
  'and the pseudo ride of each person. event: a name that rules match. data: a JSON object; an ID or '
  'a list of IDs for each app, at most 1000 in all. Errors: 22023 for an argument that is not what '
  'the function takes, or if data names nobody.';

create or replace function ridepulse.emit(event text, ride_id text, data jsonb default '{}')
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id bigint;
begin
  if ride_id is null then
    select min(p.event_id) into new_id
    from ridepulse.emit_to_people(event, coalesce(data, '{}')) p;
    return new_id;
  end if;
  perform ridepulse.check_text('emit', 'event', event),
    ridepulse.check_text('emit', 'ride_id', ride_id);
  if jsonb_typeof(data) <> 'object' then
    raise exception 'ridepulse.emit needs a JSON object as data, got %', jsonb_typeof(data)
      using errcode = 'invalid_parameter_value';
  elsif data <> '{}' and exists (
      select from jsonb_each(data) m
      where m.key like '%\_id' and case jsonb_typeof(m.value)
        when 'array' then jsonb_array_length(m.value) else 0 end > 1000) then
    raise exception 'data of ridepulse.emit has a list of more than 1000 people'
      using errcode = 'invalid_parameter_value', hint = 'Name 1000 at most in one call.';
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
  select emit.ride_id, emit.event, coalesce(emit.data, '{}'), r.customer_id, r.driver_id
  from (values (1)) one left join ridepulse.rides r on r.id = emit.ride_id
  returning id into new_id;
  return new_id;
end
$$;

comment on function ridepulse.emit(text, text, jsonb) is
  'Emits an event and returns its ID; it takes effect when the transaction commits. event: a name '
  'that rules match. ride_id: the ride, which need not exist; null means that the event concerns the '
  'people whom data names, as in ridepulse.emit_to_people, and the first one''s ID is returned. data: '
  'a JSON object; null means {}. Errors: 22023 if a required text is null or empty, or if a text has '
  'more than 512 bytes, or if data is not an object, or if ride_id is null and data names nobody.';

comment on column ridepulse.erasure.legacy is
  'Pseudo rides of the person, of the phones, of cards and of start tokens.';

comment on function ridepulse.raw_ride(text, text, text) is
  'Returns the ID of the pseudo ride of an address or a person. kind: push, broadcast or person. '
  'address: the token in lower-case hexadecimal, the channel''s ID, or the owner''s ID.';

-- Reads whole tables, and locks nothing.
create or replace function ridepulse.find_person(owner_id text, app text) returns ridepulse.erasure
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  p ridepulse.erasure;
  tokens text[];
begin
  p.owner_id := find_person.owner_id;
  p.app := find_person.app;
  p.apps := array(select ridepulse.owner_apps(p.owner_id, p.app));
  p.keys := case when p.app is not null then array[p.app || '_id', p.app, 'owner'] end;
  select coalesce(array_agg(d.id), '{}'), coalesce(array_agg(d.token), '{}'),
    coalesce(array_agg(ridepulse.legacy_ride(d.app, d.token)), '{}')
      || coalesce(array_agg(ridepulse.raw_ride('push', d.app, d.token)), '{}')
  into p.phones, tokens, p.legacy
  from ridepulse.devices d where d.app = any (p.apps) and d.owner_id = p.owner_id;
  select coalesce(array_agg(a.id), '{}'), tokens || coalesce(array_agg(a.token), '{}'),
    coalesce(array_agg(a.ride_id), '{}'),
    p.legacy || coalesce(array_agg(ridepulse.raw_ride('push', a.app, a.token)), '{}')
  into p.cards, tokens, p.scope, p.legacy
  from ridepulse.live_activities a where a.app = any (p.apps) and a.owner_id = p.owner_id;
  select coalesce(array_agg(t.id), '{}'), tokens || coalesce(array_agg(t.token), '{}'),
    p.legacy || coalesce(array_agg(ridepulse.raw_ride('push', t.app, t.token)), '{}')
  into p.starts, tokens, p.legacy
  from ridepulse.push_to_start_tokens t where t.app = any (p.apps) and t.owner_id = p.owner_id;
  p.suffixes := array(select distinct right(t, 6) from unnest(tokens) t);
  select coalesce(array_agg(r.id), '{}'), coalesce(array_agg(a.app), '{}') into p.rides, p.roles
  from ridepulse.rides r, unnest(p.apps) a (app)
  where p.owner_id = case a.app when 'customer' then r.customer_id when 'driver' then r.driver_id
                       else r.attributes ->> (a.app || '_id') end;
  p.legacy := p.legacy
    || array(select ridepulse.raw_ride('person', a.app, p.owner_id) from unnest(p.apps) a (app));
  p.scope := array(
    select unnest(p.scope) union select unnest(p.rides) union select unnest(p.legacy)
    union
    select t.ride_id from ridepulse.participants t
    where t.owner_id = p.owner_id and t.app = any (p.apps)
    union
    select a.ride_id from ridepulse.agenda a where ridepulse.json_contains(a.memo::text, p.owner_id)
    union
    select e.ride_id from ridepulse.events e where ridepulse.event_names(e, p));
  return p;
end
$$;

create or replace function ridepulse.forget(owner_id text, app text default null) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '5s' as $$
declare
  p ridepulse.erasure;
  counts jsonb;
  rows bigint;
begin
  -- Before the transaction gets a number: ridepulse.verdict_horizon relies on it. An earlier write
  -- of the caller's transaction, such as sign_out, breaks that: followers may miss these verdicts.
  lock table ridepulse.ledger in row exclusive mode;
  -- Nothing else is refused: whatever is stored can be erased.
  if coalesce(owner_id, '') = '' or app = '' then
    raise exception 'ridepulse.forget needs an owner_id, and an app that is null or not empty'
      using errcode = 'invalid_parameter_value', hint = 'Send the ID by which rides name the person.';
  end if;
  p := ridepulse.find_person(owner_id, app);
  -- From here on, no node can claim these rides, and none that holds one can settle it.
  perform from ridepulse.agenda a where a.ride_id = any (p.scope) order by a.ride_id for update;
  p.gone := array(
    select r.id from ridepulse.rides r
    where r.id = any (p.rides) and (
      r.customer_id = p.owner_id and 'customer' = any (p.apps)
      or (r.customer_id is null or r.customer_id = p.owner_id)
        and (r.driver_id is null or r.driver_id = p.owner_id)
        and not exists (
          select from jsonb_each(
            case jsonb_typeof(r.attributes) when 'object' then r.attributes else '{}' end) m
          where m.key like '%\_id' and m.value <> 'null' and m.value #>> '{}' <> p.owner_id)
        and not exists (
          select from ridepulse.participants t
          where t.ride_id = r.id and not (t.owner_id = p.owner_id and t.app = any (p.apps)))
      or not exists (select from ridepulse.agenda a where a.ride_id = r.id)
        and not exists (select from ridepulse.events e where e.ride_id = r.id)));
  counts := ridepulse.forget_tokens(p);
  delete from ridepulse.participants t
  where t.ride_id = any (p.gone) or t.owner_id = p.owner_id and t.app = any (p.apps);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('participants', rows,
    'rides', ridepulse.forget_rides(p), 'events', ridepulse.forget_events(p),
    'agenda', ridepulse.forget_agenda(p), 'ledger', ridepulse.forget_ledger(p));
  -- Last, because writers of attached tables leave problems unrecorded while these rows are held.
  update ridepulse.watch_errors e set row_id = null, detail = null
  where ridepulse.names_person(e.row_id, p) or ridepulse.names_person(e.detail, p)
    or e.row_id = any (p.gone);
  get diagnostics rows = row_count;
  return counts || jsonb_build_object('watch_errors', rows);
end
$$;
