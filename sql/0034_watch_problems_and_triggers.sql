-- What attached tables lack, how values of their rows are read, and new triggers for the tables that
-- are attached. See 0032_row_versions.sql.

-- last_at is null for problems that the catalog and ridepulse.unread_rides show now.
create or replace view ridepulse.watch_problems as
  select case when t.oid is null then p.relation::oid::text
      else format('%I.%I', n.nspname, t.relname) end as "table",
    p.column_name, p.problem, p.row_id, p.detail, p.count, p.first_at, p.last_at
  from (
    select w.relation, '' as column_name, 'missing_table' as problem, null::text as row_id,
      null::text as detail, null::bigint as count, null::timestamptz as first_at,
      null::timestamptz as last_at
    from ridepulse.watches w where not exists (select from pg_class c where c.oid = w.relation)
    union all
    select w.relation, m.column_name, 'missing_column', null, 'mapped to ' || m.target, null, null,
      null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join lateral (
      select key as target, value as column_name from jsonb_each_text(w.columns)
      where w.ride_function is null
      union all
      select 'attributes.' || key, value from jsonb_each_text(w.attributes)
    ) m
    where not exists (
      select from pg_attribute a
      where a.attrelid = w.relation and a.attname = m.column_name and a.attnum > 0
        and not a.attisdropped)
    union all
    select w.relation, wanted.name,
      case when g.is_there then 'disabled_trigger' else 'missing_trigger' end,
      null, null, null, null, null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join (values ('ridepulse_read'), ('ridepulse_watch'), ('ridepulse_read_update'),
      ('ridepulse_watch_update')) wanted (name)
    left join lateral (
      -- Each partition has its own copy of the trigger.
      select bool_or(g.tgenabled in ('D', 'R')) as is_disabled, count(*) > 0 as is_there
      from pg_trigger g
      where g.tgname = wanted.name and g.tgrelid in (
        select w.relation::oid union all select relid::oid from pg_partition_tree(w.relation))
    ) g on true
    where not g.is_there or g.is_disabled
    union all
    select w.relation, '', 'late_trigger', null, null, null, null, null
    from ridepulse.watches w
    join pg_trigger g on g.tgrelid = w.relation and g.tgname = 'ridepulse_read_update'
    where cardinality(g.tgattr::smallint[]) > 0 and (
      exists (select from pg_trigger b
              where b.tgrelid in (select w.relation::oid
                                  union all select relid::oid from pg_partition_tree(w.relation))
                and not b.tgisinternal and b.tgtype & 19 = 19)
      or exists (select from pg_attribute a where a.attrelid = w.relation and a.attgenerated <> ''
                 and not a.attisdropped))
    union all
    select w.relation, g.tgname, 'old_trigger', null, null, null, null, null
    from ridepulse.watches w
    join pg_trigger g on g.tgrelid = w.relation
      and g.tgname in ('ridepulse_read', 'ridepulse_read_update') and g.tgnargs < 4
    union all
    select w.relation, '', 'replaced_table', null,
      format('%I.%I', n.nspname, o.relname) collate "default", null, null, null
    from ridepulse.watches w
    join pg_namespace n on n.nspname = w.attached_schema
    join pg_class o on o.relnamespace = n.oid and o.relname = w.attached_name
    where o.oid <> w.relation and exists (select from pg_class c where c.oid = w.relation)
      and not exists (select from ridepulse.watches a where a.relation = o.oid)
    union all
    select u.relation, '', 'unread_ride', (array_agg(u.ride_id order by u.since desc))[1],
      'SQLSTATE ' || (array_agg(u.sqlstate order by u.since desc))[1], count(*), min(u.since), null
    from ridepulse.unread_rides u group by u.relation
    union all
    select w.relation, '', 'missing_function', null, w.ride_function, null, null, null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    where to_regprocedure(format('%s(%s)', w.ride_function, w.relation)) is null
      and w.ride_function is not null
    union all
    select g.tgrelid::regclass, g.tgname, 'disabled_trigger', null, null, null, null, null
    from pg_trigger g join pg_class c on c.oid = g.tgrelid
    where c.relnamespace = 'ridepulse'::regnamespace and not g.tgisinternal
      and g.tgenabled in ('D', 'R')
    union all
    select e.relation, e.column_name, e.problem, e.row_id, e.detail, e.count, e.first_at, e.last_at
    from ridepulse.watch_errors e
    where e.problem <> 'missing_column' or exists (
      select from pg_attribute a where a.attrelid = e.relation and a.attname = e.column_name)
  ) p
  left join pg_class t on t.oid = p.relation left join pg_namespace n on n.oid = t.relnamespace;

comment on view ridepulse.watch_problems is
  'Problems of attached tables: those that the catalog shows now, and those in watch_errors.';

create or replace function ridepulse.mapped_ride(w ridepulse.watches, source jsonb) returns ridepulse.rides
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ride ridepulse.rides;
  problem text;
  target text;
  pickup text := coalesce(w.constants ->> 'pickup_at', source ->> (w.columns ->> 'pickup_at'));
  problems text[] := '{}';
begin
  ride.id := ridepulse.mapped_id(w, source);
  if ride.id is null or octet_length(ride.id) > 512 or not ridepulse.belongs_to(w, ride.id) then
    perform ridepulse.record_watch_error(w.relation, w.columns ->> 'id',
      case when source ->> (w.columns ->> 'id') is null then 'null_id'
        when ride.id is null then 'empty_id'
        when octet_length(ride.id) > 512 then 'too_long' else 'foreign_id' end,
      coalesce(ride.id, source ->> (w.columns ->> 'id')));
    return null;
  end if;
  delete from ridepulse.unread_rides u where u.ride_id = ride.id;
  if found then
    insert into ridepulse.events (ride_id, event, data) values (ride.id, 'ride_watched', '{"read": true}');
  end if;
  ride.state := ridepulse.mapped_state(w, source);
  ride.customer_id := coalesce(
    w.constants ->> 'customer_id', source ->> (w.columns ->> 'customer_id'));
  ride.driver_id := coalesce(w.constants ->> 'driver_id', source ->> (w.columns ->> 'driver_id'));
  ride.time_zone := coalesce(
    w.constants ->> 'time_zone', source ->> (w.columns ->> 'time_zone'), 'UTC');
  foreach target in array array['state', 'customer_id', 'driver_id'] loop
    if octet_length(to_jsonb(ride) ->> target) > 512 then
      ride := jsonb_populate_record(ride, jsonb_build_object(target, null));
      problems := problems || array[target, 'too_long'];
    end if;
  end loop;
  if ride.time_zone <> 'UTC'
     and (ridepulse.parse_time('2000-01-01', ride.time_zone)).problem is not null then
    ride.time_zone := 'UTC';
    problems := problems || array['time_zone', 'unknown_time_zone'];
  end if;
  if pickup in ('infinity', '-infinity') and (w.ride_function is not null
       or ridepulse.base_type(w.relation, w.columns ->> 'pickup_at')
         in ('timestamp'::regtype, 'timestamptz'::regtype)) then
    ride.pickup_at := pickup::timestamptz;
  else
    select p.instant, p.problem into ride.pickup_at, problem
    from ridepulse.parse_time(pickup, w.time_zone) p;
  end if;
  if problem is not null then
    problems := problems || array['pickup_at', problem];
  end if;
  ride.attributes := coalesce(nullif(source -> (w.columns ->> 'attributes'), 'null'), '{}');
  if jsonb_typeof(ride.attributes) <> 'object' then
    ride.attributes := '{}';
    problems := problems || array['attributes', 'not_an_object'];
  end if;
  ride.attributes := coalesce(w.constants -> 'attributes', '{}') || ride.attributes || coalesce(
    (select jsonb_object_agg(key, source -> value) from jsonb_each_text(w.attributes)), '{}');
  for i in 1 .. cardinality(problems) by 2 loop
    perform ridepulse.record_watch_error(
      w.relation, w.columns ->> problems[i], problems[i + 1], ride.id);
  end loop;
  return ride;
end
$$;

drop function ridepulse.record_unreadable(ridepulse.watches, regclass, jsonb);

create function ridepulse.record_unreadable(
  w ridepulse.watches, relation regclass, operation text, source jsonb
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  code text := source #>> '{error,state}';
  detail text := format('SQLSTATE %s: %s', code, source #>> '{error,message}');
  key jsonb := source -> 'key';
  former_id text := ridepulse.mapped_id(w, source #> '{old,row}');
  own_id text := case when jsonb_array_length(key) = 1 then w.prefix || nullif(key ->> 0, '') end;
  missing text;
begin
  -- 42703 and 42883: a column or a function that does not exist. No row can be read then.
  for missing in
    select value from (
      select * from jsonb_each_text(w.columns) where w.ride_function is null
      union all select * from jsonb_each_text(w.attributes)) m
    where code = '42703' and ridepulse.base_type(record_unreadable.relation, m.value) is null
  loop
    perform ridepulse.record_watch_error(w.relation, missing, 'missing_column');
  end loop;
  if not found then
    perform ridepulse.record_watch_error(w.relation, '',
      case when code in ('42703', '42883') then 'unusable_mapping' else 'unreadable_row' end,
      coalesce(own_id, former_id, key::text), detail);
  end if;
  if operation = 'DELETE' then
    perform ridepulse.remove_ride(w, coalesce(former_id, own_id));
    return;
  end if;
  insert into ridepulse.unread_rides (ride_id, relation, sqlstate)
  select r.id, w.relation, code
  from ridepulse.rides r where r.id in (former_id, own_id)
    and ridepulse.belongs_to(w, r.id)
  on conflict do nothing;
end
$$;

comment on function ridepulse.record_unreadable(ridepulse.watches, regclass, text, jsonb) is
  'Records why a row could not be read: a column that is gone, a condition or a function that '
  'fails for each row, or this row alone. Marks its ride in ridepulse.unread_rides; removes it if '
  'the row was deleted. operation: that of the trigger. source: the error, the key and the former '
  'row, as ridepulse_read has stored them.';

insert into ridepulse.sweeps (name, place) values ('removed_rows', 15);

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
    when 'installation_contacts' then 't.contacted_at < now() - k.contacts'
    when 'preferences' then
      't.changed_at < now() - k.phones and not exists ('
      'select from ridepulse.devices d where d.app = t.app and d.owner_id = t.owner_id)'
    when 'permits' then 't.keep_until < now()'
    when 'receipts' then 't.seen_at < now() - k.keep'
    when 'channels' then
      'coalesce(t.deleted_at, case when t.channel_id is null then t.ended_at end)'
      ' < now() - k.channels'
    when 'watch_errors' then 't.last_at < now() - k.watch_errors'
    when 'removed_rows' then 't.removed_at < now() - interval ''1 day'''
    when 'nodes' then 't.seen_at < now() - interval ''1 day'''
    when 'idempotency_keys' then 't.created_at < now() - interval ''1 day'''
    when 'legacy_frames' then 't.taken_at < now() - interval ''1 day'''
  end
$$;

-- Those of a table of another owner stay as they are, and so do those of a table that is in use for
-- long: watch_problems lists them as old_trigger.
do $$
declare
  w record;
  command text;
begin
  for w in
    select a.relation, a.mapping from ridepulse.watches a join pg_class c on c.oid = a.relation
    where pg_has_role(c.relowner, 'usage')
  loop
    begin
      perform ridepulse.lock_table(w.relation, 'write');
      foreach command in array (ridepulse.check_mapping(w.relation, w.mapping)).triggers loop
        execute command;
      end loop;
    exception when others then
      raise warning 'the triggers of % stay as they are: %', w.relation, sqlerrm;
    end;
  end loop;
end
$$;
