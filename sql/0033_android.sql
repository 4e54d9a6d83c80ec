-- Android phones, which FCM reaches: their rows, registration, sign-out and dismissed cards.
-- Contract: docs/sql.md; reasons: docs/decisions/0096-platform-in-rows.md.

-- Validated in the next step, so that no row is read under this step's locks.
alter table ridepulse.devices
  add constraint devices_platform_check check (platform in ('ios', 'android')) not valid;
alter table ridepulse.live_activities
  drop constraint live_activities_environment_check,
  add constraint live_activities_environment_check check (
    environment in ('production', 'sandbox') or environment = 'android' and ended_at is not null)
    not valid;

comment on column ridepulse.devices.platform is 'The phone''s system: ios or android.';
comment on column ridepulse.devices.token is
  'Of ios, the device token in lower-case hexadecimal; of android, the FCM registration token or '
  'Firebase installation ID, byte for byte.';
comment on column ridepulse.devices.environment is
  'The APNs environment; null if the app has not named one and no push has found it, and for android.';
comment on column ridepulse.devices.installation_id is
  'The app''s ID of this installation; for android, the Firebase installation ID if the app named '
  'none. Only the newest token of an installation stays enabled.';
comment on column ridepulse.live_activities.activity_id is
  'ActivityKit''s ID of the activity; of a dismissed card of an Android phone, devices.id and the ride''s ID.';
comment on column ridepulse.live_activities.token is
  'The activity''s newest update token, in lower-case hexadecimal; of an Android phone''s card, devices.id.';
comment on column ridepulse.live_activities.environment is
  'The APNs environment; null if the app has not named one; android for a dismissed card of an '
  'Android phone, which has no row before.';

create function ridepulse.canonical_token(platform text, token text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case $1 when 'android' then $2 else lower($2) end
$$;

comment on function ridepulse.canonical_token(text, text) is
  'Returns a token as it is stored: in lower case for ios, unchanged for android, whose tokens are '
  'case-sensitive.';

create function ridepulse.firebase_installation(token text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case when $1 ~ '^[cdef][A-Za-z0-9_-]{21}$' then $1
    when strpos($1, ':') = 23 then left($1, 22) end
$$;

comment on function ridepulse.firebase_installation(text) is
  'Returns the Firebase installation ID that an FCM token is or begins with; null if there is none.';

-- The messages do not quote the value: it may be a real token.
create function ridepulse.check_phone_token(function_name text, platform text, token text)
returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if platform = 'ios' and (token like '%:%' or token ~ '^[cdef][A-Za-z0-9_-]{21}$')
     and token !~ '^[0-9A-Fa-f]+$' then
    raise exception 'token of ridepulse.% is no token', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'An FCM token needs platform => ''android''.';
  elsif platform = 'ios' then
    perform ridepulse.check_token(function_name, token);
  elsif token is null or octet_length(token) > 512 or token !~ '^[!-~]+$' then
    raise exception 'token of ridepulse.% is no token', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Send it as the phone has it: 1 to 512 characters of ASCII without spaces.';
  elsif platform = 'android' and token ~ '^[0-9A-Fa-f]{64,}$' then
    raise exception
      'token of ridepulse.% looks like one of APNs; send platform ios or leave it out', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Android sends a registration token or an installation ID of Firebase.';
  end if;
end
$$;

comment on function ridepulse.check_phone_token(text, text, text) is
  'Checks the argument token of a phone. platform: ios, android, or null if it is not known. '
  'function_name is for the message. Errors: 22023.';

create function ridepulse.has_android(app text, owner_id text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from ridepulse.devices d
    where d.app = $1 and d.owner_id = $2 and d.disabled_at is null and d.platform = 'android')
$$;

comment on function ridepulse.has_android(text, text) is
  'Returns whether a person has an enabled Android phone, on which a card may run without a row.';

-- By index: a person who is found otherwise has the card with the next decision on the ride.
create function ridepulse.make_rides_due(app text, owner_id text, event text) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  insert into ridepulse.events (ride_id, event, data)
  select r.id, $3, '{}'::jsonb
  from (
    select c.id from ridepulse.rides c where $1 = 'customer' and c.customer_id = $2
    union
    select d.id from ridepulse.rides d where $1 = 'driver' and d.driver_id = $2
    union
    select p.ride_id from ridepulse.participants p where p.app = $1 and p.owner_id = $2) r
  where (select a.ride_id from ridepulse.agenda a where a.ride_id = r.id) is not null
  order by 1
$$;

comment on function ridepulse.make_rides_due(text, text, text) is
  'Makes a person''s live rides due by an event that no rule matches: those of a customer, a driver '
  'or a participant.';

-- A phone that changes hands without a sign-out, or keeps its token under another owner, must show
-- the former owner's cards no longer. Those of an Android phone are not withdrawn: they are its
-- row's, which has another owner from now on.
--
-- The name of a zone is not checked: a newer system may know one that this server does not, and its
-- phone must still be registered.
create or replace function ridepulse.register_device(
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
    ridepulse.check_environment('register_device', environment),
    ridepulse.check_text('register_device', 'installation_id', installation_id, false),
    ridepulse.check_text('register_device', 'locale', locale, false),
    ridepulse.check_text('register_device', 'time_zone', time_zone, false),
    ridepulse.check_text('register_device', 'app_version', app_version, false);
  if platform not in ('ios', 'android') then
    raise exception 'platform of ridepulse.register_device is %, which is unknown',
      quote_literal(platform)
      using errcode = 'invalid_parameter_value', hint = 'Send ios or android.';
  end if;
  select * into old from ridepulse.devices d
  where d.app = register_device.app
    and d.token in (register_device.token, lower(register_device.token))
    and d.token = ridepulse.canonical_token(
      coalesce(register_device.platform, d.platform), register_device.token)
  order by d.platform limit 1 for update;
  platform := coalesce(platform, old.platform, 'ios');
  perform ridepulse.check_phone_token('register_device', platform, token);
  token := ridepulse.canonical_token(platform, token);
  installation_id := nullif(installation_id, '');
  if platform = 'android' then
    if environment is not null then
      raise exception 'environment of ridepulse.register_device is %, and platform android',
        quote_literal(environment)
        using errcode = 'invalid_parameter_value', hint = 'FCM has no environments: send null.';
    end if;
    -- A phone that moves from a registration token to its installation ID replaces itself.
    installation_id := coalesce(
      installation_id, old.installation_id, ridepulse.firebase_installation(token));
  end if;
  locale := nullif(locale, '');
  time_zone := nullif(time_zone, '');
  app_version := nullif(app_version, '');
  insert into ridepulse.devices as d (app, owner_id, token, environment, installation_id, locale,
                                      platform, time_zone, alerts, app_version)
  values (register_device.app, register_device.owner_id, register_device.token,
          register_device.environment, register_device.installation_id, register_device.locale,
          register_device.platform, register_device.time_zone, register_device.alerts,
          register_device.app_version)
  on conflict on constraint devices_app_token_key do update set
    owner_id = excluded.owner_id,
    environment = case when excluded.platform = 'ios'
                    then coalesce(excluded.environment, d.environment) end,
    installation_id = coalesce(excluded.installation_id, d.installation_id),
    locale = coalesce(excluded.locale, d.locale),
    platform = excluded.platform,
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
     or old.installation_id = register_device.installation_id) and old.disabled_at is null
     and (platform = 'ios' or old.quarantined_at is null) then
    return;
  end if;
  if platform = 'android' then
    -- Each phone of a person shows the cards that run.
    perform ridepulse.make_rides_due(
      register_device.app, register_device.owner_id, 'card_registered');
  else
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
  end if;
  -- An installation has one enabled token: the newest.
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'replaced'
  where d.app = register_device.app
    and d.installation_id = coalesce(register_device.installation_id, old.installation_id)
    and d.token <> register_device.token and d.disabled_at is null;
end
$$;

comment on function ridepulse.register_device(
    text, text, text, text, text, text, text, text, boolean, text) is
  'Registers a phone or enables it again, disables the older tokens of its installation, and '
  'withdraws the cards and start tokens that an earlier owner had on it. platform: ios or android. '
  'token: of ios hexadecimal, in upper or lower case; of android, what the Firebase SDK returns. '
  'environment: null for android. time_zone: the IANA name of the zone of the phone''s clock. '
  'alerts: whether the person allows alerts. environment, installation_id, locale, platform, time_zone, '
  'alerts, app_version: null keeps the stored value, and so does an empty text, except for environment and '
  'platform. A new Android phone makes its owner''s live rides due, and its installation_id is that '
  'of Firebase if none is named. Errors: 22023 for an argument that is not what the function takes.';

-- The cards and start tokens that a sign-out withdraws are an iPhone's.
create or replace function ridepulse.unregister_device(app text, token text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  phone ridepulse.devices;
  disabled bigint;
begin
  perform ridepulse.check_app('unregister_device', app),
    ridepulse.check_phone_token('unregister_device', null, token);
  select * into phone from ridepulse.devices d
  where d.app = unregister_device.app
    and d.token in (unregister_device.token, lower(unregister_device.token))
    and d.token = ridepulse.canonical_token(d.platform, unregister_device.token)
  order by d.platform limit 1 for update;
  -- A repeated call must not sign out what the owner has registered since.
  if not found or phone.disabled_reason = 'signed_out' then
    return false;
  end if;
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'signed_out'
  where d.id = phone.id and (d.disabled_at is null or d.disabled_reason = 'replaced')
    or d.app = phone.app and d.installation_id = phone.installation_id
      and d.owner_id = phone.owner_id and d.disabled_at is null;
  get diagnostics disabled = row_count;
  if phone.platform = 'android' then
    return disabled > 0;
  end if;
  return ridepulse.withdraw(phone.app, phone.owner_id, phone.installation_id) or disabled > 0;
end
$$;

comment on function ridepulse.unregister_device(text, text) is
  'Signs a phone out: it receives nothing any more until it is registered again. An iPhone''s '
  'cards and start tokens on the same installation, and those of its owner that name no '
  'installation, are withdrawn for good. token: as it was registered, of an iPhone in upper or lower '
  'case. Returns whether anything was withdrawn. Errors: 22023 for an argument that is not what the '
  'function takes.';
