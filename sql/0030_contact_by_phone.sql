-- Contacts by phone, and participants in PUT /v1/rides/{id}.
-- Contract: docs/sql.md and docs/api.md; reasons: docs/decisions/0065-contact-by-phone.md.

create table ridepulse.installation_contacts (
  app             text not null,
  owner_id        text not null,
  installation_id text not null,
  contacted_at    timestamptz not null,
  primary key (app, owner_id, installation_id)
) with (fillfactor = 70);

comment on table ridepulse.installation_contacts is
  'The last contact of each phone whose app named its installation. contacts has the last one of '
  'each owner, whichever phone made it.';
comment on column ridepulse.installation_contacts.app is 'The app on the phone.';
comment on column ridepulse.installation_contacts.owner_id is 'The owner of the phone.';
comment on column ridepulse.installation_contacts.installation_id is
  'The installation of the app, as in devices.';
comment on column ridepulse.installation_contacts.contacted_at is
  'When ridepulse.contact was last called for the installation.';

-- A row of before has null, which is right: none of its contacts named an installation.
alter table ridepulse.contacts add column unnamed_at timestamptz;

comment on column ridepulse.contacts.unnamed_at is
  'The last contact that named no installation, -infinity for none; null if it is contacted_at.';

alter function ridepulse.contact(text, text) rename to contact_0029;

-- One function, and not two: a grant that names no arguments must stay unambiguous.
create function ridepulse.contact(app text, owner_id text, installation_id text default null)
returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  installation constant text := nullif(contact.installation_id, '');
  last_contact timestamptz;
begin
  perform ridepulse.check_app('contact', app),
    ridepulse.check_text('contact', 'owner_id', owner_id),
    ridepulse.check_text('contact', 'installation_id', installation, false);
  -- Concurrent calls may finish in any order: the latest time stays.
  insert into ridepulse.contacts as c (app, owner_id, contacted_at, unnamed_at)
  values (contact.app, contact.owner_id, clock_timestamp(),
    case when installation is not null then timestamptz '-infinity' end)
  on conflict on constraint contacts_pkey do update set
    contacted_at = greatest(c.contacted_at, excluded.contacted_at),
    unnamed_at = case
      when installation is not null then coalesce(c.unnamed_at, c.contacted_at)
      when c.unnamed_at is not null and excluded.contacted_at < c.contacted_at
        then greatest(c.unnamed_at, excluded.contacted_at)
    end
  returning c.contacted_at into last_contact;
  if installation is not null then
    insert into ridepulse.installation_contacts as i (app, owner_id, installation_id, contacted_at)
    values (contact.app, contact.owner_id, installation, clock_timestamp())
    on conflict on constraint installation_contacts_pkey do update
    set contacted_at = greatest(i.contacted_at, excluded.contacted_at);
  end if;
  return last_contact;
end
$$;

comment on function ridepulse.contact(text, text, text) is
  'Records that a phone of the owner made contact with the app''s backend, and returns the time '
  'of the owner''s last contact. installation_id: the phone''s, as in register_device; null or '
  'empty means that it is not known which phone it was, and counts for all of them. Errors: 22023 '
  'if a required text is null or empty, or if a text has more than 512 bytes.';

do $$
declare
  made constant text := 'function ridepulse.contact(text, text, text)';
  old pg_proc;
  entry record;
begin
  select * into old from pg_proc p
  where p.oid = 'ridepulse.contact_0029(text, text)'::regprocedure;
  if pg_get_userbyid(old.proowner) <> current_user then
    execute format('alter %s owner to %I', made, pg_get_userbyid(old.proowner));
  end if;
  execute format('revoke execute on %s from public', made);
  for entry in select * from aclexplode(coalesce(old.proacl, acldefault('f', old.proowner))) loop
    execute format('grant execute on %s to %s%s', made,
      case entry.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(entry.grantee)) end,
      case when entry.is_grantable then ' with grant option' else '' end);
  end loop;
end
$$;

drop function ridepulse.contact_0029(text, text);

insert into ridepulse.sweeps (name, place) values ('installation_contacts', 14);

create or replace function ridepulse.sweep_condition(name text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case $1
    when 'rides' then
      't.updated_at < now() - k.rides'
      ' and (t.pickup_at is null or t.pickup_at < now() - k.rides)'
      ' and not exists (select from ridepulse.agenda a where a.ride_id = t.id)'
      ' and not exists (select from ridepulse.events e where e.ride_id = t.id)'
    when 'live_activities' then
      'coalesce(t.ended_at, t.registered_at + interval ''1 day'') < now() - k.cards'
    when 'push_to_start_tokens' then
      'case when t.disabled_at is null then t.registered_at < now() - k.start_tokens'
      ' else t.disabled_at < now() - k.disabled_tokens end'
    when 'devices' then
      -- A phone that only the legacy gateway has added was never registered: it goes with its
      -- last push.
      'case when t.disabled_at is not null then t.disabled_at < now() - k.disabled_phones'
      ' when t.registered_at = ''-infinity'' then not exists ('
      'select from ridepulse.ledger l where l.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.events e'
      ' where e.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.agenda a'
      ' where a.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' else t.registered_at < now() - k.phones and not exists ('
      'select from ridepulse.contacts c where c.app = t.app and c.owner_id = t.owner_id'
      ' and c.contacted_at >= now() - k.phones) end'
    when 'contacts' then 't.contacted_at < now() - k.contacts'
    when 'installation_contacts' then 't.contacted_at < now() - k.contacts'
    when 'preferences' then
      't.changed_at < now() - k.phones and not exists ('
      'select from ridepulse.devices d where d.app = t.app and d.owner_id = t.owner_id)'
    when 'permits' then 't.keep_until < now()'
    when 'receipts' then 't.seen_at < now() - k.keep'
    when 'channels' then
      'coalesce(t.deleted_at, case when t.channel_id is null then t.ended_at end)'
      ' < now() - k.channels'
    when 'watch_errors' then 't.last_at < now() - k.watch_errors'
    when 'nodes' then 't.seen_at < now() - interval ''1 day'''
    when 'idempotency_keys' then 't.created_at < now() - interval ''1 day'''
    when 'legacy_frames' then 't.taken_at < now() - interval ''1 day'''
  end
$$;

create or replace function ridepulse.answer(call text, arguments jsonb, out status integer, out body text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  a constant jsonb := arguments;
  suffix constant text := right(lower(a ->> 'token'), 6);
  is_new boolean;
  answer jsonb;
begin
  status := 200;
  case call
    when 'events' then
      status := 201;
      answer := jsonb_build_object('event_id',
        ridepulse.emit(a ->> 'event', a ->> 'ride_id', coalesce(a -> 'data', '{}')));
    when 'devices' then
      perform ridepulse.register_device(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'environment', a ->> 'installation_id', a ->> 'locale');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'token_suffix', suffix);
    when 'live-activities' then
      perform ridepulse.register_live_activity(a ->> 'ride_id', a ->> 'app', a ->> 'owner_id',
        a ->> 'token', a ->> 'activity_id', a ->> 'environment', (a ->> 'frequent')::boolean,
        a ->> 'installation_id');
      answer := jsonb_build_object('ride_id', a -> 'ride_id', 'app', a -> 'app',
        'activity_id', a -> 'activity_id', 'token_suffix', suffix);
    when 'push-to-start' then
      perform ridepulse.register_push_to_start(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'attributes_type', a ->> 'environment', a ->> 'installation_id');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'attributes_type', a -> 'attributes_type', 'token_suffix', suffix);
    when 'contact' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'contacted_at', to_char(ridepulse.contact(a ->> 'app', a ->> 'owner_id', a ->> 'installation_id')
          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
    when 'preferences' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'topic', a -> 'topic', 'allowed', a -> 'allowed',
        'changed', ridepulse.set_preference(a ->> 'app', a ->> 'owner_id', a ->> 'topic',
          (a ->> 'allowed')::boolean));
    when 'seen' then
      perform ridepulse.seen((a ->> 'apns_id')::uuid);
      status := 204;
    when 'rides' then
      is_new := ridepulse.put_ride(a);
      status := case when is_new then 201 else 200 end;
      answer := jsonb_build_object('id', a -> 'id', 'created', is_new);
    when 'delete-device' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_device(a ->> 'app', a ->> 'token'));
    when 'delete-live-activity' then
      answer := jsonb_build_object('app', a -> 'app', 'activity_id', a -> 'activity_id',
        'withdrawn', ridepulse.end_live_activity(a ->> 'app', a ->> 'activity_id'));
    when 'delete-push-to-start' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_push_to_start(a ->> 'app', a ->> 'token'));
    when 'push' then
      status := 201;
      answer := jsonb_build_object('apns_id', case when a ? 'channel'
        then ridepulse.broadcast(a ->> 'app', a ->> 'channel', (a ->> 'payload')::json,
          make_interval(secs => (a ->> 'expires')::double precision), (a ->> 'priority')::integer)
        else ridepulse.push(a ->> 'app', a ->> 'token', (a ->> 'payload')::json,
          coalesce(a ->> 'push_type', 'alert'), (a ->> 'priority')::integer,
          make_interval(secs => (a ->> 'expires')::double precision), a ->> 'environment',
          a ->> 'collapse_id') end);
  end case;
  body := coalesce(answer::text, '');
end
$$;

create or replace function ridepulse.forget_tokens(p ridepulse.erasure) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  counts jsonb := '{}';
  name text;
  rows bigint;
begin
  delete from ridepulse.token_outcomes o
  where o.kind = 'phone' and o.token_id = any (p.phones)
    or o.kind = 'activity' and o.token_id = any (p.cards)
    or o.kind = 'start' and o.token_id = any (p.starts);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('token_outcomes', rows);
  foreach name in array array['devices', 'live_activities', 'push_to_start_tokens', 'contacts',
                              'installation_contacts', 'preferences', 'permits'] loop
    execute format('delete from ridepulse.%I where app = any ($1) and owner_id = $2', name)
      using p.apps, p.owner_id;
    get diagnostics rows = row_count;
    counts := counts || jsonb_build_object(name, rows);
  end loop;
  delete from ridepulse.idempotency_keys k
  where ridepulse.names_person(k.key, p) or ridepulse.names_person(k.body, p)
    or strpos(k.body, to_jsonb(p.owner_id)::text) > 0
    or exists (select from unnest(p.suffixes) s where strpos(k.body, '"' || s || '"') > 0);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('idempotency_keys', rows);
  return counts;
end
$$;

create or replace function ridepulse.put_ride(ride jsonb) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_new boolean;
begin
  insert into ridepulse.rides as r
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
  values (ride ->> 'id', ride ->> 'state', ride ->> 'customer_id', ride ->> 'driver_id',
          (ride ->> 'pickup_at')::timestamptz, coalesce(ride ->> 'time_zone', 'UTC'),
          coalesce(ride -> 'attributes', '{}'))
  on conflict on constraint rides_pkey do update set
    state = excluded.state,
    customer_id = excluded.customer_id,
    driver_id = excluded.driver_id,
    pickup_at = excluded.pickup_at,
    time_zone = excluded.time_zone,
    attributes = excluded.attributes
  -- Only an updated row has a transaction there, that of its lock.
  returning xmax = 0 into is_new;
  if ride ? 'participants' then
    delete from ridepulse.participants p
    where p.ride_id = ride ->> 'id' and not exists (
      select from jsonb_to_recordset(ride -> 'participants') as n (app text, owner_id text)
      where n.app = p.app and n.owner_id = p.owner_id);
    -- Those who are there already would count twice in the trigger that limits them.
    insert into ridepulse.participants (ride_id, app, owner_id)
    select distinct ride ->> 'id', n.app, n.owner_id
    from jsonb_to_recordset(ride -> 'participants') as n (app text, owner_id text)
    where not exists (
      select from ridepulse.participants p
      where p.ride_id = ride ->> 'id' and p.app = n.app and p.owner_id = n.owner_id);
  end if;
  return is_new;
end
$$;

comment on function ridepulse.put_ride(jsonb) is
  'Inserts or replaces a ride, whose triggers emit its events; returns whether it is new. ride: the '
  'columns as members, and the ID; a missing one has its default. participants: a list of objects '
  'with app and owner_id, the ride''s further people from then on; if it is missing, they stay.';
