-- The functions by which apps register phones, cards and start tokens, and report contacts. Contract:
-- docs/sql.md; reasons: docs/decisions/0036-people.md and 0065-contact-by-phone.md.

-- Each token by equality. PostgreSQL keeps the plan of the first calls, and for a list of tokens one that
-- is made while the table is almost empty reads all phones of the app.
create function ridepulse.lock_phone(app text, platform text, token text)
returns ridepulse.devices
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  phone ridepulse.devices;
begin
  select * into phone from ridepulse.devices d
  where d.app = lock_phone.app
    and d.token = ridepulse.canonical_token(coalesce(lock_phone.platform, 'android'), lock_phone.token)
    and (lock_phone.platform is not null or d.platform = 'android')
  for update;
  if not found and lock_phone.platform is null then
    select * into phone from ridepulse.devices d
    where d.app = lock_phone.app and d.token = ridepulse.canonical_token('ios', lock_phone.token)
      and d.platform = 'ios'
    for update;
  end if;
  return phone;
end
$$;

comment on function ridepulse.lock_phone(text, text, text) is
  'Returns the phone with a token, locked; null if there is none. platform: of a token whose platform '
  'is unknown, null. token: of an iPhone in upper or lower case.';

-- A phone that changes hands without a sign-out, or keeps its token under another owner, must show
-- the former owner's cards no longer. Those of an Android phone are not withdrawn: they are its
-- row's, which has another owner from now on.
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
  old := ridepulse.lock_phone(app, platform, token);
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

-- The event card_registered, which no rule matches, makes the ride due, because a new card must
-- show the current state. A card that the engine ended or that the app reported as gone stays ended; a
-- card whose token APNs reported as gone is live again after its next registration. A card that a
-- sign-out withdrew is live again only if its owner is signed in on the installation that the
-- registration names: otherwise a late registration would undo the sign-out.
create function ridepulse.register_live_activity(
  ride_id text, app text, owner_id text, token text, activity_id text,
  environment text default null, frequent boolean default false,
  installation_id text default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  old ridepulse.live_activities;
  stays boolean;
begin
  perform ridepulse.check_text('register_live_activity', 'ride_id', ride_id),
    ridepulse.check_app('register_live_activity', app),
    ridepulse.check_environment('register_live_activity', environment),
    ridepulse.check_text('register_live_activity', 'owner_id', owner_id),
    ridepulse.check_token('register_live_activity', token),
    ridepulse.check_text('register_live_activity', 'activity_id', activity_id),
    ridepulse.check_text('register_live_activity', 'installation_id', installation_id, false);
  installation_id := nullif(installation_id, '');
  select * into old from ridepulse.live_activities a
  where a.app = register_live_activity.app and a.activity_id = register_live_activity.activity_id
  for update;
  stays := coalesce(old.ended_reason, '') in ('ended', 'expired', 'dismissed')
    or coalesce(old.ended_reason, '') = 'signed_out' and not (
      old.owner_id = register_live_activity.owner_id and exists (
        select from ridepulse.current_devices d
        where d.app = register_live_activity.app
          and d.owner_id = register_live_activity.owner_id
          and d.installation_id = register_live_activity.installation_id));
  insert into ridepulse.live_activities as a
    (ride_id, app, owner_id, token, activity_id, environment, frequent, installation_id)
  values (register_live_activity.ride_id, register_live_activity.app,
          register_live_activity.owner_id, lower(register_live_activity.token),
          register_live_activity.activity_id, register_live_activity.environment,
          coalesce(register_live_activity.frequent, false),
          register_live_activity.installation_id)
  on conflict on constraint live_activities_app_activity_id_key do update set
    ride_id = excluded.ride_id,
    owner_id = excluded.owner_id,
    token = excluded.token,
    environment = coalesce(excluded.environment, a.environment),
    frequent = excluded.frequent,
    installation_id = coalesce(excluded.installation_id, a.installation_id),
    registered_at = excluded.registered_at,
    ended_at = case when stays then a.ended_at end,
    ended_reason = case when stays then a.ended_reason end
  -- The insert's condition, and no check before it: two registrations may meet.
  where a.owner_id = excluded.owner_id or a.ended_at is not null;
  if not found then
    raise exception 'activity_id of ridepulse.register_live_activity is a live card of another owner'
      using errcode = 'invalid_parameter_value',
            hint = 'Sign that owner out on the phone first: ridepulse.end_live_activity or '
              || 'ridepulse.unregister_device.';
  end if;
  if not stays
     and (old.id is null or old.ended_at is not null
          or old.ride_id <> register_live_activity.ride_id
          or old.token <> lower(register_live_activity.token)) then
    insert into ridepulse.events (ride_id, event, data)
    values (register_live_activity.ride_id, 'card_registered', '{}');
  end if;
end
$$;

comment on function ridepulse.register_live_activity(text, text, text, text, text, text, boolean, text) is
  'Registers the update token of a card, and makes its ride due if the card is new or live again, '
  'or has a new token or ride. token: hexadecimal, in upper or lower case. activity_id: '
  'ActivityKit''s ID. environment, installation_id: null keeps the stored value; an empty '
  'installation_id counts as null. frequent: whether the person allows frequent updates. A live '
  'card keeps its owner. Errors: 22023 for an argument that is not what the function takes, and '
  'for a live card of another owner.';

-- As with cards, a late registration must not undo a sign-out.
create function ridepulse.register_push_to_start(
  app text, owner_id text, token text, attributes_type text, environment text default null,
  installation_id text default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  is_signed_in boolean;
begin
  perform ridepulse.check_app('register_push_to_start', app),
    ridepulse.check_environment('register_push_to_start', environment),
    ridepulse.check_text('register_push_to_start', 'owner_id', owner_id),
    ridepulse.check_token('register_push_to_start', token),
    ridepulse.check_text('register_push_to_start', 'attributes_type', attributes_type),
    ridepulse.check_text('register_push_to_start', 'installation_id', installation_id, false);
  installation_id := nullif(installation_id, '');
  is_signed_in := exists (
    select from ridepulse.current_devices d
    where d.app = register_push_to_start.app and d.owner_id = register_push_to_start.owner_id
      and (register_push_to_start.installation_id is null
           or d.installation_id = register_push_to_start.installation_id));
  insert into ridepulse.push_to_start_tokens as t
    (app, owner_id, token, attributes_type, environment, installation_id)
  values (register_push_to_start.app, register_push_to_start.owner_id,
          lower(register_push_to_start.token), register_push_to_start.attributes_type,
          register_push_to_start.environment, register_push_to_start.installation_id)
  on conflict on constraint push_to_start_tokens_app_attributes_type_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, t.environment),
    installation_id = coalesce(excluded.installation_id, t.installation_id),
    registered_at = excluded.registered_at,
    disabled_at = case when t.disabled_reason = 'signed_out' and not is_signed_in
                    then t.disabled_at end,
    disabled_reason = case when t.disabled_reason = 'signed_out' and not is_signed_in
                        then t.disabled_reason end;
end
$$;

comment on function ridepulse.register_push_to_start(text, text, text, text, text, text) is
  'Registers a token with which cards can be started, or makes it valid again; one that a sign-out '
  'withdrew only if its owner has an enabled phone, on installation_id if that is named. token: '
  'hexadecimal, in upper or lower case. attributes_type: name of the type of the activity''s '
  'attributes. environment, installation_id: null keeps the stored value; an empty '
  'installation_id counts as null. Errors: 22023 for an argument that is not what the function '
  'takes.';

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
