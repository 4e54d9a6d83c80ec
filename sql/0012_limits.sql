-- What people have turned off, and how often they were disturbed.
-- Contract: docs/sql.md; reasons: docs/decisions/0060-limits-per-person.md.

create table ridepulse.preferences (
  app         text not null,
  owner_id    text not null,
  topic       text not null,
  is_allowed  boolean not null,
  changed_at  timestamptz not null default clock_timestamp(),
  primary key (app, owner_id, topic)
);

comment on table ridepulse.preferences is
  'Topics that people have turned on or off. A topic without a row is on.';
comment on column ridepulse.preferences.app is 'The app whose pushes it concerns.';
comment on column ridepulse.preferences.owner_id is 'The owner of the phones.';
comment on column ridepulse.preferences.topic is 'The topic, as rules name it.';
comment on column ridepulse.preferences.is_allowed is 'Whether the topic is on.';
comment on column ridepulse.preferences.changed_at is 'When it was last turned on or off.';

create function ridepulse.set_preference(
  app text, owner_id text, topic text, allowed boolean
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  has_changed boolean;
begin
  perform ridepulse.check_app('set_preference', app),
    ridepulse.check_text('set_preference', 'owner_id', owner_id),
    ridepulse.check_text('set_preference', 'topic', topic);
  if topic !~ '^[a-z0-9_-]{1,64}$' then
    raise exception 'topic of ridepulse.set_preference is %', quote_literal(left(topic, 80))
      using errcode = 'invalid_parameter_value',
            hint = 'A topic has a-z, 0-9, - and _, at most 64, as rule files name it.';
  elsif allowed is null then
    raise exception 'ridepulse.set_preference needs allowed, got NULL'
      using errcode = 'invalid_parameter_value', hint = 'Send true or false.';
  end if;
  -- An unknown topic is on, so turning it on for the first time changes nothing.
  insert into ridepulse.preferences as p (app, owner_id, topic, is_allowed)
  values (set_preference.app, set_preference.owner_id, set_preference.topic, allowed)
  on conflict on constraint preferences_pkey do update
  set is_allowed = excluded.is_allowed, changed_at = excluded.changed_at
  where p.is_allowed <> excluded.is_allowed
  returning xmax <> 0 or not is_allowed into has_changed;
  if has_changed is not true then
    return false;
  end if;
  -- A card that runs is ended by its ride's next decision.
  insert into ridepulse.events (ride_id, event, data)
  select distinct c.ride_id, 'preference_changed', '{}'::jsonb
  from ridepulse.current_live_activities c
  where c.app = set_preference.app and c.owner_id = set_preference.owner_id and c.ended_at is null
  order by 1;
  perform ridepulse.make_rides_due(set_preference.app, set_preference.owner_id, 'preference_changed')
  where ridepulse.has_android(set_preference.app, set_preference.owner_id);
  return true;
end
$$;

comment on function ridepulse.set_preference(text, text, text, boolean) is
  'Turns a topic on or off for a person; returns whether that changed anything. Rides with a live '
  'card of the person become due: a card whose topic is off ends at once. Errors: 22023 for an '
  'argument that is not what the function takes.';

create table ridepulse.permits (
  id          uuid primary key,
  app         text not null,
  owner_id    text not null,
  name        text not null,
  is_sent     boolean not null default false,
  counts_at   timestamptz not null,
  keep_until  timestamptz not null,
  kind        text not null check (kind in ('topic', 'rule')),
  ride_id     text not null
);

create index permits_by_counted on ridepulse.permits (app, owner_id, kind, name, counts_at);
-- A driver has few pushes in a ride, and many in the 90 days for which those are counted.
create index permits_by_ride on ridepulse.permits (ride_id);
create index permits_by_age on ridepulse.permits (keep_until);

comment on table ridepulse.permits is
  'Pushes that at-most counts: one row for each event or slot, rule and owner.';
comment on column ridepulse.permits.id is 'The same on every node and in every attempt.';
comment on column ridepulse.permits.app is 'The app of the phones.';
comment on column ridepulse.permits.owner_id is 'The owner of the phones.';
comment on column ridepulse.permits.name is 'The name of the topic, or of the rule.';
comment on column ridepulse.permits.is_sent is 'Whether it was sent to a phone, or may have been.';
comment on column ridepulse.permits.counts_at is
  'When it was sent; until that is known, the end of its validity.';
comment on column ridepulse.permits.keep_until is 'When no rule counts it any more.';
comment on column ridepulse.permits.kind is 'What is counted: topic, or rule.';
comment on column ridepulse.permits.ride_id is
  'The ride that it is about, for what is counted within a ride; empty if an older version wrote it.';

-- Locks what is counted in the order of the locks' numbers, so that two batches can't deadlock, and
-- counts after that: a statement sees what was committed before it began.
create function ridepulse.lock_counted(permits jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  select pg_advisory_xact_lock(k.number) from (
    select distinct hashtextextended(
      jsonb_build_array('ridepulse permits', p.app, p.owner_id, p.kind, p.name)::text, 0) as number
    from jsonb_to_recordset(permits) as p (app text, owner_id text, kind text, name text)
    order by 1) k;
end;

comment on function ridepulse.lock_counted(jsonb) is
  'Locks the owners and the topics or rules of permits until the end of the transaction.';

create function ridepulse.request_permits(requests jsonb)
returns table (ride_id text, refused uuid)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  request record;
  since timestamptz;
  used bigint;
begin
  -- The next holder of a lost ride asks for the same permits: nothing is granted twice.
  return query
    select r.ride_id, null::uuid
    from jsonb_to_recordset(requests -> 'rides') as r (ride_id text, fence bigint, node uuid)
    where not exists (
      select from ridepulse.agenda a
      where a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node);
  perform ridepulse.lock_counted(requests -> 'permits');
  for request in
    select q.* from jsonb_to_recordset(requests -> 'permits') as q (
      ride_id text, id uuid, app text, owner_id text, kind text, name text, count bigint,
      per bigint, valid_until bigint, "window" bigint, occurred_at bigint)
    join jsonb_to_recordset(requests -> 'rides') as r (ride_id text, fence bigint, node uuid)
      on r.ride_id = q.ride_id
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    order by q.occurred_at, q.id
  loop
    update ridepulse.permits p set counts_at = greatest(p.counts_at,
      timestamptz 'epoch' + request.valid_until * interval '1 microsecond')
    where p.id = request.id;
    continue when found;
    -- Without per, what is counted is what the ride had.
    if request.per is null then
      select count(*) into used from ridepulse.permits p
      where p.ride_id = request.ride_id and p.app = request.app
        and p.owner_id = request.owner_id and p.kind = request.kind and p.name = request.name;
    else
      since := clock_timestamp() - request.per * interval '1 microsecond';
      select count(*) into used from ridepulse.permits p
      where p.app = request.app and p.owner_id = request.owner_id and p.kind = request.kind
        and p.name = request.name and p.counts_at > since;
    end if;
    if used >= request.count then
      ride_id := request.ride_id;
      refused := request.id;
      return next;
    else
      insert into ridepulse.permits
        (id, app, owner_id, kind, name, ride_id, counts_at, keep_until)
      values (request.id, request.app, request.owner_id, request.kind, request.name,
        request.ride_id, timestamptz 'epoch' + request.valid_until * interval '1 microsecond',
        timestamptz 'epoch'
          + (request.valid_until + request."window") * interval '1 microsecond');
    end if;
  end loop;
end
$$;

comment on function ridepulse.request_permits(jsonb) is
  'Grants permits to claimed rides before they send, the oldest firings first. requests: rides with '
  'their claims, and permits; per is null for what is counted within the ride. Returns a row for '
  'each permit that is refused, and one without a permit for each ride that is no longer held under '
  'its claim.';

create function ridepulse.report_permits(changes jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  held text[];
  outcome record;
begin
  held := array(
    select a.ride_id from jsonb_to_recordset(changes -> 'rides')
      as r (ride_id text, fence bigint, node uuid)
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    order by a.ride_id for update of a skip locked);
  -- The settlement that follows may find the lock of a skipped ride released. It would write what
  -- was sent without its permit, so that one push too many could follow.
  if exists (
    select from jsonb_to_recordset(changes -> 'rides') as r (ride_id text, fence bigint, node uuid)
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    where a.ride_id <> all (held))
  then
    raise exception 'agenda rows of ridepulse.report_permits are locked'
      using errcode = 'lock_not_available', hint = 'Repeat the settlement.';
  end if;
  perform ridepulse.lock_counted(changes -> 'permits');
  for outcome in
    select * from jsonb_to_recordset(changes -> 'permits') as o (
      ride_id text, id uuid, app text, owner_id text, kind text, name text, sent boolean,
      done boolean, "window" bigint)
  loop
    if outcome.sent and outcome.ride_id = any (held) then
      insert into ridepulse.permits as p
        (id, app, owner_id, kind, name, ride_id, is_sent, counts_at, keep_until)
      values (outcome.id, outcome.app, outcome.owner_id, outcome.kind, outcome.name,
        outcome.ride_id, true, clock_timestamp(),
        clock_timestamp() + outcome."window" * interval '1 microsecond')
      on conflict (id) do update set is_sent = true;
    elsif outcome.sent then
      -- Adds no row: the person may have been erased meanwhile.
      update ridepulse.permits p set is_sent = true where p.id = outcome.id;
    end if;
    -- Of a ride that has passed to another node, that node may still be sending.
    continue when not outcome.done or outcome.ride_id <> all (held);
    update ridepulse.permits p set counts_at = clock_timestamp()
    where p.id = outcome.id and p.is_sent;
    delete from ridepulse.permits p where p.id = outcome.id and not p.is_sent;
  end loop;
end
$$;

comment on function ridepulse.report_permits(jsonb) is
  'Records the outcomes of permits; called in the transaction of a settlement, before it. changes: '
  'rides with their claims, and permits. Only of rides that are held under their claim, permits '
  'are released; what was sent counts anyway. Errors: 55P03 if another session has locked the '
  'agenda row of a ride that is held.';

-- The same as OwnerShare in the program. 32 bits divided by 2^32 are exact in a double.
create function ridepulse.share(name text, owner_id text) returns double precision
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select ('x' || left(encode(sha256(convert_to(name || '/' || owner_id, 'UTF8')), 'hex'), 8))
    ::bit(32)::bigint::double precision / 4294967296
$$;

comment on function ridepulse.share(text, text) is
  'Returns the share of a person, from 0 to below 1, as share(name) in `if` of rules has it: always the '
  'same for the name and the owner ID. Null if an argument is.';
