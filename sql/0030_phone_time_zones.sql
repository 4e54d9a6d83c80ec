-- A phone registers its time zone, its platform, whether it may show alerts, and the app's version.
-- Contract: docs/sql.md; reasons: docs/decisions/0090-the-phones-own-zone.md.

alter table ridepulse.devices
  add column platform text not null default 'ios',
  add column time_zone text,
  add column alerts boolean,
  add column app_version text;

comment on column ridepulse.devices.platform is 'The phone''s system: ios.';
comment on column ridepulse.devices.time_zone is
  'The IANA name of the zone of the phone''s clock, as the app sent it; null if it sent none. A name that '
  'the tz database of the service lacks counts as none.';
comment on column ridepulse.devices.alerts is
  'Whether the person allows alerts of the app; null if the app has not stated it.';
comment on column ridepulse.devices.app_version is
  'The version of the app; null if the app has not stated it.';

-- The view and the function are rewritten in place, so that each is spelled once.
do $$
declare
  view_text constant text := pg_get_viewdef('ridepulse.current_devices'::regclass);
  call_text constant text := pg_get_functiondef('ridepulse.answer(text, jsonb)'::regprocedure);
  new_view constant text := replace(view_text,
    'GREATEST(d.quiet_until, o.quiet_until) AS quiet_until',
    'GREATEST(d.quiet_until, o.quiet_until) AS quiet_until, d.platform, d.time_zone, d.alerts, '
      'd.app_version');
  new_call constant text := replace(call_text, 'a ->> ''installation_id'', a ->> ''locale'')',
    'a ->> ''installation_id'', a ->> ''locale'',
        a ->> ''platform'', a ->> ''time_zone'', (a ->> ''alerts'')::boolean, a ->> ''app_version'')');
begin
  if new_view = view_text or new_call = call_text then
    raise exception 'ridepulse.current_devices or ridepulse.answer has another text than this step '
      'expects';
  end if;
  execute 'create or replace view ridepulse.current_devices as ' || new_view;
  execute new_call;
end
$$;

-- A phone that changes hands without a sign-out, or keeps its token under another owner, must show
-- the former owner's cards no longer.
--
-- The name of a zone is not checked: a newer system may know one that this server does not, and its
-- phone must still be registered.
create function ridepulse.register_device(
  app text, owner_id text, token text, environment text default null,
  installation_id text default null, locale text default null, platform text default 'ios',
  time_zone text default null, alerts boolean default null, app_version text default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  old ridepulse.devices;
  former text;
begin
  perform ridepulse.check_app('register_device', app),
    ridepulse.check_text('register_device', 'owner_id', owner_id),
    ridepulse.check_token('register_device', token),
    ridepulse.check_environment('register_device', environment),
    ridepulse.check_text('register_device', 'installation_id', installation_id, false),
    ridepulse.check_text('register_device', 'locale', locale, false),
    ridepulse.check_text('register_device', 'time_zone', time_zone, false),
    ridepulse.check_text('register_device', 'app_version', app_version, false);
  if platform <> 'ios' then
    raise exception 'platform of ridepulse.register_device is %, which is not supported',
      quote_literal(platform)
      using errcode = 'invalid_parameter_value', hint = 'Send ios, or leave it out.';
  end if;
  installation_id := nullif(installation_id, '');
  locale := nullif(locale, '');
  time_zone := nullif(time_zone, '');
  app_version := nullif(app_version, '');
  select * into old from ridepulse.devices d
  where d.app = register_device.app and d.token = lower(register_device.token) for update;
  insert into ridepulse.devices as d (app, owner_id, token, environment, installation_id, locale,
                                      platform, time_zone, alerts, app_version)
  values (register_device.app, register_device.owner_id, lower(register_device.token),
          register_device.environment, register_device.installation_id, register_device.locale,
          coalesce(register_device.platform, 'ios'), register_device.time_zone,
          register_device.alerts, register_device.app_version)
  on conflict on constraint devices_app_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, d.environment),
    installation_id = coalesce(excluded.installation_id, d.installation_id),
    locale = coalesce(excluded.locale, d.locale),
    platform = coalesce(register_device.platform, d.platform),
    time_zone = coalesce(excluded.time_zone, d.time_zone),
    alerts = coalesce(excluded.alerts, d.alerts),
    app_version = coalesce(excluded.app_version, d.app_version),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null,
    refusals = 0,
    probe = null,
    is_probed = false,
    quarantined_at = null,
    -- APNs' pause belongs to the token, which is the same, in one environment.
    quiet_until = case when excluded.environment is null or excluded.environment = d.environment
                    then d.quiet_until end;
  if old.owner_id = register_device.owner_id and (register_device.installation_id is null
     or old.installation_id = register_device.installation_id) and old.disabled_at is null then
    return;
  end if;
  for former in
    select old.owner_id where old.owner_id <> register_device.owner_id
    union
    select owner from ridepulse.owners_of_installation(
      register_device.app, coalesce(register_device.installation_id, old.installation_id)) owner
    where owner <> register_device.owner_id
  loop
    perform ridepulse.withdraw(register_device.app, former,
      coalesce(register_device.installation_id, old.installation_id));
  end loop;
  -- An installation has one enabled token: the newest.
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'replaced'
  where d.app = register_device.app
    and d.installation_id = coalesce(register_device.installation_id, old.installation_id)
    and d.token <> lower(register_device.token) and d.disabled_at is null;
end
$$;

comment on function ridepulse.register_device(
    text, text, text, text, text, text, text, text, boolean, text) is
  'Registers a phone or enables it again, disables the older tokens of its installation, and '
  'withdraws the cards and start tokens that an earlier owner had on it. token: hexadecimal, in '
  'upper or lower case. platform: ios. time_zone: the IANA name of the zone of the phone''s clock. '
  'alerts: whether the person allows alerts. environment, installation_id, locale, platform, time_zone, '
  'alerts, app_version: null keeps the stored value, and so does an empty text, except for environment and '
  'platform. Errors: 22023 for an argument that is not what the function takes.';

-- Apps go on calling the function: the roles that may are the ones before, without another
-- `ridepulse migrate --roles`.
do $$
declare
  former constant regprocedure :=
    'ridepulse.register_device(text, text, text, text, text, text)'::regprocedure;
  r record;
begin
  for r in
    select a.grantee::regrole as role
    from pg_proc p, aclexplode(p.proacl) a
    where p.oid = former and a.grantee not in (0, p.proowner) and a.privilege_type = 'EXECUTE'
  loop
    execute format('grant execute on function ridepulse.register_device'
      '(text, text, text, text, text, text, text, text, boolean, text) to %s', r.role);
  end loop;
end
$$;

drop function ridepulse.register_device(text, text, text, text, text, text);
