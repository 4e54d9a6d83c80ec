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
  'Returns the ID of the pseudo ride of raw pushes to an address. kind: push or broadcast. address: '
  'the token in lower-case hexadecimal, or the channel''s ID.';

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
            hint = 'APNs refuses a larger one. Spaces count: send the JSON without them.';
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
            hint = format('Send 0 (never stored by APNs) to %s: APNs stores nothing longer.', longest);
  end if;
  return case when seconds = 0 then 0
    else ceil(extract(epoch from clock_timestamp()) + seconds) end;
end
$$;

comment on function ridepulse.raw_expiration(text, interval, interval) is
  'Returns when a raw push expires, in seconds since 1970, or 0 if APNs is to store it never. '
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
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
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

-- The token need not belong to a phone, and no phone is registered: what APNs answers about an
-- unknown token is in the ledger alone. The keys of the data are those of RawPush in RideCore.
create function ridepulse.push(
  app text, token text, payload json, push_type text default 'alert',
  priority integer default null, expires interval default '1 hour',
  environment text default null, collapse_id text default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id constant uuid := gen_random_uuid();
begin
  perform ridepulse.check_app('push', app), ridepulse.check_token('push', token),
    ridepulse.check_push_type('push', push_type, priority),
    ridepulse.check_payload('push', payload, case push_type when 'voip' then 5120 else 4096 end),
    ridepulse.check_environment('push', environment),
    ridepulse.check_collapse_id('push', collapse_id);
  insert into ridepulse.events (ride_id, event, data)
  values (ridepulse.raw_ride('push', app, lower(token)), 'raw_push',
    jsonb_strip_nulls(jsonb_build_object(
      'app', push.app, 'token', lower(push.token), 'payload', push.payload::text,
      'push_type', push.push_type, 'priority', push.priority,
      'expiration', ridepulse.raw_expiration('push', push.expires, interval '30 days'),
      'environment', push.environment, 'collapse_id', push.collapse_id,
      'is_registered', nullif(exists (
        select from ridepulse.devices d where d.app = push.app and d.token = lower(push.token)),
        false),
      'apns_id', new_id)));
  return new_id;
end
$$;

comment on function ridepulse.push(text, text, json, text, integer, interval, text, text) is
  'Sends one push, without a rule, when the transaction commits; returns its apns-id. token: '
  'hexadecimal, of a phone or a card, registered or not. payload: a JSON object, sent byte for byte. '
  'push_type: a value of apns-push-type. priority: 10, 5, 1; null means the default of the type. '
  'expires: how long it is valid, up to 30 days; 0 means that APNs never stores it. environment: '
  'production or sandbox; null means that of the phone or the service. collapse_id: a later push '
  'with the same one replaces it. Errors: 22023 for an argument that is not what the function takes.';

-- For the lookup of a channel by its ID alone, which Apple gives only once.
create index channels_by_channel_id on ridepulse.channels (channel_id) where channel_id is not null;

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

comment on column ridepulse.erasure.legacy is
  'Pseudo rides of the phones, cards and start tokens: of legacy senders, and of raw pushes.';

-- Reads whole tables, and locks nothing.
create or replace function ridepulse.find_person(owner_id text, app text) returns ridepulse.erasure
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  p ridepulse.erasure;
  tokens text[];
begin
  p.owner_id := find_person.owner_id;
  p.app := find_person.app;
  p.apps := array(select ridepulse.owner_apps(p.owner_id, p.app));
  p.keys := case when p.app is not null then array[p.app || '_id', p.app, 'owner'] end;
  select coalesce(array_agg(d.id), '{}'), coalesce(array_agg(d.token), '{}'),
    coalesce(array_agg(ridepulse.legacy_ride(d.app, d.token)), '{}')
      || coalesce(array_agg(ridepulse.raw_ride('push', d.app, d.token)), '{}')
  into p.phones, tokens, p.legacy
  from ridepulse.devices d where d.app = any (p.apps) and d.owner_id = p.owner_id;
  select coalesce(array_agg(a.id), '{}'), tokens || coalesce(array_agg(a.token), '{}'),
    coalesce(array_agg(a.ride_id), '{}'),
    p.legacy || coalesce(array_agg(ridepulse.raw_ride('push', a.app, a.token)), '{}')
  into p.cards, tokens, p.scope, p.legacy
  from ridepulse.live_activities a where a.app = any (p.apps) and a.owner_id = p.owner_id;
  select coalesce(array_agg(t.id), '{}'), tokens || coalesce(array_agg(t.token), '{}'),
    p.legacy || coalesce(array_agg(ridepulse.raw_ride('push', t.app, t.token)), '{}')
  into p.starts, tokens, p.legacy
  from ridepulse.push_to_start_tokens t where t.app = any (p.apps) and t.owner_id = p.owner_id;
  p.suffixes := array(select distinct right(t, 6) from unnest(tokens) t);
  select coalesce(array_agg(r.id), '{}'), coalesce(array_agg(a.app), '{}') into p.rides, p.roles
  from ridepulse.rides r, unnest(p.apps) a (app)
  where p.owner_id = case a.app when 'customer' then r.customer_id when 'driver' then r.driver_id
                       else r.attributes ->> (a.app || '_id') end;
  p.scope := array(
    select unnest(p.scope) union select unnest(p.rides) union select unnest(p.legacy)
    union
    select a.ride_id from ridepulse.agenda a where ridepulse.json_contains(a.memo::text, p.owner_id)
    union
    select e.ride_id from ridepulse.events e where ridepulse.event_names(e, p));
  return p;
end
$$;

comment on function ridepulse.find_person(text, text) is
  'Finds all rows that name a person. app: null means in any app.';

create or replace function ridepulse.answer(call text, arguments jsonb, out status integer, out body text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  a constant jsonb := arguments;
  suffix constant text := right(lower(a ->> 'token'), 6);
  is_new boolean;
  answer jsonb;
begin
  status := 200;
  case call
    when 'events' then
      status := 201;
      answer := jsonb_build_object('event_id',
        ridepulse.emit(a ->> 'event', a ->> 'ride_id', coalesce(a -> 'data', '{}')));
    when 'devices' then
      perform ridepulse.register_device(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'environment', a ->> 'installation_id', a ->> 'locale');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'token_suffix', suffix);
    when 'live-activities' then
      perform ridepulse.register_live_activity(a ->> 'ride_id', a ->> 'app', a ->> 'owner_id',
        a ->> 'token', a ->> 'activity_id', a ->> 'environment', (a ->> 'frequent')::boolean,
        a ->> 'installation_id');
      answer := jsonb_build_object('ride_id', a -> 'ride_id', 'app', a -> 'app',
        'activity_id', a -> 'activity_id', 'token_suffix', suffix);
    when 'push-to-start' then
      perform ridepulse.register_push_to_start(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'attributes_type', a ->> 'environment', a ->> 'installation_id');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'attributes_type', a -> 'attributes_type', 'token_suffix', suffix);
    when 'contact' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'contacted_at', to_char(ridepulse.contact(a ->> 'app', a ->> 'owner_id')
          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
    when 'rides' then
      is_new := ridepulse.put_ride(a);
      status := case when is_new then 201 else 200 end;
      answer := jsonb_build_object('id', a -> 'id', 'created', is_new);
    when 'delete-device' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_device(a ->> 'app', a ->> 'token'));
    when 'delete-live-activity' then
      answer := jsonb_build_object('app', a -> 'app', 'activity_id', a -> 'activity_id',
        'withdrawn', ridepulse.end_live_activity(a ->> 'app', a ->> 'activity_id'));
    when 'delete-push-to-start' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_push_to_start(a ->> 'app', a ->> 'token'));
    when 'push' then
      status := 201;
      answer := jsonb_build_object('apns_id', case when a ? 'channel'
        then ridepulse.broadcast(a ->> 'app', a ->> 'channel', (a ->> 'payload')::json,
          make_interval(secs => (a ->> 'expires')::double precision), (a ->> 'priority')::integer)
        else ridepulse.push(a ->> 'app', a ->> 'token', (a ->> 'payload')::json,
          coalesce(a ->> 'push_type', 'alert'), (a ->> 'priority')::integer,
          make_interval(secs => (a ->> 'expires')::double precision), a ->> 'environment',
          a ->> 'collapse_id') end);
  end case;
  body := answer::text;
end
$$;

comment on function ridepulse.answer(text, jsonb) is
  'Executes an API call and returns the HTTP status and body of its answer. call: its name in the '
  'service. arguments: the fields of path and body, which the service has validated. Errors: those '
  'of the called function.';
