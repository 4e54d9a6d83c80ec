-- ridepulse.forget erases a person. See docs/privacy.md and docs/decisions/0037-forget.md.

create function ridepulse.event_names(event ridepulse.events, person ridepulse.erasure)
returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(event.customer_id = person.owner_id or event.driver_id = person.owner_id, false)
    or ridepulse.json_contains(
      event.data::text || coalesce(event.former::text, ''), person.owner_id)
$$;

comment on function ridepulse.event_names(ridepulse.events, ridepulse.erasure) is
  'Returns whether an event may name the person.';

-- A ride without its customer, or without anybody, is nobody's; of another one, only the person
-- goes. Silent, because an event would carry the former row.
create function ridepulse.forget_rides(p ridepulse.erasure) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.rides r where r.id = any (p.gone);
  get diagnostics deleted = row_count;
  perform set_config('ridepulse.silent', 'on', true);
  update ridepulse.rides r set
    customer_id = case when 'customer' = any (p.apps) then nullif(r.customer_id, p.owner_id)
                    else r.customer_id end,
    driver_id = case when 'driver' = any (p.apps) then nullif(r.driver_id, p.owner_id)
                  else r.driver_id end,
    attributes = case when jsonb_typeof(r.attributes) <> 'object' then r.attributes else coalesce((
      select jsonb_object_agg(m.key, m.value) from jsonb_each(r.attributes) m
      where not exists (
        select from unnest(p.rides, p.roles) f (id, app)
        where f.id = r.id and starts_with(m.key, f.app || '_'))), '{}') end
  where r.id = any (p.rides);
  get diagnostics rows = row_count;
  perform set_config('ridepulse.silent', '', true);
  return deleted + rows;
end
$$;

comment on function ridepulse.forget_rides(ridepulse.erasure) is
  'Deletes a person''s rides, and removes the person from those of other people; returns how many.';

create function ridepulse.forget_events(p ridepulse.erasure) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.events e where e.ride_id = any (p.gone || p.legacy);
  get diagnostics deleted = row_count;
  update ridepulse.events e set
    customer_id = case when e.customer_id = p.owner_id and 'customer' = any (p.apps)
                    then '(erased)' else e.customer_id end,
    driver_id = case when e.driver_id = p.owner_id and 'driver' = any (p.apps)
                  then '(erased)' else e.driver_id end,
    data = ridepulse.scrub(e.data, p.owner_id, p.keys),
    former = ridepulse.scrub_former(e.former, p)
  where e.ride_id = any (p.scope) and ridepulse.event_names(e, p);
  get diagnostics rows = row_count;
  -- The cards of a deleted ride's other people end.
  insert into ridepulse.events (ride_id, event, data)
  select a.ride_id, 'ride_removed', '{}' from ridepulse.agenda a where a.ride_id = any (p.gone)
  order by 1;
  return deleted + rows;
end
$$;

comment on function ridepulse.forget_events(ridepulse.erasure) is
  'Deletes or changes the events that name a person; returns how many.';

-- The lease ends, so that a node that holds a ride cannot write its copy of the memo back.
create function ridepulse.forget_agenda(p ridepulse.erasure) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.agenda a where a.ride_id = any (p.legacy);
  get diagnostics deleted = row_count;
  update ridepulse.agenda a set
    node = null,
    leased_until = case when a.parked_reason is null then '-infinity' else a.leased_until end,
    due_at = case when a.parked_reason is null then now() else a.due_at end,
    parked_reason = case when ridepulse.names_person(a.parked_reason, p)
                      then 'the reason named a person who was erased' else a.parked_reason end,
    memo = ridepulse.scrub_memo(a.memo, p, a.ride_id = any (p.gone))
  where a.ride_id = any (p.scope);
  get diagnostics rows = row_count;
  return deleted + rows;
end
$$;

comment on function ridepulse.forget_agenda(ridepulse.erasure) is
  'Removes a person from the memos of rides, and releases these rides; returns how many.';

-- Pending pushes to the person have left the memos: without an outcome their day is never dropped.
create function ridepulse.forget_ledger(p ridepulse.erasure) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  phones constant bigint[] := p.phones;
  rides constant text[] := p.scope;
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.ledger l where l.ride_id = any (p.legacy);
  get diagnostics deleted = row_count;
  -- Phones and the person are looked for in every row, all else only in the rows of the person's
  -- rides.
  with found as materialized (
    select l.ride_id, l.apns_id, l.occurred_at from ridepulse.ledger l
    where l.device_id = any (phones) or l.owner_id = p.owner_id and l.app = any (p.apps)
    union
    select l.ride_id, l.apns_id, l.occurred_at from ridepulse.ledger l
    where l.ride_id = any (rides) and (
      l.token_suffix = any (p.suffixes)
      or (l.ride_id, l.app) in (select * from unnest(p.rides, p.roles)) and l.device_id is null
        and (l.token_suffix is not null or ridepulse.names_person(l.reason, p)
             or ridepulse.names_person(l.collapse_id, p)))
  )
  update ridepulse.ledger l set
    device_id = null,
    owner_id = case when l.owner_id <> p.owner_id or not l.app = any (p.apps) then l.owner_id end,
    token_suffix = null,
    collapse_id = case when not ridepulse.names_person(l.collapse_id, p) then l.collapse_id end,
    reason = case when l.status = 'pending' then 'the person was erased'
               when not ridepulse.names_person(l.reason, p) then l.reason end,
    reason_code = case when l.status = 'pending' then 'phone_disabled' else l.reason_code end,
    finished_at = coalesce(l.finished_at, clock_timestamp()),
    settled_xid = case when l.status = 'pending' then pg_current_xact_id() else l.settled_xid end,
    status = case when l.status = 'pending' then 'suppressed' else l.status end
  from found f
  where l.ride_id = any (array(select g.ride_id from found g)) and l.ride_id = f.ride_id
    and l.apns_id = f.apns_id and l.occurred_at = f.occurred_at;
  get diagnostics rows = row_count;
  update ridepulse.ledger l set status = 'suppressed', reason = 'the ride was erased',
    reason_code = 'ride_not_found', finished_at = clock_timestamp(),
    settled_xid = pg_current_xact_id()
  where l.ride_id = any (p.gone) and l.status = 'pending'
    and coalesce(l.card_event, 'start') = 'start';
  return deleted + rows;
end
$$;

comment on function ridepulse.forget_ledger(ridepulse.erasure) is
  'Removes a person from the ledger, and closes pending pushes of deleted rides; returns how many '
  'rows named the person.';

create function ridepulse.forget_tokens(p ridepulse.erasure) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  counts jsonb := '{}';
  name text;
  rows bigint;
begin
  delete from ridepulse.token_outcomes o
  where o.kind = 'phone' and o.token_id = any (p.phones)
    or o.kind = 'activity' and o.token_id = any (p.cards)
    or o.kind = 'start' and o.token_id = any (p.starts);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('token_outcomes', rows);
  foreach name in array array['devices', 'live_activities', 'push_to_start_tokens', 'contacts',
                              'installation_contacts', 'preferences', 'permits',
                              'receipts'] loop
    execute format('delete from ridepulse.%I where app = any ($1) and owner_id = $2', name)
      using p.apps, p.owner_id;
    get diagnostics rows = row_count;
    counts := counts || jsonb_build_object(name, rows);
  end loop;
  delete from ridepulse.idempotency_keys k
  where ridepulse.names_person(k.key, p) or ridepulse.names_person(k.body, p)
    or strpos(k.body, to_jsonb(p.owner_id)::text) > 0
    or exists (select from unnest(p.suffixes) s where strpos(k.body, '"' || s || '"') > 0);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('idempotency_keys', rows);
  return counts;
end
$$;

comment on function ridepulse.forget_tokens(ridepulse.erasure) is
  'Deletes a person''s phones, cards, start tokens, contacts, preferences, permits and first '
  'receipt, what APNs answered about them, and stored answers to API calls; returns counts by table.';

create function ridepulse.forget_recorded(p ridepulse.erasure) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
  id constant jsonb := to_jsonb(p.owner_id);
  -- An ID that is a number may be in attributes and data without quotes.
  number constant jsonb := case when p.owner_id ~ '^(0|-?[1-9]\d{0,17})$'
    then p.owner_id::jsonb else id end;
  rows bigint;
begin
  -- json_contains also finds a short ID within other words, and then the values are compared.
  delete from ridepulse.recorded r
  where r.ride_id = any (p.scope) or ridepulse.json_contains(r.pass::text, p.owner_id)
    and (length(p.owner_id) >= 8
      or jsonb_path_exists(r.pass, '$.** ? (@ == $id || @ == $number)',
        jsonb_build_object('id', id, 'number', number)));
  get diagnostics rows = row_count;
  return rows;
end
$$;

comment on function ridepulse.forget_recorded(ridepulse.erasure) is
  'Deletes the recorded passes that may name a person; returns how many.';

create function ridepulse.forget(owner_id text, app text default null) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '5s' set standard_conforming_strings = on as $$
declare
  p ridepulse.erasure;
  counts jsonb;
  rows bigint;
begin
  -- Before the transaction gets a number: ridepulse.verdict_horizon relies on it. An earlier write
  -- of the caller's transaction, such as sign_out, breaks that: followers may miss these verdicts.
  lock table ridepulse.ledger in row exclusive mode;
  -- Nothing else is refused: whatever is stored can be erased.
  if coalesce(owner_id, '') = '' or app = '' then
    raise exception 'ridepulse.forget needs an owner_id, and an app that is null or not empty'
      using errcode = 'invalid_parameter_value', hint = 'Send the ID by which rides name the person.';
  end if;
  p := ridepulse.find_person(owner_id, app);
  -- From here on, no node can claim these rides, and none that holds one can settle it.
  perform from ridepulse.agenda a where a.ride_id = any (p.scope) order by a.ride_id for update;
  p.gone := array(
    select r.id from ridepulse.rides r
    where r.id = any (p.rides) and (
      r.customer_id = p.owner_id and 'customer' = any (p.apps)
      or (r.customer_id is null or r.customer_id = p.owner_id)
        and (r.driver_id is null or r.driver_id = p.owner_id)
        and not exists (
          select from jsonb_each(
            case jsonb_typeof(r.attributes) when 'object' then r.attributes else '{}' end) m
          where m.key like '%\_id' and m.value <> 'null' and m.value #>> '{}' <> p.owner_id)
        and not exists (
          select from ridepulse.participants t
          where t.ride_id = r.id and not (t.owner_id = p.owner_id and t.app = any (p.apps)))
      or not exists (select from ridepulse.agenda a where a.ride_id = r.id)
        and not exists (select from ridepulse.events e where e.ride_id = r.id)));
  counts := ridepulse.forget_tokens(p);
  delete from ridepulse.participants t
  where t.ride_id = any (p.gone) or t.owner_id = p.owner_id and t.app = any (p.apps);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('participants', rows,
    'rides', ridepulse.forget_rides(p), 'events', ridepulse.forget_events(p),
    'agenda', ridepulse.forget_agenda(p), 'ledger', ridepulse.forget_ledger(p),
    'recorded', ridepulse.forget_recorded(p));
  -- Last, because writers of attached tables leave problems unrecorded while these rows are held.
  update ridepulse.watch_errors e set row_id = null, detail = null
  where ridepulse.names_person(e.row_id, p) or ridepulse.names_person(e.detail, p)
    or e.row_id = any (p.gone);
  get diagnostics rows = row_count;
  return counts || jsonb_build_object('watch_errors', rows);
end
$$;

comment on function ridepulse.forget(text, text) is
  'Erases a person from all tables, and returns how many rows of each table it deleted or changed. '
  'app: only in that app; null means in all. Only the schema''s owner may call it. Errors: 22023 '
  'for an argument that is not what the function takes; 55P03 if another transaction holds a row '
  'for 5 s.';
