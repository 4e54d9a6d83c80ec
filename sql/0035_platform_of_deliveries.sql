-- The system of the phone in deliveries, and the FCM project in the pin.
-- See docs/decisions/0096-platform-in-rows.md and 0046-pin.md.

-- Rights that were granted on what is made again are granted again.
select set_config('ridepulse.kept_rights', (
  select string_agg(
    format('grant %s on %s to %s', g.privilege, g.object, g.grantee::regrole), ';')
  from (
    select a.privilege_type as privilege, 'ridepulse.deliveries' as object, a.grantee
    from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'ridepulse.deliveries'::regclass and a.grantee not in (0, c.relowner)
    union all
    select a.privilege_type, 'function ridepulse.' || p.proname, a.grantee
    from pg_proc p, aclexplode(p.proacl) a
    where p.oid in ('ridepulse.deliveries_after(text, integer)'::regprocedure,
        'ridepulse.pin_problems(text[], text[], text[])'::regprocedure,
        'ridepulse.check_pin(text[], text[], text[])'::regprocedure,
        'ridepulse.claim_place(text[], text[], text[])'::regprocedure)
      and a.grantee not in (0, p.proowner)) g), true);

drop view ridepulse.deliveries;
create view ridepulse.deliveries as
  select case when l.push_type in ('emit', 'escalation', 'post') then l.push_type else 'push' end
      as kind,
    l.owner_id,
    (select d.platform from ridepulse.devices d where d.id = l.device_id) as platform,
    l.reason_code, l.ride_id, l.event, l.rule, l.app,
    case when l.push_type not in ('emit', 'escalation', 'post') then l.push_type end as push_type,
    l.status, l.reason, l.attempts,
    case when (l.attempts > 0 or l.status = 'pending')
      and l.push_type not in ('emit', 'escalation') then l.apns_id end as apns_id,
    l.collapse_id, l.created_at, l.finished_at, l.token_suffix,
    (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id) as seen_at,
    l.apns_unique_id
  from ridepulse.ledger l;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, of posts to receivers, and of events that rules emit, for people and backends. '
  'kind is push, post, emit or escalation; push_type is null unless it is push. owner_id is null if '
  'it was for no person, and for a raw push. platform is ios or android; null without a phone, and '
  'once its row is deleted. apns_id is null if nothing was sent; of a post it is the '
  'webhook-id. seen_at is null unless the app reported the push; apns_unique_id is that of Apple''s '
  'Push Notifications Console, null unless APNs sent one.';

-- The function is rewritten, so that it is spelled once.
do $$
declare
  former constant regprocedure := 'ridepulse.deliveries_after(text, integer)'::regprocedure;
  text constant text := pg_get_functiondef(former);
  comment constant text := obj_description(former, 'pg_proc');
  later constant text := replace(replace(text,
    'owner_id text, reason_code text', 'owner_id text, platform text, reason_code text'),
    'l.owner_id, l.reason_code', 'l.owner_id,
      (select d.platform from ridepulse.devices d where d.id = l.device_id), l.reason_code');
begin
  if length(later) - length(text) < 60 then
    raise exception 'ridepulse.deliveries_after has another text than this step expects';
  end if;
  drop function ridepulse.deliveries_after(text, integer);
  execute later;
  execute format('comment on function ridepulse.deliveries_after(text, integer) is %L', comment);
end
$$;

-- An app without a bundle ID has Android phones only.
alter table ridepulse.pinned_apps
  alter column bundle_id drop not null, alter column environment drop not null,
  add column project text;

comment on table ridepulse.pinned_apps is
  'The apps of the services that send from this database: one with another bundle ID, default '
  'environment or FCM project claims nothing.';
comment on column ridepulse.pinned_apps.bundle_id is
  'Its bundle ID, APNS_<APP>_BUNDLE_ID; null if no service has had one.';
comment on column ridepulse.pinned_apps.environment is
  'The environment of phones that name none, APNS_SANDBOX; null without a bundle ID.';
comment on column ridepulse.pinned_apps.project is
  'The project of its FCM service account; null if no service has had one.';

drop function ridepulse.pin_problems(text[], text[], text[]);
create function ridepulse.pin_problems(
  apps text[], bundle_ids text[], environments text[], projects text[] default '{}')
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

comment on function ridepulse.pin_problems(text[], text[], text[], text[]) is
  'Returns why a service with these apps must not send from this database; no row if it may. '
  'bundle_ids, environments, projects: null for an app that has none. problem: held, server, '
  'database, bundle_id, environment or project.';

drop function ridepulse.check_pin(text[], text[], text[]);
create function ridepulse.check_pin(
  apps text[], bundle_ids text[], environments text[], projects text[] default '{}')
returns table (problem text, app text, pinned text, found text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  insert into ridepulse.pin (system_identifier, database_oid)
  select s.system_identifier, d.oid from pg_control_system() s, pg_database d
  where d.datname = current_database()
  on conflict do nothing;
  -- An app is pinned only where a service may send, and so is what it had not before.
  if not exists (select from ridepulse.pin_problems(apps, bundle_ids, environments, projects)) then
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
  return query select * from ridepulse.pin_problems(apps, bundle_ids, environments, projects);
end
$$;

comment on function ridepulse.check_pin(text[], text[], text[], text[]) is
  'Pins this database, these apps and what they have unless it is pinned already, and returns what '
  'ridepulse.pin_problems returns.';

drop function ridepulse.claim_place(text[], text[], text[]);
create function ridepulse.claim_place(
  apps text[], bundle_ids text[], environments text[], projects text[] default '{}',
  out system_identifier bigint, out timeline integer, out may_claim boolean, out is_pinned boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  select s.system_identifier, s.timeline into system_identifier, timeline
  from ridepulse.server_place() s;
  is_pinned := exists (select from ridepulse.pin) and not exists (
    select from unnest(apps, bundle_ids, projects) a (app, bundle_id, project)
    where not exists (
      select from ridepulse.pinned_apps p
      where p.app = a.app and (a.bundle_id is null or p.bundle_id is not null)
        and (a.project is null or p.project is not null)));
  -- After pin(), check_pin decides which of several services may send, before any of them claims.
  may_claim := (is_pinned or cardinality(apps) = 0)
    and not exists (select from ridepulse.pin_problems(apps, bundle_ids, environments, projects));
end
$$;

comment on function ridepulse.claim_place(text[], text[], text[], text[]) is
  'Returns the server and timeline that a claim is made on, whether a service with these apps may '
  'claim there, and whether all that they have is pinned. Apps that are not pinned may not claim.';

comment on function ridepulse.pin() is
  'Allows services to send from this database on this server, with the apps of the next one that '
  'checks the pin: after a restore, a move, or a change of bundle ID, default environment or FCM '
  'project, and after hold. Stop services with other bundle IDs, environments or projects first.';

do $$
begin
  if coalesce(current_setting('ridepulse.kept_rights', true), '') <> '' then
    execute current_setting('ridepulse.kept_rights');
  end if;
end
$$;
