-- Copies the live rows of an attached table, in batches: `ridepulse backfill` and `serve` use it.
-- Reasons: docs/decisions/0030-backfill.md and 0073-backfill-as-owner.md.
--
-- The functions that read the table run with their caller's rights, and only for a role whose rights
-- the table's owner has, too: reading may run code of the owner in more ways than can be listed. The
-- others read and write rides. Writers of the table go on meanwhile: the triggers copy what they
-- change.

create function ridepulse.lock_to_read("table" regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  part record;
begin
  -- Under this lock, which the partitions get, too, neither kind nor owner can change.
  execute format('lock table %s in access share mode', "table");
  for part in
    with recursive parts (id) as (
      select "table"::oid union
      select i.inhrelid from parts p join pg_inherits i on i.inhparent = p.id)
    select c.oid::regclass as name, c.relkind, c.relowner::regrole as owner, r.role, a.rolsuper
    from parts p join pg_class c on c.oid = p.id
    -- Code of the owner could end a SET ROLE: the role of the login counts as well.
    left join lateral (
      select u.role from unnest(array[session_user, current_user]) u (role)
      where not pg_has_role(c.relowner, u.role, 'usage') limit 1) r on true
    left join pg_roles a on a.rolname = r.role
    where c.relkind not in ('r', 'p') or r.role is not null
    order by c.oid <> "table", c.oid
  loop
    if part.relkind not in ('r', 'p') then
      raise exception '% is not a table', part.name
        using errcode = 'wrong_object_type',
              hint = 'A backfill reads no view and no foreign table, nor partitions of that kind.';
    end if;
    raise exception 'role % may not read %: its owner % lacks rights of that role', part.role,
        part.name, part.owner
      using errcode = 'insufficient_privilege',
            hint = format('As %s: ridepulse backfill %s.', part.owner, "table")
              || case when part.rolsuper then '' else format(
                ' Or, if that owner may do all that the role may: grant %I to %s;', part.role,
                part.owner) end;
  end loop;
end
$$;

comment on function ridepulse.lock_to_read(regclass) is
  'Locks a table and its partitions against changes of their definition, and refuses to read them '
  'if an owner of them lacks rights of the caller: reading may run code of the owner. Errors: '
  '42501; 42809 if one of them is not a table.';

-- allows_owner_code has no effect any more: programs of the version before pass it.
create function ridepulse.find_live_rows(
  "table" regclass, active text[], allows_owner_code boolean default true
)
returns table (ride_id text, key jsonb, version text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  plan record;
  rides text[];
  versions text[];
  raw_ids text[];
  ids text[];
  keys jsonb[];
begin
  perform ridepulse.lock_to_read("table");
  select * into plan from ridepulse.backfill_plan("table", active);
  -- Precedes the reading of the table: a ride whose version is still the same at the end has not
  -- been changed by a row that this reading missed.
  select array_agg(l.ride_id), array_agg(l.version), array_agg(l.raw_id)
  into rides, versions, raw_ids
  from ridepulse.live_rides("table", active) l;
  execute plan.find into ids, keys
    using plan.states, array(select r from unnest(raw_ids) r where r is not null);
  return query
    select plan.prefix || f.id, f.key, null::text from unnest(ids, keys) f (id, key)
    where f.id <> ''
    union all
    select r.id, null, r.version from unnest(rides, versions) r (id, version)
    where not exists (select from unnest(ids) f (id) where plan.prefix || f.id = r.id);
end
$$;

comment on function ridepulse.find_live_rows(regclass, text[], boolean) is
  'Returns the live rows of an attached table and the rows of its live rides, by their keys; and '
  'live rides without a row, whose key is null. active: the active states. allows_owner_code has '
  'no effect. Errors: those of ridepulse.lock_to_read and ridepulse.backfill_plan.';

create function ridepulse.lock_rides(relation regclass, ids text[]) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not pg_try_advisory_xact_lock(ridepulse.removal_lock(relation)) then
    return false;
  end if;
  perform from ridepulse.rides r where r.id = any (ids) order by r.id for update;
  return true;
end
$$;

comment on function ridepulse.lock_rides(regclass, text[]) is
  'Locks the rides of a batch that exist, and excludes removals of the table''s rides. Returns '
  'false if a transaction that removes some is open.';

create function ridepulse.store_batch(
  relation regclass, active text[], changes jsonb, gone jsonb,
  out inserted integer, out refreshed integer, out removed integer, out unmatched integer
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  w ridepulse.watches := ridepulse.attached_table(relation);
  change jsonb;
  ride ridepulse.rides;
  removed_without_row integer;
begin
  inserted := 0; refreshed := 0; removed := 0;
  for change in select * from jsonb_array_elements(changes) loop
    if not (change ->> 'in')::boolean or change -> 'row' = 'null' then
      removed := removed
        + ridepulse.remove_ride(w, ridepulse.mapped_id(w, change -> 'row'))::integer;
      continue;
    end if;
    ride := ridepulse.mapped_ride(w, change -> 'row');
    continue when ride.id is null;
    perform set_config('ridepulse.silent', 'on', true);
    if ridepulse.write_ride(ride) then
      refreshed := refreshed + 1;
      insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
      values (ride.id, 'ride_watched', '{}', ride.customer_id, ride.driver_id);
    elsif ride.state = any (active) then
      inserted := inserted + ridepulse.insert_silently(ride)::integer;
    end if;
    perform set_config('ridepulse.silent', '', true);
  end loop;
  -- Without a prefix, a ride without a row may be one that the service itself has inserted.
  select count(*) filter (where not d.is_removable),
    count(*) filter (where d.is_removable and ridepulse.remove_ride(w, d.id))
  into unmatched, removed_without_row
  from (
    select r.id, w.prefix <> '' as is_removable
    from jsonb_array_elements(gone) g join ridepulse.rides r on r.id = g ->> 0
    where r.xmin::text || ' ' || r.ctid::text = g ->> 1) d;
  removed := removed + removed_without_row;
end
$$;

comment on function ridepulse.store_batch(regclass, text[], jsonb, jsonb) is
  'Stores rows of an attached table that a backfill has read. A new ride must be active. changes: '
  'the rows. gone: IDs and versions of rides without a row. unmatched: those of them that stay, '
  'because they may not come from the table.';

create function ridepulse.backfill_batch(
  "table" regclass, active text[], rows jsonb, allows_owner_code boolean default true
)
returns table (inserted integer, refreshed integer, removed integer, unmatched integer)
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
declare
  changes jsonb;
begin
  if not ridepulse.lock_rides("table", array(select r ->> 0 from jsonb_array_elements(rows) r)) then
    raise exception 'a transaction that removes rows of % is open', "table"
      using errcode = 'lock_not_available';
  end if;
  perform ridepulse.lock_to_read("table");
  execute (ridepulse.backfill_plan("table", active)).read into changes using (
    select coalesce(jsonb_agg(r -> 1), '[]')
    from jsonb_array_elements(rows) r where r -> 1 <> 'null');
  return query select * from ridepulse.store_batch("table", active, changes, (
    select coalesce(jsonb_agg(jsonb_build_array(r -> 0, r -> 2)), '[]')
    from jsonb_array_elements(rows) r where r -> 1 = 'null'));
end
$$;

comment on function ridepulse.backfill_batch(regclass, text[], jsonb, boolean) is
  'Reads rows of an attached table once more and stores them as rides, without a push. rows: '
  'arrays of ride ID, key and version, as ridepulse.find_live_rows returns them. allows_owner_code '
  'has no effect. Errors: 55P03 if it would have to wait for a writer; those of '
  'ridepulse.lock_to_read and ridepulse.backfill_plan.';

create function ridepulse.record_unread_row(
  relation regclass, source jsonb, state text, message text
) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select ridepulse.record_watch_error((ridepulse.attached_table(relation)).relation, '',
    'unreadable_row', source ->> 0, 'SQLSTATE ' || state || ': ' || message)
$$;

comment on function ridepulse.record_unread_row(regclass, jsonb, text, text) is
  'Records that a backfill could not read a row. source: as ridepulse.find_live_rows returned it. '
  'state, message: the error. Errors: 55000 if the table is not attached.';

create function ridepulse.begin_backfill(
  relation regclass, is_forced boolean default true, active text[] default '{}'
) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  version timestamptz := (ridepulse.attached_table(relation)).watched_at;
begin
  update ridepulse.watches w set backfill_until = clock_timestamp() + interval '10 minutes'
  where w.relation = begin_backfill.relation and (is_forced or (
    w.backfill_until < clock_timestamp() and (w.backfilled_watch is distinct from w.watched_at
      or not active <@ w.live_states)));
  return case when found then version end;
end
$$;

comment on function ridepulse.begin_backfill(regclass, boolean, text[]) is
  'Returns the version of an attached table''s mapping for ridepulse.finish_backfill. Unless '
  'is_forced, null if the table is backfilled for all active states, or another service has begun it '
  'within 10 minutes. '
  'Errors: 55000 if the table is not attached.';

create function ridepulse.finish_backfill(
  relation regclass, version timestamptz, active text[] default null
) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update ridepulse.watches w set
    backfilled_at = case when version is null then w.backfilled_at else clock_timestamp() end,
    backfilled_watch = coalesce(version, w.backfilled_watch), backfill_until = '-infinity',
    live_states = case when version = w.watched_at then active else w.live_states end
  where w.relation = finish_backfill.relation
$$;

comment on function ridepulse.finish_backfill(regclass, timestamptz, text[]) is
  'Records that an attached table was backfilled. version: the result of ridepulse.begin_backfill; '
  'null if the backfill failed, so that the next one need not wait. active: the active states.';
