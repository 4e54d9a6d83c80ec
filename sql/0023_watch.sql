-- ridepulse.watch(table, mapping) and ridepulse.unwatch. See 0018_watches.sql.

create function ridepulse.check_mapping(
  relation regclass, mapping jsonb, out w ridepulse.watches, out expression text,
  out reader text, out commands text[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
declare
  other regclass;
  insert_event text := format('insert or delete on %s for each row', relation);
  update_event text;
begin
  w := ridepulse.parse_mapping(mapping);
  w.relation := relation;
  if not exists (
    select from pg_class c
    where c.oid = relation and c.relkind in ('r', 'p') and c.relpersistence <> 't'
      and c.relnamespace <> 'ridepulse'::regnamespace)
  then
    raise exception 'ridepulse.watch: % is not a table of yours that stays', relation
      using errcode = 'wrong_object_type',
            hint = 'Views, foreign and temporary tables, and those of schema ridepulse can''t be attached.';
  end if;
  perform ridepulse.check_columns(w);
  select a.relation into other
  from ridepulse.watches a join pg_class c on c.oid = a.relation
  where a.prefix = w.prefix and a.relation <> w.relation;
  if found then
    raise exception 'ridepulse.watch: % is attached with the same prefix of IDs, %', other,
      quote_literal(w.prefix)
      using errcode = 'invalid_parameter_value',
            hint = 'Their rides would overwrite each other. Give this table a prefix: "id": '
              || '{"column": "id", "prefix": "shuttle-"}; or call ridepulse.unwatch for the other.';
  end if;
  if w.ride_function is not null then
    select format('%s.%I', p.pronamespace::regnamespace, p.proname) into w.ride_function
    from pg_proc p
    where array[(select n.nspname from pg_namespace n where n.oid = p.pronamespace), p.proname]::text[] = parse_ident(w.ride_function) and p.pronargs = 1 and p.proargtypes[0] = (select c.reltype from pg_class c where c.oid = check_mapping.relation)
      and p.prorettype = 'ridepulse.rides'::regtype and not p.proretset;
    if not found then
      raise exception 'ridepulse.watch: no function % from a row of % to ridepulse.rides',
        mapping ->> 'ride', relation
        using errcode = 'undefined_function',
              hint = format('Name it with its schema: create function public.as_ride(%s) returns '
                'ridepulse.rides.', relation);
    end if;
  end if;
  expression := ridepulse.row_expression(w);
  update_event := format('%s on %s for each row when (%s)', ridepulse.update_event(w), relation,
    ridepulse.change_condition(w));
  -- No other function has a name that is drawn: neither one of another table, nor one that a role has
  -- put in its place.
  reader := format('%I.%I', (
    select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = relation), 'ridepulse_read_' || left(md5(gen_random_uuid()::text), 12));
  -- Triggers of a row fire in the order of their names: ridepulse_read fires first.
  commands := array[format('create function %s() returns trigger language plpgsql '
      'set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as %L', reader,
      ridepulse.reader_body(w)),
      format('comment on function %s() is %L', reader,
        format('Reads the rows of %s for ridepulse.watch.', relation))]
    || array(
      select format('create or replace trigger %I after %s execute function %s(%s)',
        t.name, t.event, t.function, case when t.function = reader then quote_literal('2') end)
      from (values
        ('ridepulse_read', insert_event, reader),
        ('ridepulse_watch', insert_event, 'ridepulse.watched'),
        ('ridepulse_read_update', update_event, reader),
        ('ridepulse_watch_update', update_event, 'ridepulse.watched')
      ) t (name, event, function));
end
$$;

comment on function ridepulse.check_mapping(regclass, jsonb) is
  'Checks a mapping against the table and the other attached tables. Returns its parts, the '
  'expression of a row, the name of the function that reads one, and the commands that create it and '
  'the triggers. Errors: 42809 if the table '
  'cannot be attached; 42883 if the ride function does not exist; 22023 if another table has the '
  'prefix; those of ridepulse.parse_mapping and ridepulse.check_columns.';

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
    w.condition, w.ride_function, w.time_zone, n.nspname, c.relname
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = w.relation
  on conflict on constraint watches_pkey do update set
    mapping = excluded.mapping, prefix = excluded.prefix, columns = excluded.columns,
    attributes = excluded.attributes, constants = excluded.constants, states = excluded.states,
    condition = excluded.condition, ride_function = excluded.ride_function,
    time_zone = excluded.time_zone, watched_at = excluded.watched_at, live_states = null,
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
      'require_owner', 'lock_table', 'readers', 'drop_unused', 'check_mapping', 'register_watch', 'watched')
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

create function ridepulse.readers("table" regclass) returns regprocedure[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select distinct p.oid::regprocedure from pg_trigger g join pg_proc p on p.oid = g.tgfoid
    where g.tgrelid = "table" and g.tgname in ('ridepulse_read', 'ridepulse_read_update')
      and starts_with(p.proname, 'ridepulse_read_') and pg_has_role(p.proowner, 'usage'))
$$;

comment on function ridepulse.readers(regclass) is
  'Returns the functions that ridepulse.watch has made for a table and that the caller may drop.';

create function ridepulse.drop_unused(readers regprocedure[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  reader regprocedure;
begin
  foreach reader in array readers loop
    if not exists (select from pg_trigger g where g.tgfoid = reader) then
      execute format('drop function %s', reader);
    end if;
  end loop;
end
$$;

comment on function ridepulse.drop_unused(regprocedure[]) is
  'Drops functions that ridepulse.watch has made and that no trigger calls any more.';

create function ridepulse.watch("table" regclass, mapping jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  plan record;
  command text;
  former regprocedure[];
  owner regrole := (select c.relowner from pg_class c where c.oid = "table");
  schema regnamespace := (select c.relnamespace from pg_class c where c.oid = "table");
begin
  perform ridepulse.require_owner("table");
  former := ridepulse.readers("table");
  if not has_schema_privilege(owner, schema, 'create') then
    raise exception 'ridepulse.watch: role % may not create a function in schema %', owner, schema
      using errcode = 'insufficient_privilege',
            hint = format('It reads the rows of %s: grant create on schema %s to %s;', "table",
              schema, owner);
  end if;
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
  foreach command in array plan.commands loop
    execute command;
  end loop;
  -- A superuser may attach a table for its owner, whose code the function is.
  if owner <> current_user::regrole then
    execute format('alter function %s() owner to %s', plan.reader, owner);
  end if;
  perform ridepulse.drop_unused(former);
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
declare
  readers regprocedure[];
begin
  perform ridepulse.require_owner("table");
  readers := ridepulse.readers("table");
  perform ridepulse.lock_table("table", 'all');
  execute format('drop trigger if exists ridepulse_read on %s', "table");
  execute format('drop trigger if exists ridepulse_watch on %s', "table");
  execute format('drop trigger if exists ridepulse_read_update on %s', "table");
  execute format('drop trigger if exists ridepulse_watch_update on %s', "table");
  perform ridepulse.drop_unused(readers);
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
