-- The queries by which a backfill reads the live rows of an attached table. Reasons:
-- docs/decisions/0030-backfill.md and 0031-owner-code-in-backfills.md.

create function ridepulse.attached_table(relation regclass) returns ridepulse.watches
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  w ridepulse.watches;
begin
  select * into w from ridepulse.watches a where a.relation = attached_table.relation;
  if not found then
    raise exception 'table % is not attached', relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Call ridepulse.watch as the owner of the table.';
  end if;
  return w;
end
$$;

comment on function ridepulse.attached_table(regclass) is
  'Returns what ridepulse.watch has stored about a table. Errors: 55000 if it is not attached.';

-- A person may make a cast of any type that is theirs, also of an enum. The planner itself evaluates
-- functions of indexes and constraints.
create function ridepulse.reads_owner_code(w ridepulse.watches) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  with recursive tables (id) as (
    select w.relation::oid union select i.inhrelid from tables t join pg_inherits i on i.inhparent = t.id
  )
  select w.condition is not null or w.ride_function is not null
    or exists (select from tables t join pg_class c on c.oid = t.id where c.relrowsecurity)
    or exists (
      select from (select value from jsonb_each_text(w.columns || w.attributes)
                   union select unnest(ridepulse.key_columns(w))) m (column_name)
      join pg_type t on t.oid = ridepulse.base_type(w.relation, m.column_name)
      where t.typnamespace <> 'pg_catalog'::regnamespace and (t.typtype <> 'e' or exists (
        select from pg_cast k where array[k.castsource, k.casttarget] && array[t.oid, t.typarray])))
    or exists (
      select from tables t
      join pg_depend d on d.objid in (
        select t.id union all select i.indexrelid from pg_index i where i.indrelid = t.id
        union all select k.oid from pg_constraint k where k.conrelid = t.id
        union all select x.oid from pg_statistic_ext x where x.stxrelid = t.id)
      where d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass)
        and d.classid in ('pg_class'::regclass, 'pg_constraint'::regclass,
                          'pg_statistic_ext'::regclass))
$$;

comment on function ridepulse.reads_owner_code(ridepulse.watches) is
  'Whether reading the rows of an attached table may run code of the table''s owner: a condition, '
  'a function, a policy, casts of a type, or functions of an index or a constraint.';

create function ridepulse.runs_owner_code("table" regclass) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select ridepulse.reads_owner_code(ridepulse.attached_table("table"))
$$;

comment on function ridepulse.runs_owner_code(regclass) is
  'Whether reading the rows of an attached table may run code of the table''s owner. Errors: 55000 '
  'if it is not attached.';

create function ridepulse.values_of(type regtype, words text[]) returns text[]
language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select array(
    select w from unnest(words) w
    where case when i.id is not null then
        case when w ~ '^-?\d{1,19}$' then w::numeric between -largest - 1 and largest else false end
      when p.oid = 'uuid'::regtype then w ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      else p.typtype <> 'e' or exists (
        select from pg_enum e where e.enumtypid = p.oid and e.enumlabel = w) end)
  from pg_type p
  left join (values ('smallint'::regtype, 32767), ('integer', 2147483647),
                    ('bigint', 9223372036854775807)) i (id, largest)
    on i.id = p.oid
  where p.oid = values_of.type
$$;

comment on function ridepulse.values_of(regtype, text[]) is
  'Returns the words that are values of a type.';

create function ridepulse.live_rides(relation regclass, active text[])
returns table (ride_id text, version text, raw_id text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select r.id, r.xmin::text || ' ' || r.ctid::text, case
    when w.ride_function is not null or cardinality(ridepulse.values_of(
      ridepulse.base_type(relation, w.columns ->> 'id'),
      array[substr(r.id, length(w.prefix) + 1)])) = 1
    then substr(r.id, length(w.prefix) + 1) end
  from ridepulse.attached_table(relation) w
  join ridepulse.rides r on r.state = any (active) and starts_with(r.id, w.prefix)
  where ridepulse.belongs_to(w, r.id)
$$;

comment on function ridepulse.live_rides(regclass, text[]) is
  'Returns the live rides of an attached table. active: the active states. version: changes when '
  'the ride does. raw_id: the ID in the table; null if it can''t be one.';

-- A list of the column's own type can use its index, and statistics of its values.
create function ridepulse.matches(relation regclass, column_name text, parameter text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when p.typtype = 'e'
    then format('%s = any (%s)', ridepulse.column_value(relation, column_name), parameter)
    when t.type = any (array['smallint', 'integer', 'bigint', 'uuid', 'text', 'varchar']::regtype[])
    then format('r.%I = any (%s::text[]::%s[])', column_name, parameter, t.type)
    else format('r.%I::text = any (%s)', column_name, parameter) end
  from (select ridepulse.base_type(relation, column_name)) t (type)
  left join pg_type p on p.oid = t.type
$$;

comment on function ridepulse.matches(regclass, text, text) is
  'Returns the SQL condition that a column of a row r has one of the texts of an array. '
  'parameter: the SQL of the array, whose texts ridepulse.values_of has returned.';

-- $1: the raw states that are active; $2: the raw IDs of live rides.
create function ridepulse.find_query(w ridepulse.watches, states text[]) returns text
language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
  select case when w.ride_function is not null then format(
    'select array_agg(f.id), array_agg(f.key) from (select x."ridepulse.ride" ->> ''id'' as id, %1$s as key '
    'from %2$s r cross join lateral (select to_jsonb(%3$s(r)) as "ridepulse.ride" offset 0) x '
    'where (x."ridepulse.ride" ->> ''state'' = any ($1) and (%4$s' || E'\n' || ') is true) '
    'or x."ridepulse.ride" ->> ''id'' = any ($2)) f',
    key.json, w.relation, w.ride_function, coalesce(w.condition, 'true'))
  else format(
    'select array_agg(f.id), array_agg(f.key) from (select to_jsonb(%5$s) #>> ''{}'' as id, %1$s as key '
    'from %2$s r where (%3$s and (%4$s' || E'\n' || ') is true) or %6$s) f',
    key.json, w.relation,
    case when w.constants ? 'state' then format('%L = any ($1)', w.constants ->> 'state')
      -- A literal becomes an enum without a cast, and can use an index.
      when (select t.typtype from pg_type t
            where t.oid = ridepulse.base_type(w.relation, w.columns ->> 'state')) = 'e'
        then format('r.%I = any (%L)', w.columns ->> 'state', states)
      else ridepulse.matches(w.relation, w.columns ->> 'state', '$1') end,
    coalesce(w.condition, 'true'),
    ridepulse.column_value(w.relation, w.columns ->> 'id'),
    ridepulse.matches(w.relation, w.columns ->> 'id', '$2')) end
  from (select format(
          'jsonb_build_array(%s)',
          string_agg(ridepulse.column_value(w.relation, name), ', ' order by number))
        from unnest(ridepulse.key_columns(w)) with ordinality k (name, number)) key (json)
$$;

comment on function ridepulse.find_query(ridepulse.watches, text[]) is
  'Returns the query for the IDs and keys of an attached table''s live rows, and of the rows of '
  'live rides. states: the raw states that are active.';

-- $1: an array of keys. The inner query keeps the names of the condition apart from the key's.
create function ridepulse.read_query(w ridepulse.watches) returns text
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

comment on function ridepulse.read_query(ridepulse.watches) is
  'Returns the query that reads rows of an attached table by their keys.';

create function ridepulse.backfill_plan(
  relation regclass, active text[], allows_owner_code boolean default true,
  out prefix text, out states text[], out find text, out read text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  w ridepulse.watches := ridepulse.attached_table(relation);
begin
  if ridepulse.key_columns(w) is null then
    raise exception 'table % has no primary key', relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'A backfill finds the rows of a ride function by their primary key.';
  end if;
  -- The mapping that is checked here is the one that the queries are made of.
  if not allows_owner_code and ridepulse.reads_owner_code(w) then
    raise exception 'reading % runs code of its owner', relation
      using errcode = 'insufficient_privilege',
            hint = 'As the owner of the table: ridepulse backfill TABLE.';
  end if;
  prefix := w.prefix;
  read := ridepulse.read_query(w);
  states := case when w.constants ? 'state' then active else
    array(select s.key from jsonb_each_text(w.states) s where s.value = any (active))
      || array(select a from unnest(active) a where not w.states ? a) end;
  if w.ride_function is null and w.columns ? 'state' then
    states := ridepulse.values_of(ridepulse.base_type(relation, w.columns ->> 'state'), states);
  end if;
  find := ridepulse.find_query(w, states);
end
$$;

comment on function ridepulse.backfill_plan(regclass, text[], boolean) is
  'Returns the prefix of a table''s rides, the raw states that are active, and the queries of a '
  'backfill, for a caller to execute. allows_owner_code: whether they may run code of the table''s '
  'owner. Errors: 55000 if the table is not attached or has no key; 42501 if they would run it.';
