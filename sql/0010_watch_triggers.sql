-- ridepulse.watch(table, mapping) and the triggers that it creates. See 0007_watched_rows.sql.

-- The text of a mapping that the table's owner wrote is only put together here; it is executed by
-- functions that run with their caller's rights.
create function ridepulse.row_expression(w ridepulse.watches, is_key boolean default false)
returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('jsonb_build_object(''in'', (%s' || E'\n' || ') is true, ''row'', %s)',
    coalesce(w.condition, 'true'),
    case when w.ride_function is not null then format('to_jsonb(%s(r))', w.ride_function)
      else format('(select to_jsonb("ridepulse.x") from (select %s) "ridepulse.x")', (
        select string_agg(format('%s as %I', ridepulse.column_value(w.relation, name), name),
                          ', ' order by name) from (
          select value as name from jsonb_each_text(w.columns) c
          where not is_key or c.key in ('id', 'state')
          union
          select value from jsonb_each_text(w.attributes) where not is_key) names)) end)
$$;

comment on function ridepulse.row_expression(ridepulse.watches, boolean) is
  'Returns the SQL expression that reads a row r: whether it meets the condition, and the mapped '
  'values. is_key: only ID and state.';

create function ridepulse.reads_whole_row(w ridepulse.watches) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select w.ride_function is not null and not w.mapping ? 'columns'
    or coalesce(w.condition ~* '\mr\M(?!\s*\.\s*[^*[:space:]])' or w.condition ~* 'u&"', false)
$$;

comment on function ridepulse.reads_whole_row(ridepulse.watches) is
  'Whether a mapping may read any column of a row, also one that is added later.';

create function ridepulse.columns_read(w ridepulse.watches) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array_agg(a.attname::text order by a.attnum)
  from pg_attribute a
  where a.attrelid = w.relation and a.attnum > 0 and not a.attisdropped
    and (a.attname in (
        select value from jsonb_each_text(w.columns) where w.ride_function is null
        union all select value from jsonb_each_text(w.attributes)
        union all select * from jsonb_array_elements_text(w.mapping -> 'columns'))
      -- A superset of what the condition reads: a name in it may as well be another word.
      or position(lower(a.attname) in lower(w.condition)) > 0)
$$;

comment on function ridepulse.columns_read(ridepulse.watches) is
  'Returns the columns that a mapping reads, unless it reads the whole row.';

create function ridepulse.is_changed_by_triggers(relation regclass) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_trigger g
    where g.tgrelid in (select is_changed_by_triggers.relation::oid
                        union all select t.relid::oid from pg_partition_tree(relation) t)
      -- Bits of BEFORE, ROW and UPDATE.
      and not g.tgisinternal and g.tgtype & 19 = 19)
    or exists (select from pg_attribute a
               where a.attrelid = relation and a.attgenerated <> '' and not a.attisdropped)
$$;

comment on function ridepulse.is_changed_by_triggers(regclass) is
  'Whether an update may change columns that it does not name: by a trigger BEFORE UPDATE, or '
  'because they are generated.';

-- Postgres parses the condition of a trigger again for each statement, which costs more than a
-- small update itself. UPDATE OF avoids that, but does not see what another trigger changes.
create function ridepulse.update_event(w ridepulse.watches) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when ridepulse.reads_whole_row(w) or ridepulse.is_changed_by_triggers(w.relation)
      then 'update'
    else 'update of ' || (select string_agg(format('%I', c), ', ')
                          from unnest(ridepulse.columns_read(w)) c) end
$$;

comment on function ridepulse.update_event(ridepulse.watches) is
  'Returns the event of the triggers of an update.';

-- Rows are compared by their bytes: a type may have no equality, or one of the owner's that fails.
create function ridepulse.change_condition(w ridepulse.watches) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when ridepulse.reads_whole_row(w) then 'old operator(pg_catalog.*<>) new'
    else format('row(%s)::record operator(pg_catalog.*<>) row(%s)::record',
      string_agg(format('old.%I', c), ', '), string_agg(format('new.%I', c), ', ')) end
  from unnest(ridepulse.columns_read(w)) c
$$;

comment on function ridepulse.change_condition(ridepulse.watches) is
  'Returns the condition under which an update changes a column that the mapping reads.';

create function ridepulse.check_mapping(
  relation regclass, mapping jsonb, out w ridepulse.watches, out expression text,
  out new_row text, out old_row text, out event text, out changed text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  other regclass;
  source text := 'select %s from (select ($1).*) r';
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
    where p.oid = to_regprocedure(format('%s(%s)', w.ride_function, relation))
      and p.prorettype = 'ridepulse.rides'::regtype and not p.proretset;
    if not found then
      raise exception 'ridepulse.watch: no function % from a row of % to ridepulse.rides',
        mapping ->> 'ride', relation
        using errcode = 'undefined_function',
              hint = format('Name it with its schema: create function public.as_ride(%s) returns '
                'ridepulse.rides.', relation);
    end if;
  end if;
  -- Only an array keeps the table's type of the row, which a function of it needs.
  if w.ride_function is not null or w.condition ~* '\mr\M(?!\s*\.)' then
    source := 'select %s from unnest(array[$1]) r';
  end if;
  expression := ridepulse.row_expression(w);
  new_row := format(source, expression);
  old_row := format(source, ridepulse.row_expression(w, true));
  event := ridepulse.update_event(w);
  changed := ridepulse.change_condition(w);
end
$$;

comment on function ridepulse.check_mapping(regclass, jsonb) is
  'Checks a mapping against the table and the other attached tables. Returns its parts, the '
  'expression of a row, the queries that read the new and the old row, and the condition of an '
  'update. Errors: 42809 if '
  'the table cannot be attached; 42883 if the ride function does not exist; 22023 if another '
  'table has the prefix; those of ridepulse.parse_mapping and ridepulse.check_columns.';

create function ridepulse.register_watch(relation regclass, mapping jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  w ridepulse.watches;
begin
  delete from ridepulse.watch_errors e where e.relation = register_watch.relation;
  if mapping is null then
    delete from ridepulse.watches a where a.relation = register_watch.relation;
    return;
  end if;
  w := (ridepulse.check_mapping(relation, mapping)).w;
  -- A table that was dropped without unwatch no longer needs its prefix.
  delete from ridepulse.watches a
  where a.prefix = w.prefix and not exists (select from pg_class c where c.oid = a.relation);
  insert into ridepulse.watches as a (relation, mapping, prefix, columns, attributes, constants,
    states, condition, ride_function, time_zone)
  values (w.relation, w.mapping, w.prefix, w.columns, w.attributes, w.constants, w.states,
          w.condition, w.ride_function, w.time_zone)
  on conflict on constraint watches_pkey do update set
    mapping = excluded.mapping, prefix = excluded.prefix, columns = excluded.columns,
    attributes = excluded.attributes, constants = excluded.constants, states = excluded.states,
    condition = excluded.condition, ride_function = excluded.ride_function,
    time_zone = excluded.time_zone, watched_at = excluded.watched_at,
    backfill_until = excluded.backfill_until;
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
  trigger record;
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
  -- Triggers of a row fire in the order of their names: ridepulse_read fires first.
  for trigger in
    select * from (values
      ('ridepulse_read', 'insert or delete', '',
       format('read_row(%L, %L)', plan.new_row, plan.old_row)),
      ('ridepulse_watch', 'insert or delete', '', 'watched()'),
      ('ridepulse_read_update', plan.event, format('when (%s)', plan.changed),
       format('read_row(%L, %L)', plan.new_row, plan.old_row)),
      ('ridepulse_watch_update', plan.event, format('when (%s)', plan.changed), 'watched()')
    ) t (name, event, condition, function)
  loop
    execute format('create or replace trigger %I after %s on %s for each row %s execute function '
      'ridepulse.%s', trigger.name, trigger.event, "table", trigger.condition, trigger.function);
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
