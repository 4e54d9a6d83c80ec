-- What ridepulse.watch creates for a table: triggers that survive a dump, and the function that reads
-- a row. See 0018_watches.sql; reasons: docs/decisions/0072-row-versions.md and
-- 0121-function-of-a-table.md.

-- The text of a mapping that the table's owner wrote is only put together here; it is executed by
-- functions that run with their caller's rights.
create function ridepulse.row_expression(
  w ridepulse.watches, is_key boolean default false, is_lazy boolean default false
) returns text
language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select format(case when is_lazy and w.ride_function is not null and w.condition is not null
      then '(select jsonb_build_object(''in'', "ridepulse.i".is_in, ''row'', '
        'case when "ridepulse.i".is_in then %2$s end) from (select (%1$s' || E'\n'
        || ') is true as is_in offset 0) "ridepulse.i")'
      else 'jsonb_build_object(''in'', (%1$s' || E'\n' || ') is true, ''row'', %2$s)' end,
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

comment on function ridepulse.row_expression(ridepulse.watches, boolean, boolean) is
  'Returns the SQL expression that reads a row r: whether it meets the condition, and the mapped '
  'values. is_key: only ID and state. is_lazy: the ride function is called only for a row that meets '
  'the condition.';

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
      or position(lower(a.attname) in lower(w.condition)) > 0
      or position(lower(replace(a.attname, '"', '""')) in lower(w.condition)) > 0)
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

-- plpgsql keeps the plan of a statement for the session, and that of EXECUTE for one row: it costs
-- ten times as much. A statement that uses the row as a value is planned again nevertheless, because a
-- kept plan does not notice that a column of the table was dropped.
create function ridepulse.read_statement(
  expression text, columns text[], source text, target text
) returns text
language sql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
  select case when columns is null
      then format('execute %L into %s using %s;',
        format('select %s from unnest(array[$1]) r', expression), target, source)
    else format('select %s into %s from (select %s) r;', expression, target, (
      select string_agg(format('%1$s.%2$I as %2$I', source, name), ', ')
      from unnest(columns) name)) end
$$;

comment on function ridepulse.read_statement(text, text[], text, text) is
  'Returns the statement of plpgsql that evaluates an expression of a row r. columns: those that the '
  'expression reads; null if it uses the row as a value. source: the variable that is the row, new or '
  'old. target: the variable that receives the result.';

create function ridepulse.key_statement(w ridepulse.watches, source text) returns text
language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select case when k.names is null then 'null;' else ridepulse.read_statement(format(
      'jsonb_build_array(%s)', (
        select string_agg(ridepulse.column_value(w.relation, name), ', ' order by number)
        from unnest(k.names) with ordinality u (name, number))), k.names, source, 'key') end
  from (select case when w.ride_function is null then array[w.columns ->> 'id']
          else ridepulse.key_columns(w) end) k (names)
$$;

comment on function ridepulse.key_statement(ridepulse.watches, text) is
  'Returns the statement of plpgsql that reads only what identifies a row: the mapped ID, or with a '
  'ride function the primary key. source: the variable that is the row.';

create function ridepulse.reader_body(w ridepulse.watches) returns text
language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select format($body$
-- Made by ridepulse.watch: stores the mapped values of the new and the old row as JSON in the setting
-- ridepulse.row of the transaction, for ridepulse.watched(). It runs with the rights of the writer.
#variable_conflict use_column
declare
  new_row jsonb;
  old_row jsonb;
  key jsonb;
  error jsonb;
  is_new_read boolean;
  -- Writers may have rights on the root of a partitioned table alone.
  root regclass;
  is_gone boolean := false;
  -- A row that was just written has an xmax if it was locked or written again since: then another
  -- trigger may have replaced it. A deleted row may have been inserted again by a nested statement.
  is_read_again boolean := case when tg_op = 'DELETE'
    then current_setting('ridepulse.nested_insert', true) = 'on' else new.xmax <> '0'::xid end;
begin
  if is_read_again and %1$L <> '' then
    root := coalesce(pg_partition_root(tg_relid), tg_relid);
    if has_table_privilege(root, 'select') then
      if tg_op = 'DELETE' then
        execute format(%1$L, root) into new_row using old, null::tid, null::oid;
      else
        execute format(%1$L, root) into new_row using new, new.ctid, new.tableoid;
        -- A policy may hide the row.
        is_gone := new_row is null and not row_security_active(root);
      end if;
    end if;
  end if;
  if new_row is null and tg_op <> 'DELETE' then
    if is_gone then
      %2$s
    else
      %3$s
    end if;
  end if;
  if tg_op <> 'INSERT' then
    %4$s
  end if;
  perform set_config('ridepulse.row', jsonb_build_object('new', new_row, 'old', old_row,
    'is_gone', is_gone)::text, true);
  return null;
exception when assert_failure or others then
  -- The writer receives errors that a repetition may fix; ridepulse.watched() records all others.
  if sqlstate ~ '^(40001|40P01|53[0-3]00|55P03|57014|57P0[1-5])$' then
    raise;
  end if;
  error := jsonb_build_object('state', sqlstate, 'message', sqlerrm);
  is_new_read := tg_op = 'UPDATE' and new_row is not null;
  begin
    if tg_op = 'DELETE' or is_new_read then
      %5$s
    else
      %6$s
    end if;
  exception when assert_failure or others then
    null;  -- The problem is recorded without the key.
  end;
  begin
    if is_new_read then
      -- The former ID is that of the new row, which may not meet the condition.
      %7$s
    elsif tg_op = 'UPDATE' then
      %4$s
    end if;
  exception when assert_failure or others then
    null;
  end;
  perform set_config('ridepulse.row', jsonb_build_object(
    case when is_new_read then 'unread_old' else 'error' end, error, 'key', key,
    'new', new_row, 'old', old_row)::text, true);
  return null;
end
$body$,
    ridepulse.current_row_query(w),
    ridepulse.read_statement(ridepulse.row_expression(w, true), c.names, 'new', 'new_row'),
    ridepulse.read_statement(ridepulse.row_expression(w, is_lazy => true), c.names, 'new', 'new_row'),
    ridepulse.read_statement(ridepulse.row_expression(w, true, true), c.names, 'old', 'old_row'),
    ridepulse.key_statement(w, 'old'), ridepulse.key_statement(w, 'new'),
    ridepulse.read_statement(ridepulse.row_expression(w), c.names, 'new', 'new_row'))
  from (select case when w.ride_function is null and not ridepulse.reads_whole_row(w)
          then ridepulse.columns_read(w) end) c (names)
$$;

comment on function ridepulse.reader_body(ridepulse.watches) is
  'Returns the body of the function that reads the rows of an attached table. If the new row was '
  'written again since, it stores the values that the row has now; if only the old row can''t be read, '
  'its key. Errors: only those that a repetition may fix.';
