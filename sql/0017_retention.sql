-- Deletes old rows of people. Reasons: docs/decisions/0038-retention.md.
--
-- No index has the times that age is counted from: they change with each update, which would then
-- no longer be a HOT update. Each call therefore reads a slice of a table, in the order of its
-- pages, and the place where it stopped is kept here.

create table ridepulse.sweeps (
  name       text primary key,
  place      integer not null,
  next_page  bigint not null default 0,
  began_at   timestamptz not null default now(),
  ended_at   timestamptz
) with (fillfactor = 50);

insert into ridepulse.sweeps (name, place) values
  ('rides', 1), ('live_activities', 2), ('push_to_start_tokens', 3), ('devices', 4),
  ('contacts', 5), ('channels', 6), ('watch_errors', 7), ('nodes', 8), ('idempotency_keys', 9),
  ('legacy_frames', 10);

comment on table ridepulse.sweeps is 'How far ridepulse.sweep has read each table.';
comment on column ridepulse.sweeps.name is 'The table.';
comment on column ridepulse.sweeps.place is 'The tables are swept in this order.';
comment on column ridepulse.sweeps.next_page is 'The page that the next call reads first.';
comment on column ridepulse.sweeps.began_at is 'When page 0 was last read.';
comment on column ridepulse.sweeps.ended_at is 'When the last page was last read.';

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
    when 'channels' then
      'coalesce(t.deleted_at, case when t.channel_id is null then t.ended_at end)'
      ' < now() - k.channels'
    when 'watch_errors' then 't.last_at < now() - k.watch_errors'
    when 'nodes' then 't.seen_at < now() - interval ''1 day'''
    when 'idempotency_keys' then 't.created_at < now() - interval ''1 day'''
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
