-- What sampled rides read, and the outcome, for `ridepulse record`.
-- Contract: docs/record.md; reasons: docs/decisions/0066-recording.md.

alter table ridepulse.retention add column recorded interval not null default '7 days'
  check (recorded >= interval '1 day');

comment on column ridepulse.retention.recorded is
  'Recorded passes, from their decision, by whole days. Only nodes with RIDEPULSE_RECORD write any.';

-- No key: a settlement writes a pass once, in its own transaction.
create table ridepulse.recorded (
  ride_id    text not null,
  fence      bigint not null,
  decided_at timestamptz not null,
  from_at    timestamptz not null,
  revision   integer,
  sample     integer not null,
  pass       jsonb not null
) partition by range (decided_at);

create index recorded_by_time on ridepulse.recorded (from_at, fence);

comment on table ridepulse.recorded is
  'One row for each pass of a sampled ride: what the decision read, and the outcome. Partitioned by '
  'day.';
comment on column ridepulse.recorded.ride_id is 'The ride.';
comment on column ridepulse.recorded.fence is
  'The claim''s fence: the order of a ride''s passes.';
comment on column ridepulse.recorded.decided_at is 'When it was decided; the partition key.';
comment on column ridepulse.recorded.from_at is
  'The earliest time in the pass: ridepulse record reads passes in this order.';
comment on column ridepulse.recorded.revision is
  'The rule set that decided it, as in ridepulse.revisions.';
comment on column ridepulse.recorded.sample is
  'The share of rides that the node recorded, in millionths.';
comment on column ridepulse.recorded.pass is
  'The rows that the decision read, the answers of APNs, and the outcomes.';

-- For rows without a partition: a wrong clock, and all rows if no service may rotate.
create table ridepulse.recorded_default partition of ridepulse.recorded default;

comment on table ridepulse.recorded_default is 'Recorded passes whose day has no partition.';

-- Waits at most 0.1 s for a lock and leaves the rest to the next call, like ridepulse.rotate_ledger.
create function ridepulse.rotate_recorded() returns table (action text, object text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set lock_timeout = '100ms' as $$
declare
  today constant date := now();
  keep interval;
  day date;
  rows bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('ridepulse.rotate_recorded', 0)) then
    return;
  end if;
  select k.recorded into keep from ridepulse.retention k;
  keep := coalesce(keep, interval '7 days');
  action := 'deleted';
  delete from ridepulse.recorded_default where ctid = any (array(
    select ctid from ridepulse.recorded_default where decided_at < now() - keep limit 10000));
  get diagnostics rows = row_count;
  object := rows || ' of recorded_default';
  if rows > 0 then return next; end if;
  for object, day in
    select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'ridepulse.recorded'::regclass and c.relname ~ '^recorded_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() - keep)::date
    order by 2
  loop
    begin
      execute format('drop table ridepulse.%I', object);
      action := 'dropped';
    exception when lock_not_available then
      action := 'in use, left for the next time:';
      return next;
      exit;
    end;
    return next;
  end loop;
  for day in select today + n from generate_series(0, 2) n loop
    object := 'recorded_' || to_char(day, 'YYYYMMDD');
    if to_regclass('ridepulse.' || object) is not null then continue; end if;
    begin
      execute format(
        'create table ridepulse.%I partition of ridepulse.recorded for values from (%L) to (%L)',
        object, day::timestamptz, (day + 1)::timestamptz);
      action := 'made';
      return next;
    exception
      when check_violation then
        action := 'not made, recorded_default has rows of it:';
        return next;
      when lock_not_available then
        action := 'in use, left for the next time:';
        return next;
        exit;
    end;
  end loop;
end
$$;

comment on function ridepulse.rotate_recorded() is
  'Drops days of recorded passes that are older than ridepulse.retention.recorded, creates the '
  'partitions of today and 2 days ahead, and returns each action with its object. Does nothing '
  'while another session runs it.';

create function ridepulse.forget_recorded(p ridepulse.erasure) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
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

create or replace function ridepulse.forget(owner_id text, app text default null) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '5s' as $$
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

select count(*) from ridepulse.rotate_recorded();
