-- What ridepulse.watch creates for a table: triggers that survive a dump, and the queries of their
-- arguments. See 0018_watches.sql; reasons: docs/decisions/0072-row-versions.md.

-- The text of a mapping that the table's owner wrote is only put together here; it is executed by
-- functions that run with their caller's rights.
create function ridepulse.row_expression(w ridepulse.watches, is_key boolean default false)
returns text
language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select format('jsonb_build_object(''in'', (%s' || E'\n' || ') is true, ''row'', %s)',
    coalesce(w.condition, 'true'),
    case when w.ride_function is not null then format('to_jsonb(%s(r.*))', w.ride_function)
      else format('(select to_jsonb("ridepulse.x".*) from (select %s) "ridepulse.x")', (
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
language sql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
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
      or a.attnum = any (array(
        select unnest(i.indkey::smallint[]) from pg_index i
        where i.indrelid = w.relation and i.indisprimary))
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
  select case when ridepulse.reads_whole_row(w) then 'pg_catalog.record_image_ne(old, new)'
    else format('pg_catalog.record_image_ne(row(%s), row(%s))',
      string_agg(format('old.%I', c), ', '), string_agg(format('new.%I', c), ', ')) end
  from unnest(ridepulse.columns_read(w)) c
$$;

comment on function ridepulse.change_condition(ridepulse.watches) is
  'Returns the condition under which an update changes a column that the mapping reads.';

create function ridepulse.key_columns(w ridepulse.watches) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(
    (select array_agg(a.attname::text order by k.number)
     from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, number)
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
       and k.number <= i.indnkeyatts
     where i.indrelid = w.relation and i.indisprimary),
    case when w.ride_function is null then array[w.columns ->> 'id'] end)
$$;

comment on function ridepulse.key_columns(ridepulse.watches) is
  'Returns the columns that identify a row: the primary key, otherwise the mapped ID; null if the '
  'table has neither.';

create function ridepulse.current_row_query(w ridepulse.watches) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case
    when exists (select from pg_index i where i.indrelid = w.relation and i.indisprimary)
      then q.query || k.condition
    when w.ride_function is null
      then q.query || 'r.ctid = $2 and r.tableoid = $3 union all ' || q.query || k.condition
        || ' limit 1'
    else '' end
  from (select format('select %s from %%1$s r where ',
                      replace(ridepulse.row_expression(w), '%', '%%')) as query) q
  cross join (select string_agg(replace(format('r.%1$I = ($1).%1$I', name), '%', '%%'), ' and ')
                as condition
              from unnest(ridepulse.key_columns(w)) name) k
$$;

comment on function ridepulse.current_row_query(ridepulse.watches) is
  'Returns the query that reads the row that a table has now, as a format with the table''s name. '
  'Its parameters: the row as it was, its ctid and its tableoid. Empty if a row has no key.';

create function ridepulse.key_query(w ridepulse.watches) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(format('select jsonb_build_array(%s) from (select ($1).*) r',
    string_agg(ridepulse.column_value(w.relation, name), ', ' order by number)), '')
  from unnest(case when w.ride_function is null then array[w.columns ->> 'id']
              else ridepulse.key_columns(w) end) with ordinality k (name, number)
$$;

comment on function ridepulse.key_query(ridepulse.watches) is
  'Returns the query that reads only what identifies a row: the mapped ID, or with a ride function '
  'the primary key.';

create function ridepulse.check_mapping(
  relation regclass, mapping jsonb, out w ridepulse.watches, out expression text,
  out triggers text[]
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
declare
  other regclass;
  arguments text;
  insert_event text := format('insert or delete on %s for each row', relation);
  update_event text;
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
  -- Only an array keeps the table's type of the row, which a function of it needs.
  if w.ride_function is not null or w.condition ~* '\mr\M(?!\s*\.)' then
    source := 'select %s from unnest(array[$1]) r';
  end if;
  expression := ridepulse.row_expression(w);
  update_event := format('%s on %s for each row when (%s)', ridepulse.update_event(w), relation,
    ridepulse.change_condition(w));
  arguments := format('%L, %L, %L, %L', format(source, expression),
    format(source, ridepulse.row_expression(w, true)), ridepulse.current_row_query(w),
    ridepulse.key_query(w));
  -- Triggers of a row fire in the order of their names: ridepulse_read fires first.
  triggers := array(
    select format('create or replace trigger %I after %s execute function ridepulse.%s(%s)',
      t.name, t.event, t.function, case t.function when 'read_row' then arguments end)
    from (values
      ('ridepulse_read', insert_event, 'read_row'), ('ridepulse_watch', insert_event, 'watched'),
      ('ridepulse_read_update', update_event, 'read_row'),
      ('ridepulse_watch_update', update_event, 'watched')
    ) t (name, event, function));
end
$$;

comment on function ridepulse.check_mapping(regclass, jsonb) is
  'Checks a mapping against the table and the other attached tables. Returns its parts, the '
  'expression of a row, and the commands that create the triggers. Errors: 42809 if the table '
  'cannot be attached; 42883 if the ride function does not exist; 22023 if another table has the '
  'prefix; those of ridepulse.parse_mapping and ridepulse.check_columns.';
