-- Receipts of pushes: which of them apps have displayed.
-- Reasons: docs/decisions/0058-time-and-events.md.

-- A table of its own, because a receipt may come before its push is settled, and because an app's
-- transaction must not hold a ledger row that a settlement writes.
create table ridepulse.receipts (
  apns_id uuid primary key,
  seen_at timestamptz not null default clock_timestamp()
) with (fillfactor = 95, autovacuum_vacuum_scale_factor = 0.05);

comment on table ridepulse.receipts is
  'Pushes that apps have reported as seen. Kept as long as ledger rows.';
comment on column ridepulse.receipts.apns_id is 'apns-id of the push.';
comment on column ridepulse.receipts.seen_at is 'When the first report came.';

create function ridepulse.seen(apns_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if apns_id is null then
    raise exception 'ridepulse.seen needs apns_id, got null'
      using errcode = 'invalid_parameter_value', hint = 'It is the apns-id of the push.';
  end if;
  insert into ridepulse.receipts (apns_id) values (seen.apns_id)
  on conflict on constraint receipts_pkey do nothing;
end
$$;

comment on function ridepulse.seen(uuid) is
  'Records that an app displayed a push; the first report counts. apns_id: the apns-id of the push; '
  'one that is unknown, or not known yet, is no error. Errors: 22023 if it is null.';

-- The older column of the ledger would need a write to a row that a settlement may hold.
do $$
declare
  is_last constant boolean := (
    select max(a.attnum) filter (where a.attname = 'seen_at')
      > max(a.attnum) filter (where a.attname = 'apns_unique_id')
    from pg_attribute a where a.attrelid = 'ridepulse.deliveries'::regclass);
begin
  perform set_config('lock_timeout', '2s', true);
  -- The columns stay in their order, which an app's own view may have fixed.
  execute format($view$
    create or replace view ridepulse.deliveries as
      select l.ride_id, l.event, l.rule, l.app, l.push_type, l.status, l.reason, l.attempts,
             case when l.attempts > 0 or l.status = 'pending' then l.apns_id end as apns_id,
             l.collapse_id, l.created_at, l.finished_at, l.token_suffix, %s
      from ridepulse.ledger l
    $view$, case when is_last then 'l.apns_unique_id, ' else '' end
      || '(select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id) as seen_at'
      || case when is_last then '' else ', l.apns_unique_id' end);
end
$$;

comment on column ridepulse.ledger.seen_at is 'Not used: ridepulse.receipts has the receipts.';

create or replace function ridepulse.deliveries_after(cursor text default null, max integer default 1000)
returns table (
  next text, ride_id text, event text, rule text, app text, push_type text, status text,
  reason text, attempts integer, apns_id uuid, collapse_id text, created_at timestamptz,
  finished_at timestamptz, token_suffix text, seen_at timestamptz, apns_unique_id text
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_custom_plan as $$
declare
  place constant text := ridepulse.log_place();
  limits record;
  parts text[];
  last_xid xid8 := '0';
  last_id uuid := '00000000-0000-0000-0000-000000000000';
begin
  if max is null or max not between 1 and 10000 then
    raise exception 'ridepulse.deliveries_after returns 1 to 10000 rows, got a max of %',
      coalesce(max::text, 'null') using errcode = 'invalid_parameter_value';
  end if;
  limits := ridepulse.verdict_horizon();
  if cursor is not null then
    parts := regexp_match(cursor,
      '^([0-9a-f]{1,16}\.[0-9A-F]{8})\.([0-9]{1,19})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
    if parts is null then
      raise exception 'ridepulse.deliveries_after needs a cursor that it returned'
        using errcode = 'invalid_parameter_value',
              hint = 'Pass the column next of the last row unchanged, or null to begin with the '
                'oldest verdict.';
    end if;
    last_xid := parts[2];
    last_id := parts[3];
    -- After a failover, the verdict of the cursor is there if nothing that was read before is lost.
    if last_xid > limits.newest or split_part(parts[1], '.', 1) <> split_part(place, '.', 1)
       or (parts[1] <> place and not exists (
         select from ridepulse.ledger l
         where l.settled_xid = last_xid and l.apns_id = last_id and l.status <> 'pending'))
    then
      raise exception 'the cursor is of another server, or of commits that a failover has lost'
        using errcode = 'object_not_in_prerequisite_state',
              hint = 'Begin again with ridepulse.deliveries_cursor(since), a while before the '
                'failover or the restore.';
    end if;
  end if;
  return query
    select place || '.' || l.settled_xid || '.' || l.apns_id, l.ride_id, l.event, l.rule, l.app,
      l.push_type, l.status, l.reason, l.attempts,
      case when l.attempts > 0 then l.apns_id end, l.collapse_id, l.created_at, l.finished_at,
      l.token_suffix,
      (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id), l.apns_unique_id
    from ridepulse.ledger l
    where (l.settled_xid, l.apns_id) > (last_xid, last_id) and l.settled_xid < limits.horizon
      and l.status <> 'pending'
    order by l.settled_xid, l.apns_id limit max;
end
$$;

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
  body := coalesce(answer::text, '');
end
$$;

-- Old receipts are swept like rows of the ledger.
create or replace function ridepulse.sweep_condition(name text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case $1
    when 'rides' then
      't.updated_at < now() - k.rides'
      ' and (t.pickup_at is null or t.pickup_at < now() - k.rides)'
      ' and not exists (select from ridepulse.agenda a where a.ride_id = t.id)'
      ' and not exists (select from ridepulse.events e where e.ride_id = t.id)'
    when 'live_activities' then
      'coalesce(t.ended_at, t.registered_at + interval ''1 day'') < now() - k.cards'
    when 'push_to_start_tokens' then
      'case when t.disabled_at is null then t.registered_at < now() - k.start_tokens'
      ' else t.disabled_at < now() - k.disabled_tokens end'
    when 'devices' then
      -- A phone that only the legacy gateway has added was never registered: it goes with its
      -- last push.
      'case when t.disabled_at is not null then t.disabled_at < now() - k.disabled_phones'
      ' when t.registered_at = ''-infinity'' then not exists ('
      'select from ridepulse.ledger l where l.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.events e'
      ' where e.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.agenda a'
      ' where a.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' else t.registered_at < now() - k.phones and not exists ('
      'select from ridepulse.contacts c where c.app = t.app and c.owner_id = t.owner_id'
      ' and c.contacted_at >= now() - k.phones) end'
    when 'contacts' then 't.contacted_at < now() - k.contacts'
    when 'receipts' then 't.seen_at < now() - k.keep'
    when 'channels' then
      'coalesce(t.deleted_at, case when t.channel_id is null then t.ended_at end)'
      ' < now() - k.channels'
    when 'watch_errors' then 't.last_at < now() - k.watch_errors'
    when 'nodes' then 't.seen_at < now() - interval ''1 day'''
    when 'idempotency_keys' then 't.created_at < now() - interval ''1 day'''
    when 'legacy_frames' then 't.taken_at < now() - interval ''1 day'''
  end
$$;

insert into ridepulse.sweeps (name, place)
select 'receipts', max(s.place) + 1 from ridepulse.sweeps s;
