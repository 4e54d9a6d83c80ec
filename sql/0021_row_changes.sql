-- The trigger function of attached tables that writes rides: what it copies is the row as it is,
-- whatever other triggers have changed since. See 0018_watches.sql and 0022_watch_queries.sql; reasons:
-- docs/decisions/0072-row-versions.md.

create function ridepulse.write_ride(ride ridepulse.rides) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update ridepulse.rides r set state = ride.state, customer_id = ride.customer_id,
    driver_id = ride.driver_id, pickup_at = ride.pickup_at, time_zone = ride.time_zone,
    attributes = ride.attributes
  where r.id = ride.id
    and (r.state, r.customer_id, r.driver_id, r.pickup_at, r.time_zone, r.attributes)
      is distinct from (ride.state, ride.customer_id, ride.driver_id, ride.pickup_at,
                        ride.time_zone, ride.attributes);
  return found;
end
$$;

comment on function ridepulse.write_ride(ridepulse.rides) is
  'Writes the columns of a ride that a row maps. Returns false if there is no ride, or if it has '
  'these values.';

-- An update of a row without a ride, such as one that was finished before the table was attached,
-- announces its state only if the update changed the state, or made the row meet the condition. Once
-- the table is backfilled, a row without a ride and without a change of its state was not live then:
-- it is not copied.
create function ridepulse.store_row(
  w ridepulse.watches, operation text, new_row jsonb, old_row jsonb
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_ride boolean := coalesce((new_row ->> 'in')::boolean and new_row -> 'row' <> 'null', false);
  was_ride boolean := coalesce((old_row ->> 'in')::boolean and old_row -> 'row' <> 'null', false);
  former_id text := ridepulse.mapped_id(w, old_row -> 'row');
  former_state text := ridepulse.mapped_state(w, old_row -> 'row');
  new_id text := ridepulse.mapped_id(w, new_row -> 'row');
  new_state text := ridepulse.mapped_state(w, new_row -> 'row');
  is_silent boolean := operation = 'UNREAD' or was_ride and former_id = new_id
    and former_state is not distinct from new_state;
  is_there boolean;
  ride ridepulse.rides;
begin
  if was_ride
     and (not is_ride or former_id is distinct from new_id)
     and not ridepulse.remove_ride(w, former_id)
     and operation = 'DELETE' and octet_length(former_id) <= 512
  then
    insert into ridepulse.removed_rows as r (ride_id, state, removed_at)
    values (former_id, former_state, now())
    on conflict on constraint removed_rows_pkey do update set
      state = excluded.state, removed_at = excluded.removed_at;
  end if;
  if not is_ride or operation = 'GONE' then
    return;
  end if;
  if operation = 'UPDATE' and is_silent and pg_trigger_depth() = 1
     and coalesce(not new_state = any (w.live_states), w.live_states is not null)
     and not exists (select from ridepulse.rides r where r.id = new_id)
  then
    return;
  end if;
  ride := ridepulse.mapped_ride(w, new_row -> 'row');
  if ride.id is null then
    return;
  end if;
  -- Most rows that change have a ride, and no trigger of the app has written it in this transaction.
  if is_silent and pg_trigger_depth() = 1 and ridepulse.write_ride(ride) then
    return;
  end if;
  loop
    perform from ridepulse.rides r where r.id = ride.id for no key update;
    is_there := found;
    if is_there and not is_silent then
      insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
      select ride.id, ride.state, '{}', ride.customer_id, ride.driver_id
      from ridepulse.rides r where r.id = ride.id and r.state = ride.state and ride.state <> ''
        and ridepulse.is_unannounced(ride);
      if found then
        perform ridepulse.enter_state(ride.id, ride.state, clock_timestamp(), false);
      end if;
    end if;
    if is_there or ((operation = 'INSERT' or not was_ride or former_id = ride.id)
         and ridepulse.restore_ride(ride.id)) then
      perform set_config('ridepulse.silent', 'on', true)
      where is_there and is_silent and pg_trigger_depth() > 1 and ridepulse.is_unannounced(ride);
      perform ridepulse.write_ride(ride);
      perform set_config('ridepulse.silent', '', true);
      return;
    end if;
    if operation = 'DELETE' or operation = 'INSERT' and ridepulse.has_moved(ride) then
      return;
    end if;
    if is_silent then
      exit when ridepulse.insert_silently(ride);
    else
      insert into ridepulse.rides
        (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
      values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at,
              ride.time_zone, ride.attributes)
      on conflict (id) do nothing;
      exit when found;
    end if;
  end loop;
end
$$;

comment on function ridepulse.store_row(ridepulse.watches, text, jsonb, jsonb) is
  'Copies a change of a row of an attached table to ridepulse.rides. operation: INSERT, UPDATE or '
  'DELETE; GONE if the new row was deleted or got another key since; UNREAD if all that is known of '
  'the old row is its ID. new_row, old_row: whether the '
  'row meets the condition, and the mapped values; a deleted row has a new one if it was inserted '
  'again.';

create function ridepulse.watched() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  source jsonb := nullif(current_setting('ridepulse.row', true), '');
  w ridepulse.watches;
begin
  perform set_config('ridepulse.row', '', true);
  if tg_op = 'INSERT' and pg_trigger_depth() > 1 then
    perform set_config('ridepulse.nested_insert', 'on', true);
  end if;
  select * into w from ridepulse.watches a where a.relation = tg_relid;
  if not found then
    select a.* into w
    from ridepulse.watches a join pg_partition_ancestors(tg_relid) p on p.relid = a.relation
    limit 1;
  end if;
  if w.relation is null then
    perform ridepulse.record_watch_error(tg_relid, '', 'not_attached');
  elsif source is null then
    perform ridepulse.record_watch_error(w.relation, 'ridepulse_read', 'not_read');
  elsif source ? 'error' then
    perform ridepulse.record_unreadable(w, tg_relid, tg_op, source);
  else
    perform ridepulse.store_row(w,
      case when source ? 'unread_old' then 'UNREAD' when source -> 'is_gone' = 'true' then 'GONE'
        else tg_op end,
      source -> 'new',
      case when not source ? 'unread_old' then source -> 'old'
        else jsonb_build_object('in', true, 'row', case when w.ride_function is not null
          then source #> '{new,row}'
          else jsonb_build_object(w.columns ->> 'id', source #> '{key,0}') end) end);
  end if;
  return null;
end
$$;

comment on function ridepulse.watched() is
  'Trigger function of ridepulse_watch: copies the values that ridepulse_read has stored as JSON, '
  'or records a problem. It must not read the row itself.';

create function ridepulse.record_unreadable(
  w ridepulse.watches, relation regclass, operation text, source jsonb
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  code text := source #>> '{error,state}';
  detail text := format('SQLSTATE %s: %s', code, source #>> '{error,message}');
  key jsonb := nullif(source -> 'key', 'null');
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
