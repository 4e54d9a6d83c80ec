-- The trigger functions of attached tables. See 0007_watched_rows.sql.

-- Must not be SECURITY DEFINER, because it runs code of the table's owner.
create function ridepulse.read_row() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  new_row jsonb;
  old_row jsonb;
begin
  if tg_op <> 'DELETE' then
    execute tg_argv[0] into new_row using new;
  end if;
  if tg_op <> 'INSERT' then
    execute tg_argv[1] into old_row using old;
  end if;
  perform set_config(
    'ridepulse.row', jsonb_build_object('new', new_row, 'old', old_row)::text, true);
  return null;
exception when others then
  -- The writer receives errors that a repetition may fix; the second trigger records all others.
  if sqlstate ~ '^(08|25|40|53|55|57|58|XX)' then
    raise;
  end if;
  perform set_config('ridepulse.row', jsonb_build_object('error',
    jsonb_build_object('state', sqlstate, 'message', sqlerrm))::text, true);
  return null;
end
$$;

comment on function ridepulse.read_row() is
  'Trigger function of ridepulse_read: stores the mapped values of the new and the old row as '
  'JSON in the setting ridepulse.row of the transaction. Arguments: the queries that read them. '
  'Errors: only those that a repetition may fix.';

create function ridepulse.insert_silently(ride ridepulse.rides) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_new boolean;
begin
  perform set_config('ridepulse.silent', 'on', true);
  insert into ridepulse.rides
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes, updated_at)
  values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at, ride.time_zone,
          ride.attributes, coalesce(ride.updated_at, now()))
  on conflict (id) do nothing;
  is_new := found;
  perform set_config('ridepulse.silent', '', true);
  return is_new;
end
$$;

comment on function ridepulse.insert_silently(ridepulse.rides) is
  'Inserts a ride that no push announces. Returns false if there is one with its ID.';

-- A row that moves to another partition is deleted and inserted again: its ride did not end.
create function ridepulse.restore_ride(id text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  removed jsonb;
begin
  delete from ridepulse.events e
  where e.id in (
    select r.id from ridepulse.events r
    where r.ride_id = restore_ride.id and r.event = 'ride_removed' and r.created_at >= now()
    for update skip locked)
  returning e.data -> 'ride' into removed;
  return found
    and ridepulse.insert_silently(jsonb_populate_record(null::ridepulse.rides, removed));
end
$$;

comment on function ridepulse.restore_ride(text) is
  'Inserts a ride again that this transaction has removed. Returns whether it did.';

-- An update of a row without a ride, such as one that was finished before the table was attached,
-- announces its state only if the update changed the state, or made the row meet the condition.
create function ridepulse.store_row(
  w ridepulse.watches, operation text, new_row jsonb, old_row jsonb
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_ride boolean := coalesce((new_row ->> 'in')::boolean and new_row -> 'row' <> 'null', false);
  was_ride boolean := coalesce((old_row ->> 'in')::boolean and old_row -> 'row' <> 'null', false);
  former_id text := ridepulse.mapped_id(w, old_row -> 'row');
  is_silent boolean;
  ride ridepulse.rides;
begin
  if was_ride
     and (not is_ride or former_id is distinct from ridepulse.mapped_id(w, new_row -> 'row')) then
    perform ridepulse.remove_ride(w, former_id);
  end if;
  if not is_ride then
    return;
  end if;
  ride := ridepulse.mapped_ride(w, new_row -> 'row');
  if ride.id is null then
    return;
  end if;
  is_silent := was_ride and former_id = ride.id
    and ridepulse.mapped_state(w, old_row -> 'row') is not distinct from ride.state;
  loop
    perform from ridepulse.rides r where r.id = ride.id for no key update;
    if found or (operation = 'INSERT' and ridepulse.restore_ride(ride.id)) then
      update ridepulse.rides r set state = ride.state, customer_id = ride.customer_id,
        driver_id = ride.driver_id, pickup_at = ride.pickup_at, time_zone = ride.time_zone,
        attributes = ride.attributes
      where r.id = ride.id
        and (r.state, r.customer_id, r.driver_id, r.pickup_at, r.time_zone, r.attributes)
          is distinct from (ride.state, ride.customer_id, ride.driver_id, ride.pickup_at,
                            ride.time_zone, ride.attributes);
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
  'DELETE. new_row, old_row: whether the row meets the condition, and the mapped values.';

create function ridepulse.watched() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  source jsonb := nullif(current_setting('ridepulse.row', true), '');
  w ridepulse.watches;
begin
  perform set_config('ridepulse.row', '', true);
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
  elsif not source ? 'error' then
    perform ridepulse.store_row(w, tg_op, source -> 'new', source -> 'old');
  else
    perform ridepulse.record_unreadable(w, tg_relid, source -> 'error');
  end if;
  return null;
end
$$;

comment on function ridepulse.watched() is
  'Trigger function of ridepulse_watch: copies the values that ridepulse_read has stored as JSON, '
  'or records a problem. It must not read the row itself.';

create function ridepulse.record_unreadable(w ridepulse.watches, relation regclass, error jsonb)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  detail text := 'SQLSTATE ' || (error ->> 'state') || ': ' || (error ->> 'message');
  missing text;
begin
  -- 42703 and 42883: a column or a function that does not exist. No row can be read then.
  for missing in
    select value from (
      select * from jsonb_each_text(w.columns) where w.ride_function is null
      union all select * from jsonb_each_text(w.attributes)) m
    where error ->> 'state' = '42703'
      and ridepulse.base_type(record_unreadable.relation, m.value) is null
  loop
    perform ridepulse.record_watch_error(w.relation, missing, 'missing_column');
  end loop;
  if not found then
    perform ridepulse.record_watch_error(w.relation, '',
      case when error ->> 'state' in ('42703', '42883') then 'unusable_mapping'
        else 'unreadable_row' end, null, detail);
  end if;
end
$$;

comment on function ridepulse.record_unreadable(ridepulse.watches, regclass, jsonb) is
  'Records why a row could not be read: a column that is gone, a condition or a function that '
  'fails for each row, or this row alone. error: SQLSTATE and message.';
