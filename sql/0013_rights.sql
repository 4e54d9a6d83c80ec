-- Rights. Functions of this schema run as its owner, so they must never run a caller's code: a cast,
-- an operator or a type of the caller's own reaches it through a trigger on the caller's own table.
-- Contract: docs/sql.md, Rights; reasons: docs/decisions/0020-rights.md.

-- Whoever is in the way has a transaction open for longer than it may; nothing is changed then.
set local lock_timeout = '5s';

-- Roles that were given USAGE by name keep what PUBLIC could do for an app, so that an upgrade breaks
-- no backend. Every other right of PUBLIC ends here.
do $$
declare
  app_role text;
begin
  for app_role in
    select distinct a.grantee::regrole::text
    from pg_namespace n cross join aclexplode(n.nspacl) a
    where n.nspname = 'ridepulse' and a.privilege_type = 'USAGE' and a.grantee <> 0
      and a.grantee <> n.nspowner
  loop
    execute format(
      'grant execute on function ridepulse.emit(text, text, jsonb), '
      'ridepulse.register_device(text, text, text, text, text, text), '
      'ridepulse.register_live_activity(text, text, text, text, text, text, boolean), '
      'ridepulse.register_push_to_start(text, text, text, text, text), '
      'ridepulse.contact(text, text), ridepulse.legacy_ride(text, text) to %s', app_role);
  end loop;
end
$$;

-- The trigger functions serve one table each. Attached to any other one they refuse before they look
-- at the row: the row's types are that table's owner's.
create or replace function ridepulse.ride_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.ride_changed serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  if current_setting('ridepulse.silent', true) = 'on' then
    if tg_op = 'INSERT' then
      insert into ridepulse.events (ride_id, event, data) values (new.id, 'ride_watched', '{}');
    end if;
  elsif new.state is not null and new.state <> ''
     and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    insert into ridepulse.events (ride_id, event, data) values (new.id, new.state, '{}');
  elsif tg_op = 'UPDATE' then
    insert into ridepulse.events (ride_id, event, data) values (new.id, 'ride_updated', '{}');
  end if;
  return null;
end
$$;

create or replace function ridepulse.keep_channel_ids() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.keep_channel_ids serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  new.attributes := new.attributes || coalesce((
    select jsonb_object_agg(old_one.key, old_one.value)
    from jsonb_each(old.attributes) old_one
    where not new.attributes ? old_one.key and exists (
      select from ridepulse.channels c
      where c.ride_id = new.id and c.app || '_channel_id' = old_one.key and c.ended_at is null
        and c.channel_id = old_one.value #>> '{}')), '{}');
  return new;
end
$$;

-- The NOTIFY queue is one for all databases of the server, and a listener of anybody's that does not
-- read fills it; once it is full, every commit that notifies fails. A queue that is read is empty
-- within moments, so 1 % (80 MB by default) already is one that is not: from there on nodes poll, and
-- the other 99 % stay between a slow listener and the app's commits.
create or replace function ridepulse.wake() returns trigger
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

-- Once a transaction, without a function: the condition runs with the rights of whoever writes.
drop trigger wake on ridepulse.events;
create constraint trigger wake after insert on ridepulse.events deferrable initially deferred
for each row when (
  current_setting('ridepulse.transaction', true) is distinct from pg_current_xact_id()::text
  and set_config('ridepulse.transaction', pg_current_xact_id()::text, true) is not null)
execute function ridepulse.wake();
drop function ridepulse.first_event_of_transaction();

-- Texts that are keys: an entry of an index takes 2,704 bytes, for all of its columns.
create function ridepulse.check_text(
  function_name text, argument text, value text, is_required boolean default true
) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if is_required and coalesce(value, '') = '' then
    raise exception 'ridepulse.% needs %, got %', function_name, argument, quote_nullable(value)
      using errcode = 'invalid_parameter_value', hint = 'It must be neither null nor empty.';
  elsif octet_length(value) > 512 then
    raise exception '% of ridepulse.% has % bytes', argument, function_name, octet_length(value)
      using errcode = 'invalid_parameter_value',
            hint = 'IDs, names and tokens have 512 bytes at most.';
  end if;
end
$$;

-- Rows of before may break this, and are not looked at until somebody writes them.
alter table ridepulse.rides
  add constraint rides_id_at_most_512_bytes check (octet_length(id) <= 512) not valid;

create or replace function ridepulse.emit(
  event text, ride_id text, data jsonb default '{}'
) returns bigint
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
  insert into ridepulse.events (ride_id, event, data)
  values (emit.ride_id, emit.event, coalesce(emit.data, '{}'))
  returning id into new_id;
  return new_id;
end
$$;

create or replace function ridepulse.register_device(
  app text, owner_id text, token text, environment text default null,
  installation_id text default null, locale text default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ridepulse.check_text('register_device', 'app', app),
    ridepulse.check_text('register_device', 'owner_id', owner_id),
    ridepulse.check_text('register_device', 'token', token),
    ridepulse.check_text('register_device', 'installation_id', installation_id, false),
    ridepulse.check_text('register_device', 'locale', locale, false);
  insert into ridepulse.devices as d (app, owner_id, token, environment, installation_id, locale)
  values (register_device.app, register_device.owner_id, lower(register_device.token),
          register_device.environment, nullif(register_device.installation_id, ''),
          nullif(register_device.locale, ''))
  on conflict on constraint devices_app_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, d.environment),
    installation_id = coalesce(excluded.installation_id, d.installation_id),
    locale = coalesce(excluded.locale, d.locale),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null,
    refusals = 0,
    probe = null,
    quarantined_at = null;
  -- One installation has one token: the newest.
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'replaced'
  where d.app = register_device.app
    and d.installation_id = nullif(register_device.installation_id, '')
    and d.token <> lower(register_device.token) and d.disabled_at is null;
end
$$;

create or replace function ridepulse.register_live_activity(
  ride_id text, app text, owner_id text, token text, activity_id text,
  environment text default null, frequent boolean default false
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  old ridepulse.live_activities;
begin
  perform ridepulse.check_text('register_live_activity', 'ride_id', ride_id),
    ridepulse.check_text('register_live_activity', 'app', app),
    ridepulse.check_text('register_live_activity', 'owner_id', owner_id),
    ridepulse.check_text('register_live_activity', 'token', token),
    ridepulse.check_text('register_live_activity', 'activity_id', activity_id);
  select * into old from ridepulse.live_activities a
  where a.app = register_live_activity.app and a.activity_id = register_live_activity.activity_id
  for update;
  insert into ridepulse.live_activities as a
    (ride_id, app, owner_id, token, activity_id, environment, frequent)
  values (register_live_activity.ride_id, register_live_activity.app,
          register_live_activity.owner_id, lower(register_live_activity.token),
          register_live_activity.activity_id, register_live_activity.environment,
          coalesce(register_live_activity.frequent, false))
  on conflict on constraint live_activities_app_activity_id_key do update set
    ride_id = excluded.ride_id,
    owner_id = excluded.owner_id,
    token = excluded.token,
    environment = coalesce(excluded.environment, a.environment),
    frequent = excluded.frequent,
    registered_at = excluded.registered_at,
    ended_at = case when a.ended_reason in ('ended', 'expired') then a.ended_at end,
    ended_reason = case when a.ended_reason in ('ended', 'expired') then a.ended_reason end;
  if coalesce(old.ended_reason, '') not in ('ended', 'expired')
     and (old.id is null or old.ended_at is not null
          or old.ride_id <> register_live_activity.ride_id
          or old.token <> lower(register_live_activity.token)) then
    insert into ridepulse.events (ride_id, event, data)
    values (register_live_activity.ride_id, 'card_registered', '{}');
  end if;
end
$$;

create or replace function ridepulse.register_push_to_start(
  app text, owner_id text, token text, attributes_type text, environment text default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ridepulse.check_text('register_push_to_start', 'app', app),
    ridepulse.check_text('register_push_to_start', 'owner_id', owner_id),
    ridepulse.check_text('register_push_to_start', 'token', token),
    ridepulse.check_text('register_push_to_start', 'attributes_type', attributes_type);
  insert into ridepulse.push_to_start_tokens as t
    (app, owner_id, token, attributes_type, environment)
  values (register_push_to_start.app, register_push_to_start.owner_id,
          lower(register_push_to_start.token), register_push_to_start.attributes_type,
          register_push_to_start.environment)
  on conflict on constraint push_to_start_tokens_app_attributes_type_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, t.environment),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null;
end
$$;

create or replace function ridepulse.contact(app text, owner_id text) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last_contact timestamptz;
begin
  perform ridepulse.check_text('contact', 'app', app),
    ridepulse.check_text('contact', 'owner_id', owner_id);
  -- A backend may report from several places at once: the last contact stays the last one.
  insert into ridepulse.contacts as c (app, owner_id, contacted_at)
  values (contact.app, contact.owner_id, clock_timestamp())
  on conflict on constraint contacts_pkey do update
  set contacted_at = greatest(c.contacted_at, excluded.contacted_at)
  returning c.contacted_at into last_contact;
  return last_contact;
end
$$;

-- Functions of later migrations come without PUBLIC, too: migrate ends each of them with this
-- statement. Default privileges can't do it: those of a schema only add to the global ones.
revoke execute on all routines in schema ridepulse from public;
