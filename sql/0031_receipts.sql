-- Whom a delivery was for, and which owners' phones report receipts. See docs/decisions/0091-owners-of-receipts.md.

alter table ridepulse.ledger add column owner_id text;

comment on column ridepulse.ledger.owner_id is
  'The person whom it was for; null if it was for none, for a raw push, and once the person is '
  'erased.';

-- A receipt that an escalation awaited names its owner, one a day; all others are just an apns-id and a time.
alter table ridepulse.receipts add column app text, add column owner_id text;

create index receipts_of_owners on ridepulse.receipts (app, owner_id) where owner_id is not null;

comment on column ridepulse.receipts.app is 'The app of owner_id.';
comment on column ridepulse.receipts.owner_id is
  'The owner of whom this is the first receipt of a day that an escalation awaited; null for all others.';

-- Rights that were granted on the view and the function are granted again.
select set_config('ridepulse.kept_rights', (
  select string_agg(
    format('grant %s on %s to %s', g.privilege, g.object, g.grantee::regrole), ';')
  from (
    select a.privilege_type as privilege, 'ridepulse.deliveries' as object, a.grantee
    from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'ridepulse.deliveries'::regclass and a.grantee not in (0, c.relowner)
    union all
    select a.privilege_type, 'function ridepulse.deliveries_after', a.grantee
    from pg_proc p, aclexplode(p.proacl) a
    where p.oid = 'ridepulse.deliveries_after(text, integer)'::regprocedure
      and a.grantee not in (0, p.proowner)) g), true);

drop view ridepulse.deliveries;
create view ridepulse.deliveries as
  select case when l.push_type in ('emit', 'escalation', 'post') then l.push_type else 'push' end
      as kind,
    l.owner_id, l.reason_code, l.ride_id, l.event, l.rule, l.app,
    case when l.push_type not in ('emit', 'escalation', 'post') then l.push_type end as push_type,
    l.status, l.reason, l.attempts,
    case when (l.attempts > 0 or l.status = 'pending')
      and l.push_type not in ('emit', 'escalation') then l.apns_id end as apns_id,
    l.collapse_id, l.created_at, l.finished_at, l.token_suffix,
    (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id) as seen_at,
    l.apns_unique_id
  from ridepulse.ledger l;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, of posts to receivers, and of events that rules emit, for people and backends. '
  'kind is push, post, emit or escalation; push_type is null unless it is push. owner_id is null if '
  'it was for no person, and for a raw push. apns_id is null if nothing was sent; of a post it is the '
  'webhook-id. seen_at is null unless the app reported the push; apns_unique_id is that of Apple''s '
  'Push Notifications Console, null unless APNs sent one.';

-- A verdict is returned only once every settlement that began before its own has ended, so no later
-- commit can place one before the cursor.
drop function ridepulse.deliveries_after(text, integer);
create function ridepulse.deliveries_after(cursor text default null, max integer default 1000)
returns table (
  next text, kind text, owner_id text, reason_code text, ride_id text, event text, rule text,
  app text, push_type text, status text, reason text, attempts integer, apns_id uuid, collapse_id text, created_at timestamptz,
  finished_at timestamptz, token_suffix text, seen_at timestamptz, apns_unique_id text
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_custom_plan set standard_conforming_strings = on as $$
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
    select place || '.' || l.settled_xid || '.' || l.apns_id,
      case when l.push_type in ('emit', 'escalation', 'post') then l.push_type else 'push' end,
      l.owner_id, l.reason_code, l.ride_id, l.event, l.rule, l.app,
      case when l.push_type not in ('emit', 'escalation', 'post') then l.push_type end,
      l.status, l.reason, l.attempts,
      case when l.attempts > 0 then l.apns_id end, l.collapse_id, l.created_at, l.finished_at,
      l.token_suffix,
      (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id), l.apns_unique_id
    from ridepulse.ledger l
    where (l.settled_xid, l.apns_id) > (last_xid, last_id) and l.settled_xid < limits.horizon
      and l.status <> 'pending'
    order by l.settled_xid, l.apns_id limit max;
end
$$;

comment on function ridepulse.deliveries_after(text, integer) is
  'Returns the verdicts after a cursor, in the order in which they were committed, each with the '
  'cursor behind it (next) and the columns of the view deliveries. No verdict is skipped; one that '
  'a repeated push changes is returned again. cursor: null begins with the oldest. max: 1 to 10000 '
  'rows. Errors: 22023 if an argument is malformed; 55000 on a standby, and for a cursor of another '
  'server or of commits that a failover has lost.';

do $$
begin
  if coalesce(current_setting('ridepulse.kept_rights', true), '') <> '' then
    execute current_setting('ridepulse.kept_rights');
  end if;
end
$$;

drop function ridepulse.forget_ledger(ridepulse.erasure);
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

drop function ridepulse.forget_tokens(ridepulse.erasure);
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
