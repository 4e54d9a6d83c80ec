-- The calls of POST /v1/… and of ridepulse legacy-gateway. See docs/api.md and docs/legacy-gateway.md.

-- Written with the effect of the request in one transaction: a repeated request gets the same answer,
-- from any node and whatever happened to the first one.
create table ridepulse.idempotency_keys (
  key        text primary key,
  request    bytea not null,
  status     integer not null,
  body       text not null,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.05);

create index idempotency_keys_by_age on ridepulse.idempotency_keys (created_at);

comment on table ridepulse.idempotency_keys is
  'The answers to requests with an idempotency key, for a day.';
comment on column ridepulse.idempotency_keys.key is 'The key that the request named.';
comment on column ridepulse.idempotency_keys.request is
  'The SHA-256 of the request, to recognise another request with the same key.';
comment on column ridepulse.idempotency_keys.status is 'The HTTP status of the answer.';
comment on column ridepulse.idempotency_keys.body is 'The body of the answer.';
comment on column ridepulse.idempotency_keys.created_at is 'When the request was executed.';

create function ridepulse.answer(call text, arguments jsonb, out status integer, out body text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  a constant jsonb := arguments;
  suffix constant text := right(lower(a ->> 'token'), 6);
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
        a ->> 'token', a ->> 'activity_id', a ->> 'environment', (a ->> 'frequent')::boolean);
      answer := jsonb_build_object('ride_id', a -> 'ride_id', 'app', a -> 'app',
        'activity_id', a -> 'activity_id', 'token_suffix', suffix);
    when 'push-to-start' then
      perform ridepulse.register_push_to_start(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'attributes_type', a ->> 'environment');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'attributes_type', a -> 'attributes_type', 'token_suffix', suffix);
    when 'contact' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'contacted_at', to_char(ridepulse.contact(a ->> 'app', a ->> 'owner_id')
          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
  end case;
  body := answer::text;
end
$$;

comment on function ridepulse.answer(text, jsonb) is
  'Executes a call of the API, whose arguments were validated before.';

-- A request that is refused rolls back, and leaves its key free. The service answers for everyone who
-- has its token, so no app's role may execute it.
create function ridepulse.idempotent_call(
  key text, call text, arguments jsonb, out outcome text, out status integer, out body text
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- jsonb writes equal objects equally, however their members were ordered.
  request constant bytea := sha256(convert_to(call || ' ' || arguments::text, 'UTF8'));
  known ridepulse.idempotency_keys;
begin
  outcome := 'done';
  if idempotent_call.key is null then
    select a.status, a.body into status, body from ridepulse.answer(call, arguments) a;
    return;
  end if;
  -- Held until the commit, so that whoever gets it next sees what the first one wrote.
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
  select a.status, a.body into status, body from ridepulse.answer(call, arguments) a;
  -- A few more than come in are dropped, so that they never pile up.
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

comment on function ridepulse.idempotent_call(text, text, jsonb) is
  'Executes a call once for each key; outcome is done, replayed, under way or other request.';

-- Pushes of legacy senders have no ride: each phone has a pseudo ride of its own, so that pushes to one
-- phone are sent in order. Its ID shows no token, because ride IDs are logged.
create function ridepulse.legacy_ride(app text, token text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select 'legacy:' || $1 || ':' || left(encode(sha256(convert_to(lower($2), 'UTF8')), 'hex'), 32)
$$;

comment on function ridepulse.legacy_ride(text, text) is 'The ID of the pseudo ride of a phone.';

-- A legacy sender repeats the frames after a refused one, and a repeat is the same push.
create table ridepulse.legacy_frames (
  frame    uuid primary key,
  apns_id  uuid not null,
  taken_at timestamptz not null default now()
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index legacy_frames_by_age on ridepulse.legacy_frames (taken_at);

comment on table ridepulse.legacy_frames is
  'Frames that arrived lately, with the push that each became.';
comment on column ridepulse.legacy_frames.frame is 'The digest of the frame''s content.';
comment on column ridepulse.legacy_frames.apns_id is 'The push.';
comment on column ridepulse.legacy_frames.taken_at is 'When it was committed.';
