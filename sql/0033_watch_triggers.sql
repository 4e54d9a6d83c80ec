-- What ridepulse.watch creates for a table: triggers that survive a dump, and the queries of their
-- arguments. Replaces functions of 0007_watched_rows.sql to 0012_backfill.sql. Reasons:
-- docs/decisions/0072-row-versions.md.

alter table ridepulse.watches add column attached_schema text, add column attached_name text;

comment on column ridepulse.watches.attached_schema is
  'The schema of the table when ridepulse.watch was last called.';
comment on column ridepulse.watches.attached_name is
  'The name of the table when ridepulse.watch was last called.';

update ridepulse.watches w
set attached_schema = c.relnamespace::regnamespace::name, attached_name = c.relname
from pg_class c where c.oid = w.relation;

create or replace function ridepulse.row_expression(w ridepulse.watches, is_key boolean default false)
returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
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

create or replace function ridepulse.columns_read(w ridepulse.watches) returns text[]
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

create or replace function ridepulse.change_condition(w ridepulse.watches) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when ridepulse.reads_whole_row(w) then 'pg_catalog.record_image_ne(old, new)'
    else format('pg_catalog.record_image_ne(row(%s), row(%s))',
      string_agg(format('old.%I', c), ', '), string_agg(format('new.%I', c), ', ')) end
  from unnest(ridepulse.columns_read(w)) c
$$;

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

-- Its result differs, so it is made again; roles that attach tables keep their right to call it.
select set_config('ridepulse.grantees', array(
  select case g.grantee when 0 then 'public' else g.grantee::regrole::text end
  from pg_proc p cross join aclexplode(p.proacl) g
  where p.oid = 'ridepulse.check_mapping(regclass, jsonb)'::regprocedure
    and g.grantee <> p.proowner)::text, true);

drop function ridepulse.check_mapping(regclass, jsonb);

create function ridepulse.check_mapping(
  relation regclass, mapping jsonb, out w ridepulse.watches, out expression text,
  out triggers text[]
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
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

do $$
declare
  grantee text;
begin
  foreach grantee in array current_setting('ridepulse.grantees')::text[] loop
    execute format('grant execute on function ridepulse.check_mapping(regclass, jsonb) to %s',
      grantee);
  end loop;
end
$$;

create or replace function ridepulse.register_watch(relation regclass, mapping jsonb) returns void
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

create or replace function ridepulse.watch("table" regclass, mapping jsonb) returns void
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

create or replace function ridepulse.parse_time(
  value text, zone text, out instant timestamptz, out problem text
)
language plpgsql stable set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
begin
  if value ~* '(^|[^a-z])(now|today|tomorrow|yesterday|epoch|allballs|infinity)([^a-z]|$)' then
    problem := 'bad_time';
  elsif value ~* '\d:\d\d(:\d\d(\.\d+)?)?\s*(z|utc|gmt|[+-]\d\d(:?\d\d){0,2})(\s+bc)?\s*$' then
    instant := value::timestamptz;
  elsif zone is not null then
    instant := value::timestamp at time zone zone;
  elsif value is not null then
    problem := 'no_time_zone';
  end if;
exception when data_exception then
  problem := 'bad_time';
end
$$;

comment on function ridepulse.parse_time(text, text) is
  'Converts a text to a time. zone: the time zone of a text without an offset; may be null. '
  'problem is no_time_zone or bad_time if the conversion fails, otherwise null. Words that Postgres '
  'reads as times, such as tomorrow, are bad.';

create or replace function ridepulse.read_query(w ridepulse.watches) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('select coalesce(jsonb_agg(q.change), ''[]'') from jsonb_array_elements($1) "ridepulse.k" '
      'cross join lateral (select %s as change from %s r where %s) q',
    ridepulse.row_expression(w), w.relation, string_agg(format(
      -- The name of a type in SQL may have a length: character means character(1).
      '%s = ("ridepulse.k".value ->> %s)::%s', case when t.typtype = 'e'
        then ridepulse.column_value(w.relation, k.name) else format('r.%I', k.name) end, k.number - 1,
      case when t.typtype = 'e' then 'text' else format('%I.%I', n.nspname, t.typname) end), ' and '))
  from unnest(ridepulse.key_columns(w)) with ordinality k (name, number)
  join pg_type t on t.oid = ridepulse.base_type(w.relation, k.name)
  join pg_namespace n on n.oid = t.typnamespace
$$;
