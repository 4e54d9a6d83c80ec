-- ridepulse.watch(table, mapping) and ridepulse.unwatch. See 0018_watches.sql.

create function ridepulse.register_watch(relation regclass, mapping jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  w ridepulse.watches;
begin
  delete from ridepulse.watch_errors e where e.relation = register_watch.relation;
  if mapping is null then
    delete from ridepulse.unread_rides u where u.relation = register_watch.relation;
    delete from ridepulse.watches a where a.relation = register_watch.relation;
    return;
  end if;
  w := (ridepulse.check_mapping(relation, mapping)).w;
  -- A table that was dropped without unwatch no longer needs its prefix.
  delete from ridepulse.watches a
  where a.prefix = w.prefix and not exists (select from pg_class c where c.oid = a.relation);
  insert into ridepulse.watches as a (relation, mapping, prefix, columns, attributes, constants,
    states, condition, ride_function, time_zone, attached_schema, attached_name)
  select w.relation, w.mapping, w.prefix, w.columns, w.attributes, w.constants, w.states,
    w.condition, w.ride_function, w.time_zone, c.relnamespace::regnamespace::name, c.relname
  from pg_class c where c.oid = w.relation
  on conflict on constraint watches_pkey do update set
    mapping = excluded.mapping, prefix = excluded.prefix, columns = excluded.columns,
    attributes = excluded.attributes, constants = excluded.constants, states = excluded.states,
    condition = excluded.condition, ride_function = excluded.ride_function,
    time_zone = excluded.time_zone, watched_at = excluded.watched_at,
    backfill_until = excluded.backfill_until, attached_schema = excluded.attached_schema,
    attached_name = excluded.attached_name;
end
$$;

comment on function ridepulse.register_watch(regclass, jsonb) is
  'Stores the mapping of a table and clears the recorded problems of the table. A null mapping '
  'detaches the table. Errors: those of ridepulse.check_mapping.';

create function ridepulse.require_owner("table" regclass) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  owner_id oid := (select c.relowner from pg_class c where c.oid = "table");
  functions regprocedure[] := array(
    select p.oid from pg_proc p
    where p.pronamespace = 'ridepulse'::regnamespace and p.proname in ('watch', 'unwatch',
      'require_owner', 'lock_table', 'check_mapping', 'register_watch', 'read_row', 'watched')
    order by p.proname);
begin
  if not pg_has_role(owner_id, 'usage') then
    raise exception 'only the owner of % may attach or detach it', "table"
      using errcode = 'insufficient_privilege', hint = format('set role %s;', owner_id::regrole);
  end if;
  if exists (select from unnest(functions) f where not has_function_privilege(f, 'execute')) then
    raise exception 'role % may not attach tables', current_user
      using errcode = 'insufficient_privilege',
            hint = format('As the owner of schema ridepulse: grant execute on function %s to %I;',
              array_to_string(functions, ', '), current_user);
  end if;
end
$$;

comment on function ridepulse.require_owner(regclass) is
  'Refuses a role that does not own the table, or lacks a right that attaching needs. Errors: '
  '42501.';

-- A waiting lock request blocks all writers behind it. It therefore waits briefly and tries again.
create function ridepulse.lock_table("table" regclass, mode text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  before text := current_setting('lock_timeout');
begin
  for attempt in 1 .. 50 loop
    begin
      perform set_config('lock_timeout', '50ms', true);
      execute format('lock table %s in %s mode', "table",
        case mode when 'write' then 'share row exclusive' else 'access exclusive' end);
      perform set_config('lock_timeout', before, true);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.05 + 0.1 * random());
    end;
  end loop;
  raise exception 'ridepulse: transactions that use % stayed open for 5 s', "table"
    using errcode = 'lock_not_available',
          hint = 'Nothing was changed. Try again when they have ended; pg_stat_activity lists them.';
end
$$;

comment on function ridepulse.lock_table(regclass, text) is
  'Locks a table until the end of the transaction. No other transaction waits behind this one for '
  'more than 50 ms. mode: write blocks writers, all also readers. Errors: 55P03.';

create function ridepulse.watch("table" regclass, mapping jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  plan record;
  command text;
begin
  perform ridepulse.require_owner("table");
  select * into plan from ridepulse.check_mapping("table", coalesce(mapping, 'null'));
  begin
    execute format('select %s from %s r limit 0', plan.expression, "table");
  exception when others then
    raise exception 'ridepulse.watch: the mapping can''t be evaluated: %', sqlerrm
      using errcode = sqlstate,
            hint = 'Check "where" and "ride": names outside pg_catalog need their schema.';
  end;
  -- Must precede the lock on any row of this schema for which a writer of the table may wait.
  perform ridepulse.lock_table("table", 'write');
  foreach command in array plan.triggers loop
    execute command;
  end loop;
  perform ridepulse.register_watch("table", mapping);
end
$$;

comment on function ridepulse.watch(regclass, jsonb) is
  'Attaches a table, whose changed rows become rides from now on; ridepulse backfill copies the '
  'live rows that are there. A second call replaces the mapping. mapping: see docs/attach.md. '
  'Errors: 42501 if the caller may not attach the table; 55P03 if the table is locked for long; '
  'those of ridepulse.check_mapping.';

create function ridepulse.unwatch("table" regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ridepulse.require_owner("table");
  perform ridepulse.lock_table("table", 'all');
  execute format('drop trigger if exists ridepulse_read on %s', "table");
  execute format('drop trigger if exists ridepulse_watch on %s', "table");
  execute format('drop trigger if exists ridepulse_read_update on %s', "table");
  execute format('drop trigger if exists ridepulse_watch_update on %s', "table");
  perform ridepulse.register_watch("table", null);
end
$$;

comment on function ridepulse.unwatch(regclass) is
  'Detaches a table; its rides stay. Errors: 42501 if the caller may not detach the table; 55P03 '
  'if it is locked for long.';

create function ridepulse.unwatch_missing() returns bigint
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with gone as (
    delete from ridepulse.watches w
    where not exists (select from pg_class c where c.oid = w.relation) returning w.relation),
  errors as (
    delete from ridepulse.watch_errors e using gone g where e.relation = g.relation)
  select count(*) from gone
$$;

comment on function ridepulse.unwatch_missing() is
  'Detaches attached tables that were dropped; their rides stay. Returns their number.';
