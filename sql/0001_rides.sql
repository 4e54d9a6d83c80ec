-- What the service's own backend touches: rides, events, phones. Contract: docs/sql.md.
--
-- Producers only ever insert here (the trigger too) and wait for nobody; the engine consumes.
-- Functions run as their owner, so that an app's role needs EXECUTE on them, rights on
-- ridepulse.rides, and nothing else.

create table ridepulse.rides (
  id          text primary key check (id <> ''),
  state       text,
  customer_id text,
  driver_id   text,
  pickup_at   timestamptz,
  time_zone   text default 'UTC',
  attributes  jsonb default '{}',
  updated_at  timestamptz default now()
);

-- Events that no engine has consumed yet; a consumed one is deleted and stands in the ledger.
-- created_at is the clock's time and not the transaction's start: what a push tells of is as old
-- as the statement that said it.
create table ridepulse.events (
  id         bigint generated always as identity primary key,
  ride_id    text not null,
  event      text not null,
  data       jsonb not null,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

create index events_by_ride on ridepulse.events (ride_id);

create function ridepulse.emit(event text, ride_id text, data jsonb default '{}') returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id bigint;
begin
  if coalesce(event, '') = '' or coalesce(ride_id, '') = '' then
    raise exception 'ridepulse.emit needs an event and a ride, got event % and ride %',
      quote_nullable(event), quote_nullable(ride_id) using errcode = 'invalid_parameter_value';
  end if;
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

create function ridepulse.ride_stamped() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.updated_at := now();
  return new;
end
$$;

-- Fires only where the app left updated_at alone and changed something else.
create trigger stamped before update on ridepulse.rides for each row
when (old.* is distinct from new.* and old.updated_at is not distinct from new.updated_at)
execute function ridepulse.ride_stamped();

-- A new state is the event of its name; any other change is ride_updated. A change of both is
-- the state's event alone: it renders the ride as it is, the other change included.
create function ridepulse.ride_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if new.state is not null and new.state <> ''
     and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    insert into ridepulse.events (ride_id, event, data) values (new.id, new.state, '{}');
  elsif tg_op = 'UPDATE' then
    insert into ridepulse.events (ride_id, event, data) values (new.id, 'ride_updated', '{}');
  end if;
  return null;
end
$$;

-- ridepulse.watch() copies the rows that are there already without telling anybody.
create trigger added after insert on ridepulse.rides for each row
when (current_setting('ridepulse.silent', true) is distinct from 'on')
execute function ridepulse.ride_changed();

create trigger changed after update on ridepulse.rides for each row
when (old.* is distinct from new.*
      and current_setting('ridepulse.silent', true) is distinct from 'on')
execute function ridepulse.ride_changed();

-- Phones. Never deleted: disabled with a reason, and enabled again by the next registration.
create table ridepulse.devices (
  id              bigint generated always as identity primary key,
  app             text not null check (app <> ''),
  owner_id        text not null check (owner_id <> ''),
  token           text not null check (token <> ''),
  environment     text check (environment in ('production', 'sandbox')),
  installation_id text,
  locale          text,
  registered_at   timestamptz not null default clock_timestamp(),
  disabled_at     timestamptz,
  disabled_reason text,
  unique (app, token)
);

create index devices_by_owner on ridepulse.devices (app, owner_id) where disabled_at is null;
create index devices_by_installation on ridepulse.devices (app, installation_id)
  where installation_id is not null and disabled_at is null;

create function ridepulse.register_device(
  app text, owner_id text, token text, environment text default null,
  installation_id text default null, locale text default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into ridepulse.devices as d (app, owner_id, token, environment, installation_id, locale)
  values (register_device.app, register_device.owner_id, lower(register_device.token),
          register_device.environment, register_device.installation_id, register_device.locale)
  on conflict on constraint devices_app_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, d.environment),
    installation_id = coalesce(excluded.installation_id, d.installation_id),
    locale = coalesce(excluded.locale, d.locale),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null;
  -- One installation has one token: the newest.
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'replaced'
  where d.app = register_device.app and d.installation_id = register_device.installation_id
    and d.token <> lower(register_device.token) and d.disabled_at is null;
end
$$;

-- Cards that live on phones, by the activity's own update token.
create table ridepulse.live_activities (
  id            bigint generated always as identity primary key,
  ride_id       text not null,
  app           text not null check (app <> ''),
  owner_id      text not null check (owner_id <> ''),
  activity_id   text not null check (activity_id <> ''),
  token         text not null check (token <> ''),
  environment   text check (environment in ('production', 'sandbox')),
  frequent      boolean not null default false,
  registered_at timestamptz not null default clock_timestamp(),
  ended_at      timestamptz,
  ended_reason  text,
  unique (app, activity_id)
);

create index live_activities_by_ride on ridepulse.live_activities (ride_id) where ended_at is null;

create function ridepulse.register_live_activity(
  ride_id text, app text, owner_id text, token text, activity_id text,
  environment text default null, frequent boolean default false
) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into ridepulse.live_activities as a
    (ride_id, app, owner_id, token, activity_id, environment, frequent)
  values ($1, $2, $3, lower($4), $5, $6, coalesce($7, false))
  on conflict on constraint live_activities_app_activity_id_key do update set
    ride_id = excluded.ride_id,
    owner_id = excluded.owner_id,
    token = excluded.token,
    environment = coalesce(excluded.environment, a.environment),
    frequent = excluded.frequent,
    registered_at = excluded.registered_at
$$;

-- Tokens with which a card can be started from here.
create table ridepulse.push_to_start_tokens (
  id              bigint generated always as identity primary key,
  app             text not null check (app <> ''),
  owner_id        text not null check (owner_id <> ''),
  attributes_type text not null check (attributes_type <> ''),
  token           text not null check (token <> ''),
  environment     text check (environment in ('production', 'sandbox')),
  registered_at   timestamptz not null default clock_timestamp(),
  disabled_at     timestamptz,
  disabled_reason text,
  unique (app, attributes_type, token)
);

create index push_to_start_tokens_by_owner on ridepulse.push_to_start_tokens (app, owner_id)
  where disabled_at is null;

create function ridepulse.register_push_to_start(
  app text, owner_id text, token text, attributes_type text, environment text default null
) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into ridepulse.push_to_start_tokens as t
    (app, owner_id, token, attributes_type, environment)
  values ($1, $2, lower($3), $4, $5)
  on conflict on constraint push_to_start_tokens_app_attributes_type_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, t.environment),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null
$$;
