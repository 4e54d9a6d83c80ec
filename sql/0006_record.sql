-- What sampled rides read, and the outcome, for `ridepulse record`. Contract: docs/testing-rules.md; reasons:
-- docs/decisions/0066-recording.md.

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
set lock_timeout = '100ms' set standard_conforming_strings = on as $$
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

select count(*) from ridepulse.rotate_recorded();
