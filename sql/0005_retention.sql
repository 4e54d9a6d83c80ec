-- How long rows are kept; the days of the ledger; and the deletion of old rows of people. Reasons:
-- docs/decisions/0038-retention.md.

create table ridepulse.retention (
  is_only         boolean primary key default true check (is_only),
  ledger          interval not null default '30 days',
  rides           interval not null default '30 days',
  phones          interval not null default '270 days',
  disabled_phones interval not null default '90 days',
  cards           interval not null default '7 days',
  start_tokens    interval not null default '270 days',
  disabled_tokens interval not null default '7 days',
  contacts        interval not null default '270 days',
  watch_errors    interval not null default '30 days',
  channels        interval not null default '90 days',
  recorded        interval not null default '7 days' check (recorded >= interval '1 day'),
  check (least(ledger, rides, phones, disabled_phones, cards, start_tokens, disabled_tokens, contacts,
               watch_errors, channels) >= interval '1 day'),
  check (contacts >= phones)
);

comment on table ridepulse.retention is
  'One row: how long each kind of row is kept, at least 1 day. See docs/privacy.md.';
comment on column ridepulse.retention.is_only is 'Always true: the primary key of the only row.';
comment on column ridepulse.retention.ledger is
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
comment on column ridepulse.retention.recorded is
  'Recorded passes, from their decision, by whole days. Only nodes with RIDEPULSE_RECORD write any.';

insert into ridepulse.retention default values;

-- Waits at most 0.1 s for a lock and leaves the rest to the next call, because all settlements
-- would queue behind it.
create function ridepulse.rotate_ledger(keep interval default null)
returns table (action text, object text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set lock_timeout = '100ms' set standard_conforming_strings = on as $$
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
  keep := coalesce(rotate_ledger.keep, rules.ledger, interval '30 days');
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

create table ridepulse.sweeps (
  name       text primary key,
  place      integer not null,
  next_page  bigint not null default 0,
  began_at   timestamptz not null default now(),
  ended_at   timestamptz
) with (fillfactor = 50);

comment on table ridepulse.sweeps is 'How far ridepulse.sweep has read each table.';
comment on column ridepulse.sweeps.name is 'The table.';
comment on column ridepulse.sweeps.place is 'The tables are swept in this order.';
comment on column ridepulse.sweeps.next_page is 'The page that the next call reads first.';
comment on column ridepulse.sweeps.began_at is 'When page 0 was last read.';
comment on column ridepulse.sweeps.ended_at is 'When the last page was last read.';

insert into ridepulse.sweeps (name, place) values
  ('rides', 1), ('live_activities', 2), ('push_to_start_tokens', 3), ('devices', 4),
  ('contacts', 5), ('channels', 6), ('watch_errors', 7), ('nodes', 8), ('idempotency_keys', 9),
  ('legacy_frames', 10), ('receipts', 11), ('preferences', 12), ('permits', 13),
  ('installation_contacts', 14), ('removed_rows', 15), ('traced_pushes', 16);

create function ridepulse.sweep_condition(name text) returns text
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
    when 'installation_contacts' then 't.contacted_at < now() - k.contacts'
    when 'preferences' then
      't.changed_at < now() - k.phones and not exists ('
      'select from ridepulse.devices d where d.app = t.app and d.owner_id = t.owner_id)'
    when 'permits' then 't.keep_until < now()'
    when 'receipts' then 't.seen_at < now() - k.ledger'
    when 'channels' then
      'coalesce(t.deleted_at, case when t.channel_id is null then t.ended_at end)'
      ' < now() - k.channels'
    when 'watch_errors' then 't.last_at < now() - k.watch_errors'
    when 'removed_rows' then 't.removed_at < now() - interval ''1 day'''
    when 'nodes' then 't.seen_at < now() - interval ''1 day'''
    when 'idempotency_keys' then 't.created_at < now() - interval ''1 day'''
    when 'traced_pushes' then 't.created_at < now() - interval ''1 day'''
    when 'legacy_frames' then 't.taken_at < now() - interval ''1 day'''
  end
$$;

comment on function ridepulse.sweep_condition(text) is
  'Returns the condition under which a row t of a table is old. k is the row of '
  'ridepulse.retention.';

-- Waits for no row: what another transaction holds is not old.
create function ridepulse.sweep(name text, pages integer default 256)
returns table (deleted bigint, is_behind boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms' as $$
declare
  s ridepulse.sweeps;
  last_page bigint;
  end_page bigint;
begin
  select * into s from ridepulse.sweeps w where w.name = sweep.name for update skip locked;
  if not found then
    return;
  end if;
  last_page := pg_relation_size(format('ridepulse.%I', s.name))
    / current_setting('block_size')::bigint;
  if s.next_page >= last_page then
    s.next_page := 0;
  end if;
  if s.next_page = 0 then
    s.began_at := now();
  end if;
  end_page := s.next_page + sweep.pages;
  execute format(
    'delete from ridepulse.%1$I where ctid = any (array('
    'select t.ctid from ridepulse.%1$I t cross join ridepulse.retention k '
    'where t.ctid >= %2$L::tid and t.ctid < %3$L::tid and %4$s for update of t skip locked))',
    s.name, format('(%s,0)', s.next_page), format('(%s,0)', end_page),
    ridepulse.sweep_condition(s.name));
  get diagnostics deleted = row_count;
  if end_page >= last_page then
    end_page := 0;
    s.ended_at := now();
  end if;
  -- The whole table in 20 hours, so that a daily pass has time to spare.
  is_behind := end_page > 0
    and end_page < last_page * extract(epoch from now() - s.began_at + interval '1 hour') / 72000;
  update ridepulse.sweeps w
  set next_page = end_page, began_at = s.began_at, ended_at = s.ended_at where w.name = s.name;
  return next;
end
$$;

comment on function ridepulse.sweep(text, integer) is
  'Deletes old rows from the next pages of a table, as ridepulse.retention defines old. name: a '
  'table of ridepulse.sweeps. pages: how many, of 8 kB. Returns how many rows it deleted, and '
  'whether more pages are due within this hour; no row if another session sweeps the table.';
