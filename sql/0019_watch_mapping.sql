-- Checks the mapping of ridepulse.watch(table, mapping). See 0018_watches.sql.

create function ridepulse.nearest_word(word text, known text[]) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  other text;
  best text;
  fewest integer := greatest(2, length(word) / 2) + 1;
  costs integer[];
  above integer[];
begin
  foreach other in array known loop
    costs := array(select generate_series(0, length(other)));
    for i in 1 .. least(length(word), 64) loop
      above := costs;
      costs[1] := i;
      for j in 1 .. length(other) loop
        costs[j + 1] := least(costs[j] + 1, above[j + 1] + 1,
          above[j] + (substr(word, i, 1) <> substr(other, j, 1))::integer);
      end loop;
    end loop;
    if costs[length(other) + 1] < fewest then
      fewest := costs[length(other) + 1];
      best := other;
    end if;
  end loop;
  return best;
end
$$;

comment on function ridepulse.nearest_word(text, text[]) is
  'Returns the known word that takes the fewest edits to get from word; null if none is similar.';

create function ridepulse.unknown_key(key text, place text, known text[]) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'ridepulse.watch: unknown key "%" %', key, place
    using errcode = 'undefined_column',
          hint = coalesce(format('Did you mean "%s"? ', ridepulse.nearest_word(key, known)), '')
            || 'known are ' || array_to_string(known, ', ');
end
$$;

comment on function ridepulse.unknown_key(text, text, text[]) is
  'Refuses a key of a mapping and names the nearest known one. Errors: 42703.';

-- A ride function returns all columns itself, so that the mapping has no other targets.
create function ridepulse.parse_mapping(mapping jsonb) returns ridepulse.watches
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  targets constant text[] := array['id', 'state', 'customer_id', 'driver_id', 'pickup_at',
                                   'time_zone', 'attributes'];
  w ridepulse.watches;
  key text;
  value jsonb;
begin
  w.mapping := mapping;
  w.prefix := '';
  w.columns := '{}';
  w.attributes := '{}';
  w.constants := '{}';
  w.states := '{}';
  for key, value in select * from jsonb_each(
    case jsonb_typeof(mapping) when 'object' then mapping end) loop
    if key in ('where', 'ride') and jsonb_typeof(value) = 'string' and value #>> '{}' <> '' then
      continue;
    elsif key = 'states' and jsonb_typeof(value) = 'object'
       and not jsonb_path_exists(value, '$.* ? (@.type() <> "string" || @ == "")') then
      w.states := value;
    elsif key = 'columns' and jsonb_typeof(value) = 'array' and value <> '[]' and mapping ? 'ride'
       and not jsonb_path_exists(value, '$[*] ? (@.type() <> "string")') then
      continue;
    elsif key in ('where', 'ride', 'states', 'columns') then
      raise exception 'ridepulse.watch: "%" can''t be %', key, value
        using errcode = 'invalid_parameter_value',
              hint = case key
                when 'where' then 'A condition on the row, such as "deleted_at is null".'
                when 'ride' then 'The name of a function of the row, such as "public.as_ride".'
                when 'states' then 'Such as {"SEARCHING": "requested"}: each value is a text.'
                else 'A list of columns, which a function named by "ride" reads.' end;
    elsif key <> all (targets) then
      perform ridepulse.unknown_key(key, 'of the mapping',
        targets || array['states', 'where', 'ride', 'columns']);
    elsif mapping ? 'ride' then
      if key <> 'id' or jsonb_typeof(value -> 'prefix') is distinct from 'string'
         or value - 'prefix' <> '{}' then
        raise exception 'ridepulse.watch: with "ride", "%" can''t be mapped: the function returns it',
          key
          using errcode = 'invalid_parameter_value',
                hint = 'Only "id" may stay, with a prefix alone: {"prefix": "shuttle-"}.';
      end if;
      w.prefix := value ->> 'prefix';
    else
      w := ridepulse.parse_target(w, key, value);
    end if;
  end loop;
  if jsonb_typeof(mapping) is distinct from 'object'
     or not (mapping ? 'ride' or mapping ?& array['id', 'state']) then
    raise exception 'ridepulse.watch needs a mapping with at least "id" and "state", or "ride"'
      using errcode = 'invalid_parameter_value',
            hint = 'such as {"id": "booking_id", "state": "status"}';
  end if;
  w.condition := mapping ->> 'where';
  w.ride_function := mapping ->> 'ride';
  if w.ride_function is not null then
    w.columns := (select jsonb_object_agg(name, name) from unnest(targets) name);
  end if;
  return w;
end
$$;

comment on function ridepulse.parse_mapping(jsonb) is
  'Splits a mapping into its parts, without checking that columns or functions exist. Errors: '
  '22023 if id or state is missing or a value is unusable; 42703 if a key is unknown.';

create function ridepulse.parse_target(w ridepulse.watches, target text, value jsonb)
returns ridepulse.watches
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  key text;
  known text[] := array['column', 'constant'] || case target
    when 'id' then array['prefix'] when 'pickup_at' then array['time_zone'] else '{}' end;
begin
  if jsonb_typeof(value) = 'object' and (value ?| array['column', 'constant'])
     and (target <> 'attributes' or jsonb_typeof(value -> 'column') = 'string'
          or jsonb_typeof(value -> 'constant') = 'object') then
    for key in select * from jsonb_object_keys(value) loop
      if key <> all (known) then
        perform ridepulse.unknown_key(key, format('of "%s", which names no column', target), known);
      end if;
    end loop;
    w.prefix := case target when 'id' then coalesce(value ->> 'prefix', '') else w.prefix end;
    w.time_zone := case target when 'pickup_at' then value ->> 'time_zone' else w.time_zone end;
    if value ? 'constant' and not value ? 'column' and target <> 'id'
       and jsonb_typeof(value -> 'constant')
         = (case target when 'attributes' then 'object' else 'string' end)
       and octet_length(value ->> 'constant') <= 512 then
      w.constants := w.constants || jsonb_build_object(target, value -> 'constant');
      return w;
    end if;
    value := case when value ? 'constant' then value else value -> 'column' end;
  end if;
  if jsonb_typeof(value) = 'string' then
    w.columns := w.columns || jsonb_build_object(target, value);
  elsif target = 'attributes' and jsonb_typeof(value) = 'array'
     and not jsonb_path_exists(value, '$[*] ? (@.type() <> "string")') then
    w.attributes := coalesce(
      (select jsonb_object_agg(name, name) from jsonb_array_elements_text(value) name), '{}');
  elsif target = 'attributes' and jsonb_typeof(value) = 'object' and not exists (
      select from jsonb_each(value) e where jsonb_typeof(e.value) <> 'string'
        and (not e.value ? 'constant' or e.value - 'constant' <> '{}')) then
    w.attributes := coalesce((select jsonb_object_agg(e.key, e.value) from jsonb_each(value) e
                              where jsonb_typeof(e.value) = 'string'), '{}');
    w.constants := w.constants || jsonb_build_object('attributes', coalesce(
      (select jsonb_object_agg(e.key, e.value -> 'constant') from jsonb_each(value) e
       where jsonb_typeof(e.value) = 'object'), '{}'));
  else
    raise exception 'ridepulse.watch: % is mapped to %, which names no column', target, value
      using errcode = 'invalid_parameter_value',
            hint = case target
              when 'attributes' then 'A jsonb column, a list of columns, or an object of names to columns or {"constant": …}.'
              when 'pickup_at' then 'Such as "pickup_time", or {"column": "pickup_time", "time_zone": "Europe/Berlin"}.'
              when 'id' then 'Such as "booking_id", or {"column": "booking_id", "prefix": "shuttle-"}; no constant.'
              else 'Such as "status", {"column": "status"} or {"constant": "a text"}.' end;
  end if;
  return w;
end
$$;

comment on function ridepulse.parse_target(ridepulse.watches, text, jsonb) is
  'Adds the mapping of one column of ridepulse.rides. Errors: 22023 and 42703.';

create function ridepulse.check_columns(w ridepulse.watches) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  entry record;
  kind regtype;
  zone text := coalesce(w.time_zone, '');
begin
  for entry in
    select key as target, value as column_name from jsonb_each_text(w.columns)
    where w.ride_function is null
    union all
    select 'attributes', value from jsonb_each_text(w.attributes)
    union all
    select 'columns', name from jsonb_array_elements_text(w.mapping -> 'columns') name
  loop
    kind := ridepulse.base_type(w.relation, entry.column_name);
    if kind is null then
      raise exception 'ridepulse.watch: % has no column %, mapped to %',
        w.relation, entry.column_name, entry.target using errcode = 'undefined_column',
        hint = coalesce(format('Did you mean %s?', (
          select ridepulse.nearest_word(entry.column_name, array_agg(a.attname::text))
          from pg_attribute a
          where a.attrelid = w.relation and a.attnum > 0 and not a.attisdropped)), '');
    elsif entry.target = 'pickup_at' and kind = 'timestamp'::regtype and zone = '' then
      raise exception 'ridepulse.watch: column % of % is a timestamp without time zone',
        entry.column_name, w.relation
        using errcode = 'invalid_parameter_value',
              hint = format('Name its zone: "pickup_at": {"column": "%s", "time_zone": "UTC"}, or '
                'such as "Europe/Berlin".', entry.column_name);
    elsif entry.target = 'pickup_at' and kind <> all (
      array['timestamp', 'timestamptz', 'text', 'varchar', 'bpchar']::regtype[]) then
      raise exception 'ridepulse.watch: column % of % is of type %, which is not a time',
        entry.column_name, w.relation, kind
        using errcode = 'datatype_mismatch',
              hint = 'pickup_at takes timestamptz, timestamp with a time zone named, or text.';
    end if;
  end loop;
  foreach zone in array array[w.time_zone, w.constants ->> 'time_zone'] loop
    if (ridepulse.parse_time('2000-01-01', zone)).problem is not null and zone is not null then
      raise exception 'ridepulse.watch: Postgres knows no time zone %', quote_literal(zone)
        using errcode = 'invalid_parameter_value',
              hint = 'An IANA name such as Europe/Berlin; pg_timezone_names lists them.';
    end if;
  end loop;
  if (ridepulse.parse_time(w.constants ->> 'pickup_at', w.time_zone)).problem is not null then
    raise exception 'ridepulse.watch: pickup_at can''t be the constant %',
      w.constants ->> 'pickup_at'
      using errcode = 'invalid_parameter_value', hint = 'Such as "2026-03-01 10:00+01".';
  end if;
end
$$;

comment on function ridepulse.check_columns(ridepulse.watches) is
  'Checks that the mapped columns exist, and the type and time zones of times. Errors: 42703, '
  '42804, 22023.';

-- A domain counts as its base type.
create function ridepulse.base_type(relation regclass, column_name text) returns regtype
language sql stable set search_path = pg_catalog, pg_temp as $$
  with recursive types as (
    select a.atttypid as type from pg_attribute a
    where a.attrelid = relation and a.attname = column_name and a.attnum > 0 and not a.attisdropped
    union all
    select t.typbasetype from types join pg_type t on t.oid = types.type where t.typtype = 'd'
  )
  select t.type::regtype from types t join pg_type p on p.oid = t.type where p.typtype <> 'd'
$$;

comment on function ridepulse.base_type(regclass, text) is
  'Returns the type of a table''s column, of a domain its base type; null without such a column.';

-- Padding is no part of a text. An enum is read without a cast, which the table's owner may make at
-- any time.
create function ridepulse.column_value(relation regclass, column_name text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format(case when t.oid = 'bpchar'::regtype then 'r.%I::text'
      when t.typtype = 'e' then 'pg_catalog.textin(pg_catalog.enum_out(r.%I))' else 'r.%I' end,
    column_name)
  from (select ridepulse.base_type(relation, column_name)) b (type)
  left join pg_type t on t.oid = b.type
$$;

comment on function ridepulse.column_value(regclass, text) is
  'Returns the SQL expression that reads a column of a row r.';
