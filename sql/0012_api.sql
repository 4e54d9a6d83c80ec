-- What the calls of POST /v1/… stand on, and when a phone was last heard from. See docs/api.md.

-- When an app's backend last heard from an owner's phone.
create table ridepulse.contacts (
  app          text not null check (app <> ''),
  owner_id     text not null check (owner_id <> ''),
  contacted_at timestamptz not null,
  primary key (app, owner_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- A backend may report from several places at once: the last contact stays the last one.
create function ridepulse.contact(app text, owner_id text) returns timestamptz
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into ridepulse.contacts as c (app, owner_id, contacted_at)
  values ($1, $2, clock_timestamp())
  on conflict on constraint contacts_pkey do update
  set contacted_at = greatest(c.contacted_at, excluded.contacted_at)
  returning c.contacted_at
$$;

-- What was answered to a request that named a key, written with its effect in one transaction: who
-- repeats it is answered the same, whichever node is asked and whatever became of the first one.
create table ridepulse.idempotency_keys (
  key        text primary key,
  request    bytea not null,
  status     integer not null,
  body       text not null,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.05);

create index idempotency_keys_by_age on ridepulse.idempotency_keys (created_at);

-- One call of the API; arguments were checked before.
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

-- The same, once for each key: outcome is `done`, `replayed`, `under way` or `other request`.
-- A request that is refused rolls back, and leaves its key free.
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

-- The service answers for whoever has its token, and no app's role may take others' keys.
revoke execute on function ridepulse.answer(text, jsonb) from public;
revoke execute on function ridepulse.idempotent_call(text, text, jsonb) from public;
