-- The ledger, partitioned by the day (UTC) of the event, so that old days are dropped whole and
-- leave no dead rows. See docs/decisions/0012-ledger-by-days.md.

create table ridepulse.ledger (
  ride_id      text not null,
  apns_id      uuid not null,
  event_id     bigint,
  event        text not null,
  rule         text not null,
  app          text not null,
  push_type    text not null,
  status       text not null check (status in ('pending', 'accepted', 'rejected', 'expired',
                                               'uncertain', 'suppressed', 'superseded')),
  reason       text,
  attempts     integer not null,
  collapse_id  text,
  device_id    bigint,
  token_suffix text,
  occurred_at  timestamptz not null,
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  priority     smallint,
  expiration   bigint,
  card_event   text check (card_event in ('start', 'update', 'end')),
  reason_code  text,
  settled_xid  xid8 not null default pg_current_xact_id(),
  primary key (ride_id, apns_id, occurred_at)
) partition by range (occurred_at);

-- The order of ridepulse.deliveries_after, which sorts the few rows of a transaction itself: equal
-- keys take almost no space. A pending push has no verdict to follow.
create index ledger_verdicts on ridepulse.ledger (settled_xid) where status <> 'pending';
-- Settlements append rows, so a summary of each range of blocks finds a time, at almost no cost.
create index ledger_by_time on ridepulse.ledger using brin (created_at, finished_at)
  with (autosummarize = on);
-- Words that no rule file declares; doctor counts those of the last day.
create index ledger_unknown_words on ridepulse.ledger (created_at)
  where reason_code in ('unknown_event', 'unknown_state');

comment on table ridepulse.ledger is
  'Outcomes of pushes: one row for each event or slot, rule and phone, and one row without a '
  'phone if a rule had no recipient.';
comment on column ridepulse.ledger.ride_id is 'The ride.';
comment on column ridepulse.ledger.apns_id is 'apns-id, the same in every attempt of the push.';
comment on column ridepulse.ledger.event_id is 'The event''s ID; null for a schedule slot.';
comment on column ridepulse.ledger.event is 'The event''s name.';
comment on column ridepulse.ledger.rule is 'The rule''s name.';
comment on column ridepulse.ledger.app is 'The app of the phone.';
comment on column ridepulse.ledger.push_type is 'apns-push-type.';
comment on column ridepulse.ledger.status is 'The outcome; docs/sql.md describes each one.';
comment on column ridepulse.ledger.reason is 'Why the push has this status, as a text for people.';
comment on column ridepulse.ledger.attempts is 'Number of times the push was sent.';
comment on column ridepulse.ledger.collapse_id is 'apns-collapse-id.';
comment on column ridepulse.ledger.device_id is
  'The phone, an ID in devices; null if there is none.';
comment on column ridepulse.ledger.token_suffix is 'The last six digits of the token.';
comment on column ridepulse.ledger.occurred_at is
  'When the event happened or the slot was due: the same in every attempt, and the partition key.';
comment on column ridepulse.ledger.created_at is 'When the push was first settled.';
comment on column ridepulse.ledger.finished_at is
  'When the outcome became final; null while the push is pending.';
comment on column ridepulse.ledger.priority is 'apns-priority; null if nothing was sent.';
comment on column ridepulse.ledger.expiration is
  'apns-expiration in seconds since 1970, 0 for a push that APNs must not store; null if nothing '
  'was sent.';
comment on column ridepulse.ledger.card_event is
  'start, update or end; null if the push does not concern a card.';
comment on column ridepulse.ledger.reason_code is
  'The reason as a code: APNs'' reason, "HTTP n", or one of the engine''s words; see docs/sql.md.';
comment on column ridepulse.ledger.settled_xid is
  'The transaction that wrote the status: the order of ridepulse.deliveries_after.';

-- For rows without a partition: slots of long ago, events from a wrong clock, and all rows if the
-- engine's role may not rotate the ledger.
create table ridepulse.ledger_default partition of ridepulse.ledger default with (fillfactor = 95);

comment on table ridepulse.ledger_default is 'Ledger rows whose day has no partition.';

create view ridepulse.deliveries as
  select ride_id, event, rule, app, push_type, status, reason, attempts,
         case when attempts > 0 or status = 'pending' then apns_id end as apns_id,
         collapse_id, created_at, finished_at, token_suffix
  from ridepulse.ledger;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, for people and backends. apns_id is null if nothing was sent.';

create table ridepulse.retention (
  is_only         boolean primary key default true check (is_only),
  keep            interval not null default '30 days',
  rides           interval not null default '30 days',
  phones          interval not null default '270 days',
  disabled_phones interval not null default '90 days',
  cards           interval not null default '7 days',
  start_tokens    interval not null default '270 days',
  disabled_tokens interval not null default '7 days',
  contacts        interval not null default '270 days',
  watch_errors    interval not null default '30 days',
  channels        interval not null default '90 days',
  check (least(keep, rides, phones, disabled_phones, cards, start_tokens, disabled_tokens, contacts,
               watch_errors, channels) >= interval '1 day'),
  check (contacts >= phones)
);

insert into ridepulse.retention default values;

comment on table ridepulse.retention is
  'One row: how long each kind of row is kept, at least 1 day. See docs/privacy.md.';
comment on column ridepulse.retention.is_only is 'Always true: the primary key of the only row.';
comment on column ridepulse.retention.keep is
  'Ledger rows and counts of slots, from their events; parked rides, from when they were parked.';
comment on column ridepulse.retention.rides is
  'Rides that are not on the agenda, from their last change or, if later, their pickup.';
comment on column ridepulse.retention.phones is
  'Enabled phones, from their last registration or, if later, their owner''s last contact.';
comment on column ridepulse.retention.disabled_phones is
  'Disabled phones, from when they were disabled.';
comment on column ridepulse.retention.cards is
  'Cards, from their end; one whose end is unknown, from 1 day after its last registration.';
comment on column ridepulse.retention.start_tokens is
  'Valid push-to-start tokens, from their last registration.';
comment on column ridepulse.retention.disabled_tokens is
  'Invalid push-to-start tokens, from when they became invalid.';
comment on column ridepulse.retention.contacts is
  'Contacts, from the last one. At least as long as phones, whose age they show.';
comment on column ridepulse.retention.watch_errors is
  'Problems of attached tables, from their last occurrence.';
comment on column ridepulse.retention.channels is
  'Channels that were deleted or refused, from then on.';

-- Waits at most 0.1 s for a lock and leaves the rest to the next call, because all settlements
-- would queue behind it.
create function ridepulse.rotate_ledger(keep interval default null)
returns table (action text, object text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set lock_timeout = '100ms' as $$
declare
  today constant date := now();
  rules ridepulse.retention;
  day date;
  is_open boolean;
  rows bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('ridepulse.rotate_ledger', 0)) then
    return;
  end if;
  select * into rules from ridepulse.retention;
  keep := coalesce(rotate_ledger.keep, rules.keep, interval '30 days');
  if keep < interval '1 day' then
    raise exception 'ridepulse.rotate_ledger keeps a day at least, got %', keep
      using errcode = 'invalid_parameter_value';
  end if;

  action := 'deleted';
  delete from ridepulse.slot_counts c where c.day < (now() - keep)::date;
  get diagnostics rows = row_count;
  object := rows || ' of slot_counts';
  if rows > 0 then return next; end if;
  delete from ridepulse.ledger_default where ctid = any (array(
    select ctid from ridepulse.ledger_default
    where created_at < now() - keep and status <> 'pending' limit 10000));
  get diagnostics rows = row_count;
  object := rows || ' of ledger_default';
  if rows > 0 then return next; end if;

  -- Rides that were parked for longer than the ledger is kept.
  with gone as (
    delete from ridepulse.agenda a
    where a.parked_reason is not null and a.parked_at < now() - keep returning a.ride_id
  ), deleted_events as (
    delete from ridepulse.events e using gone g
    where e.ride_id = g.ride_id and e.created_at < now() - keep
  )
  select count(*) into rows from gone;
  object := rows || ' parked rides';
  if rows > 0 then return next; end if;

  -- Drops come first: they lock the ledger itself, and a transaction that holds locks on partitions
  -- must not wait for that lock.
  for object, day in
    select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'ridepulse.ledger'::regclass and c.relname ~ '^ledger_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() - keep)::date
    order by 2
  loop
    begin
      -- From here on no row of the partition can become pending.
      execute format('lock table ridepulse.%I in share mode', object);
      execute format('select exists (select from ridepulse.%I where status = ''pending'')', object)
        into is_open;
      if is_open then
        action := 'kept, a push is pending:';
      else
        execute format('drop table ridepulse.%I', object);
        action := 'dropped';
      end if;
    exception when lock_not_available then
      action := 'in use, left for the next time:';
      return next;
      exit;
    end;
    return next;
  end loop;

  for day in select today + n from generate_series(-1, 7) n loop
    object := 'ledger_' || to_char(day, 'YYYYMMDD');
    if to_regclass('ridepulse.' || object) is not null then continue; end if;
    begin
      execute format(
        'create table ridepulse.%I (like ridepulse.ledger including defaults including constraints) '
        'with (fillfactor = 95)', object);
      if day > today then
        -- Rows of a future day come from a wrong clock; a few of them must not prevent the
        -- partition.
        execute format(
          'with moved as (delete from ridepulse.ledger_default where ctid = any (array('
          'select ctid from ridepulse.ledger_default where occurred_at >= %L and occurred_at < %L '
          'limit 1000)) returning *) insert into ridepulse.%I select * from moved',
          day::timestamptz, (day + 1)::timestamptz, object);
      end if;
      execute format(
        'alter table ridepulse.ledger attach partition ridepulse.%I for values from (%L) to (%L)',
        object, day::timestamptz, (day + 1)::timestamptz);
      action := 'made';
      return next;
    exception
      when check_violation then
        action := 'not made, ledger_default has rows of it:';
        return next;
      when lock_not_available then
        action := 'in use, left for the next time:';
        return next;
        exit;
    end;
    -- Each attach scans ledger_default under an exclusive lock: if it is large, one is enough for a
    -- call.
    exit when pg_relation_size('ridepulse.ledger_default') > 64 * 1024 * 1024;
  end loop;
end
$$;

comment on function ridepulse.rotate_ledger(interval) is
  'Deletes what is older than the retention, creates the ledger''s partitions from yesterday to 7 '
  'days ahead, and returns each action with its object. keep: the retention; null means that of '
  'ridepulse.retention. Does nothing while another session runs it. Errors: 22023 if keep is '
  'shorter than 1 day.';

select count(*) from ridepulse.rotate_ledger();
