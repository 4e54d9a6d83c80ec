-- Where this database is: the server and timeline that claims belong to, and the pin that keeps a
-- copy of the database from sending. See docs/decisions/0045-holders.md and 0046-pin.md.

create table ridepulse.pin (
  is_only           boolean primary key default true check (is_only),
  system_identifier bigint not null,
  database_oid      oid not null,
  pinned_at         timestamptz not null default now(),
  held_at           timestamptz,
  held_reason       text,
  site              text,
  held_by           text,
  check ((held_at is null) = (held_reason is null))
);

comment on table ridepulse.pin is
  'One row: the server and database in which services may claim rides and send. No row: the next '
  'service that starts pins the database.';
comment on column ridepulse.pin.is_only is 'Always true: the primary key of the only row.';
comment on column ridepulse.pin.system_identifier is
  'The server, as pg_control_system() names it: a standby has that of its primary, a restored dump '
  'another one.';
comment on column ridepulse.pin.database_oid is 'The database: a copy on the same server has another OID.';
comment on column ridepulse.pin.pinned_at is 'When the database was pinned.';
comment on column ridepulse.pin.held_at is 'When sending was held; null if it is not.';
comment on column ridepulse.pin.held_reason is 'Why sending is held; null if it is not.';
comment on column ridepulse.pin.site is
  'The RIDEPULSE_SITE of the services that may send, empty if they have none; null until one of them '
  'checks the pin.';
comment on column ridepulse.pin.held_by is 'Who holds sending, a login of Postgres; null if it is not held.';

-- An app without a bundle ID has Android phones only.
create table ridepulse.pinned_apps (
  app         text primary key,
  bundle_id   text,
  environment text check (environment in ('production', 'sandbox')),
  pinned_at   timestamptz not null default now(),
  project     text
);

comment on table ridepulse.pinned_apps is
  'The apps of the services that send from this database: one with another bundle ID, default '
  'environment or FCM project claims nothing.';
comment on column ridepulse.pinned_apps.app is 'The app.';
comment on column ridepulse.pinned_apps.bundle_id is
  'Its bundle ID, APNS_<APP>_BUNDLE_ID; null if no service has had one.';
comment on column ridepulse.pinned_apps.environment is
  'The environment of phones that name none, APNS_SANDBOX; null without a bundle ID.';
comment on column ridepulse.pinned_apps.pinned_at is 'When the app was pinned.';
comment on column ridepulse.pinned_apps.project is
  'The project of its FCM service account; null if no service has had one.';

-- These functions are part of each claim. PL/pgSQL keeps their plans, SQL functions do not.
create function ridepulse.server_place(out system_identifier bigint, out timeline integer)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  system_identifier := (pg_control_system()).system_identifier;
  timeline := ridepulse.wal_timeline();
end
$$;

comment on function ridepulse.server_place() is
  'Returns the server and the timeline of its write-ahead log, which each promotion of a standby '
  'raises, see ridepulse.wal_timeline. Errors: 55000 on a standby.';

create function ridepulse.pin_problems(
  apps text[], bundle_ids text[], environments text[], projects text[] default '{}',
  site text default null)
returns table (problem text, app text, pinned text, found text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  p ridepulse.pin;
  server constant bigint := (pg_control_system()).system_identifier;
  database constant oid := (select d.oid from pg_database d where d.datname = current_database());
begin
  select * into p from ridepulse.pin;
  if p.held_reason is not null then
    return query select 'held', null::text, p.held_reason, p.held_at::text;
  end if;
  if p.system_identifier <> server then
    return query select 'server', null::text, to_hex(p.system_identifier), to_hex(server);
  elsif p.database_oid <> database then
    return query select 'database', null::text, p.database_oid::text, database::text;
  end if;
  -- Work without apps sends nothing, and has no site.
  if cardinality(apps) > 0 and p.site <> coalesce(pin_problems.site, '') then
    return query select 'site', null::text, p.site, coalesce(pin_problems.site, '');
  end if;
  return query
    select d.problem, a.app, d.pinned, d.found
    from unnest(apps, bundle_ids, environments, projects) a (app, bundle_id, environment, project)
    join ridepulse.pinned_apps p on p.app = a.app
    cross join lateral (values
      ('bundle_id', p.bundle_id, a.bundle_id), ('environment', p.environment, a.environment),
      ('project', p.project, a.project)) d (problem, pinned, found)
    where d.pinned <> d.found
    order by d.problem, a.app;
end
$$;

comment on function ridepulse.pin_problems(text[], text[], text[], text[], text) is
  'Returns why a service with these apps must not send from this database; no row if it may. '
  'bundle_ids, environments, projects: null for an app that has none. site: RIDEPULSE_SITE. problem: '
  'held, server, database, site, bundle_id, environment or project.';

create function ridepulse.check_pin(
  apps text[], bundle_ids text[], environments text[], projects text[] default '{}',
  site text default null)
returns table (problem text, app text, pinned text, found text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  insert into ridepulse.pin (system_identifier, database_oid)
  select s.system_identifier, d.oid from pg_control_system() s, pg_database d
  where d.datname = current_database()
  on conflict do nothing;
  -- An app or a site is pinned only where a service may send, and so is what an app had not before.
  if not exists (
    select from ridepulse.pin_problems(apps, bundle_ids, environments, projects, site)) then
    update ridepulse.pin p set site = coalesce(check_pin.site, '')
    where p.site is null and cardinality(apps) > 0;
    insert into ridepulse.pinned_apps as p (app, bundle_id, environment, project)
    select a.app, a.bundle_id, a.environment, a.project
    from unnest(apps, bundle_ids, environments, projects) a (app, bundle_id, environment, project)
    order by a.app
    on conflict (app) do update set
      bundle_id = coalesce(p.bundle_id, excluded.bundle_id),
      environment = coalesce(p.environment, excluded.environment),
      project = coalesce(p.project, excluded.project)
    where (p.bundle_id is null and excluded.bundle_id is not null)
      or (p.environment is null and excluded.environment is not null)
      or (p.project is null and excluded.project is not null);
  end if;
  return query
    select * from ridepulse.pin_problems(apps, bundle_ids, environments, projects, site);
end
$$;

comment on function ridepulse.check_pin(text[], text[], text[], text[], text) is
  'Pins this database, the site, these apps and what they have unless it is pinned already, and '
  'returns what ridepulse.pin_problems returns.';

create function ridepulse.claim_place(
  apps text[], bundle_ids text[], environments text[], projects text[] default '{}',
  site text default null,
  out system_identifier bigint, out timeline integer, out may_claim boolean, out is_pinned boolean,
  out pauses bigint)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- A role that may not read them has no pauses, and claims.
  if has_table_privilege('ridepulse.pauses', 'select') then
    select coalesce(hashtextextended(string_agg(p::text, ' ' order by p.kind, p.name), 0), 0)
    into pauses from ridepulse.pauses p where p.until > now();
  end if;
  select s.system_identifier, s.timeline into system_identifier, timeline
  from ridepulse.server_place() s;
  is_pinned := exists (select from ridepulse.pin p where p.site is not null) and not exists (
    select from unnest(apps, bundle_ids, projects) a (app, bundle_id, project)
    where not exists (
      select from ridepulse.pinned_apps p
      where p.app = a.app and (a.bundle_id is null or p.bundle_id is not null)
        and (a.project is null or p.project is not null)));
  -- After pin(), check_pin decides which of several services may send, before any of them claims.
  may_claim := (is_pinned or cardinality(apps) = 0)
    and not exists (
      select from ridepulse.pin_problems(apps, bundle_ids, environments, projects, site));
end
$$;

comment on function ridepulse.claim_place(text[], text[], text[], text[], text) is
  'Returns the server and timeline that a claim is made on, whether a service with these apps may '
  'claim there, and whether all that they have is pinned. Apps that are not pinned may not claim. '
  'pauses: a number that is another one when pauses begin, change or end; null if the role may not '
  'read them.';

create function ridepulse.pin(site text default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into ridepulse.pin as p (system_identifier, database_oid, site)
  select s.system_identifier, d.oid, pin.site from pg_control_system() s, pg_database d
  where d.datname = current_database()
  on conflict (is_only) do update set
    system_identifier = excluded.system_identifier, database_oid = excluded.database_oid,
    pinned_at = excluded.pinned_at, held_at = null, held_reason = null, site = excluded.site;
  delete from ridepulse.pinned_apps;
end
$$;

comment on function ridepulse.pin(text) is
  'Allows services to send from this database on this server, with the apps of the next one that '
  'checks the pin: after a restore, a move, or a change of bundle ID, default environment, FCM '
  'project or site, and after hold. Stop services with other bundle IDs, environments or projects '
  'first. site: the RIDEPULSE_SITE of the services that may send, empty for none; null takes that of '
  'the next one that checks the pin.';

create function ridepulse.hold(reason text) returns void
language plpgsql set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
  if reason is null or reason !~ '\S' then
    raise exception 'ridepulse.hold needs a reason' using errcode = 'invalid_parameter_value',
      hint = 'It is what logs, /readyz and doctor show until ridepulse.pin() is called.';
  end if;
  insert into ridepulse.pin as p (system_identifier, database_oid, held_at, held_reason)
  select s.system_identifier, d.oid, now(), left(reason, 500)
  from pg_control_system() s, pg_database d where d.datname = current_database()
  on conflict (is_only) do update set
    held_at = excluded.held_at, held_reason = excluded.held_reason;
end
$$;

comment on function ridepulse.hold(text) is
  'Keeps every service from claiming rides of this database until ridepulse.pin() is called. Rides '
  'that are claimed already are still sent. Events are accepted and wait. Errors: 22023 without a '
  'reason.';
