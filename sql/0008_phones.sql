-- What APNs has said against phones. BadDeviceToken alone proves nothing: the phone may belong to
-- the other environment, and the configuration may be wrong. So a phone is never deleted for it. One
-- that states no environment is tried in the other one, once, by one push; and a phone whose token
-- was called bad three times in a row is set aside until it registers again or somebody says so.

alter table ridepulse.devices
  -- BadDeviceToken in a row.
  add column refusals       integer not null default 0,
  -- The push that may try the other environment, and whether one has.
  add column probe          uuid,
  add column is_probed      boolean not null default false,
  -- Until when APNs asked to spare it (429).
  add column quiet_until    timestamptz,
  add column quarantined_at timestamptz;

create index devices_in_quarantine on ridepulse.devices (app) where quarantined_at is not null;

create or replace function ridepulse.register_device(
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
    disabled_reason = null,
    refusals = 0,
    probe = null,
    quarantined_at = null;
  -- One installation has one token: the newest.
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'replaced'
  where d.app = register_device.app and d.installation_id = register_device.installation_id
    and d.token <> lower(register_device.token) and d.disabled_at is null;
end
$$;

create view ridepulse.quarantine as
  select id as device_id, app, owner_id, right(token, 6) as token_suffix, environment, refusals,
    quarantined_at
  from ridepulse.devices where quarantined_at is not null and disabled_at is null;

-- Lifts the quarantine of an app's phones, of all apps' without one; returns how many. What was
-- found out under a wrong configuration is forgotten with it.
create function ridepulse.unquarantine(app text default null) returns bigint
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with lifted as (
    update ridepulse.devices d
    set quarantined_at = null, refusals = 0, probe = null, is_probed = false
    where d.quarantined_at is not null
      and (unquarantine.app is null or d.app = unquarantine.app)
    returning 1
  )
  select count(*) from lifted
$$;

-- Those who attend to the service may do this, and not every app's backend.
revoke execute on function ridepulse.unquarantine(text) from public;
