-- ridepulse.watch(table, mapping) attaches a ride service's own table. See 0007_watched_rows.sql.

create function ridepulse.parse_mapping(
  mapping jsonb, out columns jsonb, out attributes jsonb, out time_zone text
)
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array['id', 'state', 'customer_id', 'driver_id', 'pickup_at',
                                 'time_zone', 'attributes'];
  target text;
  value jsonb;
begin
  if jsonb_typeof(mapping) is distinct from 'object' or not mapping ?& array['id', 'state'] then
    raise exception 'ridepulse.watch needs a mapping with at least "id" and "state"'
      using errcode = 'invalid_parameter_value',
            hint = 'such as {"id": "booking_id", "state": "status"}';
  end if;
  columns := '{}';
  attributes := '{}';
  for target, value in select * from jsonb_each(mapping) loop
    if target <> all (known) then
      raise exception 'ridepulse.watch: % is not a column of ridepulse.rides', target
        using errcode = 'undefined_column',
              hint = 'known are ' || array_to_string(known, ', ');
    end if;
    if target = 'pickup_at' and jsonb_typeof(value -> 'time_zone') = 'string' then
      time_zone := value ->> 'time_zone';
      value := value - 'time_zone';
    end if;
    if jsonb_typeof(value) = 'object' and jsonb_typeof(value -> 'column') = 'string'
       and value - 'column' = '{}' then
      value := value -> 'column';
    end if;
    if jsonb_typeof(value) = 'string' then
      columns := columns || jsonb_build_object(target, value);
    elsif target = 'attributes' and jsonb_typeof(value) = 'array'
       and not jsonb_path_exists(value, '$[*] ? (@.type() <> "string")') then
      attributes := coalesce(
        (select jsonb_object_agg(name, name) from jsonb_array_elements_text(value) name), '{}');
    elsif target = 'attributes' and jsonb_typeof(value) = 'object'
       and not jsonb_path_exists(value, '$.* ? (@.type() <> "string")') then
      attributes := value;
    else
      raise exception 'ridepulse.watch: % is mapped to %, which names no column', target, value
        using errcode = 'invalid_parameter_value',
              hint = case target
                when 'attributes' then 'A jsonb column, a list of columns, or an object of names to columns.'
                when 'pickup_at' then 'Such as "pickup_time", or {"column": "pickup_time", "time_zone": "Europe/Berlin"}.'
                else 'Such as "status", or {"column": "status"}.' end;
    end if;
  end loop;
end
$$;

comment on function ridepulse.parse_mapping(jsonb) is
  'Splits a mapping into columns, attributes and the time zone of pickup_at, without checking '
  'that the columns exist. A column is a text or {"column": …}; pickup_at may also have a '
  'time_zone. Errors: 22023 if id or state is missing or a value names no column; 42703 if a key '
  'is unknown.';

create function ridepulse.register_watch(relation regclass, mapping jsonb) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  map record;
  entry record;
  kind regtype;
begin
  delete from ridepulse.watch_errors e where e.relation = register_watch.relation;
  if mapping is null then
    delete from ridepulse.watches w where w.relation = register_watch.relation;
    return null;
  end if;
  select * into map from ridepulse.parse_mapping(mapping);
  if not exists (
    select from pg_class c
    where c.oid = relation and c.relkind in ('r', 'p') and c.relpersistence <> 't'
      and c.relnamespace <> 'ridepulse'::regnamespace)
  then
    raise exception 'ridepulse.watch: % is not a table of yours that stays', relation
      using errcode = 'wrong_object_type',
            hint = 'Views, foreign and temporary tables, and those of schema ridepulse can''t be attached.';
  end if;
  for entry in
    select key as target, value as column_name from jsonb_each_text(map.columns)
    union all
    select 'attributes', value from jsonb_each_text(map.attributes)
  loop
    -- A domain counts as its base type.
    with recursive types as (
      select a.atttypid as type from pg_attribute a
      where a.attrelid = relation and a.attname = entry.column_name and a.attnum > 0
        and not a.attisdropped
      union all
      select t.typbasetype from types join pg_type t on t.oid = types.type where t.typtype = 'd'
    )
    select t.type into kind from types t join pg_type p on p.oid = t.type where p.typtype <> 'd';
    if not found then
      raise exception 'ridepulse.watch: % has no column %, mapped to %',
        relation, entry.column_name, entry.target using errcode = 'undefined_column';
    end if;
    if entry.target <> 'pickup_at' then
      continue;
    end if;
    if kind = 'timestamp'::regtype and map.time_zone is null then
      raise exception 'ridepulse.watch: column % of % is a timestamp without time zone',
        entry.column_name, relation
        using errcode = 'invalid_parameter_value',
              hint = format('Name its zone: "pickup_at": {"column": "%s", "time_zone": "UTC"}, or '
                'such as "Europe/Berlin".', entry.column_name);
    end if;
    if kind <> all (array['timestamp', 'timestamptz', 'text', 'varchar', 'bpchar']::regtype[]) then
      raise exception 'ridepulse.watch: column % of % is of type %, which is no time',
        entry.column_name, relation, kind
        using errcode = 'datatype_mismatch',
              hint = 'pickup_at takes timestamptz, timestamp with a time zone named, or text.';
    end if;
  end loop;
  if map.time_zone is not null
     and (ridepulse.parse_time('2000-01-01', map.time_zone)).problem is not null then
    raise exception 'ridepulse.watch: Postgres knows no time zone %', quote_literal(map.time_zone)
      using errcode = 'invalid_parameter_value',
            hint = 'An IANA name such as Europe/Berlin; pg_timezone_names lists them.';
  end if;
  insert into ridepulse.watches as w (relation, mapping, columns, attributes, time_zone)
  values (register_watch.relation, register_watch.mapping, map.columns, map.attributes, map.time_zone)
  on conflict on constraint watches_pkey do update set
    mapping = excluded.mapping, columns = excluded.columns, attributes = excluded.attributes,
    time_zone = excluded.time_zone, watched_at = excluded.watched_at;
  return ridepulse.select_list(map.columns, map.attributes);
end
$$;

comment on function ridepulse.register_watch(regclass, jsonb) is
  'Stores the mapping of a table, clears the recorded problems of the table, and returns the '
  'columns that the mapping reads, as a list for SELECT. A null mapping detaches the table. '
  'Errors: 42809 if the table cannot be attached; 42703 if a column does not exist; 42804 and '
  '22023 if pickup_at has an unusable type or time zone; those of ridepulse.parse_mapping.';

create function ridepulse.select_list(columns jsonb, attributes jsonb) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select string_agg(format('r.%I', name), ', ' order by name) from (
    select value as name from jsonb_each_text(columns)
    union
    select value from jsonb_each_text(attributes)) names
$$;

comment on function ridepulse.select_list(jsonb, jsonb) is
  'Returns the columns that a mapping reads, as a list for SELECT from a row r.';

create function ridepulse.require_owner("table" regclass) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  owner_id oid := (select c.relowner from pg_class c where c.oid = "table");
  functions regprocedure[] := array(
    select p.oid from pg_proc p
    where p.pronamespace = 'ridepulse'::regnamespace and p.proname in ('watch', 'unwatch',
      'require_owner', 'register_watch', 'store_row', 'read_row', 'watched'));
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

create function ridepulse.watch("table" regclass, mapping jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  columns text;
  source jsonb;
begin
  perform ridepulse.require_owner("table");
  -- Must precede the lock on any row of this schema for which a writer of the table may wait.
  execute format('lock table %s in share row exclusive mode', "table");
  columns := ridepulse.register_watch("table", coalesce(mapping, 'null'));
  -- Triggers of a row fire in the order of their names: ridepulse_read fires first.
  execute format(
    'create or replace trigger ridepulse_read after insert or update on %s for each row '
    'execute function ridepulse.read_row(%L)', "table", columns);
  execute format(
    'create or replace trigger ridepulse_watch after insert or update on %s for each row '
    'execute function ridepulse.watched()', "table");
  -- Existing rows are copied without a push.
  perform set_config('ridepulse.silent', 'on', true);
  for source in
    execute format('select to_jsonb(x) from (select %s from %s r) x', columns, "table")
  loop
    perform ridepulse.store_row("table", source, true);
  end loop;
  perform set_config('ridepulse.silent', '', true);
end
$$;

comment on function ridepulse.watch(regclass, jsonb) is
  'Attaches a table, whose rows become rides from now on. Existing rows are copied without a '
  'push. A second call replaces the mapping. mapping: see docs/sql.md. Errors: 42501 if the '
  'caller may not attach the table; those of ridepulse.register_watch.';

create function ridepulse.unwatch("table" regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ridepulse.require_owner("table");
  execute format('lock table %s in access exclusive mode', "table");
  execute format('drop trigger if exists ridepulse_read on %s', "table");
  execute format('drop trigger if exists ridepulse_watch on %s', "table");
  perform ridepulse.register_watch("table", null);
end
$$;

comment on function ridepulse.unwatch(regclass) is
  'Detaches a table; its rides stay. Errors: 42501 if the caller may not detach the table.';

create function ridepulse.watched() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  source jsonb := nullif(current_setting('ridepulse.row', true), '');
  attached regclass;
begin
  perform set_config('ridepulse.row', '', true);
  select w.relation into attached from ridepulse.watches w where w.relation = tg_relid;
  if not found then
    select w.relation into attached
    from ridepulse.watches w join pg_partition_ancestors(tg_relid) a on a.relid = w.relation limit 1;
  end if;
  if attached is null then
    perform ridepulse.record_watch_error(tg_relid, '', 'not_attached');
  elsif source is null then
    perform ridepulse.record_watch_error(attached, 'ridepulse_read', 'not_read');
  elsif not source ? '' then
    perform ridepulse.store_row(attached, source);
  elsif source #>> '{"",state}' <> '42703' then
    perform ridepulse.record_watch_error(attached, '', 'unreadable_row', null,
      'SQLSTATE ' || (source #>> '{"",state}') || ': ' || (source #>> '{"",message}'));
  else
    perform ridepulse.record_watch_error(attached, m.value, 'missing_column')
    from ridepulse.watches w
    cross join lateral (select * from jsonb_each_text(w.columns)
                        union all select * from jsonb_each_text(w.attributes)) m
    where w.relation = attached and not exists (
      select from pg_attribute a
      where a.attrelid = tg_relid and a.attname = m.value and a.attnum > 0 and not a.attisdropped);
  end if;
  return null;
end
$$;

comment on function ridepulse.watched() is
  'Trigger function of ridepulse_watch: copies the row that ridepulse_read has stored as JSON, or '
  'records a problem. It must not read the row itself.';
