-- The functions that apps and operators call.
--
-- They run as the schema's owner, so that an app's role needs only EXECUTE on them and rights on
-- ridepulse.rides. They must never run a caller's code: the caller's casts, operators and types
-- would reach a definer's function through a trigger on the caller's table. Contract: docs/sql.md,
-- Rights; reasons: docs/decisions/0020-rights.md.

-- For texts that are keys: an index entry holds at most 2,704 bytes over all of its columns.
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
  elsif value ~ '[\u0001-\u001F\u007F-\u009F]' then
    raise exception '% of ridepulse.% contains a control character', argument, function_name
      using errcode = 'invalid_parameter_value', hint = 'Send the text without it.';
  end if;
end
$$;

comment on function ridepulse.check_text(text, text, text, boolean) is
  'Checks a text argument: at most 512 bytes without control characters. function_name and '
  'argument are for the message, value is the text, is_required also refuses null and an empty '
  'text. Errors: 22023.';

create function ridepulse.emit(event text, ride_id text, data jsonb default '{}')
returns bigint
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
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
  select emit.ride_id, emit.event, coalesce(emit.data, '{}'), r.customer_id, r.driver_id
  from (values (1)) one left join ridepulse.rides r on r.id = emit.ride_id
  returning id into new_id;
  return new_id;
end
$$;

comment on function ridepulse.emit(text, text, jsonb) is
  'Emits an event and returns its ID; it takes effect when the transaction commits. event: a name '
  'that rules match. ride_id: the ride, which need not exist. data: a JSON object; null means {}. '
  'Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes, or if '
  'data is not an object.';

-- A phone that changes hands without a sign-out, or keeps its token under another owner, must show
-- the former owner's cards no longer.
create function ridepulse.register_device(
  app text, owner_id text, token text, environment text default null,
  installation_id text default null, locale text default null
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
    ridepulse.check_text('register_device', 'locale', locale, false);
  installation_id := nullif(installation_id, '');
  locale := nullif(locale, '');
  select * into old from ridepulse.devices d
  where d.app = register_device.app and d.token = lower(register_device.token) for update;
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

comment on function ridepulse.register_device(text, text, text, text, text, text) is
  'Registers a phone or enables it again, disables the older tokens of its installation, and '
  'withdraws the cards and start tokens that an earlier owner had on it. token: hexadecimal, in '
  'upper or lower case. environment, installation_id, locale: null keeps the stored value, and so '
  'does an empty text, except for environment. '
  'Errors: 22023 for an argument that is not what the function takes.';

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
    ended_reason = case when stays then a.ended_reason end;
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
  'installation_id counts as null. frequent: whether the person allows frequent updates. Errors: '
  '22023 for an argument that is not what the function takes.';

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

create function ridepulse.contact(app text, owner_id text) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last_contact timestamptz;
begin
  perform ridepulse.check_app('contact', app),
    ridepulse.check_text('contact', 'owner_id', owner_id);
  -- Concurrent calls may finish in any order: the latest time stays.
  insert into ridepulse.contacts as c (app, owner_id, contacted_at)
  values (contact.app, contact.owner_id, clock_timestamp())
  on conflict on constraint contacts_pkey do update
  set contacted_at = greatest(c.contacted_at, excluded.contacted_at)
  returning c.contacted_at into last_contact;
  return last_contact;
end
$$;

comment on function ridepulse.contact(text, text) is
  'Records that a phone of the owner made contact with the app''s backend, and returns the time '
  'of the last contact. Errors: 22023 if a required text is null or empty, or if a text has more '
  'than 512 bytes.';

create function ridepulse.unpark(ride_id text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with unparked as (
    update ridepulse.agenda a
    set parked_reason = null, parked_at = null, unread = 0, leased_until = '-infinity',
      due_at = now()
    where a.ride_id = $1 and a.parked_reason is not null
    returning 1
  )
  select exists (select from unparked)
$$;

comment on function ridepulse.unpark(text) is
  'Makes a parked ride due again; returns whether it was parked.';

-- Recorded refusals that are not applied yet count too, and must not bring the quarantine back.
create function ridepulse.unquarantine(app text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  phones constant bigint[] := array(
    select q.device_id from ridepulse.quarantine q
    where unquarantine.app is null or q.app = unquarantine.app order by 1);
begin
  update ridepulse.token_outcomes o set is_refused = false, is_probed = false, probe = null
  where o.kind = 'phone' and o.token_id = any (phones);
  update ridepulse.devices d
  set quarantined_at = null, refusals = 0, probe = null, is_probed = false
  where d.id = any (phones);
  return cardinality(phones);
end
$$;

comment on function ridepulse.unquarantine(text) is
  'Lifts the quarantine of an app''s phones, or of all phones if app is null; returns how many. '
  'Also resets their refusals, and whether they were tried in the other environment.';
