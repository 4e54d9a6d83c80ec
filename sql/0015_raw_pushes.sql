-- Raw pushes: one push whose token or channel, payload and headers the caller states, without a
-- rule. The engine sends them like all others. See docs/push.md and
-- docs/decisions/0044-raw-pushes.md.

-- Each address has its own pseudo ride, so that the pushes to it are sent in order. The ID contains
-- only a digest of the token, because ride IDs are logged.
create function ridepulse.raw_ride(kind text, app text, address text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select $1 || ':' || $2 || ':' || left(encode(sha256(convert_to($3, 'UTF8')), 'hex'), 32)
$$;

comment on function ridepulse.raw_ride(text, text, text) is
  'Returns the ID of the pseudo ride of an address or a person. kind: push, broadcast or person. '
  'address: the token, of APNs in lower-case hexadecimal, the channel''s ID, or the owner''s ID.';

-- The messages quote no payload: it may be for one person only.
create function ridepulse.check_payload(function_name text, payload json, max_bytes integer)
returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if payload is null or json_typeof(payload) <> 'object' then
    raise exception 'ridepulse.% needs a JSON object as payload, got %', function_name,
      coalesce(json_typeof(payload), 'NULL')
      using errcode = 'invalid_parameter_value',
            hint = 'Send an object such as {"aps": {"alert": "Hi"}}.';
  elsif octet_length(payload::text) > max_bytes then
    raise exception 'payload of ridepulse.% has % bytes, at most % are allowed', function_name,
      octet_length(payload::text), max_bytes
      using errcode = 'invalid_parameter_value',
            hint = 'APNs and FCM refuse a larger one. Spaces count: send the JSON without them.';
  end if;
end
$$;

comment on function ridepulse.check_payload(text, json, integer) is
  'Checks the argument payload: a JSON object of at most max_bytes bytes, as it is written. '
  'function_name is for the message. Errors: 22023.';

create function ridepulse.raw_expiration(function_name text, expires interval, longest interval)
returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  validity constant interval := coalesce(expires, interval '1 hour');
  -- Seconds neither depend on the session's time zone nor exceed the range of a timestamp. A day has
  -- 24 hours, a month 30 days.
  seconds constant numeric := extract(epoch from validity);
begin
  if seconds < 0 or seconds > extract(epoch from longest) then
    raise exception 'expires of ridepulse.% is %', function_name, validity
      using errcode = 'invalid_parameter_value',
            hint = format('Send 0 (never stored) to %s: nothing is stored longer.', longest);
  end if;
  return case when seconds = 0 then 0
    else ceil(extract(epoch from clock_timestamp()) + seconds) end;
end
$$;

comment on function ridepulse.raw_expiration(text, interval, interval) is
  'Returns when a raw push expires, in seconds since 1970, or 0 if it is never to be stored. '
  'expires: null means 1 hour. longest: the longest that is accepted. function_name is for the '
  'message. Errors: 22023.';

create function ridepulse.check_push_type(function_name text, push_type text, priority integer)
returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array['alert', 'background', 'liveactivity', 'voip', 'location',
    'complication', 'fileprovider', 'mdm', 'pushtotalk', 'widgets', 'controls'];
begin
  if push_type is null or push_type <> all (known) then
    raise exception 'push_type of ridepulse.% is %, which is unknown', function_name,
      quote_nullable(push_type)
      using errcode = 'invalid_parameter_value',
            hint = format('Known are %s.', array_to_string(known, ', '));
  elsif priority not in (1, 5, 10) then
    raise exception 'priority of ridepulse.% is %', function_name, priority
      using errcode = 'invalid_parameter_value',
            hint = 'Send 10 (at once), 5 (when it suits the phone), 1 (without waking it) or null.';
  elsif push_type = 'background' and priority <> 5 then
    raise exception 'priority of ridepulse.% is %, and push_type background', function_name, priority
      using errcode = 'invalid_parameter_value',
            hint = 'APNs accepts a background push with priority 5 only: send 5 or null.';
  end if;
end
$$;

comment on function ridepulse.check_push_type(text, text, integer) is
  'Checks the arguments push_type and priority: a value of apns-push-type; 1, 5, 10 or null. '
  'function_name is for the message. Errors: 22023.';

create function ridepulse.check_collapse_id(function_name text, collapse_id text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
begin
  if octet_length(collapse_id) not between 1 and 64 or collapse_id ~ '[\u0001-\u001F\u007F]'
     or collapse_id <> btrim(collapse_id, ' ') then
    raise exception 'collapse_id of ridepulse.% is not one that APNs accepts', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Send 1 to 64 bytes without control characters and outer spaces, or null.';
  end if;
end
$$;

comment on function ridepulse.check_collapse_id(text, text) is
  'Checks the argument collapse_id: 1 to 64 bytes without control characters, or null. '
  'function_name is for the message. Errors: 22023.';

-- The phone with the token decides; the form of a token that no phone has. A token of APNs is
-- hexadecimal.
create function ridepulse.push_platform(app text, token text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case
    when exists (
      select from ridepulse.devices d
      where d.app = $1 and d.token = $2 and d.platform = 'android') then 'android'
    when $2 ~ '^[0-9A-Fa-f]+$' then 'ios'
    when strpos($2, ':') > 0 or $2 ~ '^[cdef][A-Za-z0-9_-]{21}$' then 'android'
    else 'ios' end
$$;

comment on function ridepulse.push_platform(text, text) is
  'Returns the platform of the phone with a token: that of its row, otherwise that of the token''s '
  'form.';

create function ridepulse.check_android_push(push_type text, environment text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if push_type not in ('alert', 'background') then
    raise exception 'push_type of ridepulse.push is %, and the token an Android phone''s',
      quote_literal(push_type)
      using errcode = 'invalid_parameter_value', hint = 'Send alert or background.';
  elsif environment is not null then
    raise exception 'environment of ridepulse.push is %, and the token an Android phone''s',
      quote_literal(environment)
      using errcode = 'invalid_parameter_value', hint = 'FCM has no environments: send null.';
  end if;
end
$$;

comment on function ridepulse.check_android_push(text, text) is
  'Checks the arguments of a push to an Android phone that only pushes to iPhones have. Errors: '
  '22023.';

-- The token need not belong to a phone, and no phone is registered: what the service answers about an
-- unknown token is in the ledger alone. The keys of the data are those of RawPush in RideCore. FCM
-- counts the keys and values of a payload, which the engine does.
create function ridepulse.push(
  app text, token text, payload json, push_type text default 'alert',
  priority integer default null, expires interval default '1 hour',
  environment text default null, collapse_id text default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id constant uuid := gen_random_uuid();
  platform constant text := ridepulse.push_platform(app, token);
  is_android constant boolean := platform = 'android';
  address constant text := ridepulse.canonical_token(platform, token);
begin
  perform ridepulse.check_app('push', app),
    ridepulse.check_phone_token('push', platform, token),
    ridepulse.check_push_type('push', push_type, priority),
    ridepulse.check_payload('push', payload, case when is_android then 15000
      when push_type = 'voip' then 5120 else 4096 end),
    ridepulse.check_environment('push', environment),
    ridepulse.check_collapse_id('push', collapse_id);
  if is_android then
    perform ridepulse.check_android_push(push_type, environment);
  end if;
  insert into ridepulse.events (ride_id, event, data)
  values (ridepulse.raw_ride('push', app, address), 'raw_push',
    jsonb_strip_nulls(jsonb_build_object(
      'app', push.app, 'token', address, 'platform', case when is_android then platform end,
      'payload', push.payload::text, 'push_type', push.push_type, 'priority', push.priority,
      'expiration', ridepulse.raw_expiration('push', push.expires,
        case when is_android then interval '28 days' else interval '30 days' end),
      'environment', push.environment, 'collapse_id', push.collapse_id,
      'is_registered', nullif(exists (
        select from ridepulse.devices d where d.app = push.app and d.token = address),
        false),
      'apns_id', new_id)));
  return new_id;
end
$$;

comment on function ridepulse.push(text, text, json, text, integer, interval, text, text) is
  'Sends one push, without a rule, when the transaction commits; returns its apns-id. token: of APNs '
  'in hexadecimal, of a phone or a card, or an FCM registration token or installation ID; registered '
  'or not. payload: a JSON object: of APNs, sent byte for byte; for an Android phone, the message of '
  'FCM without the phone. push_type: a value of apns-push-type; for an Android phone alert or '
  'background. priority: 10, 5, 1; null means the default of the type. expires: how long it is valid, '
  'up to 30 days, 28 days for an Android phone; 0 means that it is never stored. environment: '
  'production or sandbox; null means that of the phone or the service, and for an Android phone. '
  'collapse_id: a later push with the same one replaces it. Errors: 22023 for an argument that is not '
  'what the function takes.';

-- A channel without storage accepts only pushes that are never stored.
create function ridepulse.broadcast(
  app text, channel_id text, payload json, expires interval default '1 hour',
  priority integer default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id constant uuid := gen_random_uuid();
  channel ridepulse.channels;
begin
  perform ridepulse.check_app('broadcast', app),
    ridepulse.check_push_type('broadcast', 'liveactivity', priority),
    ridepulse.check_payload('broadcast', payload, 5120);
  if channel_id is null or channel_id !~ '^[A-Za-z0-9+/=]{1,128}$' then
    raise exception 'channel_id of ridepulse.broadcast is no channel ID'
      using errcode = 'invalid_parameter_value',
            hint = 'Send the ID in base64, as APNs and `ridepulse channels list` give it.';
  end if;
  select * into channel from ridepulse.channels c
  where c.app = broadcast.app and c.channel_id = broadcast.channel_id order by c.id desc limit 1;
  insert into ridepulse.events (ride_id, event, data)
  values (ridepulse.raw_ride('broadcast', app, channel_id), 'raw_broadcast',
    jsonb_strip_nulls(jsonb_build_object(
      'app', broadcast.app, 'channel', broadcast.channel_id, 'payload', broadcast.payload::text,
      'push_type', 'liveactivity', 'priority', broadcast.priority,
      'expiration', ridepulse.raw_expiration('broadcast', broadcast.expires, interval '8 hours'),
      'is_stored', case when channel.storage = 'none' then false end,
      'environment', channel.environment, 'apns_id', new_id)));
  return new_id;
end
$$;

comment on function ridepulse.broadcast(text, text, json, interval, integer) is
  'Sends one Live Activity push to all subscribers of a channel, when the transaction commits; '
  'returns its apns-request-id, which is the apns_id of deliveries. channel_id: Apple''s ID, in '
  'ridepulse.channels or not. payload: a JSON object, sent byte for byte. expires: how long it is '
  'valid, up to 8 hours; 0 means that APNs never stores it. priority: 10, 5, 1; null means 10. '
  'Errors: 22023 for an argument that is not what the function takes.';
