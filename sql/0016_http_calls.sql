-- The SQL behind POST /v1/… and `ridepulse legacy-gateway`. See docs/api.md and
-- docs/legacy-gateway.md.

-- A row commits together with the effect of its request: a repeated request gets the same answer
-- from any node, even if the first answer was lost.
create table ridepulse.idempotency_keys (
  key        text primary key,
  request    bytea not null,
  status     integer not null,
  body       text not null,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.05);

create index idempotency_keys_by_age on ridepulse.idempotency_keys (created_at);

comment on table ridepulse.idempotency_keys is
  'Answers to requests with an Idempotency-Key, valid for 1 day.';
comment on column ridepulse.idempotency_keys.key is 'The Idempotency-Key of the request.';
comment on column ridepulse.idempotency_keys.request is
  'SHA-256 of the call and its arguments, which detects another request with the same key.';
comment on column ridepulse.idempotency_keys.status is 'The HTTP status of the answer.';
comment on column ridepulse.idempotency_keys.body is 'The body of the answer.';
comment on column ridepulse.idempotency_keys.created_at is 'When the request was executed.';

create function ridepulse.put_ride(ride jsonb) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_new boolean;
begin
  insert into ridepulse.rides as r
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
  values (ride ->> 'id', ride ->> 'state', ride ->> 'customer_id', ride ->> 'driver_id',
          (ride ->> 'pickup_at')::timestamptz, coalesce(ride ->> 'time_zone', 'UTC'),
          coalesce(ride -> 'attributes', '{}'))
  on conflict on constraint rides_pkey do update set
    state = excluded.state,
    customer_id = excluded.customer_id,
    driver_id = excluded.driver_id,
    pickup_at = excluded.pickup_at,
    time_zone = excluded.time_zone,
    attributes = excluded.attributes
  -- Only an updated row has a transaction there, that of its lock.
  returning xmax = 0 into is_new;
  if ride ? 'participants' then
    delete from ridepulse.participants p
    where p.ride_id = ride ->> 'id' and not exists (
      select from jsonb_to_recordset(ride -> 'participants') as n (app text, owner_id text)
      where n.app = p.app and n.owner_id = p.owner_id);
    -- Those who are there already would count twice in the trigger that limits them.
    with named as materialized (
      select distinct on (n.app, n.owner_id) n.app, n.owner_id,
        coalesce(n.attributes, '{}') as attributes
      from rows from (jsonb_to_recordset(ride -> 'participants')
        as (app text, owner_id text, attributes jsonb)) with ordinality
        as n (app, owner_id, attributes, number)
      order by n.app, n.owner_id, n.number
    ), changed as (
      update ridepulse.participants p set attributes = n.attributes
      from named n
      where p.ride_id = ride ->> 'id' and p.app = n.app and p.owner_id = n.owner_id
        and p.attributes <> n.attributes
    )
    insert into ridepulse.participants (ride_id, app, owner_id, attributes)
    select ride ->> 'id', n.app, n.owner_id, n.attributes from named n
    where not exists (
      select from ridepulse.participants p
      where p.ride_id = ride ->> 'id' and p.app = n.app and p.owner_id = n.owner_id);
  end if;
  return is_new;
end
$$;

comment on function ridepulse.put_ride(jsonb) is
  'Inserts or replaces a ride, whose triggers emit its events; returns whether it is new. ride: the '
  'columns as members, and the ID; a missing one has its default. participants: a list of objects '
  'with app, owner_id and attributes, the ride''s further people from then on; if it is missing, they '
  'stay.';

-- Of a token to withdraw, the form tells the platform.
create function ridepulse.answer(call text, arguments jsonb, out status integer, out body text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  a constant jsonb := arguments;
  suffix constant text := right(ridepulse.canonical_token(coalesce(a ->> 'platform',
    case when a ->> 'token' ~ '^[0-9A-Fa-f]+$' then 'ios' else 'android' end), a ->> 'token'), 6);
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
        a ->> 'environment', a ->> 'installation_id', a ->> 'locale',
        a ->> 'platform', a ->> 'time_zone', (a ->> 'alerts')::boolean, a ->> 'app_version');
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
        'contacted_at', to_char(ridepulse.contact(a ->> 'app', a ->> 'owner_id', a ->> 'installation_id')
          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
    when 'preferences' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'topic', a -> 'topic', 'allowed', a -> 'allowed',
        'changed', ridepulse.set_preference(a ->> 'app', a ->> 'owner_id', a ->> 'topic',
          (a ->> 'allowed')::boolean));
    when 'seen' then
      perform ridepulse.seen((a ->> 'apns_id')::uuid);
      status := 204;
    when 'rides' then
      is_new := ridepulse.put_ride(a);
      status := case when is_new then 201 else 200 end;
      answer := jsonb_build_object('id', a -> 'id', 'created', is_new);
    when 'delete-device' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_device(a ->> 'app', a ->> 'token'));
    when 'delete-live-activity' then
      answer := jsonb_build_object('app', a -> 'app', 'activity_id', a -> 'activity_id',
        'withdrawn', ridepulse.end_live_activity(a ->> 'app', a ->> 'activity_id', a ->> 'owner_id',
          a ->> 'reason'));
    when 'delete-push-to-start' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_push_to_start(a ->> 'app', a ->> 'token'));
    when 'push' then
      status := 201;
      answer := jsonb_build_object('apns_id', case when a ? 'channel_id'
        then ridepulse.broadcast(a ->> 'app', a ->> 'channel_id', (a ->> 'payload')::json,
          make_interval(secs => (a ->> 'expires')::double precision), (a ->> 'priority')::integer)
        else ridepulse.push(a ->> 'app', a ->> 'token', (a ->> 'payload')::json,
          coalesce(a ->> 'push_type', 'alert'), (a ->> 'priority')::integer,
          make_interval(secs => (a ->> 'expires')::double precision), a ->> 'environment',
          a ->> 'collapse_id') end);
  end case;
  body := coalesce(answer::text, '');
end
$$;

comment on function ridepulse.answer(text, jsonb) is
  'Executes an API call and returns the HTTP status and body of its answer. call: its name in the '
  'service. arguments: the fields of path and body, which the service has validated. Errors: those '
  'of the called function.';

create function ridepulse.checked_call(
  call text, arguments jsonb, awaited_state text, out outcome text, out status integer,
  out body text
) language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  state text;
begin
  if awaited_state is not null then
    select r.state into state from ridepulse.rides r where r.id = arguments ->> 'ride_id';
    if state is distinct from awaited_state then
      outcome := case when found then 'other state' else 'no ride' end;
      body := state;
      return;
    end if;
  end if;
  outcome := 'done';
  select a.status, a.body into status, body from ridepulse.answer(call, arguments) a;
end
$$;

comment on function ridepulse.checked_call(text, jsonb, text) is
  'Executes an API call if its ride is in the awaited state, or if none is awaited. outcome: done, '
  'other state (body has the ride''s state, null if it has none) or no ride.';

-- A refused request rolls back and does not use up its key. A call may concern any app, owner and
-- ride, so no app's role may execute this function.
create function ridepulse.idempotent_call(
  key text, call text, arguments jsonb, awaited_state text default null, out outcome text,
  out status integer, out body text
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- Equal jsonb objects have equal texts, whatever the order of their members was.
  request constant bytea := sha256(convert_to(call || ' ' || arguments::text, 'UTF8'));
  known ridepulse.idempotency_keys;
begin
  outcome := 'done';
  if idempotent_call.key is null then
    select c.outcome, c.status, c.body into outcome, status, body
    from ridepulse.checked_call(call, arguments, awaited_state) c;
    return;
  end if;
  -- Held until the commit, so that the next holder reads the row of this one.
  if not pg_try_advisory_xact_lock(
    hashtextextended('ridepulse.idempotency_keys ' || idempotent_call.key, 0)) then
    outcome := 'under way';
    return;
  end if;
  select * into known from ridepulse.idempotency_keys k
  where k.key = idempotent_call.key and k.created_at > now() - interval '1 day';
  if found then
    if known.request <> request then
      outcome := 'other request';
      return;
    end if;
    outcome := 'replayed';
    status := known.status;
    body := known.body;
    return;
  end if;
  select c.outcome, c.status, c.body into outcome, status, body
  from ridepulse.checked_call(call, arguments, awaited_state) c;
  if outcome <> 'done' then
    return;
  end if;
  -- Each call inserts one row and deletes up to 20 old ones, so that they do not accumulate.
  delete from ridepulse.idempotency_keys where ctid = any (array(
    select k.ctid from ridepulse.idempotency_keys k
    where k.created_at <= now() - interval '1 day'
    order by k.created_at limit 20 for update skip locked));
  insert into ridepulse.idempotency_keys as k (key, request, status, body)
  values (idempotent_call.key, request, status, body)
  on conflict on constraint idempotency_keys_pkey do update
  set request = excluded.request, status = excluded.status, body = excluded.body,
    created_at = excluded.created_at;
end
$$;

comment on function ridepulse.idempotent_call(text, text, jsonb, text) is
  'Executes an API call once for each key. key: null executes it each time. call, arguments: as '
  'for ridepulse.answer. awaited_state: the state that the ride of the call must be in, null for '
  'any. outcome: done, replayed, under way (another transaction is executing it), other request '
  '(the key belongs to another one), other state (body has it) or no ride; only done and replayed '
  'have a status. Errors: those of ridepulse.answer.';

-- Pushes of legacy senders have no ride: each phone has its own pseudo ride, so that the pushes to
-- it are sent in order. The ID contains only a digest of the token, because ride IDs are logged.
create function ridepulse.legacy_ride(app text, token text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select 'legacy:' || $1 || ':' || left(encode(sha256(convert_to(lower($2), 'UTF8')), 'hex'), 32)
$$;

comment on function ridepulse.legacy_ride(text, text) is
  'Returns the ID of a phone''s pseudo ride. token: hexadecimal, in upper or lower case.';

-- A legacy sender repeats the frames after a refused one; a repeated frame is the same push.
create table ridepulse.legacy_frames (
  frame    uuid primary key,
  apns_id  uuid not null,
  taken_at timestamptz not null default now()
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index legacy_frames_by_age on ridepulse.legacy_frames (taken_at);

comment on table ridepulse.legacy_frames is
  'Recently committed frames of legacy senders, with their pushes.';
comment on column ridepulse.legacy_frames.frame is 'The digest of the frame''s content.';
comment on column ridepulse.legacy_frames.apns_id is 'apns-id of the push.';
comment on column ridepulse.legacy_frames.taken_at is 'When the frame was committed.';
