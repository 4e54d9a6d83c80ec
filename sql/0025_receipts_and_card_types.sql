-- Receipts of pushes, the columns seen_at and apns_unique_id of deliveries, and the types of cards by
-- the hour. Reasons: docs/decisions/0056-types-of-the-last-day.md and 0058-time-and-events.md.

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

-- Readers lock the view before the ledger, and so does this. It waits 2 s at most; if it can't have the
-- lock, nothing has changed, and `ridepulse migrate` can be repeated.
do $$
declare
  statement text;
  rights text[];
  has_dependents boolean := false;
  holder constant name := (
    select pg_get_userbyid(c.relowner) from pg_class c where c.oid = 'ridepulse.deliveries'::regclass);
begin
  perform set_config('lock_timeout', '2s', true);
  -- Changes nothing, but locks the view alone: `lock table` would lock the ledger first.
  alter view ridepulse.deliveries alter column ride_id drop default;

  -- A column can be put before another one only in a new view, which has the rights of the old one.
  select array_agg(format('grant %s%s on ridepulse.deliveries to %s%s', r.privilege_type, r.of_column,
    case r.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(r.grantee)) end,
    case when r.is_grantable then ' with grant option' else '' end))
  into rights
  from (
    select a.*, '' as of_column from pg_class c cross join aclexplode(c.relacl) a
    where c.oid = 'ridepulse.deliveries'::regclass
    union all
    select a.*, format(' (%I)', t.attname) from pg_attribute t cross join aclexplode(t.attacl) a
    where t.attrelid = 'ridepulse.deliveries'::regclass and t.attnum > 0) r;
  begin
    drop view ridepulse.deliveries;
  exception when dependent_objects_still_exist then
    has_dependents := true;
  end;
  if has_dependents then
    -- A view of the app's own selects from it. It goes on working if the column is the last one.
    create or replace view ridepulse.deliveries as
      select l.ride_id, l.event, l.rule, l.app, l.push_type, l.status, l.reason, l.attempts,
             case when l.attempts > 0 or l.status = 'pending' then l.apns_id end as apns_id,
             l.collapse_id, l.created_at, l.finished_at, l.token_suffix, l.apns_unique_id,
             (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id) as seen_at
      from ridepulse.ledger l;
  else
    create view ridepulse.deliveries as
      select l.ride_id, l.event, l.rule, l.app, l.push_type, l.status, l.reason, l.attempts,
             case when l.attempts > 0 or l.status = 'pending' then l.apns_id end as apns_id,
             l.collapse_id, l.created_at, l.finished_at, l.token_suffix,
             (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id) as seen_at,
             l.apns_unique_id
      from ridepulse.ledger l;
    if holder <> current_user then
      execute format('alter view ridepulse.deliveries owner to %I', holder);
    end if;
    foreach statement in array coalesce(rights, '{}') loop
      execute statement;
    end loop;
  end if;
end
$$;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, for people and backends. apns_id is null if nothing was sent; seen_at is null '
  'unless the app reported the push; apns_unique_id is that of Apple''s Push Notifications Console, '
  'null unless APNs sent one.';

-- The columns that a function returns can't be changed. Callers find the new one by its name, and it
-- has the rights of the old one.
alter function ridepulse.deliveries_after(text, integer) rename to deliveries_after_0024;

create function ridepulse.deliveries_after(cursor text default null, max integer default 1000)
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

do $$
declare
  made constant text := 'function ridepulse.deliveries_after(text, integer)';
  old pg_proc;
  entry record;
begin
  select * into old from pg_proc p
  where p.oid = 'ridepulse.deliveries_after_0024(text, integer)'::regprocedure;
  if pg_get_userbyid(old.proowner) <> current_user then
    execute format('alter %s owner to %I', made, pg_get_userbyid(old.proowner));
  end if;
  execute format('revoke execute on %s from public', made);
  for entry in select * from aclexplode(coalesce(old.proacl, acldefault('f', old.proowner))) loop
    execute format('grant execute on %s to %s%s', made,
      case entry.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(entry.grantee)) end,
      case when entry.is_grantable then ' with grant option' else '' end);
  end loop;
end
$$;

drop function ridepulse.deliveries_after_0024(text, integer);

comment on function ridepulse.deliveries_after(text, integer) is
  'Returns the verdicts after a cursor, in the order in which they were committed, each with the '
  'cursor behind it (next) and the columns of the view deliveries. No verdict is skipped; one that '
  'a repeated push changes is returned again. cursor: null begins with the oldest. max: 1 to 10000 '
  'rows. Errors: 22023 if an argument is malformed; 55000 on a standby, and for a cursor of another '
  'server or of commits that a failover has lost.';

create table ridepulse.card_type_hours (
  attributes_type text not null,
  field           text not null,
  json_type       text not null,
  hour            timestamptz not null default date_trunc('hour', now(), 'UTC'),
  count           bigint not null,
  last_at         timestamptz not null default now(),
  primary key (attributes_type, field, json_type, hour)
) with (fillfactor = 50);

comment on table ridepulse.card_type_hours is
  'The JSON types that the fields of cards had in pushes which APNs accepted, by the hour. Each node '
  'adds its counts once a minute. Rows are kept for 1 day.';
comment on column ridepulse.card_type_hours.attributes_type is
  'The attributes-type of the card''s rule.';
comment on column ridepulse.card_type_hours.field is
  'The field with its part of the payload, such as content-state.etaEpoch.';
comment on column ridepulse.card_type_hours.json_type is
  'string, int, fraction (a number with a fraction or an exponent), bool, null, list or object.';
comment on column ridepulse.card_type_hours.hour is 'The beginning of the hour.';
comment on column ridepulse.card_type_hours.count is 'How many pushes had this type in the hour.';
comment on column ridepulse.card_type_hours.last_at is 'When a node last recorded the type.';

comment on table ridepulse.card_types is
  'The counts of nodes of an earlier version, kept for 1 day; card_type_hours has all others.';
