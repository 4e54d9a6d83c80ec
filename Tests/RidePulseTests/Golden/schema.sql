CREATE SCHEMA ridepulse;
CREATE TYPE ridepulse.erasure AS (
	owner_id text,
	app text,
	apps text[],
	keys text[],
	phones bigint[],
	cards bigint[],
	starts bigint[],
	suffixes text[],
	rides text[],
	roles text[],
	legacy text[],
	gone text[],
	scope text[]
);
COMMENT ON TYPE ridepulse.erasure IS 'What ridepulse.forget has found of a person.';
COMMENT ON COLUMN ridepulse.erasure.owner_id IS 'The person''s owner ID.';
COMMENT ON COLUMN ridepulse.erasure.app IS 'The only app of the erasure; null means all apps.';
COMMENT ON COLUMN ridepulse.erasure.apps IS 'The apps in which the ID names the person.';
COMMENT ON COLUMN ridepulse.erasure.keys IS 'Members of JSON that may name the person; null means all.';
COMMENT ON COLUMN ridepulse.erasure.phones IS 'IDs in devices.';
COMMENT ON COLUMN ridepulse.erasure.cards IS 'IDs in live_activities.';
COMMENT ON COLUMN ridepulse.erasure.starts IS 'IDs in push_to_start_tokens.';
COMMENT ON COLUMN ridepulse.erasure.suffixes IS 'The last six characters of all these tokens.';
COMMENT ON COLUMN ridepulse.erasure.rides IS 'Rides that name the person.';
COMMENT ON COLUMN ridepulse.erasure.roles IS 'The app by which each of these rides does.';
COMMENT ON COLUMN ridepulse.erasure.legacy IS 'Pseudo rides of the person, of the phones, of cards and of start tokens.';
COMMENT ON COLUMN ridepulse.erasure.gone IS 'Rides to delete.';
COMMENT ON COLUMN ridepulse.erasure.scope IS 'All rides whose memo, events or ledger rows may name the person.';
CREATE FUNCTION ridepulse.answer(call text, arguments jsonb, OUT status integer, OUT body text) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  a constant jsonb := arguments;
  suffix constant text := right(ridepulse.canonical_token(coalesce(a ->> 'platform',
    case when a ->> 'token' ~ '^[0-9A-Fa-f]+$' then 'ios' else 'android' end), a ->> 'token'), 6);
  is_new boolean;
  answer jsonb;
begin
  status := 200;
  case call
    when 'events' then
      status := 201;
      answer := jsonb_build_object('event_id',
        ridepulse.emit(a ->> 'event', a ->> 'ride_id', coalesce(a -> 'data', '{}')));
    when 'devices' then
      perform ridepulse.register_device(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'environment', a ->> 'installation_id', a ->> 'locale',
        a ->> 'platform', a ->> 'time_zone', (a ->> 'alerts')::boolean, a ->> 'app_version');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'token_suffix', suffix);
    when 'live-activities' then
      perform ridepulse.register_live_activity(a ->> 'ride_id', a ->> 'app', a ->> 'owner_id',
        a ->> 'token', a ->> 'activity_id', a ->> 'environment', (a ->> 'frequent')::boolean,
        a ->> 'installation_id');
      answer := jsonb_build_object('ride_id', a -> 'ride_id', 'app', a -> 'app',
        'activity_id', a -> 'activity_id', 'token_suffix', suffix);
    when 'push-to-start' then
      perform ridepulse.register_push_to_start(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'attributes_type', a ->> 'environment', a ->> 'installation_id');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'attributes_type', a -> 'attributes_type', 'token_suffix', suffix);
    when 'contact' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'contacted_at', to_char(ridepulse.contact(a ->> 'app', a ->> 'owner_id', a ->> 'installation_id')
          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
    when 'preferences' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'topic', a -> 'topic', 'allowed', a -> 'allowed',
        'changed', ridepulse.set_preference(a ->> 'app', a ->> 'owner_id', a ->> 'topic',
          (a ->> 'allowed')::boolean));
    when 'seen' then
      perform ridepulse.seen((a ->> 'apns_id')::uuid);
      status := 204;
    when 'rides' then
      is_new := ridepulse.put_ride(a);
      status := case when is_new then 201 else 200 end;
      answer := jsonb_build_object('id', a -> 'id', 'created', is_new);
    when 'delete-device' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_device(a ->> 'app', a ->> 'token'));
    when 'delete-live-activity' then
      answer := jsonb_build_object('app', a -> 'app', 'activity_id', a -> 'activity_id',
        'withdrawn', ridepulse.end_live_activity(a ->> 'app', a ->> 'activity_id', a ->> 'owner_id',
          a ->> 'reason'));
    when 'delete-push-to-start' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_push_to_start(a ->> 'app', a ->> 'token'));
    when 'push' then
      status := 201;
      answer := jsonb_build_object('apns_id', case when a ? 'channel_id'
        then ridepulse.broadcast(a ->> 'app', a ->> 'channel_id', (a ->> 'payload')::json,
          make_interval(secs => (a ->> 'expires')::double precision), (a ->> 'priority')::integer)
        else ridepulse.push(a ->> 'app', a ->> 'token', (a ->> 'payload')::json,
          coalesce(a ->> 'push_type', 'alert'), (a ->> 'priority')::integer,
          make_interval(secs => (a ->> 'expires')::double precision), a ->> 'environment',
          a ->> 'collapse_id') end);
  end case;
  body := coalesce(answer::text, '');
end
$_$;
COMMENT ON FUNCTION ridepulse.answer(call text, arguments jsonb, OUT status integer, OUT body text) IS 'Executes an API call and returns the HTTP status and body of its answer. call: its name in the service. arguments: the fields of path and body, which the service has validated. Errors: those of the called function.';
CREATE FUNCTION ridepulse.attach_channel(ride_id text, app text, channel_id text, refusal text, is_awaited boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  before text := coalesce(current_setting('ridepulse.silent', true), '');
begin
  if channel_id is not null then
    perform set_config('ridepulse.silent', 'on', true);
    update ridepulse.rides r
    set attributes = r.attributes
      || jsonb_build_object(attach_channel.app || '_channel_id', attach_channel.channel_id)
    where r.id = attach_channel.ride_id and jsonb_typeof(r.attributes) = 'object';
    perform set_config('ridepulse.silent', before, true);
  end if;
  if is_awaited or exists (
    select from ridepulse.agenda a where a.ride_id = attach_channel.ride_id) then
    insert into ridepulse.events (ride_id, event, data)
    values (attach_channel.ride_id,
            case when channel_id is null then 'channel_refused' else 'channel_opened' end,
            jsonb_strip_nulls(jsonb_build_object('app', app, 'channel_id', channel_id,
                                                 'reason', refusal)));
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.attach_channel(ride_id text, app text, channel_id text, refusal text, is_awaited boolean) IS 'Adds a channel''s ID to the attributes of its ride as <app>_channel_id, and makes the ride due by the event channel_opened, or channel_refused if channel_id is null. refusal: why the create was refused. is_awaited: makes the ride due even if it is not on the agenda.';
CREATE TABLE ridepulse.watches (
    relation regclass NOT NULL,
    mapping jsonb NOT NULL,
    prefix text NOT NULL,
    columns jsonb NOT NULL,
    attributes jsonb NOT NULL,
    constants jsonb NOT NULL,
    states jsonb NOT NULL,
    condition text,
    ride_function text,
    time_zone text,
    watched_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    backfilled_at timestamp with time zone,
    backfilled_watch timestamp with time zone,
    backfill_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    attached_schema text,
    attached_name text,
    live_states text[]
);
COMMENT ON TABLE ridepulse.watches IS 'The attached tables. Rows of no other table become rides.';
COMMENT ON COLUMN ridepulse.watches.relation IS 'The table.';
COMMENT ON COLUMN ridepulse.watches.mapping IS 'The mapping as it was passed to ridepulse.watch.';
COMMENT ON COLUMN ridepulse.watches.prefix IS 'The text that precedes the IDs of the table''s rides; no two tables have the same one.';
COMMENT ON COLUMN ridepulse.watches.columns IS 'Columns of ridepulse.rides, each with the value of the row that is copied to it: a column of the table, or of the result of ride_function.';
COMMENT ON COLUMN ridepulse.watches.attributes IS 'Keys of rides.attributes, each with the table''s column that is copied to it.';
COMMENT ON COLUMN ridepulse.watches.constants IS 'Columns of ridepulse.rides with a constant value; attributes is an object of such values.';
COMMENT ON COLUMN ridepulse.watches.states IS 'The table''s states, each with the state that rides have for it. Any other state is copied unchanged.';
COMMENT ON COLUMN ridepulse.watches.condition IS 'The condition that a row must meet to be a ride; null if the mapping has none.';
COMMENT ON COLUMN ridepulse.watches.ride_function IS 'The function from a row to ridepulse.rides; null if columns are mapped.';
COMMENT ON COLUMN ridepulse.watches.time_zone IS 'IANA name of the time zone of pickup_at values without an offset; null if the mapping names none.';
COMMENT ON COLUMN ridepulse.watches.watched_at IS 'When ridepulse.watch was last called for the table.';
COMMENT ON COLUMN ridepulse.watches.backfilled_at IS 'When the last backfill of the table ended.';
COMMENT ON COLUMN ridepulse.watches.backfilled_watch IS 'The watched_at for which the table was last backfilled.';
COMMENT ON COLUMN ridepulse.watches.backfill_until IS 'Until then no second service begins a backfill of the table.';
COMMENT ON COLUMN ridepulse.watches.attached_schema IS 'The schema of the table when ridepulse.watch was last called.';
COMMENT ON COLUMN ridepulse.watches.attached_name IS 'The name of the table when ridepulse.watch was last called.';
COMMENT ON COLUMN ridepulse.watches.live_states IS 'The active states for which the table was last backfilled; null if it was not since ridepulse.watch was last called. A row without a ride in another state is not copied until its state changes.';
CREATE FUNCTION ridepulse.attached_table(relation regclass) RETURNS ridepulse.watches
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.attached_table(relation regclass) IS 'Returns what ridepulse.watch has stored about a table. Errors: 55000 if it is not attached.';
CREATE FUNCTION ridepulse.backfill_batch("table" regclass, active text[], rows jsonb, allows_owner_code boolean DEFAULT true) RETURNS TABLE(inserted integer, refreshed integer, removed integer, unmatched integer)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '50ms'
    AS $$
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
COMMENT ON FUNCTION ridepulse.backfill_batch("table" regclass, active text[], rows jsonb, allows_owner_code boolean) IS 'Reads rows of an attached table once more and stores them as rides, without a push. rows: arrays of ride ID, key and version, as ridepulse.find_live_rows returns them. allows_owner_code has no effect. Errors: 55P03 if it would have to wait for a writer; those of ridepulse.lock_to_read and ridepulse.backfill_plan.';
CREATE FUNCTION ridepulse.backfill_plan(relation regclass, active text[], allows_owner_code boolean DEFAULT true, OUT prefix text, OUT states text[], OUT find text, OUT read text) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.backfill_plan(relation regclass, active text[], allows_owner_code boolean, OUT prefix text, OUT states text[], OUT find text, OUT read text) IS 'Returns the prefix of a table''s rides, the raw states that are active, and the queries of a backfill, for a caller to execute. allows_owner_code: whether they may run code of the table''s owner. Errors: 55000 if the table is not attached or has no key; 42501 if they would run it.';
CREATE FUNCTION ridepulse.base_type(relation regclass, column_name text) RETURNS regtype
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with recursive types as (
    select a.atttypid as type from pg_attribute a
    where a.attrelid = relation and a.attname = column_name and a.attnum > 0 and not a.attisdropped
    union all
    select t.typbasetype from types join pg_type t on t.oid = types.type where t.typtype = 'd'
  )
  select t.type::regtype from types t join pg_type p on p.oid = t.type where p.typtype <> 'd'
$$;
COMMENT ON FUNCTION ridepulse.base_type(relation regclass, column_name text) IS 'Returns the type of a table''s column, of a domain its base type; null without such a column.';
CREATE FUNCTION ridepulse.begin_backfill(relation regclass, is_forced boolean DEFAULT true, active text[] DEFAULT '{}'::text[]) RETURNS timestamp with time zone
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.begin_backfill(relation regclass, is_forced boolean, active text[]) IS 'Returns the version of an attached table''s mapping for ridepulse.finish_backfill. Unless is_forced, null if the table is backfilled for all active states, or another service has begun it within 10 minutes. Errors: 55000 if the table is not attached.';
CREATE FUNCTION ridepulse.belongs_to(w ridepulse.watches, id text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return starts_with(id, w.prefix) and not exists (
    select from ridepulse.watches o
    where length(o.prefix) > length(w.prefix) and starts_with(id, o.prefix));
end
$$;
COMMENT ON FUNCTION ridepulse.belongs_to(w ridepulse.watches, id text) IS 'Whether a ride ID belongs to the attached table: no other table has a longer prefix of it.';
CREATE FUNCTION ridepulse.broadcast(app text, channel_id text, payload json, expires interval DEFAULT '01:00:00'::interval, priority integer DEFAULT NULL::integer) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  new_id constant uuid := gen_random_uuid();
  channel ridepulse.channels;
begin
  perform ridepulse.check_app('broadcast', app),
    ridepulse.check_push_type('broadcast', 'liveactivity', priority),
    ridepulse.check_payload('broadcast', payload, 5120);
  if channel_id is null or channel_id !~ '^[A-Za-z0-9+/=]{1,128}$' then
    raise exception 'channel_id of ridepulse.broadcast is no channel ID'
      using errcode = 'invalid_parameter_value',
            hint = 'Send the ID in base64, as APNs and `ridepulse channels list` give it.';
  end if;
  select * into channel from ridepulse.channels c
  where c.app = broadcast.app and c.channel_id = broadcast.channel_id order by c.id desc limit 1;
  insert into ridepulse.events (ride_id, event, data)
  values (ridepulse.raw_ride('broadcast', app, channel_id), 'raw_broadcast',
    jsonb_strip_nulls(jsonb_build_object(
      'app', broadcast.app, 'channel', broadcast.channel_id, 'payload', broadcast.payload::text,
      'push_type', 'liveactivity', 'priority', broadcast.priority,
      'expiration', ridepulse.raw_expiration('broadcast', broadcast.expires, interval '8 hours'),
      'is_stored', case when channel.storage = 'none' then false end,
      'environment', channel.environment, 'apns_id', new_id)));
  return new_id;
end
$_$;
COMMENT ON FUNCTION ridepulse.broadcast(app text, channel_id text, payload json, expires interval, priority integer) IS 'Sends one Live Activity push to all subscribers of a channel, when the transaction commits; returns its apns-request-id, which is the apns_id of deliveries. channel_id: Apple''s ID, in ridepulse.channels or not. payload: a JSON object, sent byte for byte. expires: how long it is valid, up to 8 hours; 0 means that APNs never stores it. priority: 10, 5, 1; null means 10. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.canonical_token(platform text, token text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select case $1 when 'android' then $2 else lower($2) end
$_$;
COMMENT ON FUNCTION ridepulse.canonical_token(platform text, token text) IS 'Returns a token as it is stored: in lower case for ios, unchanged for android, whose tokens are case-sensitive.';
CREATE FUNCTION ridepulse.change_condition(w ridepulse.watches) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when ridepulse.reads_whole_row(w) then 'pg_catalog.record_image_ne(old, new)'
    else format('pg_catalog.record_image_ne(row(%s), row(%s))',
      string_agg(format('old.%I', c), ', '), string_agg(format('new.%I', c), ', ')) end
  from unnest(ridepulse.columns_read(w)) c
$$;
COMMENT ON FUNCTION ridepulse.change_condition(w ridepulse.watches) IS 'Returns the condition under which an update changes a column that the mapping reads.';
CREATE FUNCTION ridepulse.check_android_push(push_type text, environment text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if push_type not in ('alert', 'background') then
    raise exception 'push_type of ridepulse.push is %, and the token an Android phone''s',
      quote_literal(push_type)
      using errcode = 'invalid_parameter_value', hint = 'Send alert or background.';
  elsif environment is not null then
    raise exception 'environment of ridepulse.push is %, and the token an Android phone''s',
      quote_literal(environment)
      using errcode = 'invalid_parameter_value', hint = 'FCM has no environments: send null.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_android_push(push_type text, environment text) IS 'Checks the arguments of a push to an Android phone that only pushes to iPhones have. Errors: 22023.';
CREATE FUNCTION ridepulse.check_app(function_name text, app text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform ridepulse.check_text(function_name, 'app', app);
  if not exists (select from ridepulse.apps a where a.app = check_app.app)
     and exists (select from ridepulse.apps) then
    raise exception 'app of ridepulse.% is %, which is unknown', function_name, quote_literal(app)
      using errcode = 'invalid_parameter_value',
            hint = 'Known apps: '
              || (select string_agg(a.app, ', ' order by a.app) from ridepulse.apps a)
              || '. ridepulse serve adds those that it is configured for when it starts.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_app(function_name text, app text) IS 'Checks the argument app: a name in ridepulse.apps, if that has any. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.check_collapse_id(function_name text, collapse_id text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
begin
  if octet_length(collapse_id) not between 1 and 64 or collapse_id ~ '[\u0001-\u001F\u007F]'
     or collapse_id <> btrim(collapse_id, ' ') then
    raise exception 'collapse_id of ridepulse.% is not one that APNs accepts', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Send 1 to 64 bytes without control characters and outer spaces, or null.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_collapse_id(function_name text, collapse_id text) IS 'Checks the argument collapse_id: 1 to 64 bytes without control characters, or null. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.check_columns(w ridepulse.watches) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.check_columns(w ridepulse.watches) IS 'Checks that the mapped columns exist, and the type and time zones of times. Errors: 42703, 42804, 22023.';
CREATE FUNCTION ridepulse.check_environment(function_name text, environment text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if environment not in ('production', 'sandbox') then
    raise exception 'environment of ridepulse.% is %, which is unknown',
      function_name, quote_literal(environment)
      using errcode = 'invalid_parameter_value', hint = 'Send production, sandbox or null.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_environment(function_name text, environment text) IS 'Checks the argument environment: production, sandbox or null. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.check_mapping(relation regclass, mapping jsonb, OUT w ridepulse.watches, OUT expression text, OUT reader text, OUT commands text[]) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
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
COMMENT ON FUNCTION ridepulse.check_mapping(relation regclass, mapping jsonb, OUT w ridepulse.watches, OUT expression text, OUT reader text, OUT commands text[]) IS 'Checks a mapping against the table and the other attached tables. Returns its parts, the expression of a row, the name of the function that reads one, and the commands that create it and the triggers. Errors: 42809 if the table cannot be attached; 42883 if the ride function does not exist; 22023 if another table has the prefix; those of ridepulse.parse_mapping and ridepulse.check_columns.';
CREATE FUNCTION ridepulse.check_payload(function_name text, payload json, max_bytes integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if payload is null or json_typeof(payload) <> 'object' then
    raise exception 'ridepulse.% needs a JSON object as payload, got %', function_name,
      coalesce(json_typeof(payload), 'NULL')
      using errcode = 'invalid_parameter_value',
            hint = 'Send an object such as {"aps": {"alert": "Hi"}}.';
  elsif octet_length(payload::text) > max_bytes then
    raise exception 'payload of ridepulse.% has % bytes, at most % are allowed', function_name,
      octet_length(payload::text), max_bytes
      using errcode = 'invalid_parameter_value',
            hint = 'APNs and FCM refuse a larger one. Spaces count: send the JSON without them.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_payload(function_name text, payload json, max_bytes integer) IS 'Checks the argument payload: a JSON object of at most max_bytes bytes, as it is written. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.check_phone_token(function_name text, platform text, token text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
  if platform = 'ios' and (token like '%:%' or token ~ '^[cdef][A-Za-z0-9_-]{21}$')
     and token !~ '^[0-9A-Fa-f]+$' then
    raise exception 'token of ridepulse.% is no token', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'An FCM token needs platform => ''android''.';
  elsif platform = 'ios' then
    perform ridepulse.check_token(function_name, token);
  elsif token is null or octet_length(token) > 512 or token !~ '^[!-~]+$' then
    raise exception 'token of ridepulse.% is no token', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Send it as the phone has it: 1 to 512 characters of ASCII without spaces.';
  elsif platform = 'android' and token ~ '^[0-9A-Fa-f]{64,}$' then
    raise exception
      'token of ridepulse.% looks like one of APNs; send platform ios or leave it out', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Android sends a registration token or an installation ID of Firebase.';
  end if;
end
$_$;
COMMENT ON FUNCTION ridepulse.check_phone_token(function_name text, platform text, token text) IS 'Checks the argument token of a phone. platform: ios, android, or null if it is not known. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.check_pin(apps text[], bundle_ids text[], environments text[], projects text[] DEFAULT '{}'::text[], site text DEFAULT NULL::text) RETURNS TABLE(problem text, app text, pinned text, found text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  insert into ridepulse.pin (system_identifier, database_oid)
  select s.system_identifier, d.oid from pg_control_system() s, pg_database d
  where d.datname = current_database()
  on conflict do nothing;
  -- An app or a site is pinned only where a service may send, and so is what an app had not before.
  if not exists (
    select from ridepulse.pin_problems(apps, bundle_ids, environments, projects, site)) then
    update ridepulse.pin p set site = coalesce(check_pin.site, '')
    where p.site is null and cardinality(apps) > 0;
    insert into ridepulse.pinned_apps as p (app, bundle_id, environment, project)
    select a.app, a.bundle_id, a.environment, a.project
    from unnest(apps, bundle_ids, environments, projects) a (app, bundle_id, environment, project)
    order by a.app
    on conflict (app) do update set
      bundle_id = coalesce(p.bundle_id, excluded.bundle_id),
      environment = coalesce(p.environment, excluded.environment),
      project = coalesce(p.project, excluded.project)
    where (p.bundle_id is null and excluded.bundle_id is not null)
      or (p.environment is null and excluded.environment is not null)
      or (p.project is null and excluded.project is not null);
  end if;
  return query
    select * from ridepulse.pin_problems(apps, bundle_ids, environments, projects, site);
end
$$;
COMMENT ON FUNCTION ridepulse.check_pin(apps text[], bundle_ids text[], environments text[], projects text[], site text) IS 'Pins this database, the site, these apps and what they have unless it is pinned already, and returns what ridepulse.pin_problems returns.';
CREATE FUNCTION ridepulse.check_push_type(function_name text, push_type text, priority integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  known constant text[] := array['alert', 'background', 'liveactivity', 'voip', 'location',
    'complication', 'fileprovider', 'mdm', 'pushtotalk', 'widgets', 'controls'];
begin
  if push_type is null or push_type <> all (known) then
    raise exception 'push_type of ridepulse.% is %, which is unknown', function_name,
      quote_nullable(push_type)
      using errcode = 'invalid_parameter_value',
            hint = format('Known are %s.', array_to_string(known, ', '));
  elsif priority not in (1, 5, 10) then
    raise exception 'priority of ridepulse.% is %', function_name, priority
      using errcode = 'invalid_parameter_value',
            hint = 'Send 10 (at once), 5 (when it suits the phone), 1 (without waking it) or null.';
  elsif push_type = 'background' and priority <> 5 then
    raise exception 'priority of ridepulse.% is %, and push_type background', function_name, priority
      using errcode = 'invalid_parameter_value',
            hint = 'APNs accepts a background push with priority 5 only: send 5 or null.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_push_type(function_name text, push_type text, priority integer) IS 'Checks the arguments push_type and priority: a value of apns-push-type; 1, 5, 10 or null. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.check_text(function_name text, argument text, value text, is_required boolean DEFAULT true) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
begin
  if is_required and coalesce(value, '') = '' then
    raise exception 'ridepulse.% needs %, got %', function_name, argument, quote_nullable(value)
      using errcode = 'invalid_parameter_value', hint = 'It must be neither null nor empty.';
  elsif octet_length(value) > 512 then
    raise exception '% of ridepulse.% has % bytes', argument, function_name, octet_length(value)
      using errcode = 'invalid_parameter_value',
            hint = 'IDs, names and tokens have 512 bytes at most.';
  elsif value ~ '[\u0001-\u001F\u007F-\u009F]' then
    raise exception '% of ridepulse.% contains a control character', argument, function_name
      using errcode = 'invalid_parameter_value', hint = 'Send the text without it.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_text(function_name text, argument text, value text, is_required boolean) IS 'Checks a text argument: at most 512 bytes without control characters. function_name and argument are for the message, value is the text, is_required also refuses null and an empty text. Errors: 22023.';
CREATE FUNCTION ridepulse.check_token(function_name text, token text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
  if token is null or token !~ '^([0-9A-Fa-f]{2}){1,255}([0-9A-Fa-f]{2})?$' then
    raise exception 'token of ridepulse.% is no token', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Send 2 to 512 hexadecimal digits, an even number of them.';
  end if;
end
$_$;
COMMENT ON FUNCTION ridepulse.check_token(function_name text, token text) IS 'Checks the argument token: 2 to 512 hexadecimal digits, an even number of them. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.checked_call(call text, arguments jsonb, awaited_state text, OUT outcome text, OUT status integer, OUT body text) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  state text;
begin
  if awaited_state is not null then
    select r.state into state from ridepulse.rides r where r.id = arguments ->> 'ride_id';
    if state is distinct from awaited_state then
      outcome := case when found then 'other state' else 'no ride' end;
      body := state;
      return;
    end if;
  end if;
  outcome := 'done';
  select a.status, a.body into status, body from ridepulse.answer(call, arguments) a;
end
$$;
COMMENT ON FUNCTION ridepulse.checked_call(call text, arguments jsonb, awaited_state text, OUT outcome text, OUT status integer, OUT body text) IS 'Executes an API call if its ride is in the awaited state, or if none is awaited. outcome: done, other state (body has the ride''s state, null if it has none) or no ride.';
CREATE FUNCTION ridepulse.claim_place(apps text[], bundle_ids text[], environments text[], projects text[] DEFAULT '{}'::text[], site text DEFAULT NULL::text, OUT system_identifier bigint, OUT timeline integer, OUT may_claim boolean, OUT is_pinned boolean, OUT pauses bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- A role that may not read them has no pauses, and claims.
  if has_table_privilege('ridepulse.pauses', 'select') then
    select coalesce(hashtextextended(string_agg(p::text, ' ' order by p.kind, p.name), 0), 0)
    into pauses from ridepulse.pauses p where p.until > now();
  end if;
  select s.system_identifier, s.timeline into system_identifier, timeline
  from ridepulse.server_place() s;
  is_pinned := exists (select from ridepulse.pin p where p.site is not null) and not exists (
    select from unnest(apps, bundle_ids, projects) a (app, bundle_id, project)
    where not exists (
      select from ridepulse.pinned_apps p
      where p.app = a.app and (a.bundle_id is null or p.bundle_id is not null)
        and (a.project is null or p.project is not null)));
  -- After pin(), check_pin decides which of several services may send, before any of them claims.
  may_claim := (is_pinned or cardinality(apps) = 0)
    and not exists (
      select from ridepulse.pin_problems(apps, bundle_ids, environments, projects, site));
end
$$;
COMMENT ON FUNCTION ridepulse.claim_place(apps text[], bundle_ids text[], environments text[], projects text[], site text, OUT system_identifier bigint, OUT timeline integer, OUT may_claim boolean, OUT is_pinned boolean, OUT pauses bigint) IS 'Returns the server and timeline that a claim is made on, whether a service with these apps may claim there, and whether all that they have is pinned. Apps that are not pinned may not claim. pauses: a number that is another one when pauses begin, change or end; null if the role may not read them.';
CREATE FUNCTION ridepulse.column_value(relation regclass, column_name text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select format(case when t.oid = 'bpchar'::regtype then 'r.%I::text'
      when t.typtype = 'e' then 'pg_catalog.textin(pg_catalog.enum_out(r.%I))' else 'r.%I' end,
    column_name)
  from (select ridepulse.base_type(relation, column_name)) b (type)
  left join pg_type t on t.oid = b.type
$$;
COMMENT ON FUNCTION ridepulse.column_value(relation regclass, column_name text) IS 'Returns the SQL expression that reads a column of a row r.';
CREATE FUNCTION ridepulse.columns_read(w ridepulse.watches) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.columns_read(w ridepulse.watches) IS 'Returns the columns that a mapping reads, unless it reads the whole row.';
CREATE FUNCTION ridepulse.contact(app text, owner_id text, installation_id text DEFAULT NULL::text) RETURNS timestamp with time zone
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  installation constant text := nullif(contact.installation_id, '');
  last_contact timestamptz;
begin
  perform ridepulse.check_app('contact', app),
    ridepulse.check_text('contact', 'owner_id', owner_id),
    ridepulse.check_text('contact', 'installation_id', installation, false);
  -- Concurrent calls may finish in any order: the latest time stays.
  insert into ridepulse.contacts as c (app, owner_id, contacted_at, unnamed_at)
  values (contact.app, contact.owner_id, clock_timestamp(),
    case when installation is not null then timestamptz '-infinity' end)
  on conflict on constraint contacts_pkey do update set
    contacted_at = greatest(c.contacted_at, excluded.contacted_at),
    unnamed_at = case
      when installation is not null then coalesce(c.unnamed_at, c.contacted_at)
      when c.unnamed_at is not null and excluded.contacted_at < c.contacted_at
        then greatest(c.unnamed_at, excluded.contacted_at)
    end
  returning c.contacted_at into last_contact;
  if installation is not null then
    insert into ridepulse.installation_contacts as i (app, owner_id, installation_id, contacted_at)
    values (contact.app, contact.owner_id, installation, clock_timestamp())
    on conflict on constraint installation_contacts_pkey do update
    set contacted_at = greatest(i.contacted_at, excluded.contacted_at);
  end if;
  return last_contact;
end
$$;
COMMENT ON FUNCTION ridepulse.contact(app text, owner_id text, installation_id text) IS 'Records that a phone of the owner made contact with the app''s backend, and returns the time of the owner''s last contact. installation_id: the phone''s, as in register_device; null or empty means that it is not known which phone it was, and counts for all of them. Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes.';
CREATE FUNCTION ridepulse.current_row_query(w ridepulse.watches) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.current_row_query(w ridepulse.watches) IS 'Returns the query that reads the row that a table has now, as a format with the table''s name. Its parameters: the row as it was, its ctid and its tableoid. Empty if a row has no key.';
CREATE FUNCTION ridepulse.deliveries_after(cursor text DEFAULT NULL::text, max integer DEFAULT 1000) RETURNS TABLE(next text, kind text, owner_id text, platform text, reason_code text, ride_id text, event text, rule text, app text, push_type text, status text, reason text, attempts integer, apns_id uuid, collapse_id text, created_at timestamp with time zone, finished_at timestamp with time zone, token_suffix text, seen_at timestamp with time zone, apns_unique_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    SET standard_conforming_strings TO 'on'
    AS $_$
declare
  place constant text := ridepulse.log_place();
  limits record;
  parts text[];
  last_xid xid8 := '0';
  last_id uuid := '00000000-0000-0000-0000-000000000000';
begin
  if max is null or max not between 1 and 10000 then
    raise exception 'ridepulse.deliveries_after returns 1 to 10000 rows, got a max of %',
      coalesce(max::text, 'null') using errcode = 'invalid_parameter_value';
  end if;
  limits := ridepulse.verdict_horizon();
  if cursor is not null then
    parts := regexp_match(cursor,
      '^([0-9a-f]{1,16}\.[0-9A-F]{8})\.([0-9]{1,19})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
    if parts is null then
      raise exception 'ridepulse.deliveries_after needs a cursor that it returned'
        using errcode = 'invalid_parameter_value',
              hint = 'Pass the column next of the last row unchanged, or null to begin with the '
                'oldest verdict.';
    end if;
    last_xid := parts[2];
    last_id := parts[3];
    -- After a failover, the verdict of the cursor is there if nothing that was read before is lost.
    if last_xid > limits.newest or split_part(parts[1], '.', 1) <> split_part(place, '.', 1)
       or (parts[1] <> place and not exists (
         select from ridepulse.ledger l
         where l.settled_xid = last_xid and l.apns_id = last_id and l.status <> 'pending'))
    then
      raise exception 'the cursor is of another server, or of commits that a failover has lost'
        using errcode = 'object_not_in_prerequisite_state',
              hint = 'Begin again with ridepulse.deliveries_cursor(since), a while before the '
                'failover or the restore.';
    end if;
  end if;
  return query
    select place || '.' || l.settled_xid || '.' || l.apns_id,
      case when l.push_type in ('emit', 'escalation', 'post') then l.push_type else 'push' end,
      l.owner_id,
      (select d.platform from ridepulse.devices d where d.id = l.device_id), l.reason_code, l.ride_id, l.event, l.rule, l.app,
      case when l.push_type not in ('emit', 'escalation', 'post') then l.push_type end,
      l.status, l.reason, l.attempts,
      case when l.attempts > 0 then l.apns_id end, l.collapse_id, l.created_at, l.finished_at,
      l.token_suffix,
      (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id), l.apns_unique_id
    from ridepulse.ledger l
    where (l.settled_xid, l.apns_id) > (last_xid, last_id) and l.settled_xid < limits.horizon
      and l.status <> 'pending'
    order by l.settled_xid, l.apns_id limit max;
end
$_$;
COMMENT ON FUNCTION ridepulse.deliveries_after(cursor text, max integer) IS 'Returns the verdicts after a cursor, in the order in which they were committed, each with the cursor behind it (next) and the columns of the view deliveries. No verdict is skipped; one that a repeated push changes is returned again. cursor: null begins with the oldest. max: 1 to 10000 rows. Errors: 22023 if an argument is malformed; 55000 on a standby, and for a cursor of another server or of commits that a failover has lost.';
CREATE FUNCTION ridepulse.deliveries_cursor(since timestamp with time zone DEFAULT now()) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  horizon constant xid8 := (ridepulse.verdict_horizon()).horizon;
  first xid8;
begin
  if since is null then
    raise exception 'ridepulse.deliveries_cursor needs a time, got null'
      using errcode = 'invalid_parameter_value', hint = 'Leave it out to begin now.';
  end if;
  if since < now() then
    -- Without "offset 0" the index of verdicts would be read from its beginning.
    select r.settled_xid into first from (
      select l.settled_xid from ridepulse.ledger l
      where l.finished_at >= since and l.status <> 'pending' offset 0) r
    order by r.settled_xid limit 1;
  end if;
  return ridepulse.log_place() || '.'
    || case when first < horizon then first else horizon end
    || '.00000000-0000-0000-0000-000000000000';
end
$$;
COMMENT ON FUNCTION ridepulse.deliveries_cursor(since timestamp with time zone) IS 'Returns the cursor before the first verdict since a time, for ridepulse.deliveries_after. It reads the verdicts since then. Errors: 22023 if since is null; 55000 on a standby.';
CREATE FUNCTION ridepulse.discard(event text, since timestamp with time zone, until timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, size integer DEFAULT 500) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  rides text[];
  discarded bigint;
begin
  if discard.event is null or discard.since is null or discard.until is null then
    raise exception 'ridepulse.discard needs the name of an event and a time'
      using errcode = 'invalid_parameter_value';
  end if;
  select array_agg(distinct f.ride_id order by f.ride_id) into rides from (
    select e.ride_id from ridepulse.events e
    where e.event = discard.event
      and e.created_at >= discard.since and e.created_at < discard.until
      and not exists (
        select from ridepulse.agenda a
        where a.ride_id = e.ride_id
          and (a.node is not null or a.leased_until > now() or a.memo ? 'part'))
    order by e.id limit discard.size) f;
  -- A ride that a node claims for its first event now is on the agenda before or after this.
  insert into ridepulse.agenda (ride_id, due_at, fence, leased_until)
  select r, now(), 0, '-infinity' from unnest(rides) r
  where not exists (select from ridepulse.agenda a where a.ride_id = r) order by r
  on conflict do nothing;
  -- No node claims a ride whose row is locked. One that lost its node, or is between two parts of a
  -- pass, may have sent some pushes already.
  select array_agg(l.ride_id) into rides from (
    select a.ride_id from ridepulse.agenda a
    where a.ride_id = any (rides) and a.node is null and a.leased_until <= now()
      and not coalesce(a.memo ? 'part', false)
    order by a.ride_id for update skip locked) l;
  with gone as (
    delete from ridepulse.events e
    where e.ride_id = any (rides) and e.event = discard.event
      and e.created_at >= discard.since and e.created_at < discard.until
    returning e.id, e.ride_id, e.event, e.created_at
  )
  insert into ridepulse.ledger (ride_id, apns_id, event_id, event, rule, app, push_type, status,
    reason, attempts, occurred_at, finished_at, reason_code)
  select g.ride_id, gen_random_uuid(), g.id, g.event, '', '', 'alert', 'suppressed',
    'discarded by ' || session_user, 0, g.created_at, clock_timestamp(), 'discarded'
  from gone g;
  get diagnostics discarded = row_count;
  return discarded;
end
$$;
COMMENT ON FUNCTION ridepulse.discard(event text, since timestamp with time zone, until timestamp with time zone, size integer) IS 'Ends events of a name that no node has handled, from a time on and before another, of about size events; each has a row in the ledger. Returns their number: call it until that is 0. Events of rides that a node holds are left. Errors: 22023.';
CREATE FUNCTION ridepulse.dismiss_card(app text, activity_id text, owner_id text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  phone ridepulse.devices;
  ride constant text := substr(activity_id, strpos(activity_id, '.') + 1);
begin
  if activity_id !~ '^[1-9][0-9]{0,17}[.].' then
    return false;
  end if;
  select * into phone from ridepulse.devices d
  where d.id = split_part(dismiss_card.activity_id, '.', 1)::bigint
    and d.app = dismiss_card.app and d.platform = 'android';
  if not found or phone.owner_id <> dismiss_card.owner_id then
    return false;
  end if;
  insert into ridepulse.live_activities (ride_id, app, owner_id, activity_id, token, environment,
                                         installation_id, ended_at, ended_reason)
  values (ride, phone.app, phone.owner_id, dismiss_card.activity_id, phone.id::text, 'android',
          phone.installation_id, clock_timestamp(), 'dismissed')
  on conflict on constraint live_activities_app_activity_id_key do nothing;
  if not found then
    return false;
  end if;
  insert into ridepulse.events (ride_id, event, data) values (ride, 'card_ended', '{}');
  return true;
end
$$;
COMMENT ON FUNCTION ridepulse.dismiss_card(app text, activity_id text, owner_id text) IS 'Records that a card of an Android phone is gone; returns whether that was not recorded yet. activity_id: the phone''s ID in devices, a dot, and the ride''s ID. owner_id: null, or the phone''s owner.';
CREATE FUNCTION ridepulse.drop_unused(readers regprocedure[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.drop_unused(readers regprocedure[]) IS 'Drops functions that ridepulse.watch has made and that no trigger calls any more.';
CREATE FUNCTION ridepulse.emit(event text, ride_id text, data jsonb DEFAULT '{}'::jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
declare
  new_id bigint;
begin
  if ride_id is null then
    select min(p.event_id) into new_id
    from ridepulse.emit_to_people(event, coalesce(data, '{}')) p;
    return new_id;
  end if;
  perform ridepulse.check_text('emit', 'event', event),
    ridepulse.check_text('emit', 'ride_id', ride_id);
  if jsonb_typeof(data) <> 'object' then
    raise exception 'ridepulse.emit needs a JSON object as data, got %', jsonb_typeof(data)
      using errcode = 'invalid_parameter_value';
  elsif data <> '{}' and exists (
      select from jsonb_each(data) m
      where m.key like '%\_id' and case jsonb_typeof(m.value)
        when 'array' then jsonb_array_length(m.value) else 0 end > 1000) then
    raise exception 'data of ridepulse.emit has a list of more than 1000 people'
      using errcode = 'invalid_parameter_value', hint = 'Name 1000 at most in one call.';
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
  select emit.ride_id, emit.event, coalesce(emit.data, '{}'), r.customer_id, r.driver_id
  from (values (1)) one left join ridepulse.rides r on r.id = emit.ride_id
  returning id into new_id;
  return new_id;
end
$$;
COMMENT ON FUNCTION ridepulse.emit(event text, ride_id text, data jsonb) IS 'Emits an event and returns its ID; it takes effect when the transaction commits. event: a name that rules match. ride_id: the ride, which need not exist; null means that the event concerns the people whom data names, as in ridepulse.emit_to_people, and the first one''s ID is returned. data: a JSON object; null means {}. Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes, or if data is not an object, or if ride_id is null and data names nobody.';
CREATE FUNCTION ridepulse.emit_to_people(event text, data jsonb) RETURNS TABLE(event_id bigint, ride_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  keys constant text[] := array(
    select k.app || '_id' from (
      select 'customer' as app union select 'driver' union select a.app from ridepulse.apps a) k
    order by 1);
  named text[] := '{}';
  owners text[] := '{}';
  item record;
begin
  perform ridepulse.check_text('emit', 'event', emit_to_people.event);
  if jsonb_typeof(emit_to_people.data) <> 'object' then
    raise exception 'ridepulse.emit needs a JSON object as data, got %',
      jsonb_typeof(emit_to_people.data) using errcode = 'invalid_parameter_value';
  end if;
  for item in
    select m.key, p.value #>> '{}' as owner, jsonb_typeof(p.value) as kind
    from jsonb_each(emit_to_people.data) m
    cross join lateral jsonb_array_elements(
      case jsonb_typeof(m.value) when 'array' then m.value else jsonb_build_array(m.value) end
    ) with ordinality p (value, place)
    where m.key = any (keys) and m.value not in ('null', '""') order by m.key, p.place
  loop
    if item.kind not in ('string', 'number') then
      raise exception '% of ridepulse.emit contains %', item.key,
        case item.kind when 'null' then 'null' else 'a value of type ' || item.kind end
        using errcode = 'invalid_parameter_value', hint = 'Send an ID, or a list of IDs.';
    end if;
    perform ridepulse.check_text('emit', item.key, item.owner);
    named := named || left(item.key, -3);
    owners := owners || item.owner;
  end loop;
  if cardinality(owners) = 0 then
    raise exception 'ridepulse.emit needs a ride, or a person in data'
      using errcode = 'invalid_parameter_value',
            hint = format('Send a ride_id, or one of: %s.', array_to_string(keys, ', '));
  elsif cardinality(owners) > 1000 then
    raise exception 'data of ridepulse.emit names % people', cardinality(owners)
      using errcode = 'invalid_parameter_value', hint = 'Name 1000 at most in one call.';
  end if;
  return query
    insert into ridepulse.events (ride_id, event, data)
    select ridepulse.raw_ride('person', p.app, p.owner_id), emit_to_people.event,
      (emit_to_people.data - keys) || jsonb_build_object(p.app || '_id', p.owner_id)
    from (
      select n.app, n.owner_id, min(n.place) as place
      from unnest(named, owners) with ordinality n (app, owner_id, place)
      group by n.app, n.owner_id) p
    order by p.place
    returning id, events.ride_id;
end
$$;
COMMENT ON FUNCTION ridepulse.emit_to_people(event text, data jsonb) IS 'Emits an event about no ride, once for each person whom data names by <app>_id; returns the IDs, and the pseudo ride of each person. event: a name that rules match. data: a JSON object; an ID or a list of IDs for each app, at most 1000 in all. Errors: 22023 for an argument that is not what the function takes, or if data names nobody.';
CREATE FUNCTION ridepulse.end_live_activity(app text, activity_id text, owner_id text DEFAULT NULL::text, reason text DEFAULT 'dismissed'::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  card ridepulse.live_activities;
begin
  perform ridepulse.check_app('end_live_activity', app),
    ridepulse.check_text('end_live_activity', 'activity_id', activity_id),
    ridepulse.check_text('end_live_activity', 'owner_id', owner_id, owner_id is not null);
  if coalesce(reason, 'dismissed') not in ('dismissed', 'signed_out') then
    raise exception 'reason of ridepulse.end_live_activity is %, which is unknown',
      quote_literal(reason)
      using errcode = 'invalid_parameter_value', hint = 'Send dismissed or signed_out.';
  end if;
  select * into card from ridepulse.live_activities a
  where a.app = end_live_activity.app and a.activity_id = end_live_activity.activity_id for update;
  if not found then
    -- An Android phone's card goes with its phone.
    return reason is distinct from 'signed_out'
      and ridepulse.dismiss_card(app, activity_id, owner_id);
  elsif card.owner_id <> end_live_activity.owner_id
     or card.ended_reason in ('ended', 'expired', 'dismissed', 'signed_out') then
    return false;
  end if;
  select c.ended_at into card.ended_at from ridepulse.current_live_activities c
  where c.id = card.id and coalesce(c.ended_reason, '') not in ('ended', 'expired');
  if not found then
    return false;
  end if;
  update ridepulse.live_activities a
  set ended_at = coalesce(card.ended_at, clock_timestamp()),
    ended_reason = coalesce(end_live_activity.reason, 'dismissed')
  where a.id = card.id;
  if card.ended_at is null then
    insert into ridepulse.events (ride_id, event, data) values (card.ride_id, 'card_ended', '{}');
  end if;
  return card.ended_at is null;
end
$$;
COMMENT ON FUNCTION ridepulse.end_live_activity(app text, activity_id text, owner_id text, reason text) IS 'Records that a card is gone from its phone, because a person dismissed it or the app ended it: nothing is sent to it any more, no new card replaces it, and its ride becomes due. activity_id: ActivityKit''s ID, or rp_card of an Android phone''s card. owner_id: the card''s owner, so that no other person can end it; null means any. reason: dismissed, or signed_out, after which the card is live again once its owner is signed in on its phone and registers it; null is dismissed. Returns whether the card was live. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.enter_state(ride_id text, state text, at timestamp with time zone, is_new boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- Rules name states of at most 64 bytes. The row is limited, whatever a service has as states.
  if octet_length(state) > 64 then
    return;
  end if;
  insert into ridepulse.entered_states as s (ride_id, entered)
  values (enter_state.ride_id, jsonb_build_object(enter_state.state,
    (extract(epoch from enter_state.at) * 1000000)::bigint))
  on conflict on constraint entered_states_pkey do update set
    entered = case when is_new or pg_column_size(s.entered) > 16384 then excluded.entered
      else s.entered || excluded.entered end;
end
$$;
COMMENT ON FUNCTION ridepulse.enter_state(ride_id text, state text, at timestamp with time zone, is_new boolean) IS 'Records when a ride entered a state. is_new: the ride was inserted, so that times of a former one with its ID do not count.';
CREATE FUNCTION ridepulse.entered_states_removed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.entered_states_removed serves ridepulse.rides alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  delete from ridepulse.entered_states s
  where s.ride_id = old.id and not exists (select from ridepulse.rides r where r.id = old.id);
  return null;
end
$$;
COMMENT ON FUNCTION ridepulse.entered_states_removed() IS 'Trigger function: deletes the times of a ride that is deleted at the end of the transaction. Errors: 42501 on any table other than ridepulse.rides.';
CREATE TABLE ridepulse.events (
    id bigint NOT NULL,
    ride_id text NOT NULL,
    event text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    customer_id text,
    driver_id text,
    former jsonb,
    trace text DEFAULT NULLIF("left"(current_setting('ridepulse.traceparent'::text, true), 56), ''::text)
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.1');
COMMENT ON TABLE ridepulse.events IS 'Events that the engine has not consumed yet. It deletes consumed events and records their pushes in the ledger.';
COMMENT ON COLUMN ridepulse.events.id IS 'The events of a ride are handled in this order.';
COMMENT ON COLUMN ridepulse.events.ride_id IS 'The ride; it need not exist.';
COMMENT ON COLUMN ridepulse.events.event IS 'The event''s name, which rules match.';
COMMENT ON COLUMN ridepulse.events.data IS 'The event''s own data, a JSON object.';
COMMENT ON COLUMN ridepulse.events.created_at IS 'The time of the statement, not the start of its transaction. Validity counts from here.';
COMMENT ON COLUMN ridepulse.events.customer_id IS 'The ride''s customer when the event was emitted: the new one if the event is its change.';
COMMENT ON COLUMN ridepulse.events.driver_id IS 'The ride''s driver when the event was emitted: the new one if the event is its change.';
COMMENT ON COLUMN ridepulse.events.former IS 'The row before the change, as ridepulse.former_row returns it; null unless the change replaced or removed one of the ride''s people.';
COMMENT ON COLUMN ridepulse.events.trace IS 'The traceparent that the transaction had set, unchecked; null without one. See docs/traces.md.';
CREATE FUNCTION ridepulse.event_names(event ridepulse.events, person ridepulse.erasure) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce(event.customer_id = person.owner_id or event.driver_id = person.owner_id, false)
    or ridepulse.json_contains(
      event.data::text || coalesce(event.former::text, ''), person.owner_id)
$$;
COMMENT ON FUNCTION ridepulse.event_names(event ridepulse.events, person ridepulse.erasure) IS 'Returns whether an event may name the person.';
CREATE FUNCTION ridepulse.find_live_rows("table" regclass, active text[], allows_owner_code boolean DEFAULT true) RETURNS TABLE(ride_id text, key jsonb, version text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.find_live_rows("table" regclass, active text[], allows_owner_code boolean) IS 'Returns the live rows of an attached table and the rows of its live rides, by their keys; and live rides without a row, whose key is null. active: the active states. allows_owner_code has no effect. Errors: those of ridepulse.lock_to_read and ridepulse.backfill_plan.';
CREATE FUNCTION ridepulse.find_person(owner_id text, app text) RETURNS ridepulse.erasure
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  p ridepulse.erasure;
  tokens text[];
begin
  p.owner_id := find_person.owner_id;
  p.app := find_person.app;
  p.apps := array(select ridepulse.owner_apps(p.owner_id, p.app));
  p.keys := case when p.app is not null then array[p.app || '_id', p.app, 'owner'] end;
  select coalesce(array_agg(d.id), '{}'), coalesce(array_agg(d.token), '{}'),
    coalesce(array_agg(ridepulse.legacy_ride(d.app, d.token)), '{}')
      || coalesce(array_agg(ridepulse.raw_ride('push', d.app, d.token)), '{}')
  into p.phones, tokens, p.legacy
  from ridepulse.devices d where d.app = any (p.apps) and d.owner_id = p.owner_id;
  select coalesce(array_agg(a.id), '{}'), tokens || coalesce(array_agg(a.token)
      filter (where a.environment is distinct from 'android'), '{}'),
    coalesce(array_agg(a.ride_id), '{}'),
    p.legacy || coalesce(array_agg(ridepulse.raw_ride('push', a.app, a.token)), '{}')
  into p.cards, tokens, p.scope, p.legacy
  from ridepulse.live_activities a where a.app = any (p.apps) and a.owner_id = p.owner_id;
  select coalesce(array_agg(t.id), '{}'), tokens || coalesce(array_agg(t.token), '{}'),
    p.legacy || coalesce(array_agg(ridepulse.raw_ride('push', t.app, t.token)), '{}')
  into p.starts, tokens, p.legacy
  from ridepulse.push_to_start_tokens t where t.app = any (p.apps) and t.owner_id = p.owner_id;
  p.suffixes := array(select distinct right(t, 6) from unnest(tokens) t);
  select coalesce(array_agg(r.id), '{}'), coalesce(array_agg(a.app), '{}') into p.rides, p.roles
  from ridepulse.rides r, unnest(p.apps) a (app)
  where p.owner_id = case a.app when 'customer' then r.customer_id when 'driver' then r.driver_id
                       else r.attributes ->> (a.app || '_id') end;
  p.legacy := p.legacy
    || array(select ridepulse.raw_ride('person', a.app, p.owner_id) from unnest(p.apps) a (app));
  p.scope := array(
    select unnest(p.scope) union select unnest(p.rides) union select unnest(p.legacy)
    union
    select t.ride_id from ridepulse.participants t
    where t.owner_id = p.owner_id and t.app = any (p.apps)
    union
    select a.ride_id from ridepulse.agenda a where ridepulse.json_contains(a.memo::text, p.owner_id)
    union
    select e.ride_id from ridepulse.events e where ridepulse.event_names(e, p));
  return p;
end
$$;
COMMENT ON FUNCTION ridepulse.find_person(owner_id text, app text) IS 'Finds all rows that name a person. app: null means in any app.';
CREATE FUNCTION ridepulse.find_query(w ridepulse.watches, states text[]) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.find_query(w ridepulse.watches, states text[]) IS 'Returns the query for the IDs and keys of an attached table''s live rows, and of the rows of live rides. states: the raw states that are active.';
CREATE FUNCTION ridepulse.finish_backfill(relation regclass, version timestamp with time zone, active text[] DEFAULT NULL::text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  update ridepulse.watches w set
    backfilled_at = case when version is null then w.backfilled_at else clock_timestamp() end,
    backfilled_watch = coalesce(version, w.backfilled_watch), backfill_until = '-infinity',
    live_states = case when version = w.watched_at then active else w.live_states end
  where w.relation = finish_backfill.relation
$$;
COMMENT ON FUNCTION ridepulse.finish_backfill(relation regclass, version timestamp with time zone, active text[]) IS 'Records that an attached table was backfilled. version: the result of ridepulse.begin_backfill; null if the backfill failed, so that the next one need not wait. active: the active states.';
CREATE FUNCTION ridepulse.firebase_installation(token text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select case when $1 ~ '^[cdef][A-Za-z0-9_-]{21}$' then $1
    when strpos($1, ':') = 23 then left($1, 22) end
$_$;
COMMENT ON FUNCTION ridepulse.firebase_installation(token text) IS 'Returns the Firebase installation ID that an FCM token is or begins with; null if there is none.';
CREATE FUNCTION ridepulse.forget(owner_id text, app text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    SET standard_conforming_strings TO 'on'
    AS $$
declare
  p ridepulse.erasure;
  counts jsonb;
  rows bigint;
begin
  -- Before the transaction gets a number: ridepulse.verdict_horizon relies on it. An earlier write
  -- of the caller's transaction, such as sign_out, breaks that: followers may miss these verdicts.
  lock table ridepulse.ledger in row exclusive mode;
  -- Nothing else is refused: whatever is stored can be erased.
  if coalesce(owner_id, '') = '' or app = '' then
    raise exception 'ridepulse.forget needs an owner_id, and an app that is null or not empty'
      using errcode = 'invalid_parameter_value', hint = 'Send the ID by which rides name the person.';
  end if;
  p := ridepulse.find_person(owner_id, app);
  -- From here on, no node can claim these rides, and none that holds one can settle it.
  perform from ridepulse.agenda a where a.ride_id = any (p.scope) order by a.ride_id for update;
  p.gone := array(
    select r.id from ridepulse.rides r
    where r.id = any (p.rides) and (
      r.customer_id = p.owner_id and 'customer' = any (p.apps)
      or (r.customer_id is null or r.customer_id = p.owner_id)
        and (r.driver_id is null or r.driver_id = p.owner_id)
        and not exists (
          select from jsonb_each(
            case jsonb_typeof(r.attributes) when 'object' then r.attributes else '{}' end) m
          where m.key like '%\_id' and m.value <> 'null' and m.value #>> '{}' <> p.owner_id)
        and not exists (
          select from ridepulse.participants t
          where t.ride_id = r.id and not (t.owner_id = p.owner_id and t.app = any (p.apps)))
      or not exists (select from ridepulse.agenda a where a.ride_id = r.id)
        and not exists (select from ridepulse.events e where e.ride_id = r.id)));
  counts := ridepulse.forget_tokens(p);
  delete from ridepulse.participants t
  where t.ride_id = any (p.gone) or t.owner_id = p.owner_id and t.app = any (p.apps);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('participants', rows,
    'rides', ridepulse.forget_rides(p), 'events', ridepulse.forget_events(p),
    'agenda', ridepulse.forget_agenda(p), 'ledger', ridepulse.forget_ledger(p),
    'recorded', ridepulse.forget_recorded(p));
  -- Last, because writers of attached tables leave problems unrecorded while these rows are held.
  update ridepulse.watch_errors e set row_id = null, detail = null
  where ridepulse.names_person(e.row_id, p) or ridepulse.names_person(e.detail, p)
    or e.row_id = any (p.gone);
  get diagnostics rows = row_count;
  return counts || jsonb_build_object('watch_errors', rows);
end
$$;
COMMENT ON FUNCTION ridepulse.forget(owner_id text, app text) IS 'Erases a person from all tables, and returns how many rows of each table it deleted or changed. app: only in that app; null means in all. Only the schema''s owner may call it. Errors: 22023 for an argument that is not what the function takes; 55P03 if another transaction holds a row for 5 s.';
CREATE FUNCTION ridepulse.forget_agenda(p ridepulse.erasure) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.agenda a where a.ride_id = any (p.legacy);
  get diagnostics deleted = row_count;
  update ridepulse.agenda a set
    node = null,
    leased_until = case when a.parked_reason is null then '-infinity' else a.leased_until end,
    due_at = case when a.parked_reason is null then now() else a.due_at end,
    parked_reason = case when ridepulse.names_person(a.parked_reason, p)
                      then 'the reason named a person who was erased' else a.parked_reason end,
    memo = ridepulse.scrub_memo(a.memo, p, a.ride_id = any (p.gone))
  where a.ride_id = any (p.scope);
  get diagnostics rows = row_count;
  return deleted + rows;
end
$$;
COMMENT ON FUNCTION ridepulse.forget_agenda(p ridepulse.erasure) IS 'Removes a person from the memos of rides, and releases these rides; returns how many.';
CREATE FUNCTION ridepulse.forget_events(p ridepulse.erasure) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.events e where e.ride_id = any (p.gone || p.legacy);
  get diagnostics deleted = row_count;
  update ridepulse.events e set
    customer_id = case when e.customer_id = p.owner_id and 'customer' = any (p.apps)
                    then '(erased)' else e.customer_id end,
    driver_id = case when e.driver_id = p.owner_id and 'driver' = any (p.apps)
                  then '(erased)' else e.driver_id end,
    data = ridepulse.scrub(e.data, p.owner_id, p.keys),
    former = ridepulse.scrub_former(e.former, p)
  where e.ride_id = any (p.scope) and ridepulse.event_names(e, p);
  get diagnostics rows = row_count;
  -- The cards of a deleted ride's other people end.
  insert into ridepulse.events (ride_id, event, data)
  select a.ride_id, 'ride_removed', '{}' from ridepulse.agenda a where a.ride_id = any (p.gone)
  order by 1;
  return deleted + rows;
end
$$;
COMMENT ON FUNCTION ridepulse.forget_events(p ridepulse.erasure) IS 'Deletes or changes the events that name a person; returns how many.';
CREATE FUNCTION ridepulse.forget_ledger(p ridepulse.erasure) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  phones constant bigint[] := p.phones;
  rides constant text[] := p.scope;
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.ledger l where l.ride_id = any (p.legacy);
  get diagnostics deleted = row_count;
  -- Phones and the person are looked for in every row, all else only in the rows of the person's
  -- rides.
  with found as materialized (
    select l.ride_id, l.apns_id, l.occurred_at from ridepulse.ledger l
    where l.device_id = any (phones) or l.owner_id = p.owner_id and l.app = any (p.apps)
    union
    select l.ride_id, l.apns_id, l.occurred_at from ridepulse.ledger l
    where l.ride_id = any (rides) and (
      l.token_suffix = any (p.suffixes)
      or (l.ride_id, l.app) in (select * from unnest(p.rides, p.roles)) and l.device_id is null
        and (l.token_suffix is not null or ridepulse.names_person(l.reason, p)
             or ridepulse.names_person(l.collapse_id, p)))
  )
  update ridepulse.ledger l set
    device_id = null,
    owner_id = case when l.owner_id <> p.owner_id or not l.app = any (p.apps) then l.owner_id end,
    token_suffix = null,
    collapse_id = case when not ridepulse.names_person(l.collapse_id, p) then l.collapse_id end,
    reason = case when l.status = 'pending' then 'the person was erased'
               when not ridepulse.names_person(l.reason, p) then l.reason end,
    reason_code = case when l.status = 'pending' then 'phone_disabled' else l.reason_code end,
    finished_at = coalesce(l.finished_at, clock_timestamp()),
    settled_xid = case when l.status = 'pending' then pg_current_xact_id() else l.settled_xid end,
    status = case when l.status = 'pending' then 'suppressed' else l.status end
  from found f
  where l.ride_id = any (array(select g.ride_id from found g)) and l.ride_id = f.ride_id
    and l.apns_id = f.apns_id and l.occurred_at = f.occurred_at;
  get diagnostics rows = row_count;
  update ridepulse.ledger l set status = 'suppressed', reason = 'the ride was erased',
    reason_code = 'ride_not_found', finished_at = clock_timestamp(),
    settled_xid = pg_current_xact_id()
  where l.ride_id = any (p.gone) and l.status = 'pending'
    and coalesce(l.card_event, 'start') = 'start';
  return deleted + rows;
end
$$;
COMMENT ON FUNCTION ridepulse.forget_ledger(p ridepulse.erasure) IS 'Removes a person from the ledger, and closes pending pushes of deleted rides; returns how many rows named the person.';
CREATE FUNCTION ridepulse.forget_recorded(p ridepulse.erasure) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
declare
  id constant jsonb := to_jsonb(p.owner_id);
  -- An ID that is a number may be in attributes and data without quotes.
  number constant jsonb := case when p.owner_id ~ '^(0|-?[1-9]\d{0,17})$'
    then p.owner_id::jsonb else id end;
  rows bigint;
begin
  -- json_contains also finds a short ID within other words, and then the values are compared.
  delete from ridepulse.recorded r
  where r.ride_id = any (p.scope) or ridepulse.json_contains(r.pass::text, p.owner_id)
    and (length(p.owner_id) >= 8
      or jsonb_path_exists(r.pass, '$.** ? (@ == $id || @ == $number)',
        jsonb_build_object('id', id, 'number', number)));
  get diagnostics rows = row_count;
  return rows;
end
$_$;
COMMENT ON FUNCTION ridepulse.forget_recorded(p ridepulse.erasure) IS 'Deletes the recorded passes that may name a person; returns how many.';
CREATE FUNCTION ridepulse.forget_rides(p ridepulse.erasure) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  rows bigint;
  deleted bigint;
begin
  delete from ridepulse.rides r where r.id = any (p.gone);
  get diagnostics deleted = row_count;
  perform set_config('ridepulse.silent', 'on', true);
  update ridepulse.rides r set
    customer_id = case when 'customer' = any (p.apps) then nullif(r.customer_id, p.owner_id)
                    else r.customer_id end,
    driver_id = case when 'driver' = any (p.apps) then nullif(r.driver_id, p.owner_id)
                  else r.driver_id end,
    attributes = case when jsonb_typeof(r.attributes) <> 'object' then r.attributes else coalesce((
      select jsonb_object_agg(m.key, m.value) from jsonb_each(r.attributes) m
      where not exists (
        select from unnest(p.rides, p.roles) f (id, app)
        where f.id = r.id and starts_with(m.key, f.app || '_'))), '{}') end
  where r.id = any (p.rides);
  get diagnostics rows = row_count;
  perform set_config('ridepulse.silent', '', true);
  return deleted + rows;
end
$$;
COMMENT ON FUNCTION ridepulse.forget_rides(p ridepulse.erasure) IS 'Deletes a person''s rides, and removes the person from those of other people; returns how many.';
CREATE FUNCTION ridepulse.forget_tokens(p ridepulse.erasure) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  counts jsonb := '{}';
  name text;
  rows bigint;
begin
  delete from ridepulse.token_outcomes o
  where o.kind = 'phone' and o.token_id = any (p.phones)
    or o.kind = 'activity' and o.token_id = any (p.cards)
    or o.kind = 'start' and o.token_id = any (p.starts);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('token_outcomes', rows);
  foreach name in array array['devices', 'live_activities', 'push_to_start_tokens', 'contacts',
                              'installation_contacts', 'preferences', 'permits',
                              'receipts'] loop
    execute format('delete from ridepulse.%I where app = any ($1) and owner_id = $2', name)
      using p.apps, p.owner_id;
    get diagnostics rows = row_count;
    counts := counts || jsonb_build_object(name, rows);
  end loop;
  delete from ridepulse.idempotency_keys k
  where ridepulse.names_person(k.key, p) or ridepulse.names_person(k.body, p)
    or strpos(k.body, to_jsonb(p.owner_id)::text) > 0
    or exists (select from unnest(p.suffixes) s where strpos(k.body, '"' || s || '"') > 0);
  get diagnostics rows = row_count;
  counts := counts || jsonb_build_object('idempotency_keys', rows);
  return counts;
end
$_$;
COMMENT ON FUNCTION ridepulse.forget_tokens(p ridepulse.erasure) IS 'Deletes a person''s phones, cards, start tokens, contacts, preferences, permits and first receipt, what APNs answered about them, and stored answers to API calls; returns counts by table.';
CREATE TABLE ridepulse.rides (
    id text NOT NULL,
    state text,
    customer_id text,
    driver_id text,
    pickup_at timestamp with time zone,
    time_zone text DEFAULT 'UTC'::text,
    attributes jsonb DEFAULT '{}'::jsonb,
    updated_at timestamp with time zone DEFAULT now(),
    CONSTRAINT rides_id_check CHECK ((id <> ''::text))
);
COMMENT ON TABLE ridepulse.rides IS 'Rides, written by the service''s backend. A new state and any other change emit an event.';
COMMENT ON COLUMN ridepulse.rides.id IS 'The ride''s ID, 1 to 512 bytes.';
COMMENT ON COLUMN ridepulse.rides.state IS 'The state, in the backend''s own terms. A new state emits the event of the same name.';
COMMENT ON COLUMN ridepulse.rides.customer_id IS 'The owner of the phones of app customer.';
COMMENT ON COLUMN ridepulse.rides.driver_id IS 'The owner of the phones of app driver.';
COMMENT ON COLUMN ridepulse.rides.pickup_at IS 'The planned pickup time; schedule rules may refer to it.';
COMMENT ON COLUMN ridepulse.rides.time_zone IS 'The IANA time zone of formatted times and of local schedules.';
COMMENT ON COLUMN ridepulse.rides.attributes IS 'Further data for templates, a JSON object. <app>_id names the owner of the phones of any other app.';
COMMENT ON COLUMN ridepulse.rides.updated_at IS 'When the row last changed: set by a trigger unless the update sets it itself.';
CREATE FUNCTION ridepulse.former_row(old ridepulse.rides, new ridepulse.rides) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
begin
  if (old.customer_id is null or old.customer_id is not distinct from new.customer_id)
     and (old.driver_id is null or old.driver_id is not distinct from new.driver_id)
     and (old.attributes is not distinct from new.attributes
          or jsonb_typeof(old.attributes) is distinct from 'object'
          or not exists (
            select from jsonb_each(old.attributes) o
            where o.key like '%\_id' and o.value <> 'null'
              and o.value is distinct from new.attributes -> o.key))
  then
    return null;
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'state', old.state, 'customer', old.customer_id, 'driver', old.driver_id,
    'pickupAt', case when isfinite(old.pickup_at)
                  then (extract(epoch from old.pickup_at) * 1000000)::bigint end,
    'timeZone', coalesce(old.time_zone, 'UTC'),
    -- As a text, from which templates are rendered unchanged. Attributes too large for any push are
    -- dropped.
    'attributes', case when pg_column_size(old.attributes) <= 65536
                      and octet_length(old.attributes::text) <= 65536
                    then old.attributes::text else '{}' end));
end
$$;
COMMENT ON FUNCTION ridepulse.former_row(old ridepulse.rides, new ridepulse.rides) IS 'Returns the row before an update as JSON if the update replaced or removed one of the ride''s people, otherwise null. Texts to a former driver are rendered from that row, and never from the new driver''s data. pickupAt is in microseconds since 1970; attributes is JSON as a text, {} if it has more than 64 KiB.';
CREATE FUNCTION ridepulse.has_android(app text, owner_id text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select exists (
    select from ridepulse.devices d
    where d.app = $1 and d.owner_id = $2 and d.disabled_at is null and d.platform = 'android')
$_$;
COMMENT ON FUNCTION ridepulse.has_android(app text, owner_id text) IS 'Returns whether a person has an enabled Android phone, on which a card may run without a row.';
CREATE FUNCTION ridepulse.has_moved(ride ridepulse.rides) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  removed ridepulse.removed_rows;
begin
  delete from ridepulse.removed_rows r where r.ride_id = ride.id returning * into removed;
  return found and removed.removed_at >= now() - interval '1 day'
    and removed.state is not distinct from ride.state;
end
$$;
COMMENT ON FUNCTION ridepulse.has_moved(ride ridepulse.rides) IS 'Whether an inserted row without a ride was deleted within the last day, with the same state. Forgets that.';
CREATE FUNCTION ridepulse.hold(reason text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
begin
  if reason is null or reason !~ '\S' then
    raise exception 'ridepulse.hold needs a reason' using errcode = 'invalid_parameter_value',
      hint = 'It is what logs, /readyz and doctor show until ridepulse.pin() is called.';
  end if;
  insert into ridepulse.pin as p (system_identifier, database_oid, held_at, held_reason)
  select s.system_identifier, d.oid, now(), left(reason, 500)
  from pg_control_system() s, pg_database d where d.datname = current_database()
  on conflict (is_only) do update set
    held_at = excluded.held_at, held_reason = excluded.held_reason;
end
$$;
COMMENT ON FUNCTION ridepulse.hold(reason text) IS 'Keeps every service from claiming rides of this database until ridepulse.pin() is called. Rides that are claimed already are still sent. Events are accepted and wait. Errors: 22023 without a reason.';
CREATE FUNCTION ridepulse.idempotent_call(key text, call text, arguments jsonb, awaited_state text DEFAULT NULL::text, OUT outcome text, OUT status integer, OUT body text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- Equal jsonb objects have equal texts, whatever the order of their members was.
  request constant bytea := sha256(convert_to(call || ' ' || arguments::text, 'UTF8'));
  known ridepulse.idempotency_keys;
begin
  outcome := 'done';
  if idempotent_call.key is null then
    select c.outcome, c.status, c.body into outcome, status, body
    from ridepulse.checked_call(call, arguments, awaited_state) c;
    return;
  end if;
  -- Held until the commit, so that the next holder reads the row of this one.
  if not pg_try_advisory_xact_lock(
    hashtextextended('ridepulse.idempotency_keys ' || idempotent_call.key, 0)) then
    outcome := 'under way';
    return;
  end if;
  select * into known from ridepulse.idempotency_keys k
  where k.key = idempotent_call.key and k.created_at > now() - interval '1 day';
  if found then
    if known.request <> request then
      outcome := 'other request';
      return;
    end if;
    outcome := 'replayed';
    status := known.status;
    body := known.body;
    return;
  end if;
  select c.outcome, c.status, c.body into outcome, status, body
  from ridepulse.checked_call(call, arguments, awaited_state) c;
  if outcome <> 'done' then
    return;
  end if;
  -- Each call inserts one row and deletes up to 20 old ones, so that they do not accumulate.
  delete from ridepulse.idempotency_keys where ctid = any (array(
    select k.ctid from ridepulse.idempotency_keys k
    where k.created_at <= now() - interval '1 day'
    order by k.created_at limit 20 for update skip locked));
  insert into ridepulse.idempotency_keys as k (key, request, status, body)
  values (idempotent_call.key, request, status, body)
  on conflict on constraint idempotency_keys_pkey do update
  set request = excluded.request, status = excluded.status, body = excluded.body,
    created_at = excluded.created_at;
end
$$;
COMMENT ON FUNCTION ridepulse.idempotent_call(key text, call text, arguments jsonb, awaited_state text, OUT outcome text, OUT status integer, OUT body text) IS 'Executes an API call once for each key. key: null executes it each time. call, arguments: as for ridepulse.answer. awaited_state: the state that the ride of the call must be in, null for any. outcome: done, replayed, under way (another transaction is executing it), other request (the key belongs to another one), other state (body has it) or no ride; only done and replayed have a status. Errors: those of ridepulse.answer.';
CREATE FUNCTION ridepulse.insert_silently(ride ridepulse.rides) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  is_new boolean;
begin
  perform set_config('ridepulse.silent', 'on', true);
  insert into ridepulse.rides
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes, updated_at)
  values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at, ride.time_zone,
          ride.attributes, coalesce(ride.updated_at, now()))
  on conflict (id) do nothing;
  is_new := found;
  perform set_config('ridepulse.silent', '', true);
  return is_new;
end
$$;
COMMENT ON FUNCTION ridepulse.insert_silently(ride ridepulse.rides) IS 'Inserts a ride that no push announces. Returns false if there is one with its ID.';
CREATE FUNCTION ridepulse.is_changed_by_triggers(relation regclass) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select exists (
    select from pg_trigger g
    where g.tgrelid in (select is_changed_by_triggers.relation::oid
                        union all select t.relid::oid from pg_partition_tree(relation) t)
      -- Bits of BEFORE, ROW and UPDATE.
      and not g.tgisinternal and g.tgtype & 19 = 19)
    or exists (select from pg_attribute a
               where a.attrelid = relation and a.attgenerated <> '' and not a.attisdropped)
$$;
COMMENT ON FUNCTION ridepulse.is_changed_by_triggers(relation regclass) IS 'Whether an update may change columns that it does not name: by a trigger BEFORE UPDATE, or because they are generated.';
CREATE FUNCTION ridepulse.is_push_to(person ridepulse.erasure, entry jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce((entry ->> 'phone')::bigint = any (person.phones), false)
    or coalesce((entry ->> 'startToken')::bigint = any (person.starts), false)
    or coalesce(entry ->> 'owner' = person.owner_id and entry ->> 'app' = any (person.apps), false)
$$;
COMMENT ON FUNCTION ridepulse.is_push_to(person ridepulse.erasure, entry jsonb) IS 'Returns whether a memo''s ledger entry is of a push to the person.';
CREATE FUNCTION ridepulse.is_unannounced(ride ridepulse.rides) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select exists (
      select from ridepulse.events e where e.ride_id = ride.id and e.event = 'ride_watched'
        and e.data = '{}' and e.created_at >= now())
    and not exists (
      select from ridepulse.events e where e.ride_id = ride.id and e.event = ride.state
        and e.created_at >= now())
$$;
COMMENT ON FUNCTION ridepulse.is_unannounced(ride ridepulse.rides) IS 'Whether this transaction has inserted the ride silently and not emitted its state.';
CREATE FUNCTION ridepulse.json_contains(json text, owner_id text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
  select coalesce(strpos(replace($1, '\', ''),
    replace(trim(both '"' from to_jsonb($2)::text), '\', '')) > 0, false)
$_$;
COMMENT ON FUNCTION ridepulse.json_contains(json text, owner_id text) IS 'Returns whether JSON as a text may contain an owner ID, also in JSON that is quoted in it.';
CREATE FUNCTION ridepulse.keep_channel_ids() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.keep_channel_ids serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  new.attributes := new.attributes || coalesce((
    select jsonb_object_agg(old_one.key, old_one.value)
    from jsonb_each(old.attributes) old_one
    where not new.attributes ? old_one.key and exists (
      select from ridepulse.channels c
      where c.ride_id = new.id and c.app || '_channel_id' = old_one.key and c.ended_at is null
        and c.channel_id = old_one.value #>> '{}')), '{}');
  return new;
end
$$;
COMMENT ON FUNCTION ridepulse.keep_channel_ids() IS 'Trigger function: keeps the IDs of open channels when an update replaces a ride''s attributes. Errors: 42501 on any table other than ridepulse.rides.';
CREATE FUNCTION ridepulse.key_columns(w ridepulse.watches) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce(
    (select array_agg(a.attname::text order by k.number)
     from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, number)
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
       and k.number <= i.indnkeyatts
     where i.indrelid = w.relation and i.indisprimary),
    case when w.ride_function is null then array[w.columns ->> 'id'] end)
$$;
COMMENT ON FUNCTION ridepulse.key_columns(w ridepulse.watches) IS 'Returns the columns that identify a row: the primary key, otherwise the mapped ID; null if the table has neither.';
CREATE FUNCTION ridepulse.key_statement(w ridepulse.watches, source text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
  select case when k.names is null then 'null;' else ridepulse.read_statement(format(
      'jsonb_build_array(%s)', (
        select string_agg(ridepulse.column_value(w.relation, name), ', ' order by number)
        from unnest(k.names) with ordinality u (name, number))), k.names, source, 'key') end
  from (select case when w.ride_function is null then array[w.columns ->> 'id']
          else ridepulse.key_columns(w) end) k (names)
$$;
COMMENT ON FUNCTION ridepulse.key_statement(w ridepulse.watches, source text) IS 'Returns the statement of plpgsql that reads only what identifies a row: the mapped ID, or with a ride function the primary key. source: the variable that is the row.';
CREATE FUNCTION ridepulse.legacy_ride(app text, token text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select 'legacy:' || $1 || ':' || left(encode(sha256(convert_to(lower($2), 'UTF8')), 'hex'), 32)
$_$;
COMMENT ON FUNCTION ridepulse.legacy_ride(app text, token text) IS 'Returns the ID of a phone''s pseudo ride. token: hexadecimal, in upper or lower case.';
CREATE FUNCTION ridepulse.live_rides(relation regclass, active text[]) RETURNS TABLE(ride_id text, version text, raw_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select r.id, r.xmin::text || ' ' || r.ctid::text, case
    when w.ride_function is not null or cardinality(ridepulse.values_of(
      ridepulse.base_type(relation, w.columns ->> 'id'),
      array[substr(r.id, length(w.prefix) + 1)])) = 1
    then substr(r.id, length(w.prefix) + 1) end
  from ridepulse.attached_table(relation) w
  join ridepulse.rides r on r.state = any (active) and starts_with(r.id, w.prefix)
  where ridepulse.belongs_to(w, r.id)
$$;
COMMENT ON FUNCTION ridepulse.live_rides(relation regclass, active text[]) IS 'Returns the live rides of an attached table. active: the active states. version: changes when the ride does. raw_id: the ID in the table; null if it can''t be one.';
CREATE FUNCTION ridepulse.lock_counted(permits jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT pg_advisory_xact_lock(k.number) AS pg_advisory_xact_lock
    FROM ( SELECT DISTINCT hashtextextended((jsonb_build_array('ridepulse permits', p.app, p.owner_id, p.kind, p.name))::text, (0)::bigint) AS number
            FROM jsonb_to_recordset(lock_counted.permits) p(app text, owner_id text, kind text, name text)
           ORDER BY (hashtextextended((jsonb_build_array('ridepulse permits', p.app, p.owner_id, p.kind, p.name))::text, (0)::bigint))) k;
END;
COMMENT ON FUNCTION ridepulse.lock_counted(permits jsonb) IS 'Locks the owners and the topics or rules of permits until the end of the transaction.';
CREATE TABLE ridepulse.devices (
    id bigint NOT NULL,
    app text NOT NULL,
    owner_id text NOT NULL,
    token text NOT NULL,
    environment text,
    installation_id text,
    locale text,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason text,
    refusals integer DEFAULT 0 NOT NULL,
    probe uuid,
    is_probed boolean DEFAULT false NOT NULL,
    quiet_until timestamp with time zone,
    quarantined_at timestamp with time zone,
    reported_disabled_at timestamp with time zone,
    platform text DEFAULT 'ios'::text NOT NULL,
    time_zone text,
    alerts boolean,
    app_version text,
    CONSTRAINT devices_app_check CHECK ((app <> ''::text)),
    CONSTRAINT devices_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT devices_owner_id_check CHECK ((owner_id <> ''::text)),
    CONSTRAINT devices_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text]))),
    CONSTRAINT devices_token_check CHECK ((token <> ''::text))
);
COMMENT ON TABLE ridepulse.devices IS 'Phones. A phone is disabled with a reason, and its next registration enables it again; only ridepulse.sweep and ridepulse.forget delete phones.';
COMMENT ON COLUMN ridepulse.devices.id IS 'The phones of an owner are addressed in the order of their IDs.';
COMMENT ON COLUMN ridepulse.devices.app IS 'The app on the phone.';
COMMENT ON COLUMN ridepulse.devices.owner_id IS 'The person, as rides name customers, drivers and other owners.';
COMMENT ON COLUMN ridepulse.devices.token IS 'Of ios, the device token in lower-case hexadecimal; of android, the FCM registration token or Firebase installation ID, byte for byte.';
COMMENT ON COLUMN ridepulse.devices.environment IS 'The APNs environment; null if the app has not named one and no push has found it, and for android.';
COMMENT ON COLUMN ridepulse.devices.installation_id IS 'The app''s ID of this installation; for android, the Firebase installation ID if the app named none. Only the newest token of an installation stays enabled.';
COMMENT ON COLUMN ridepulse.devices.locale IS 'The locale of texts, such as de-CH.';
COMMENT ON COLUMN ridepulse.devices.registered_at IS 'Time of the last registration, which overrides what APNs reported earlier. -infinity for a phone that only the legacy gateway has added.';
COMMENT ON COLUMN ridepulse.devices.disabled_at IS 'When the phone was disabled; null while it is enabled.';
COMMENT ON COLUMN ridepulse.devices.disabled_reason IS 'APNs'' reason, replaced if the installation has a newer token, or signed_out; null while it is enabled.';
COMMENT ON COLUMN ridepulse.devices.refusals IS 'Number of consecutive BadDeviceToken answers.';
COMMENT ON COLUMN ridepulse.devices.probe IS 'apns-id of the push that may try the other environment; null if none may.';
COMMENT ON COLUMN ridepulse.devices.is_probed IS 'Whether a push has tried the other environment.';
COMMENT ON COLUMN ridepulse.devices.quiet_until IS 'End of the pause that APNs requested with status 429.';
COMMENT ON COLUMN ridepulse.devices.quarantined_at IS 'When the quarantine began; null if the phone is not in quarantine.';
COMMENT ON COLUMN ridepulse.devices.reported_disabled_at IS 'The disabled_at that the legacy feedback port has reported; null if it has reported none.';
COMMENT ON COLUMN ridepulse.devices.platform IS 'The phone''s system: ios or android.';
COMMENT ON COLUMN ridepulse.devices.time_zone IS 'The IANA name of the zone of the phone''s clock, as the app sent it; null if it sent none. A name that the tz database of the service lacks counts as none.';
COMMENT ON COLUMN ridepulse.devices.alerts IS 'Whether the person allows alerts of the app; null if the app has not stated it.';
COMMENT ON COLUMN ridepulse.devices.app_version IS 'The version of the app; null if the app has not stated it.';
CREATE FUNCTION ridepulse.lock_phone(app text, platform text, token text) RETURNS ridepulse.devices
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  phone ridepulse.devices;
begin
  select * into phone from ridepulse.devices d
  where d.app = lock_phone.app
    and d.token = ridepulse.canonical_token(coalesce(lock_phone.platform, 'android'), lock_phone.token)
    and (lock_phone.platform is not null or d.platform = 'android')
  for update;
  if not found and lock_phone.platform is null then
    select * into phone from ridepulse.devices d
    where d.app = lock_phone.app and d.token = ridepulse.canonical_token('ios', lock_phone.token)
      and d.platform = 'ios'
    for update;
  end if;
  return phone;
end
$$;
COMMENT ON FUNCTION ridepulse.lock_phone(app text, platform text, token text) IS 'Returns the phone with a token, locked; null if there is none. platform: of a token whose platform is unknown, null. token: of an iPhone in upper or lower case.';
CREATE FUNCTION ridepulse.lock_rides(relation regclass, ids text[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if not pg_try_advisory_xact_lock(ridepulse.removal_lock(relation)) then
    return false;
  end if;
  perform from ridepulse.rides r where r.id = any (ids) order by r.id for update;
  return true;
end
$$;
COMMENT ON FUNCTION ridepulse.lock_rides(relation regclass, ids text[]) IS 'Locks the rides of a batch that exist, and excludes removals of the table''s rides. Returns false if a transaction that removes some is open.';
CREATE FUNCTION ridepulse.lock_table("table" regclass, mode text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.lock_table("table" regclass, mode text) IS 'Locks a table until the end of the transaction. No other transaction waits behind this one for more than 50 ms. mode: write blocks writers, all also readers. Errors: 55P03.';
CREATE FUNCTION ridepulse.lock_to_read("table" regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.lock_to_read("table" regclass) IS 'Locks a table and its partitions against changes of their definition, and refuses to read them if an owner of them lacks rights of the caller: reading may run code of the owner. Errors: 42501; 42809 if one of them is not a table.';
CREATE FUNCTION ridepulse.log_place() RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if pg_is_in_recovery() then
    raise exception 'this server is a standby: deliveries can be followed on the primary only'
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Connect to the primary, for example with target_session_attrs=read-write.';
  end if;
  return (select to_hex(system_identifier) from pg_control_system())
    || '.' || upper(lpad(to_hex(ridepulse.wal_timeline()), 8, '0'));
end
$$;
COMMENT ON FUNCTION ridepulse.log_place() IS 'Returns the server and the timeline of its write-ahead log, as cursors name them. Errors: 55000 on a standby.';
CREATE FUNCTION ridepulse.make_rides_due(app text, owner_id text, event text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  insert into ridepulse.events (ride_id, event, data)
  select r.id, $3, '{}'::jsonb
  from (
    select c.id from ridepulse.rides c where $1 = 'customer' and c.customer_id = $2
    union
    select d.id from ridepulse.rides d where $1 = 'driver' and d.driver_id = $2
    union
    select p.ride_id from ridepulse.participants p where p.app = $1 and p.owner_id = $2) r
  where (select a.ride_id from ridepulse.agenda a where a.ride_id = r.id) is not null
  order by 1
$_$;
COMMENT ON FUNCTION ridepulse.make_rides_due(app text, owner_id text, event text) IS 'Makes a person''s live rides due by an event that no rule matches: those of a customer, a driver or a participant.';
CREATE FUNCTION ridepulse.mapped_id(w ridepulse.watches, source jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return w.prefix || nullif(source ->> (w.columns ->> 'id'), '');
end
$$;
COMMENT ON FUNCTION ridepulse.mapped_id(w ridepulse.watches, source jsonb) IS 'Returns the ID of a row''s ride; null if the row has none. source: the mapped values as JSON.';
CREATE FUNCTION ridepulse.mapped_ride(w ridepulse.watches, source jsonb) RETURNS ridepulse.rides
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  ride ridepulse.rides;
  problem text;
  target text;
  pickup text := coalesce(w.constants ->> 'pickup_at', source ->> (w.columns ->> 'pickup_at'));
  problems text[] := '{}';
begin
  ride.id := ridepulse.mapped_id(w, source);
  if ride.id is null or octet_length(ride.id) > 512 or not ridepulse.belongs_to(w, ride.id) then
    perform ridepulse.record_watch_error(w.relation, w.columns ->> 'id',
      case when source ->> (w.columns ->> 'id') is null then 'null_id'
        when ride.id is null then 'empty_id'
        when octet_length(ride.id) > 512 then 'too_long' else 'foreign_id' end,
      coalesce(ride.id, source ->> (w.columns ->> 'id')));
    return null;
  end if;
  delete from ridepulse.unread_rides u where u.ride_id = ride.id;
  if found then
    insert into ridepulse.events (ride_id, event, data) values (ride.id, 'ride_watched', '{"read": true}');
  end if;
  ride.state := ridepulse.mapped_state(w, source);
  ride.customer_id := coalesce(
    w.constants ->> 'customer_id', source ->> (w.columns ->> 'customer_id'));
  ride.driver_id := coalesce(w.constants ->> 'driver_id', source ->> (w.columns ->> 'driver_id'));
  ride.time_zone := coalesce(
    w.constants ->> 'time_zone', source ->> (w.columns ->> 'time_zone'), 'UTC');
  if greatest(octet_length(ride.state), octet_length(ride.customer_id),
              octet_length(ride.driver_id)) > 512 then
    foreach target in array array['state', 'customer_id', 'driver_id'] loop
      if octet_length(to_jsonb(ride) ->> target) > 512 then
        ride := jsonb_populate_record(ride, jsonb_build_object(target, null));
        problems := problems || array[target, 'too_long'];
      end if;
    end loop;
  end if;
  if ride.time_zone <> 'UTC'
     and (ridepulse.parse_time('2000-01-01', ride.time_zone)).problem is not null then
    ride.time_zone := 'UTC';
    problems := problems || array['time_zone', 'unknown_time_zone'];
  end if;
  if pickup in ('infinity', '-infinity') and (w.ride_function is not null
       or ridepulse.base_type(w.relation, w.columns ->> 'pickup_at')
         in ('timestamp'::regtype, 'timestamptz'::regtype)) then
    ride.pickup_at := pickup::timestamptz;
  else
    select p.instant, p.problem into ride.pickup_at, problem
    from ridepulse.parse_time(pickup, w.time_zone) p;
  end if;
  if problem is not null then
    problems := problems || array['pickup_at', problem];
  end if;
  ride.attributes := coalesce(nullif(source -> (w.columns ->> 'attributes'), 'null'), '{}');
  if jsonb_typeof(ride.attributes) <> 'object' then
    ride.attributes := '{}';
    problems := problems || array['attributes', 'not_an_object'];
  end if;
  ride.attributes := coalesce(w.constants -> 'attributes', '{}') || ride.attributes || coalesce(
    (select jsonb_object_agg(key, source -> value) from jsonb_each_text(w.attributes)), '{}');
  for i in 1 .. cardinality(problems) by 2 loop
    perform ridepulse.record_watch_error(
      w.relation, w.columns ->> problems[i], problems[i + 1], ride.id);
  end loop;
  return ride;
end
$$;
COMMENT ON FUNCTION ridepulse.mapped_ride(w ridepulse.watches, source jsonb) IS 'Returns the ride of a row of an attached table, and records unusable values; null if the row has no usable ID. source: the mapped values as JSON.';
CREATE FUNCTION ridepulse.mapped_state(w ridepulse.watches, source jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return coalesce(w.constants ->> 'state', w.states ->> (source ->> (w.columns ->> 'state')),
    source ->> (w.columns ->> 'state'));
end
$$;
COMMENT ON FUNCTION ridepulse.mapped_state(w ridepulse.watches, source jsonb) IS 'Returns the state of a row''s ride. source: the mapped values as JSON.';
CREATE FUNCTION ridepulse.matches(relation regclass, column_name text, parameter text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when p.typtype = 'e'
    then format('%s = any (%s)', ridepulse.column_value(relation, column_name), parameter)
    when t.type = any (array['smallint', 'integer', 'bigint', 'uuid', 'text', 'varchar']::regtype[])
    then format('r.%I = any (%s::text[]::%s[])', column_name, parameter, t.type)
    else format('r.%I::text = any (%s)', column_name, parameter) end
  from (select ridepulse.base_type(relation, column_name)) t (type)
  left join pg_type p on p.oid = t.type
$$;
COMMENT ON FUNCTION ridepulse.matches(relation regclass, column_name text, parameter text) IS 'Returns the SQL condition that a column of a row r has one of the texts of an array. parameter: the SQL of the array, whose texts ridepulse.values_of has returned.';
CREATE FUNCTION ridepulse.missing_indexes() RETURNS TABLE(schema text, relation text, name text, definition text, parent text, state text, bytes bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with leaves as (
    select s.definition, s.name as whole, c.oid as leaf, c.relnamespace as space, c.relispartition,
      -- The index of a partition is named after the partition.
      case when c.relispartition then c.relname || substr(s.name, length(s.of_table) + 1)
        else s.name end as name
    from ridepulse.search_indexes() s
    join pg_class t on t.relname = s.of_table and t.relnamespace = (
      select l.relnamespace from pg_class l where l.oid = 'ridepulse.ledger'::regclass)
    join pg_class c on c.relkind = 'r'
      and (c.oid = t.oid or c.oid in (select i.inhrelid from pg_inherits i where i.inhparent = t.oid))
  )
  select n.nspname, c.relname, l.name, l.definition, case when l.relispartition then l.whole end,
    case when x.indexrelid is null then 'missing' when x.indisvalid then 'detached'
      when exists (
        select from pg_stat_progress_create_index b where b.index_relid = x.indexrelid)
      then 'building' else 'invalid' end,
    pg_relation_size(l.leaf)
  from leaves l
  join pg_class c on c.oid = l.leaf
  join pg_namespace n on n.oid = l.space
  left join pg_class i on i.relname = l.name and i.relnamespace = l.space
  left join pg_index x on x.indexrelid = i.oid
  where case when l.relispartition then not exists (
      select from pg_inherits h join pg_index y on y.indexrelid = h.inhrelid
      join pg_class w on w.oid = h.inhparent
      where y.indrelid = l.leaf and w.relname = l.whole and w.relnamespace = l.space)
    else x.indisvalid is not true end
  order by l.whole, c.relname desc
$$;
COMMENT ON FUNCTION ridepulse.missing_indexes() IS 'Returns the indexes that `ridepulse migrate` has yet to build without blocking writers: table or partition, name, definition after "using", and the index of the whole ledger to attach it to. state: missing, invalid (a build was interrupted), building (by another session) or detached (only to be attached).';
CREATE FUNCTION ridepulse.names_person(text text, person ridepulse.erasure) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
  select coalesce(text ~ ('(^|[^[:alnum:]])'
    || regexp_replace(person.owner_id, '([^[:alnum:]])', '\\\1', 'g') || '($|[^[:alnum:]])'), false)
$_$;
COMMENT ON FUNCTION ridepulse.names_person(text text, person ridepulse.erasure) IS 'Returns whether a text contains the person''s ID as a word.';
CREATE FUNCTION ridepulse.nearest_word(word text, known text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.nearest_word(word text, known text[]) IS 'Returns the known word that takes the fewest edits to get from word; null if none is similar.';
CREATE FUNCTION ridepulse.owner_apps(owner_id text, app text) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select $2 where $2 is not null
  union
  select a.app from (
    select 'customer' as app union select 'driver' union select s.app from ridepulse.apps s
    union select d.app from ridepulse.devices d where d.owner_id = $1
    union select c.app from ridepulse.live_activities c where c.owner_id = $1
    union select t.app from ridepulse.push_to_start_tokens t where t.owner_id = $1
    union select k.app from ridepulse.contacts k where k.owner_id = $1
    union select p.app from ridepulse.preferences p where p.owner_id = $1
    union select p.app from ridepulse.permits p where p.owner_id = $1) a
  where $2 is null
$_$;
COMMENT ON FUNCTION ridepulse.owner_apps(owner_id text, app text) IS 'Returns the apps in which an owner ID names the person to erase: app, or all if it is null.';
CREATE FUNCTION ridepulse.owners_of_installation(app text, installation_id text) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select d.owner_id from ridepulse.devices d
  where d.app = $1 and d.installation_id = $2 and d.disabled_at is null
  union
  select a.owner_id from ridepulse.live_activities a
  where a.app = $1 and a.installation_id = $2 and a.ended_at is null
  union
  select t.owner_id from ridepulse.push_to_start_tokens t
  where t.app = $1 and t.installation_id = $2 and t.disabled_at is null
$_$;
COMMENT ON FUNCTION ridepulse.owners_of_installation(app text, installation_id text) IS 'Returns the owners of an installation''s enabled phones, live cards and valid start tokens.';
CREATE FUNCTION ridepulse.parse_mapping(mapping jsonb) RETURNS ridepulse.watches
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.parse_mapping(mapping jsonb) IS 'Splits a mapping into its parts, without checking that columns or functions exist. Errors: 22023 if id or state is missing or a value is unusable; 42703 if a key is unknown.';
CREATE FUNCTION ridepulse.parse_target(w ridepulse.watches, target text, value jsonb) RETURNS ridepulse.watches
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.parse_target(w ridepulse.watches, target text, value jsonb) IS 'Adds the mapping of one column of ridepulse.rides. Errors: 22023 and 42703.';
CREATE FUNCTION ridepulse.parse_time(value text, zone text, OUT instant timestamp with time zone, OUT problem text) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET standard_conforming_strings TO 'on'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.parse_time(value text, zone text, OUT instant timestamp with time zone, OUT problem text) IS 'Converts a text to a time. zone: the time zone of a text without an offset; may be null. problem is no_time_zone or bad_time if the conversion fails, otherwise null. Words that Postgres reads as times, such as tomorrow, are bad.';
CREATE FUNCTION ridepulse.participant_checked() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- Must precede any use of the row, whose types would belong to the owner of the other table.
  if tg_relid <> 'ridepulse.participants'::regclass then
    raise exception 'ridepulse.participant_checked serves ridepulse.participants alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  perform ridepulse.check_text('participants', 'ride_id', new.ride_id),
    ridepulse.check_app('participants', new.app),
    ridepulse.check_text('participants', 'owner_id', new.owner_id);
  if not exists (select from ridepulse.rides r where r.id = new.ride_id) then
    raise exception 'ridepulse.participants names a ride that does not exist'
      using errcode = 'invalid_parameter_value',
            hint = 'Insert the ride first, in the same transaction if you like.';
  elsif (select count(*) from (
      select from ridepulse.participants p where p.ride_id = new.ride_id
        and (p.app, p.owner_id) is distinct from (new.app, new.owner_id) limit 1000) known) >= 1000
  then
    raise exception 'the ride has 1000 participants, the most that are allowed'
      using errcode = 'invalid_parameter_value',
            hint = 'Name those whom an event concerns in its data, or emit an event for each.';
  end if;
  if jsonb_typeof(new.attributes) is distinct from 'object' then
    raise exception 'ridepulse.participants needs a JSON object as attributes, got %',
      coalesce(jsonb_typeof(new.attributes), 'NULL') using errcode = 'invalid_parameter_value';
  elsif octet_length(new.attributes::text) > 8192 then
    raise exception 'attributes of ridepulse.participants has % bytes',
      octet_length(new.attributes::text) using errcode = 'invalid_parameter_value',
      hint = 'At most 8192 bytes are allowed; a push has 4096.';
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION ridepulse.participant_checked() IS 'Trigger function: refuses a participant of an unknown ride or app, the 1001st of a ride, and attributes that are no JSON object of at most 8 KiB. Errors: 22023; 42501 on any table other than ridepulse.participants.';
CREATE FUNCTION ridepulse.participant_removed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_relid <> 'ridepulse.participants'::regclass then
    raise exception 'ridepulse.participant_removed serves ridepulse.participants alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  insert into ridepulse.events (ride_id, event, data)
  select old.ride_id, 'card_ended', '{}'
  where exists (
    select from ridepulse.live_activities a
    where a.app = old.app and a.owner_id = old.owner_id and a.ride_id = old.ride_id
      and a.ended_at is null)
    or ridepulse.has_android(old.app, old.owner_id)
      and exists (select from ridepulse.agenda a where a.ride_id = old.ride_id);
  return null;
end
$$;
COMMENT ON FUNCTION ridepulse.participant_removed() IS 'Trigger function: makes the ride of a removed or changed participant who has a live card due. Errors: 42501 on any table other than ridepulse.participants.';
CREATE FUNCTION ridepulse.pause(kind text, name text, duration interval DEFAULT '01:00:00'::interval, reason text DEFAULT NULL::text) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
#variable_conflict use_column
declare
  ends_at timestamptz;
begin
  if pause.kind is null or pause.kind not in ('rule', 'event', 'app') then
    raise exception 'ridepulse.pause needs rule, event or app, got %', coalesce(pause.kind, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  if pause.name is null or octet_length(pause.name) not between 1 and 512 then
    raise exception 'ridepulse.pause needs a name of 1 to 512 bytes'
      using errcode = 'invalid_parameter_value';
  end if;
  if duration is null or duration <= interval '0' or duration > interval '7 days' then
    raise exception 'ridepulse.pause lasts up to 7 days, got %', coalesce(duration::text, 'null')
      using errcode = 'invalid_parameter_value',
        hint = 'Pause it again before it ends, or change the rules.';
  end if;
  delete from ridepulse.pauses p where p.until <= now();
  insert into ridepulse.pauses as p (kind, name, until, reason)
  values (pause.kind, pause.name, now() + duration, nullif(left(pause.reason, 120), ''))
  on conflict (kind, name) do update set until = excluded.until, reason = excluded.reason,
    paused_by = excluded.paused_by, since = excluded.since
  returning p.until into ends_at;
  return ends_at;
end
$$;
COMMENT ON FUNCTION ridepulse.pause(kind text, name text, duration interval, reason text) IS 'Pauses a rule, an event or an app, or changes its pause; returns when that ends. What it would send waits meanwhile. reason: at most 120 characters are kept. Errors: 22023.';
CREATE FUNCTION ridepulse.pin(site text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into ridepulse.pin as p (system_identifier, database_oid, site)
  select s.system_identifier, d.oid, pin.site from pg_control_system() s, pg_database d
  where d.datname = current_database()
  on conflict (is_only) do update set
    system_identifier = excluded.system_identifier, database_oid = excluded.database_oid,
    pinned_at = excluded.pinned_at, held_at = null, held_reason = null, site = excluded.site;
  delete from ridepulse.pinned_apps;
end
$$;
COMMENT ON FUNCTION ridepulse.pin(site text) IS 'Allows services to send from this database on this server, with the apps of the next one that checks the pin: after a restore, a move, or a change of bundle ID, default environment, FCM project or site, and after hold. Stop services with other bundle IDs, environments or projects first. site: the RIDEPULSE_SITE of the services that may send, empty for none; null takes that of the next one that checks the pin.';
CREATE FUNCTION ridepulse.pin_problems(apps text[], bundle_ids text[], environments text[], projects text[] DEFAULT '{}'::text[], site text DEFAULT NULL::text) RETURNS TABLE(problem text, app text, pinned text, found text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  p ridepulse.pin;
  server constant bigint := (pg_control_system()).system_identifier;
  database constant oid := (select d.oid from pg_database d where d.datname = current_database());
begin
  select * into p from ridepulse.pin;
  if p.held_reason is not null then
    return query select 'held', null::text, p.held_reason, p.held_at::text;
  end if;
  if p.system_identifier <> server then
    return query select 'server', null::text, to_hex(p.system_identifier), to_hex(server);
  elsif p.database_oid <> database then
    return query select 'database', null::text, p.database_oid::text, database::text;
  end if;
  -- Work without apps sends nothing, and has no site.
  if cardinality(apps) > 0 and p.site <> coalesce(pin_problems.site, '') then
    return query select 'site', null::text, p.site, coalesce(pin_problems.site, '');
  end if;
  return query
    select d.problem, a.app, d.pinned, d.found
    from unnest(apps, bundle_ids, environments, projects) a (app, bundle_id, environment, project)
    join ridepulse.pinned_apps p on p.app = a.app
    cross join lateral (values
      ('bundle_id', p.bundle_id, a.bundle_id), ('environment', p.environment, a.environment),
      ('project', p.project, a.project)) d (problem, pinned, found)
    where d.pinned <> d.found
    order by d.problem, a.app;
end
$$;
COMMENT ON FUNCTION ridepulse.pin_problems(apps text[], bundle_ids text[], environments text[], projects text[], site text) IS 'Returns why a service with these apps must not send from this database; no row if it may. bundle_ids, environments, projects: null for an app that has none. site: RIDEPULSE_SITE. problem: held, server, database, site, bundle_id, environment or project.';
CREATE FUNCTION ridepulse.push(app text, token text, payload json, push_type text DEFAULT 'alert'::text, priority integer DEFAULT NULL::integer, expires interval DEFAULT '01:00:00'::interval, environment text DEFAULT NULL::text, collapse_id text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  new_id constant uuid := gen_random_uuid();
  platform constant text := ridepulse.push_platform(app, token);
  is_android constant boolean := platform = 'android';
  address constant text := ridepulse.canonical_token(platform, token);
begin
  perform ridepulse.check_app('push', app),
    ridepulse.check_phone_token('push', platform, token),
    ridepulse.check_push_type('push', push_type, priority),
    ridepulse.check_payload('push', payload, case when is_android then 15000
      when push_type = 'voip' then 5120 else 4096 end),
    ridepulse.check_environment('push', environment),
    ridepulse.check_collapse_id('push', collapse_id);
  if is_android then
    perform ridepulse.check_android_push(push_type, environment);
  end if;
  insert into ridepulse.events (ride_id, event, data)
  values (ridepulse.raw_ride('push', app, address), 'raw_push',
    jsonb_strip_nulls(jsonb_build_object(
      'app', push.app, 'token', address, 'platform', case when is_android then platform end,
      'payload', push.payload::text, 'push_type', push.push_type, 'priority', push.priority,
      'expiration', ridepulse.raw_expiration('push', push.expires,
        case when is_android then interval '28 days' else interval '30 days' end),
      'environment', push.environment, 'collapse_id', push.collapse_id,
      'is_registered', nullif(exists (
        select from ridepulse.devices d where d.app = push.app and d.token = address),
        false),
      'apns_id', new_id)));
  return new_id;
end
$$;
COMMENT ON FUNCTION ridepulse.push(app text, token text, payload json, push_type text, priority integer, expires interval, environment text, collapse_id text) IS 'Sends one push, without a rule, when the transaction commits; returns its apns-id. token: of APNs in hexadecimal, of a phone or a card, or an FCM registration token or installation ID; registered or not. payload: a JSON object: of APNs, sent byte for byte; for an Android phone, the message of FCM without the phone. push_type: a value of apns-push-type; for an Android phone alert or background. priority: 10, 5, 1; null means the default of the type. expires: how long it is valid, up to 30 days, 28 days for an Android phone; 0 means that it is never stored. environment: production or sandbox; null means that of the phone or the service, and for an Android phone. collapse_id: a later push with the same one replaces it. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.push_platform(app text, token text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select case
    when exists (
      select from ridepulse.devices d
      where d.app = $1 and d.token = $2 and d.platform = 'android') then 'android'
    when $2 ~ '^[0-9A-Fa-f]+$' then 'ios'
    when strpos($2, ':') > 0 or $2 ~ '^[cdef][A-Za-z0-9_-]{21}$' then 'android'
    else 'ios' end
$_$;
COMMENT ON FUNCTION ridepulse.push_platform(app text, token text) IS 'Returns the platform of the phone with a token: that of its row, otherwise that of the token''s form.';
CREATE FUNCTION ridepulse.put_ride(ride jsonb) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  is_new boolean;
begin
  insert into ridepulse.rides as r
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
  values (ride ->> 'id', ride ->> 'state', ride ->> 'customer_id', ride ->> 'driver_id',
          (ride ->> 'pickup_at')::timestamptz, coalesce(ride ->> 'time_zone', 'UTC'),
          coalesce(ride -> 'attributes', '{}'))
  on conflict on constraint rides_pkey do update set
    state = excluded.state,
    customer_id = excluded.customer_id,
    driver_id = excluded.driver_id,
    pickup_at = excluded.pickup_at,
    time_zone = excluded.time_zone,
    attributes = excluded.attributes
  -- Only an updated row has a transaction there, that of its lock.
  returning xmax = 0 into is_new;
  if ride ? 'participants' then
    delete from ridepulse.participants p
    where p.ride_id = ride ->> 'id' and not exists (
      select from jsonb_to_recordset(ride -> 'participants') as n (app text, owner_id text)
      where n.app = p.app and n.owner_id = p.owner_id);
    -- Those who are there already would count twice in the trigger that limits them.
    with named as materialized (
      select distinct on (n.app, n.owner_id) n.app, n.owner_id,
        coalesce(n.attributes, '{}') as attributes
      from rows from (jsonb_to_recordset(ride -> 'participants')
        as (app text, owner_id text, attributes jsonb)) with ordinality
        as n (app, owner_id, attributes, number)
      order by n.app, n.owner_id, n.number
    ), changed as (
      update ridepulse.participants p set attributes = n.attributes
      from named n
      where p.ride_id = ride ->> 'id' and p.app = n.app and p.owner_id = n.owner_id
        and p.attributes <> n.attributes
    )
    insert into ridepulse.participants (ride_id, app, owner_id, attributes)
    select ride ->> 'id', n.app, n.owner_id, n.attributes from named n
    where not exists (
      select from ridepulse.participants p
      where p.ride_id = ride ->> 'id' and p.app = n.app and p.owner_id = n.owner_id);
  end if;
  return is_new;
end
$$;
COMMENT ON FUNCTION ridepulse.put_ride(ride jsonb) IS 'Inserts or replaces a ride, whose triggers emit its events; returns whether it is new. ride: the columns as members, and the ID; a missing one has its default. participants: a list of objects with app, owner_id and attributes, the ride''s further people from then on; if it is missing, they stay.';
CREATE FUNCTION ridepulse.raw_expiration(function_name text, expires interval, longest interval) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  validity constant interval := coalesce(expires, interval '1 hour');
  -- Seconds neither depend on the session's time zone nor exceed the range of a timestamp. A day has
  -- 24 hours, a month 30 days.
  seconds constant numeric := extract(epoch from validity);
begin
  if seconds < 0 or seconds > extract(epoch from longest) then
    raise exception 'expires of ridepulse.% is %', function_name, validity
      using errcode = 'invalid_parameter_value',
            hint = format('Send 0 (never stored) to %s: nothing is stored longer.', longest);
  end if;
  return case when seconds = 0 then 0
    else ceil(extract(epoch from clock_timestamp()) + seconds) end;
end
$$;
COMMENT ON FUNCTION ridepulse.raw_expiration(function_name text, expires interval, longest interval) IS 'Returns when a raw push expires, in seconds since 1970, or 0 if it is never to be stored. expires: null means 1 hour. longest: the longest that is accepted. function_name is for the message. Errors: 22023.';
CREATE FUNCTION ridepulse.raw_ride(kind text, app text, address text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select $1 || ':' || $2 || ':' || left(encode(sha256(convert_to($3, 'UTF8')), 'hex'), 32)
$_$;
COMMENT ON FUNCTION ridepulse.raw_ride(kind text, app text, address text) IS 'Returns the ID of the pseudo ride of an address or a person. kind: push, broadcast or person. address: the token, of APNs in lower-case hexadecimal, the channel''s ID, or the owner''s ID.';
CREATE FUNCTION ridepulse.read_query(w ridepulse.watches) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.read_query(w ridepulse.watches) IS 'Returns the query that reads rows of an attached table by their keys.';
CREATE FUNCTION ridepulse.read_statement(expression text, columns text[], source text, target text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
  select case when columns is null
      then format('execute %L into %s using %s;',
        format('select %s from unnest(array[$1]) r', expression), target, source)
    else format('select %s into %s from (select %s) r;', expression, target, (
      select string_agg(format('%1$s.%2$I as %2$I', source, name), ', ')
      from unnest(columns) name)) end
$_$;
COMMENT ON FUNCTION ridepulse.read_statement(expression text, columns text[], source text, target text) IS 'Returns the statement of plpgsql that evaluates an expression of a row r. columns: those that the expression reads; null if it uses the row as a value. source: the variable that is the row, new or old. target: the variable that receives the result.';
CREATE FUNCTION ridepulse.reader_body(w ridepulse.watches) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
  select format($body$
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
$_$;
COMMENT ON FUNCTION ridepulse.reader_body(w ridepulse.watches) IS 'Returns the body of the function that reads the rows of an attached table. If the new row was written again since, it stores the values that the row has now; if only the old row can''t be read, its key. Errors: only those that a repetition may fix.';
CREATE FUNCTION ridepulse.readers("table" regclass) RETURNS regprocedure[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(
    select distinct p.oid::regprocedure from pg_trigger g join pg_proc p on p.oid = g.tgfoid
    where g.tgrelid = "table" and g.tgname in ('ridepulse_read', 'ridepulse_read_update')
      and starts_with(p.proname, 'ridepulse_read_') and pg_has_role(p.proowner, 'usage'))
$$;
COMMENT ON FUNCTION ridepulse.readers("table" regclass) IS 'Returns the functions that ridepulse.watch has made for a table and that the caller may drop.';
CREATE FUNCTION ridepulse.reads_owner_code(w ridepulse.watches) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.reads_owner_code(w ridepulse.watches) IS 'Whether reading the rows of an attached table may run code of the table''s owner: a condition, a function, a policy, casts of a type, or functions of an index or a constraint.';
CREATE FUNCTION ridepulse.reads_whole_row(w ridepulse.watches) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
  select w.ride_function is not null and not w.mapping ? 'columns'
    or coalesce(w.condition ~* '\mr\M(?!\s*\.\s*[^*[:space:]])' or w.condition ~* 'u&"', false)
$$;
COMMENT ON FUNCTION ridepulse.reads_whole_row(w ridepulse.watches) IS 'Whether a mapping may read any column of a row, also one that is added later.';
CREATE FUNCTION ridepulse.record_hold() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  new.held_by := case when new.held_at is not null then session_user end;
  return new;
end
$$;
COMMENT ON FUNCTION ridepulse.record_hold() IS 'Trigger of pin: records who holds sending.';
CREATE FUNCTION ridepulse.record_unread_row(relation regclass, source jsonb, state text, message text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select ridepulse.record_watch_error((ridepulse.attached_table(relation)).relation, '',
    'unreadable_row', source ->> 0, 'SQLSTATE ' || state || ': ' || message)
$$;
COMMENT ON FUNCTION ridepulse.record_unread_row(relation regclass, source jsonb, state text, message text) IS 'Records that a backfill could not read a row. source: as ridepulse.find_live_rows returned it. state, message: the error. Errors: 55000 if the table is not attached.';
CREATE FUNCTION ridepulse.record_unreadable(w ridepulse.watches, relation regclass, operation text, source jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  code text := source #>> '{error,state}';
  detail text := format('SQLSTATE %s: %s', code, source #>> '{error,message}');
  key jsonb := nullif(source -> 'key', 'null');
  former_id text := ridepulse.mapped_id(w, source #> '{old,row}');
  own_id text := case when jsonb_array_length(key) = 1 then w.prefix || nullif(key ->> 0, '') end;
  missing text;
begin
  -- 42703 and 42883: a column or a function that does not exist. No row can be read then.
  for missing in
    select value from (
      select * from jsonb_each_text(w.columns) where w.ride_function is null
      union all select * from jsonb_each_text(w.attributes)) m
    where code = '42703' and ridepulse.base_type(record_unreadable.relation, m.value) is null
  loop
    perform ridepulse.record_watch_error(w.relation, missing, 'missing_column');
  end loop;
  if not found then
    perform ridepulse.record_watch_error(w.relation, '',
      case when code in ('42703', '42883') then 'unusable_mapping' else 'unreadable_row' end,
      coalesce(own_id, former_id, key::text), detail);
  end if;
  if operation = 'DELETE' then
    perform ridepulse.remove_ride(w, coalesce(former_id, own_id));
    return;
  end if;
  insert into ridepulse.unread_rides (ride_id, relation, sqlstate)
  select r.id, w.relation, code
  from ridepulse.rides r where r.id in (former_id, own_id)
    and ridepulse.belongs_to(w, r.id)
  on conflict do nothing;
end
$$;
COMMENT ON FUNCTION ridepulse.record_unreadable(w ridepulse.watches, relation regclass, operation text, source jsonb) IS 'Records why a row could not be read: a column that is gone, a condition or a function that fails for each row, or this row alone. Marks its ride in ridepulse.unread_rides; removes it if the row was deleted. operation: that of the trigger. source: the error, the key and the former row, as ridepulse_read has stored them.';
CREATE FUNCTION ridepulse.record_watch_error(relation regclass, column_name text, problem text, row_id text DEFAULT NULL::text, detail text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- Once for each transaction, because each further update would leave a dead row.
  if exists (
    select from ridepulse.watch_errors e
    where e.relation = record_watch_error.relation
      and e.column_name = record_watch_error.column_name
      and e.problem = record_watch_error.problem and e.last_at >= now())
    or not pg_try_advisory_xact_lock(hashtextextended(
      'ridepulse.watch_errors ' || relation::oid || ' ' || column_name || ' ' || problem, 0))
  then
    return;
  end if;
  begin
    -- ridepulse.forget and ridepulse.sweep hold rows, too.
    perform from ridepulse.watch_errors e
    where e.relation = record_watch_error.relation
      and e.column_name = record_watch_error.column_name
      and e.problem = record_watch_error.problem
    for no key update skip locked;
    if not found and exists (
      select from ridepulse.watch_errors e
      where e.relation = record_watch_error.relation
        and e.column_name = record_watch_error.column_name
        and e.problem = record_watch_error.problem)
    then
      return;
    end if;
    insert into ridepulse.watch_errors as e
      (relation, column_name, problem, row_id, detail, first_at, last_at)
    values (record_watch_error.relation, record_watch_error.column_name,
            record_watch_error.problem, left(record_watch_error.row_id, 80),
            left(record_watch_error.detail, 200), now(), now())
    on conflict on constraint watch_errors_pkey do update set
      row_id = excluded.row_id, detail = excluded.detail, count = e.count + 1,
      last_at = excluded.last_at;
  exception when serialization_failure then
    null;  -- Another transaction recorded it after this one's snapshot was taken.
  end;
end
$$;
COMMENT ON FUNCTION ridepulse.record_watch_error(relation regclass, column_name text, problem text, row_id text, detail text) IS 'Records a problem in ridepulse.watch_errors, once for each transaction, and waits for no other transaction. row_id and detail are cut to 80 and 200 characters.';
CREATE FUNCTION ridepulse.register_device(app text, owner_id text, token text, environment text DEFAULT NULL::text, installation_id text DEFAULT NULL::text, locale text DEFAULT NULL::text, platform text DEFAULT 'ios'::text, time_zone text DEFAULT NULL::text, alerts boolean DEFAULT NULL::boolean, app_version text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  old ridepulse.devices;
  former text;
begin
  perform ridepulse.check_app('register_device', app),
    ridepulse.check_text('register_device', 'owner_id', owner_id),
    ridepulse.check_environment('register_device', environment),
    ridepulse.check_text('register_device', 'installation_id', installation_id, false),
    ridepulse.check_text('register_device', 'locale', locale, false),
    ridepulse.check_text('register_device', 'time_zone', time_zone, false),
    ridepulse.check_text('register_device', 'app_version', app_version, false);
  if platform not in ('ios', 'android') then
    raise exception 'platform of ridepulse.register_device is %, which is unknown',
      quote_literal(platform)
      using errcode = 'invalid_parameter_value', hint = 'Send ios or android.';
  end if;
  old := ridepulse.lock_phone(app, platform, token);
  platform := coalesce(platform, old.platform, 'ios');
  perform ridepulse.check_phone_token('register_device', platform, token);
  token := ridepulse.canonical_token(platform, token);
  installation_id := nullif(installation_id, '');
  if platform = 'android' then
    if environment is not null then
      raise exception 'environment of ridepulse.register_device is %, and platform android',
        quote_literal(environment)
        using errcode = 'invalid_parameter_value', hint = 'FCM has no environments: send null.';
    end if;
    -- A phone that moves from a registration token to its installation ID replaces itself.
    installation_id := coalesce(
      installation_id, old.installation_id, ridepulse.firebase_installation(token));
  end if;
  locale := nullif(locale, '');
  time_zone := nullif(time_zone, '');
  app_version := nullif(app_version, '');
  insert into ridepulse.devices as d (app, owner_id, token, environment, installation_id, locale,
                                      platform, time_zone, alerts, app_version)
  values (register_device.app, register_device.owner_id, register_device.token,
          register_device.environment, register_device.installation_id, register_device.locale,
          register_device.platform, register_device.time_zone, register_device.alerts,
          register_device.app_version)
  on conflict on constraint devices_app_token_key do update set
    owner_id = excluded.owner_id,
    environment = case when excluded.platform = 'ios'
                    then coalesce(excluded.environment, d.environment) end,
    installation_id = coalesce(excluded.installation_id, d.installation_id),
    locale = coalesce(excluded.locale, d.locale),
    platform = excluded.platform,
    time_zone = coalesce(excluded.time_zone, d.time_zone),
    alerts = coalesce(excluded.alerts, d.alerts),
    app_version = coalesce(excluded.app_version, d.app_version),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null,
    refusals = 0,
    probe = null,
    is_probed = false,
    quarantined_at = null,
    -- APNs' pause belongs to the token, which is the same, in one environment.
    quiet_until = case when excluded.environment is null or excluded.environment = d.environment
                    then d.quiet_until end;
  if old.owner_id = register_device.owner_id and (register_device.installation_id is null
     or old.installation_id = register_device.installation_id) and old.disabled_at is null
     and (platform = 'ios' or old.quarantined_at is null) then
    return;
  end if;
  if platform = 'android' then
    -- Each phone of a person shows the cards that run.
    perform ridepulse.make_rides_due(
      register_device.app, register_device.owner_id, 'card_registered');
  else
    for former in
      select old.owner_id where old.owner_id <> register_device.owner_id
      union
      select owner from ridepulse.owners_of_installation(
        register_device.app, coalesce(register_device.installation_id, old.installation_id)) owner
      where owner <> register_device.owner_id
    loop
      perform ridepulse.withdraw(register_device.app, former,
        coalesce(register_device.installation_id, old.installation_id));
    end loop;
  end if;
  -- An installation has one enabled token: the newest.
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'replaced'
  where d.app = register_device.app
    and d.installation_id = coalesce(register_device.installation_id, old.installation_id)
    and d.token <> register_device.token and d.disabled_at is null;
end
$$;
COMMENT ON FUNCTION ridepulse.register_device(app text, owner_id text, token text, environment text, installation_id text, locale text, platform text, time_zone text, alerts boolean, app_version text) IS 'Registers a phone or enables it again, disables the older tokens of its installation, and withdraws the cards and start tokens that an earlier owner had on it. platform: ios or android. token: of ios hexadecimal, in upper or lower case; of android, what the Firebase SDK returns. environment: null for android. time_zone: the IANA name of the zone of the phone''s clock. alerts: whether the person allows alerts. environment, installation_id, locale, platform, time_zone, alerts, app_version: null keeps the stored value, and so does an empty text, except for environment and platform. A new Android phone makes its owner''s live rides due, and its installation_id is that of Firebase if none is named. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.register_live_activity(ride_id text, app text, owner_id text, token text, activity_id text, environment text DEFAULT NULL::text, frequent boolean DEFAULT false, installation_id text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  old ridepulse.live_activities;
  stays boolean;
begin
  perform ridepulse.check_text('register_live_activity', 'ride_id', ride_id),
    ridepulse.check_app('register_live_activity', app),
    ridepulse.check_environment('register_live_activity', environment),
    ridepulse.check_text('register_live_activity', 'owner_id', owner_id),
    ridepulse.check_token('register_live_activity', token),
    ridepulse.check_text('register_live_activity', 'activity_id', activity_id),
    ridepulse.check_text('register_live_activity', 'installation_id', installation_id, false);
  installation_id := nullif(installation_id, '');
  select * into old from ridepulse.live_activities a
  where a.app = register_live_activity.app and a.activity_id = register_live_activity.activity_id
  for update;
  stays := coalesce(old.ended_reason, '') in ('ended', 'expired', 'dismissed')
    or coalesce(old.ended_reason, '') = 'signed_out' and not (
      old.owner_id = register_live_activity.owner_id and exists (
        select from ridepulse.current_devices d
        where d.app = register_live_activity.app
          and d.owner_id = register_live_activity.owner_id
          and d.installation_id = register_live_activity.installation_id));
  insert into ridepulse.live_activities as a
    (ride_id, app, owner_id, token, activity_id, environment, frequent, installation_id)
  values (register_live_activity.ride_id, register_live_activity.app,
          register_live_activity.owner_id, lower(register_live_activity.token),
          register_live_activity.activity_id, register_live_activity.environment,
          coalesce(register_live_activity.frequent, false),
          register_live_activity.installation_id)
  on conflict on constraint live_activities_app_activity_id_key do update set
    ride_id = excluded.ride_id,
    owner_id = excluded.owner_id,
    token = excluded.token,
    environment = coalesce(excluded.environment, a.environment),
    frequent = excluded.frequent,
    installation_id = coalesce(excluded.installation_id, a.installation_id),
    registered_at = excluded.registered_at,
    ended_at = case when stays then a.ended_at end,
    ended_reason = case when stays then a.ended_reason end
  -- The insert's condition, and no check before it: two registrations may meet.
  where a.owner_id = excluded.owner_id or a.ended_at is not null;
  if not found then
    raise exception 'activity_id of ridepulse.register_live_activity is a live card of another owner'
      using errcode = 'invalid_parameter_value',
            hint = 'Sign that owner out on the phone first: ridepulse.end_live_activity or '
              || 'ridepulse.unregister_device.';
  end if;
  if not stays
     and (old.id is null or old.ended_at is not null
          or old.ride_id <> register_live_activity.ride_id
          or old.token <> lower(register_live_activity.token)) then
    insert into ridepulse.events (ride_id, event, data)
    values (register_live_activity.ride_id, 'card_registered', '{}');
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.register_live_activity(ride_id text, app text, owner_id text, token text, activity_id text, environment text, frequent boolean, installation_id text) IS 'Registers the update token of a card, and makes its ride due if the card is new or live again, or has a new token or ride. token: hexadecimal, in upper or lower case. activity_id: ActivityKit''s ID. environment, installation_id: null keeps the stored value; an empty installation_id counts as null. frequent: whether the person allows frequent updates. A live card keeps its owner. Errors: 22023 for an argument that is not what the function takes, and for a live card of another owner.';
CREATE FUNCTION ridepulse.register_push_to_start(app text, owner_id text, token text, attributes_type text, environment text DEFAULT NULL::text, installation_id text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  is_signed_in boolean;
begin
  perform ridepulse.check_app('register_push_to_start', app),
    ridepulse.check_environment('register_push_to_start', environment),
    ridepulse.check_text('register_push_to_start', 'owner_id', owner_id),
    ridepulse.check_token('register_push_to_start', token),
    ridepulse.check_text('register_push_to_start', 'attributes_type', attributes_type),
    ridepulse.check_text('register_push_to_start', 'installation_id', installation_id, false);
  installation_id := nullif(installation_id, '');
  is_signed_in := exists (
    select from ridepulse.current_devices d
    where d.app = register_push_to_start.app and d.owner_id = register_push_to_start.owner_id
      and (register_push_to_start.installation_id is null
           or d.installation_id = register_push_to_start.installation_id));
  insert into ridepulse.push_to_start_tokens as t
    (app, owner_id, token, attributes_type, environment, installation_id)
  values (register_push_to_start.app, register_push_to_start.owner_id,
          lower(register_push_to_start.token), register_push_to_start.attributes_type,
          register_push_to_start.environment, register_push_to_start.installation_id)
  on conflict on constraint push_to_start_tokens_app_attributes_type_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, t.environment),
    installation_id = coalesce(excluded.installation_id, t.installation_id),
    registered_at = excluded.registered_at,
    disabled_at = case when t.disabled_reason = 'signed_out' and not is_signed_in
                    then t.disabled_at end,
    disabled_reason = case when t.disabled_reason = 'signed_out' and not is_signed_in
                        then t.disabled_reason end;
end
$$;
COMMENT ON FUNCTION ridepulse.register_push_to_start(app text, owner_id text, token text, attributes_type text, environment text, installation_id text) IS 'Registers a token with which cards can be started, or makes it valid again; one that a sign-out withdrew only if its owner has an enabled phone, on installation_id if that is named. token: hexadecimal, in upper or lower case. attributes_type: name of the type of the activity''s attributes. environment, installation_id: null keeps the stored value; an empty installation_id counts as null. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.register_watch(relation regclass, mapping jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.register_watch(relation regclass, mapping jsonb) IS 'Stores the mapping of a table and clears the recorded problems of the table. A null mapping detaches the table. Errors: those of ridepulse.check_mapping.';
CREATE FUNCTION ridepulse.release(OUT held_at timestamp with time zone, OUT held_reason text, OUT held_by text) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  held ridepulse.pin;
begin
  select * into held from ridepulse.pin p where p.held_at is not null for update;
  if not found then
    return;
  end if;
  update ridepulse.pin p set held_at = null, held_reason = null;
  release.held_at := held.held_at;
  release.held_reason := held.held_reason;
  release.held_by := held.held_by;
end
$$;
COMMENT ON FUNCTION ridepulse.release(OUT held_at timestamp with time zone, OUT held_reason text, OUT held_by text) IS 'Ends hold and returns since when, why and by whom sending was held; nulls if it was not. The pin stays: a copy of a database that is recognized sends nothing after it either.';
CREATE FUNCTION ridepulse.removal_lock(relation regclass) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select hashtextextended('ridepulse.removal ' || relation::oid, 0)
$$;
COMMENT ON FUNCTION ridepulse.removal_lock(relation regclass) IS 'Returns the key of the advisory lock that removals of a table''s rides share and its backfill takes alone.';
CREATE FUNCTION ridepulse.remove_ride(w ridepulse.watches, id text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  ride ridepulse.rides;
begin
  if id is null or not ridepulse.belongs_to(w, id) then
    return false;
  end if;
  perform pg_advisory_xact_lock_shared(ridepulse.removal_lock(w.relation));
  delete from ridepulse.rides r where r.id = remove_ride.id returning * into ride;
  if not found then
    return false;
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
  values (ride.id, 'ride_removed', jsonb_build_object('ride', to_jsonb(ride)), ride.customer_id,
          ride.driver_id);
  return true;
end
$$;
COMMENT ON FUNCTION ridepulse.remove_ride(w ridepulse.watches, id text) IS 'Deletes the ride of a row that is gone or no longer meets the condition, and emits ride_removed. Returns whether there was one.';
CREATE FUNCTION ridepulse.report_channel(channel bigint, is_awaited boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  this ridepulse.channels;
begin
  select * into this from ridepulse.channels c
  where c.id = channel and c.reported_at is null for update skip locked;
  if not found then
    return not exists (
      select from ridepulse.channels c where c.id = channel and c.reported_at is null);
  end if;
  if this.channel_id is null and this.ended_at is null then
    return true;
  end if;
  -- A refused create is reported; a channel that has ended in the meantime is not.
  if this.ride_id is not null and (this.channel_id is null or this.ended_at is null) then
    if this.channel_id is not null then
      perform from ridepulse.rides r where r.id = this.ride_id for update skip locked;
      if not found and exists (select from ridepulse.rides r where r.id = this.ride_id) then
        return false;
      end if;
    end if;
    perform ridepulse.attach_channel(this.ride_id, this.app, this.channel_id, this.ended_reason,
      is_awaited);
  end if;
  update ridepulse.channels c set reported_at = clock_timestamp() where c.id = channel;
  return true;
end
$$;
COMMENT ON FUNCTION ridepulse.report_channel(channel bigint, is_awaited boolean) IS 'Reports the outcome of a create to its ride. channel: the ID in channels. is_awaited: as for ridepulse.attach_channel. Returns false if the channel or its ride is locked and the outcome is still to be reported, otherwise true.';
CREATE FUNCTION ridepulse.report_permits(changes jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  held text[];
  outcome record;
begin
  held := array(
    select a.ride_id from jsonb_to_recordset(changes -> 'rides')
      as r (ride_id text, fence bigint, node uuid)
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    order by a.ride_id for update of a skip locked);
  -- The settlement that follows may find the lock of a skipped ride released. It would write what
  -- was sent without its permit, so that one push too many could follow.
  if exists (
    select from jsonb_to_recordset(changes -> 'rides') as r (ride_id text, fence bigint, node uuid)
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    where a.ride_id <> all (held))
  then
    raise exception 'agenda rows of ridepulse.report_permits are locked'
      using errcode = 'lock_not_available', hint = 'Repeat the settlement.';
  end if;
  perform ridepulse.lock_counted(changes -> 'permits');
  for outcome in
    select * from jsonb_to_recordset(changes -> 'permits') as o (
      ride_id text, id uuid, app text, owner_id text, kind text, name text, sent boolean,
      done boolean, "window" bigint)
  loop
    if outcome.sent and outcome.ride_id = any (held) then
      insert into ridepulse.permits as p
        (id, app, owner_id, kind, name, ride_id, is_sent, counts_at, keep_until)
      values (outcome.id, outcome.app, outcome.owner_id, outcome.kind, outcome.name,
        outcome.ride_id, true, clock_timestamp(),
        clock_timestamp() + outcome."window" * interval '1 microsecond')
      on conflict (id) do update set is_sent = true;
    elsif outcome.sent then
      -- Adds no row: the person may have been erased meanwhile.
      update ridepulse.permits p set is_sent = true where p.id = outcome.id;
    end if;
    -- Of a ride that has passed to another node, that node may still be sending.
    continue when not outcome.done or outcome.ride_id <> all (held);
    update ridepulse.permits p set counts_at = clock_timestamp()
    where p.id = outcome.id and p.is_sent;
    delete from ridepulse.permits p where p.id = outcome.id and not p.is_sent;
  end loop;
end
$$;
COMMENT ON FUNCTION ridepulse.report_permits(changes jsonb) IS 'Records the outcomes of permits; called in the transaction of a settlement, before it. changes: rides with their claims, and permits. Only of rides that are held under their claim, permits are released; what was sent counts anyway. Errors: 55P03 if another session has locked the agenda row of a ride that is held.';
CREATE FUNCTION ridepulse.request_permits(requests jsonb) RETURNS TABLE(ride_id text, refused uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  request record;
  since timestamptz;
  used bigint;
begin
  -- The next holder of a lost ride asks for the same permits: nothing is granted twice.
  return query
    select r.ride_id, null::uuid
    from jsonb_to_recordset(requests -> 'rides') as r (ride_id text, fence bigint, node uuid)
    where not exists (
      select from ridepulse.agenda a
      where a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node);
  perform ridepulse.lock_counted(requests -> 'permits');
  for request in
    select q.* from jsonb_to_recordset(requests -> 'permits') as q (
      ride_id text, id uuid, app text, owner_id text, kind text, name text, count bigint,
      per bigint, valid_until bigint, "window" bigint, occurred_at bigint)
    join jsonb_to_recordset(requests -> 'rides') as r (ride_id text, fence bigint, node uuid)
      on r.ride_id = q.ride_id
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    order by q.occurred_at, q.id
  loop
    update ridepulse.permits p set counts_at = greatest(p.counts_at,
      timestamptz 'epoch' + request.valid_until * interval '1 microsecond')
    where p.id = request.id;
    continue when found;
    -- Without per, what is counted is what the ride had.
    if request.per is null then
      select count(*) into used from ridepulse.permits p
      where p.ride_id = request.ride_id and p.app = request.app
        and p.owner_id = request.owner_id and p.kind = request.kind and p.name = request.name;
    else
      since := clock_timestamp() - request.per * interval '1 microsecond';
      select count(*) into used from ridepulse.permits p
      where p.app = request.app and p.owner_id = request.owner_id and p.kind = request.kind
        and p.name = request.name and p.counts_at > since;
    end if;
    if used >= request.count then
      ride_id := request.ride_id;
      refused := request.id;
      return next;
    else
      insert into ridepulse.permits
        (id, app, owner_id, kind, name, ride_id, counts_at, keep_until)
      values (request.id, request.app, request.owner_id, request.kind, request.name,
        request.ride_id, timestamptz 'epoch' + request.valid_until * interval '1 microsecond',
        timestamptz 'epoch'
          + (request.valid_until + request."window") * interval '1 microsecond');
    end if;
  end loop;
end
$$;
COMMENT ON FUNCTION ridepulse.request_permits(requests jsonb) IS 'Grants permits to claimed rides before they send, the oldest firings first. requests: rides with their claims, and permits; per is null for what is counted within the ride. Returns a row for each permit that is refused, and one without a permit for each ride that is no longer held under its claim.';
CREATE FUNCTION ridepulse.require_owner("table" regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.require_owner("table" regclass) IS 'Refuses a role that does not own the table, or lacks a right that attaching needs. Errors: 42501.';
CREATE FUNCTION ridepulse.restore_ride(id text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  removed jsonb;
begin
  delete from ridepulse.events e
  where e.id in (
    select r.id from ridepulse.events r
    where r.ride_id = restore_ride.id and r.event = 'ride_removed' and r.created_at >= now()
    for update skip locked)
  returning e.data -> 'ride' into removed;
  if not found
     or not ridepulse.insert_silently(jsonb_populate_record(null::ridepulse.rides, removed)) then
    return false;
  end if;
  update ridepulse.events e set data = '{"moved": true}'
  where e.ride_id = restore_ride.id and e.event = 'ride_watched' and e.created_at >= now();
  return true;
end
$$;
COMMENT ON FUNCTION ridepulse.restore_ride(id text) IS 'Inserts a ride again that this transaction has removed. Returns whether it did.';
CREATE FUNCTION ridepulse.resume(kind text, name text, OUT until timestamp with time zone, OUT reason text, OUT paused_by text, OUT since timestamp with time zone, OUT rides bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
#variable_conflict use_column
begin
  delete from ridepulse.pauses p where p.kind = resume.kind and p.name = resume.name
  returning p.until, p.reason, p.paused_by, p.since
  into resume.until, resume.reason, resume.paused_by, resume.since;
  if not found then
    return;
  end if;
  -- Once each node has claimed again. A ride that a node holds looks by itself within 30 s.
  with free as materialized (
    select a.ride_id from ridepulse.agenda a
    where a.memo ? 'waiting' and a.leased_until <= now()
      and a.memo @? '$.waiting[*].entry.reason.code ? (@ == "paused")'
    order by a.ride_id for update skip locked
  ), moved as (
    update ridepulse.agenda a set due_at = least(a.due_at, now() + interval '3 seconds')
    from free where a.ride_id = free.ride_id
    returning 1
  )
  select count(*) into resume.rides from moved;
end
$_$;
COMMENT ON FUNCTION ridepulse.resume(kind text, name text, OUT until timestamp with time zone, OUT reason text, OUT paused_by text, OUT since timestamp with time zone, OUT rides bigint) IS 'Ends a pause, makes the rides that wait for one due, and returns the pause and the number of these rides; nulls if there was no such pause.';
CREATE FUNCTION ridepulse.ride_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  event text;
  former jsonb;
  emitted_at timestamptz;
begin
  -- Must precede any use of the row, whose types would belong to the owner of the other table.
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.ride_changed serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  if tg_op = 'UPDATE' and (old is not distinct from new
       or current_setting('ridepulse.silent', true) = 'on') then
    return null;
  elsif current_setting('ridepulse.silent', true) = 'on' then
    event := 'ride_watched';
  elsif new.state is not null and new.state <> ''
     and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    event := new.state;
  elsif tg_op = 'UPDATE' then
    event := 'ride_updated';
  else
    return null;
  end if;
  if tg_op = 'UPDATE' then
    former := ridepulse.former_row(old, new);
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id, former)
  values (new.id, event, '{}', new.customer_id, new.driver_id, former)
  returning created_at into emitted_at;
  if event = new.state and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    perform ridepulse.enter_state(new.id, event, emitted_at, tg_op = 'INSERT');
  end if;
  return null;
end
$$;
COMMENT ON FUNCTION ridepulse.ride_changed() IS 'Trigger function: emits the event of a new or changed ride. Errors: 42501 on any table other than ridepulse.rides.';
CREATE FUNCTION ridepulse.ride_stamped() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if old.updated_at is not distinct from new.updated_at and old is distinct from new then
    new.updated_at := now();
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION ridepulse.ride_stamped() IS 'Trigger function: sets updated_at of a ride that changed to the start of the transaction, unless the update sets it.';
CREATE FUNCTION ridepulse.rides_removed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.rides_removed serves ridepulse.rides alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  delete from ridepulse.participants p where p.ride_id in (select g.id from gone g);
  delete from ridepulse.unread_rides u where u.ride_id in (select g.id from gone g);
  return null;
end
$$;
COMMENT ON FUNCTION ridepulse.rides_removed() IS 'Trigger function: deletes the participants and the marks of deleted rides. Errors: 42501 on any table other than ridepulse.rides.';
CREATE FUNCTION ridepulse.rotate_ledger(keep interval DEFAULT NULL::interval) RETURNS TABLE(action text, object text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET lock_timeout TO '100ms'
    SET standard_conforming_strings TO 'on'
    AS $_$
declare
  today constant date := now();
  rules ridepulse.retention;
  day date;
  is_open boolean;
  rows bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('ridepulse.rotate_ledger', 0)) then
    return;
  end if;
  select * into rules from ridepulse.retention;
  keep := coalesce(rotate_ledger.keep, rules.ledger, interval '30 days');
  if keep < interval '1 day' then
    raise exception 'ridepulse.rotate_ledger keeps a day at least, got %', keep
      using errcode = 'invalid_parameter_value';
  end if;
  action := 'deleted';
  delete from ridepulse.slot_counts c where c.day < (now() - keep)::date;
  get diagnostics rows = row_count;
  object := rows || ' of slot_counts';
  if rows > 0 then return next; end if;
  delete from ridepulse.ledger_default where ctid = any (array(
    select ctid from ridepulse.ledger_default
    where created_at < now() - keep and status <> 'pending' limit 10000));
  get diagnostics rows = row_count;
  object := rows || ' of ledger_default';
  if rows > 0 then return next; end if;
  -- Rides that were parked for longer than the ledger is kept.
  with gone as (
    delete from ridepulse.agenda a
    where a.parked_reason is not null and a.parked_at < now() - keep returning a.ride_id
  ), deleted_events as (
    delete from ridepulse.events e using gone g
    where e.ride_id = g.ride_id and e.created_at < now() - keep
  )
  select count(*) into rows from gone;
  object := rows || ' parked rides';
  if rows > 0 then return next; end if;
  -- Drops come first: they lock the ledger itself, and a transaction that holds locks on partitions
  -- must not wait for that lock.
  for object, day in
    select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'ridepulse.ledger'::regclass and c.relname ~ '^ledger_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() - keep)::date
    order by 2
  loop
    begin
      -- From here on no row of the partition can become pending.
      execute format('lock table ridepulse.%I in share mode', object);
      execute format('select exists (select from ridepulse.%I where status = ''pending'')', object)
        into is_open;
      if is_open then
        action := 'kept, a push is pending:';
      else
        execute format('drop table ridepulse.%I', object);
        action := 'dropped';
      end if;
    exception when lock_not_available then
      action := 'in use, left for the next time:';
      return next;
      exit;
    end;
    return next;
  end loop;
  for day in select today + n from generate_series(-1, 7) n loop
    object := 'ledger_' || to_char(day, 'YYYYMMDD');
    if to_regclass('ridepulse.' || object) is not null then continue; end if;
    begin
      execute format(
        'create table ridepulse.%I (like ridepulse.ledger including defaults including constraints) '
        'with (fillfactor = 95)', object);
      if day > today then
        -- Rows of a future day come from a wrong clock; a few of them must not prevent the
        -- partition.
        execute format(
          'with moved as (delete from ridepulse.ledger_default where ctid = any (array('
          'select ctid from ridepulse.ledger_default where occurred_at >= %L and occurred_at < %L '
          'limit 1000)) returning *) insert into ridepulse.%I select * from moved',
          day::timestamptz, (day + 1)::timestamptz, object);
      end if;
      execute format(
        'alter table ridepulse.ledger attach partition ridepulse.%I for values from (%L) to (%L)',
        object, day::timestamptz, (day + 1)::timestamptz);
      action := 'made';
      return next;
    exception
      when check_violation then
        action := 'not made, ledger_default has rows of it:';
        return next;
      when lock_not_available then
        action := 'in use, left for the next time:';
        return next;
        exit;
    end;
    -- Each attach scans ledger_default under an exclusive lock: if it is large, one is enough for a
    -- call.
    exit when pg_relation_size('ridepulse.ledger_default') > 64 * 1024 * 1024;
  end loop;
end
$_$;
COMMENT ON FUNCTION ridepulse.rotate_ledger(keep interval) IS 'Deletes what is older than the retention, creates the ledger''s partitions from yesterday to 7 days ahead, and returns each action with its object. keep: the retention; null means that of ridepulse.retention. Does nothing while another session runs it. Errors: 22023 if keep is shorter than 1 day.';
CREATE FUNCTION ridepulse.rotate_recorded() RETURNS TABLE(action text, object text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET lock_timeout TO '100ms'
    SET standard_conforming_strings TO 'on'
    AS $_$
declare
  today constant date := now();
  keep interval;
  day date;
  rows bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('ridepulse.rotate_recorded', 0)) then
    return;
  end if;
  select k.recorded into keep from ridepulse.retention k;
  keep := coalesce(keep, interval '7 days');
  action := 'deleted';
  delete from ridepulse.recorded_default where ctid = any (array(
    select ctid from ridepulse.recorded_default where decided_at < now() - keep limit 10000));
  get diagnostics rows = row_count;
  object := rows || ' of recorded_default';
  if rows > 0 then return next; end if;
  for object, day in
    select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'ridepulse.recorded'::regclass and c.relname ~ '^recorded_\d{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() - keep)::date
    order by 2
  loop
    begin
      execute format('drop table ridepulse.%I', object);
      action := 'dropped';
    exception when lock_not_available then
      action := 'in use, left for the next time:';
      return next;
      exit;
    end;
    return next;
  end loop;
  for day in select today + n from generate_series(0, 2) n loop
    object := 'recorded_' || to_char(day, 'YYYYMMDD');
    if to_regclass('ridepulse.' || object) is not null then continue; end if;
    begin
      execute format(
        'create table ridepulse.%I partition of ridepulse.recorded for values from (%L) to (%L)',
        object, day::timestamptz, (day + 1)::timestamptz);
      action := 'made';
      return next;
    exception
      when check_violation then
        action := 'not made, recorded_default has rows of it:';
        return next;
      when lock_not_available then
        action := 'in use, left for the next time:';
        return next;
        exit;
    end;
  end loop;
end
$_$;
COMMENT ON FUNCTION ridepulse.rotate_recorded() IS 'Drops days of recorded passes that are older than ridepulse.retention.recorded, creates the partitions of today and 2 days ahead, and returns each action with its object. Does nothing while another session runs it.';
CREATE FUNCTION ridepulse.row_expression(w ridepulse.watches, is_key boolean DEFAULT false, is_lazy boolean DEFAULT false) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.row_expression(w ridepulse.watches, is_key boolean, is_lazy boolean) IS 'Returns the SQL expression that reads a row r: whether it meets the condition, and the mapped values. is_key: only ID and state. is_lazy: the ride function is called only for a row that meets the condition.';
CREATE FUNCTION ridepulse.runs_owner_code("table" regclass) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select ridepulse.reads_owner_code(ridepulse.attached_table("table"))
$$;
COMMENT ON FUNCTION ridepulse.runs_owner_code("table" regclass) IS 'Whether reading the rows of an attached table may run code of the table''s owner. Errors: 55000 if it is not attached.';
CREATE FUNCTION ridepulse.scrub(value jsonb, owner_id text, keys text[]) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
declare
  erased constant jsonb := '"(erased)"';
  inner_value jsonb;
begin
  if not ridepulse.json_contains(value::text, owner_id) then
    return value;
  end if;
  case jsonb_typeof(value)
    when 'object' then
      return (
        select jsonb_object_agg(m.key, case
          when keys is not null and not m.key = any (keys) or jsonb_typeof(m.value) = 'object'
            or jsonb_typeof(m.value) = 'array' and not m.key like '%\_id'
            or jsonb_typeof(m.value) = 'string' and m.value #>> '{}' <> owner_id
            then ridepulse.scrub(m.value, owner_id, keys)
          when m.value #>> '{}' = owner_id and jsonb_typeof(m.value) in ('string', 'number')
            and (jsonb_typeof(m.value) = 'string' or m.key like '%\_id') then erased
          when jsonb_typeof(m.value) = 'array' then (
            select jsonb_agg(case when e.value #>> '{}' = owner_id then erased
                                  else ridepulse.scrub(e.value, owner_id, keys) end order by e.place)
            from jsonb_array_elements(m.value) with ordinality e (value, place))
          else m.value end)
        from jsonb_each(value) m);
    when 'array' then
      return (
        select jsonb_agg(
          case when keys is null and e.value = to_jsonb(owner_id) then erased
            else ridepulse.scrub(e.value, owner_id, keys) end order by e.place)
        from jsonb_array_elements(value) with ordinality e (value, place));
    when 'string' then
      -- JSON as a text, as a memo holds an event's data and a former row's attributes.
      begin
        inner_value := (value #>> '{}')::jsonb;
      exception when data_exception then
        return value;
      end;
      return case when jsonb_typeof(inner_value) in ('object', 'array')
        then to_jsonb(ridepulse.scrub(inner_value, owner_id, keys)::text) else value end;
    else
      return value;
  end case;
end
$$;
COMMENT ON FUNCTION ridepulse.scrub(value jsonb, owner_id text, keys text[]) IS 'Returns JSON in which each text that is an owner''s ID is (erased), also in JSON that is quoted as a text. keys: the members that may name the owner; null means all.';
CREATE FUNCTION ridepulse.scrub_former(former jsonb, person ridepulse.erasure) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $$
  select ridepulse.scrub(
    case when exists (
        select from unnest(person.apps) a (app)
        where person.owner_id = coalesce(former ->> a.app,
          (former ->> 'attributes')::jsonb ->> (a.app || '_id')))
      then jsonb_set(former, '{attributes}', to_jsonb((
        select coalesce(jsonb_object_agg(m.key, m.value), '{}')::text
        from jsonb_each(case jsonb_typeof((former ->> 'attributes')::jsonb)
          when 'object' then (former ->> 'attributes')::jsonb else '{}' end) m
        where m.key like '%\_id')))
      else former end, person.owner_id, person.keys)
$$;
COMMENT ON FUNCTION ridepulse.scrub_former(former jsonb, person ridepulse.erasure) IS 'Returns a former row of a ride without the person, and without attributes if it named the person.';
CREATE FUNCTION ridepulse.scrub_memo(memo jsonb, person ridepulse.erasure, is_gone boolean) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  result jsonb := memo;
  kept jsonb;
begin
  if memo ? 'cards' then
    result := jsonb_set(result, '{cards}', (memo -> 'cards')
      - (person.cards::text[] || array(select 'phone ' || p from unnest(person.phones) p)));
  end if;
  if is_gone then
    -- Cards of the ride's other people still have to end.
    kept := jsonb_strip_nulls(jsonb_build_object(
      'cards', nullif(result -> 'cards', '{}'), 'slots', result -> 'slots', 'data', '[]'::jsonb));
    return case when kept ? 'cards' then ridepulse.scrub(kept, person.owner_id, person.keys) end;
  end if;
  if memo ? 'waiting' then
    select coalesce(jsonb_agg(r.value order by r.place), '[]') into kept
    from jsonb_array_elements(memo -> 'waiting') with ordinality r (value, place)
    where not ridepulse.is_push_to(person, r.value -> 'entry');
    result := jsonb_set(result, '{waiting}', kept);
  end if;
  -- Tokens and their starts in turn.
  if memo ? 'starts' then
    select coalesce(jsonb_agg(s.value order by s.place), '[]') into kept
    from jsonb_array_elements(memo -> 'starts') with ordinality s (value, place)
    where not ridepulse.is_push_to(person,
      memo #> array['starts', ((s.place - 1) / 2 * 2 + 1)::text, 'entry']);
    result := jsonb_set(result, '{starts}', kept);
  end if;
  if memo ? 'images' then
    select coalesce(jsonb_agg(ridepulse.scrub_former(i.value, person) order by i.place), '[]')
    into kept from jsonb_array_elements(memo -> 'images') with ordinality i (value, place);
    result := jsonb_set(result, '{images}', kept);
  end if;
  return ridepulse.scrub(result, person.owner_id, person.keys);
end
$$;
COMMENT ON FUNCTION ridepulse.scrub_memo(memo jsonb, person ridepulse.erasure, is_gone boolean) IS 'Returns a memo without a person''s pushes, cards and starts. is_gone: the ride is deleted; only other people''s cards stay.';
CREATE FUNCTION ridepulse.search_indexes() RETURNS TABLE(of_table text, name text, definition text)
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  values
    ('rides', 'rides_by_customer', 'btree (customer_id) where customer_id is not null'),
    ('rides', 'rides_by_driver', 'btree (driver_id) where driver_id is not null'),
    ('devices', 'devices_by_suffix', 'btree (right(token, 6) text_pattern_ops)'),
    ('devices', 'devices_disabled_by_owner',
      'btree (app, owner_id, id) where disabled_at is not null'),
    ('live_activities', 'live_activities_by_suffix', 'btree (right(token, 6) text_pattern_ops)'),
    ('push_to_start_tokens', 'push_to_start_tokens_by_suffix',
      'btree (right(token, 6) text_pattern_ops)'),
    ('push_to_start_tokens', 'push_to_start_tokens_disabled_by_owner',
      'btree (app, owner_id) where disabled_at is not null'),
    -- Bytewise comparison of few different keys: cheap to insert, and small.
    ('ledger', 'ledger_by_token',
      'btree (token_suffix text_pattern_ops) where token_suffix is not null'),
    -- A filter for each range of blocks: 3 bytes a row, and no page to read or write for each row
    -- that a settlement appends.
    ('ledger', 'ledger_by_apns_id',
      'brin (apns_id uuid_bloom_ops(n_distinct_per_range = 2000, false_positive_rate = 0.001)) '
      'with (pages_per_range = 64, autosummarize = on)')
$$;
COMMENT ON FUNCTION ridepulse.search_indexes() IS 'Returns the indexes that `ridepulse explain` needs: table, name, and definition after "using".';
CREATE FUNCTION ridepulse.seen(apns_id uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if apns_id is null then
    raise exception 'ridepulse.seen needs apns_id, got null'
      using errcode = 'invalid_parameter_value', hint = 'It is the apns-id of the push.';
  end if;
  insert into ridepulse.receipts (apns_id) values (seen.apns_id)
  on conflict on constraint receipts_pkey do nothing;
  update ridepulse.traced_pushes t set is_seen = true
  where t.apns_id = seen.apns_id and not t.is_seen;
end
$$;
COMMENT ON FUNCTION ridepulse.seen(apns_id uuid) IS 'Records that an app displayed a push; the first report counts. apns_id: the apns-id of the push; one that is unknown, or not known yet, is no error. Errors: 22023 if it is null.';
CREATE FUNCTION ridepulse.server_place(OUT system_identifier bigint, OUT timeline integer) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  system_identifier := (pg_control_system()).system_identifier;
  timeline := ridepulse.wal_timeline();
end
$$;
COMMENT ON FUNCTION ridepulse.server_place(OUT system_identifier bigint, OUT timeline integer) IS 'Returns the server and the timeline of its write-ahead log, which each promotion of a standby raises, see ridepulse.wal_timeline. Errors: 55000 on a standby.';
CREATE FUNCTION ridepulse.set_preference(app text, owner_id text, topic text, allowed boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  has_changed boolean;
begin
  perform ridepulse.check_app('set_preference', app),
    ridepulse.check_text('set_preference', 'owner_id', owner_id),
    ridepulse.check_text('set_preference', 'topic', topic);
  if topic !~ '^[a-z0-9_-]{1,64}$' then
    raise exception 'topic of ridepulse.set_preference is %', quote_literal(left(topic, 80))
      using errcode = 'invalid_parameter_value',
            hint = 'A topic has a-z, 0-9, - and _, at most 64, as rule files name it.';
  elsif allowed is null then
    raise exception 'ridepulse.set_preference needs allowed, got NULL'
      using errcode = 'invalid_parameter_value', hint = 'Send true or false.';
  end if;
  -- An unknown topic is on, so turning it on for the first time changes nothing.
  insert into ridepulse.preferences as p (app, owner_id, topic, is_allowed)
  values (set_preference.app, set_preference.owner_id, set_preference.topic, allowed)
  on conflict on constraint preferences_pkey do update
  set is_allowed = excluded.is_allowed, changed_at = excluded.changed_at
  where p.is_allowed <> excluded.is_allowed
  returning xmax <> 0 or not is_allowed into has_changed;
  if has_changed is not true then
    return false;
  end if;
  -- A card that runs is ended by its ride's next decision.
  insert into ridepulse.events (ride_id, event, data)
  select distinct c.ride_id, 'preference_changed', '{}'::jsonb
  from ridepulse.current_live_activities c
  where c.app = set_preference.app and c.owner_id = set_preference.owner_id and c.ended_at is null
  order by 1;
  perform ridepulse.make_rides_due(set_preference.app, set_preference.owner_id, 'preference_changed')
  where ridepulse.has_android(set_preference.app, set_preference.owner_id);
  return true;
end
$_$;
COMMENT ON FUNCTION ridepulse.set_preference(app text, owner_id text, topic text, allowed boolean) IS 'Turns a topic on or off for a person; returns whether that changed anything. Rides with a live card of the person become due: a card whose topic is off ends at once. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.share(name text, owner_id text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select ('x' || left(encode(sha256(convert_to(name || '/' || owner_id, 'UTF8')), 'hex'), 8))
    ::bit(32)::bigint::double precision / 4294967296
$$;
COMMENT ON FUNCTION ridepulse.share(name text, owner_id text) IS 'Returns the share of a person, from 0 to below 1, as share(name) in `if` of rules has it: always the same for the name and the owner ID. Null if an argument is.';
CREATE FUNCTION ridepulse.sign_out(owner_id text, app text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  apps constant text[] := array(select ridepulse.owner_apps(sign_out.owner_id, sign_out.app));
  phones bigint;
begin
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'signed_out'
  where d.app = any (apps) and d.owner_id = sign_out.owner_id and d.disabled_at is null;
  get diagnostics phones = row_count;
  update ridepulse.devices d set disabled_reason = 'signed_out'
  where d.app = any (apps) and d.owner_id = sign_out.owner_id and d.disabled_reason <> 'signed_out';
  perform ridepulse.withdraw(a, sign_out.owner_id, null) from unnest(apps) a;
  return phones;
end
$$;
COMMENT ON FUNCTION ridepulse.sign_out(owner_id text, app text) IS 'Signs all phones of a person out, and withdraws all cards and start tokens; returns how many phones. app: only in that app; null means in all.';
CREATE FUNCTION ridepulse.store_batch(relation regclass, active text[], changes jsonb, gone jsonb, OUT inserted integer, OUT refreshed integer, OUT removed integer, OUT unmatched integer) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.store_batch(relation regclass, active text[], changes jsonb, gone jsonb, OUT inserted integer, OUT refreshed integer, OUT removed integer, OUT unmatched integer) IS 'Stores rows of an attached table that a backfill has read. A new ride must be active. changes: the rows. gone: IDs and versions of rides without a row. unmatched: those of them that stay, because they may not come from the table.';
CREATE FUNCTION ridepulse.store_row(w ridepulse.watches, operation text, new_row jsonb, old_row jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  is_ride boolean := coalesce((new_row ->> 'in')::boolean and new_row -> 'row' <> 'null', false);
  was_ride boolean := coalesce((old_row ->> 'in')::boolean and old_row -> 'row' <> 'null', false);
  former_id text := ridepulse.mapped_id(w, old_row -> 'row');
  former_state text := ridepulse.mapped_state(w, old_row -> 'row');
  new_id text := ridepulse.mapped_id(w, new_row -> 'row');
  new_state text := ridepulse.mapped_state(w, new_row -> 'row');
  is_silent boolean := operation = 'UNREAD' or was_ride and former_id = new_id
    and former_state is not distinct from new_state;
  is_there boolean;
  ride ridepulse.rides;
begin
  if was_ride
     and (not is_ride or former_id is distinct from new_id)
     and not ridepulse.remove_ride(w, former_id)
     and operation = 'DELETE' and octet_length(former_id) <= 512
  then
    insert into ridepulse.removed_rows as r (ride_id, state, removed_at)
    values (former_id, former_state, now())
    on conflict on constraint removed_rows_pkey do update set
      state = excluded.state, removed_at = excluded.removed_at;
  end if;
  if not is_ride or operation = 'GONE' then
    return;
  end if;
  if operation = 'UPDATE' and is_silent and pg_trigger_depth() = 1
     and coalesce(not new_state = any (w.live_states), w.live_states is not null)
     and not exists (select from ridepulse.rides r where r.id = new_id)
  then
    return;
  end if;
  ride := ridepulse.mapped_ride(w, new_row -> 'row');
  if ride.id is null then
    return;
  end if;
  -- Most rows that change have a ride, and no trigger of the app has written it in this transaction.
  if is_silent and pg_trigger_depth() = 1 and ridepulse.write_ride(ride) then
    return;
  end if;
  loop
    perform from ridepulse.rides r where r.id = ride.id for no key update;
    is_there := found;
    if is_there and not is_silent then
      insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
      select ride.id, ride.state, '{}', ride.customer_id, ride.driver_id
      from ridepulse.rides r where r.id = ride.id and r.state = ride.state and ride.state <> ''
        and ridepulse.is_unannounced(ride);
      if found then
        perform ridepulse.enter_state(ride.id, ride.state, clock_timestamp(), false);
      end if;
    end if;
    if is_there or ((operation = 'INSERT' or not was_ride or former_id = ride.id)
         and ridepulse.restore_ride(ride.id)) then
      perform set_config('ridepulse.silent', 'on', true)
      where is_there and is_silent and pg_trigger_depth() > 1 and ridepulse.is_unannounced(ride);
      perform ridepulse.write_ride(ride);
      perform set_config('ridepulse.silent', '', true);
      return;
    end if;
    if operation = 'DELETE' or operation = 'INSERT' and ridepulse.has_moved(ride) then
      return;
    end if;
    if is_silent then
      exit when ridepulse.insert_silently(ride);
    else
      insert into ridepulse.rides
        (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
      values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at,
              ride.time_zone, ride.attributes)
      on conflict (id) do nothing;
      exit when found;
    end if;
  end loop;
end
$$;
COMMENT ON FUNCTION ridepulse.store_row(w ridepulse.watches, operation text, new_row jsonb, old_row jsonb) IS 'Copies a change of a row of an attached table to ridepulse.rides. operation: INSERT, UPDATE or DELETE; GONE if the new row was deleted or got another key since; UNREAD if all that is known of the old row is its ID. new_row, old_row: whether the row meets the condition, and the mapped values; a deleted row has a new one if it was inserted again.';
CREATE FUNCTION ridepulse.sweep(name text, pages integer DEFAULT 256) RETURNS TABLE(deleted bigint, is_behind boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $_$
declare
  s ridepulse.sweeps;
  last_page bigint;
  end_page bigint;
begin
  select * into s from ridepulse.sweeps w where w.name = sweep.name for update skip locked;
  if not found then
    return;
  end if;
  last_page := pg_relation_size(format('ridepulse.%I', s.name))
    / current_setting('block_size')::bigint;
  if s.next_page >= last_page then
    s.next_page := 0;
  end if;
  if s.next_page = 0 then
    s.began_at := now();
  end if;
  end_page := s.next_page + sweep.pages;
  execute format(
    'delete from ridepulse.%1$I where ctid = any (array('
    'select t.ctid from ridepulse.%1$I t cross join ridepulse.retention k '
    'where t.ctid >= %2$L::tid and t.ctid < %3$L::tid and %4$s for update of t skip locked))',
    s.name, format('(%s,0)', s.next_page), format('(%s,0)', end_page),
    ridepulse.sweep_condition(s.name));
  get diagnostics deleted = row_count;
  if end_page >= last_page then
    end_page := 0;
    s.ended_at := now();
  end if;
  -- The whole table in 20 hours, so that a daily pass has time to spare.
  is_behind := end_page > 0
    and end_page < last_page * extract(epoch from now() - s.began_at + interval '1 hour') / 72000;
  update ridepulse.sweeps w
  set next_page = end_page, began_at = s.began_at, ended_at = s.ended_at where w.name = s.name;
  return next;
end
$_$;
COMMENT ON FUNCTION ridepulse.sweep(name text, pages integer) IS 'Deletes old rows from the next pages of a table, as ridepulse.retention defines old. name: a table of ridepulse.sweeps. pages: how many, of 8 kB. Returns how many rows it deleted, and whether more pages are due within this hour; no row if another session sweeps the table.';
CREATE FUNCTION ridepulse.sweep_condition(name text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select case $1
    when 'rides' then
      't.updated_at < now() - k.rides'
      ' and (t.pickup_at is null or t.pickup_at < now() - k.rides)'
      ' and not exists (select from ridepulse.agenda a where a.ride_id = t.id)'
      ' and not exists (select from ridepulse.events e where e.ride_id = t.id)'
    when 'live_activities' then
      'coalesce(t.ended_at, t.registered_at + interval ''1 day'') < now() - k.cards'
    when 'push_to_start_tokens' then
      'case when t.disabled_at is null then t.registered_at < now() - k.start_tokens'
      ' else t.disabled_at < now() - k.disabled_tokens end'
    when 'devices' then
      -- A phone that only the legacy gateway has added was never registered: it goes with its
      -- last push.
      'case when t.disabled_at is not null then t.disabled_at < now() - k.disabled_phones'
      ' when t.registered_at = ''-infinity'' then not exists ('
      'select from ridepulse.ledger l where l.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.events e'
      ' where e.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.agenda a'
      ' where a.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' else t.registered_at < now() - k.phones and not exists ('
      'select from ridepulse.contacts c where c.app = t.app and c.owner_id = t.owner_id'
      ' and c.contacted_at >= now() - k.phones) end'
    when 'contacts' then 't.contacted_at < now() - k.contacts'
    when 'installation_contacts' then 't.contacted_at < now() - k.contacts'
    when 'preferences' then
      't.changed_at < now() - k.phones and not exists ('
      'select from ridepulse.devices d where d.app = t.app and d.owner_id = t.owner_id)'
    when 'permits' then 't.keep_until < now()'
    when 'receipts' then 't.seen_at < now() - k.ledger'
    when 'channels' then
      'coalesce(t.deleted_at, case when t.channel_id is null then t.ended_at end)'
      ' < now() - k.channels'
    when 'watch_errors' then 't.last_at < now() - k.watch_errors'
    when 'removed_rows' then 't.removed_at < now() - interval ''1 day'''
    when 'nodes' then 't.seen_at < now() - interval ''1 day'''
    when 'idempotency_keys' then 't.created_at < now() - interval ''1 day'''
    when 'traced_pushes' then 't.created_at < now() - interval ''1 day'''
    when 'legacy_frames' then 't.taken_at < now() - interval ''1 day'''
  end
$_$;
COMMENT ON FUNCTION ridepulse.sweep_condition(name text) IS 'Returns the condition under which a row t of a table is old. k is the row of ridepulse.retention.';
CREATE FUNCTION ridepulse.unknown_key(key text, place text, known text[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'ridepulse.watch: unknown key "%" %', key, place
    using errcode = 'undefined_column',
          hint = coalesce(format('Did you mean "%s"? ', ridepulse.nearest_word(key, known)), '')
            || 'known are ' || array_to_string(known, ', ');
end
$$;
COMMENT ON FUNCTION ridepulse.unknown_key(key text, place text, known text[]) IS 'Refuses a key of a mapping and names the nearest known one. Errors: 42703.';
CREATE FUNCTION ridepulse.unpark(ride_id text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  with unparked as (
    update ridepulse.agenda a
    set parked_reason = null, parked_at = null, unread = 0, leased_until = '-infinity',
      due_at = now()
    where a.ride_id = $1 and a.parked_reason is not null
    returning 1
  )
  select exists (select from unparked)
$_$;
COMMENT ON FUNCTION ridepulse.unpark(ride_id text) IS 'Makes a parked ride due again; returns whether it was parked.';
CREATE FUNCTION ridepulse.unquarantine(app text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  phones constant bigint[] := array(
    select q.device_id from ridepulse.quarantine q
    where unquarantine.app is null or q.app = unquarantine.app order by 1);
begin
  update ridepulse.token_outcomes o set is_refused = false, is_probed = false, probe = null
  where o.kind = 'phone' and o.token_id = any (phones);
  update ridepulse.devices d
  set quarantined_at = null, refusals = 0, probe = null, is_probed = false
  where d.id = any (phones);
  return cardinality(phones);
end
$$;
COMMENT ON FUNCTION ridepulse.unquarantine(app text) IS 'Lifts the quarantine of an app''s phones, or of all phones if app is null; returns how many. Also resets their refusals, and whether they were tried in the other environment.';
CREATE FUNCTION ridepulse.unregister_device(app text, token text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  phone ridepulse.devices;
  disabled bigint;
begin
  perform ridepulse.check_app('unregister_device', app),
    ridepulse.check_phone_token('unregister_device', null, token);
  phone := ridepulse.lock_phone(app, null, token);
  -- A repeated call must not sign out what the owner has registered since.
  if phone.id is null or phone.disabled_reason = 'signed_out' then
    return false;
  end if;
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'signed_out'
  where d.id = phone.id and (d.disabled_at is null or d.disabled_reason = 'replaced')
    or d.app = phone.app and d.installation_id = phone.installation_id
      and d.owner_id = phone.owner_id and d.disabled_at is null;
  get diagnostics disabled = row_count;
  -- Otherwise ridepulse revive would bring back a phone that APNs or FCM had reported as gone before.
  update ridepulse.devices d set disabled_reason = 'signed_out'
  where d.id = phone.id and d.disabled_reason <> 'signed_out';
  if phone.platform = 'android' then
    return disabled > 0;
  end if;
  return ridepulse.withdraw(phone.app, phone.owner_id, phone.installation_id) or disabled > 0;
end
$$;
COMMENT ON FUNCTION ridepulse.unregister_device(app text, token text) IS 'Signs a phone out: it receives nothing any more until it is registered again. An iPhone''s cards and start tokens on the same installation, and those of its owner that name no installation, are withdrawn for good. token: as it was registered, of an iPhone in upper or lower case. Returns whether anything was withdrawn. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.unregister_push_to_start(app text, token text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  disabled bigint;
begin
  perform ridepulse.check_app('unregister_push_to_start', app),
    ridepulse.check_token('unregister_push_to_start', token);
  update ridepulse.push_to_start_tokens t
  set disabled_at = clock_timestamp(), disabled_reason = 'withdrawn'
  where t.app = unregister_push_to_start.app and t.token = lower(unregister_push_to_start.token)
    and t.disabled_at is null;
  get diagnostics disabled = row_count;
  return disabled > 0;
end
$$;
COMMENT ON FUNCTION ridepulse.unregister_push_to_start(app text, token text) IS 'Withdraws a push-to-start token: no card is started with it until it is registered again. Returns whether it was valid. Errors: 22023 for an argument that is not what the function takes.';
CREATE FUNCTION ridepulse.unwatch("table" regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.unwatch("table" regclass) IS 'Detaches a table; its rides stay. Errors: 42501 if the caller may not detach the table; 55P03 if it is locked for long.';
CREATE FUNCTION ridepulse.unwatch_missing() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with gone as (
    delete from ridepulse.watches w
    where not exists (select from pg_class c where c.oid = w.relation) returning w.relation),
  errors as (
    delete from ridepulse.watch_errors e using gone g where e.relation = g.relation)
  select count(*) from gone
$$;
COMMENT ON FUNCTION ridepulse.unwatch_missing() IS 'Detaches attached tables that were dropped; their rides stay. Returns their number.';
CREATE FUNCTION ridepulse.update_event(w ridepulse.watches) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when ridepulse.reads_whole_row(w) or ridepulse.is_changed_by_triggers(w.relation)
      then 'update'
    else 'update of ' || (select string_agg(format('%I', c), ', ')
                          from unnest(ridepulse.columns_read(w)) c) end
$$;
COMMENT ON FUNCTION ridepulse.update_event(w ridepulse.watches) IS 'Returns the event of the triggers of an update.';
CREATE FUNCTION ridepulse.values_of(type regtype, words text[]) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.values_of(type regtype, words text[]) IS 'Returns the words that are values of a type.';
CREATE FUNCTION ridepulse.verdict_horizon(OUT horizon xid8, OUT newest xid8) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  oldest bigint;
begin
  -- The snapshot of this statement precedes its execution, and thereby the locks that it reads.
  with locks as materialized (
    select l.* from pg_locks l where l.locktype in ('relation', 'transactionid')
  ), numbers as (
    select x.virtualtransaction, x.pid, x.transactionid::text::bigint as number from locks x
    where x.locktype = 'transactionid' and x.mode = 'ExclusiveLock' and x.granted
  )
  select pg_snapshot_xmax(pg_current_snapshot()), (
    select age from (
      select (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - x.number) & 4294967295 as age
      from locks l join numbers x on x.virtualtransaction = l.virtualtransaction
        and x.pid is not distinct from l.pid
      where l.locktype = 'relation' and l.relation = 'ridepulse.ledger'::regclass
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.mode = 'RowExclusiveLock'
      union all
      select pg_snapshot_xmax(pg_current_snapshot())::text::bigint - r.running::text::bigint
      from pg_snapshot_xip(pg_current_snapshot()) r (running)
      where r.running::text::bigint & 4294967295 not in (select number from numbers)) writers
    -- A larger one is the number of a transaction that began since the snapshot.
    where age < 2147483648
    order by age desc limit 1)
  into newest, oldest;
  horizon := (newest::text::bigint - coalesce(oldest, 0))::text::xid8;
  -- There, all statements of a transaction have its first snapshot.
  if current_setting('transaction_isolation') <> 'read committed'
     and pg_snapshot_xmin(pg_current_snapshot()) < horizon then
    horizon := pg_snapshot_xmin(pg_current_snapshot());
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.verdict_horizon(OUT horizon xid8, OUT newest xid8) IS 'Returns the transaction up to which all settlements have ended (horizon, exclusive), and the next number to be given out (newest). A statement that begins afterwards sees all their verdicts.';
CREATE FUNCTION ridepulse.wake() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_relid <> 'ridepulse.events'::regclass then
    raise exception 'ridepulse.wake serves ridepulse.events alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege';
  end if;
  if exists (select from ridepulse.nodes where asleep and seen_at > now() - interval '10 seconds')
     and pg_notification_queue_usage() < 0.01
  then
    perform pg_notify('ridepulse_wake', '');
  end if;
  return null;
end
$$;
COMMENT ON FUNCTION ridepulse.wake() IS 'Trigger function: notifies sleeping nodes of a new event. Errors: 42501 on any table other than ridepulse.events.';
CREATE FUNCTION ridepulse.wal_timeline() RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer;
exception when object_not_in_prerequisite_state then
  if pg_is_in_recovery() then
    raise;
  end if;
  return 0;
end
$$;
COMMENT ON FUNCTION ridepulse.wal_timeline() IS 'Returns the timeline of the server''s write-ahead log, which each promotion of a standby raises; 0 where the service that runs the database does not give its position. Errors: 55000 on a standby.';
CREATE FUNCTION ridepulse.watch("table" regclass, mapping jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.watch("table" regclass, mapping jsonb) IS 'Attaches a table, whose changed rows become rides from now on; ridepulse backfill copies the live rows that are there. A second call replaces the mapping. mapping: see docs/attach.md. Errors: 42501 if the caller may not attach the table; 55P03 if the table is locked for long; those of ridepulse.check_mapping.';
CREATE FUNCTION ridepulse.watched() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  source jsonb := nullif(current_setting('ridepulse.row', true), '');
  w ridepulse.watches;
begin
  perform set_config('ridepulse.row', '', true);
  if tg_op = 'INSERT' and pg_trigger_depth() > 1 then
    perform set_config('ridepulse.nested_insert', 'on', true);
  end if;
  select * into w from ridepulse.watches a where a.relation = tg_relid;
  if not found then
    select a.* into w
    from ridepulse.watches a join pg_partition_ancestors(tg_relid) p on p.relid = a.relation
    limit 1;
  end if;
  if w.relation is null then
    perform ridepulse.record_watch_error(tg_relid, '', 'not_attached');
  elsif source is null then
    perform ridepulse.record_watch_error(w.relation, 'ridepulse_read', 'not_read');
  elsif source ? 'error' then
    perform ridepulse.record_unreadable(w, tg_relid, tg_op, source);
  else
    perform ridepulse.store_row(w,
      case when source ? 'unread_old' then 'UNREAD' when source -> 'is_gone' = 'true' then 'GONE'
        else tg_op end,
      source -> 'new',
      case when not source ? 'unread_old' then source -> 'old'
        else jsonb_build_object('in', true, 'row', case when w.ride_function is not null
          then source #> '{new,row}'
          else jsonb_build_object(w.columns ->> 'id', source #> '{key,0}') end) end);
  end if;
  return null;
end
$$;
COMMENT ON FUNCTION ridepulse.watched() IS 'Trigger function of ridepulse_watch: copies the values that ridepulse_read has stored as JSON, or records a problem. It must not read the row itself.';
CREATE FUNCTION ridepulse.withdraw(app text, owner_id text, installation_id text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- Without an ID of this installation: all except those of the owner's other phones.
  others constant text[] := case when installation_id is null then array(
    select d.installation_id from ridepulse.devices d
    where d.app = withdraw.app and d.owner_id = withdraw.owner_id and d.disabled_at is null
      and d.installation_id is not null) end;
  ended bigint;
  disabled bigint;
begin
  with ended as (
    update ridepulse.live_activities a
    set ended_at = clock_timestamp(), ended_reason = 'signed_out'
    where a.app = withdraw.app and a.owner_id = withdraw.owner_id and a.ended_at is null
      and (a.installation_id is null or a.installation_id = withdraw.installation_id
           or a.installation_id <> all (others))
      and not exists (
        select from ridepulse.token_outcomes o
        where o.kind = 'activity' and o.token_id = a.id and o.gone_since >= a.registered_at)
    returning a.ride_id
  ), emitted as (
    insert into ridepulse.events (ride_id, event, data)
    select distinct e.ride_id, 'card_ended', '{}'::jsonb from ended e order by 1
  )
  select count(*) into ended from ended;
  update ridepulse.push_to_start_tokens t
  set disabled_at = clock_timestamp(), disabled_reason = 'signed_out'
  where t.app = withdraw.app and t.owner_id = withdraw.owner_id and t.disabled_at is null
    and (t.installation_id is null or t.installation_id = withdraw.installation_id
         or t.installation_id <> all (others));
  get diagnostics disabled = row_count;
  return ended + disabled > 0;
end
$$;
COMMENT ON FUNCTION ridepulse.withdraw(app text, owner_id text, installation_id text) IS 'Withdraws an owner''s cards and start tokens on an installation, and those that name none; returns whether there were any. installation_id: null means all except those of the owner''s other phones.';
CREATE FUNCTION ridepulse.write_ride(ride ridepulse.rides) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  update ridepulse.rides r set state = ride.state, customer_id = ride.customer_id,
    driver_id = ride.driver_id, pickup_at = ride.pickup_at, time_zone = ride.time_zone,
    attributes = ride.attributes
  where r.id = ride.id
    and (r.state, r.customer_id, r.driver_id, r.pickup_at, r.time_zone, r.attributes)
      is distinct from (ride.state, ride.customer_id, ride.driver_id, ride.pickup_at,
                        ride.time_zone, ride.attributes);
  return found;
end
$$;
COMMENT ON FUNCTION ridepulse.write_ride(ride ridepulse.rides) IS 'Writes the columns of a ride that a row maps. Returns false if there is no ride, or if it has these values.';
CREATE TABLE ridepulse.agenda (
    ride_id text NOT NULL,
    due_at timestamp with time zone,
    memo jsonb,
    node uuid,
    fence bigint NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    parked_reason text,
    unread smallint DEFAULT 0 NOT NULL,
    parked_at timestamp with time zone
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02');
COMMENT ON TABLE ridepulse.agenda IS 'One row for each live ride: when it next needs attention, its memo, and its lease.';
COMMENT ON COLUMN ridepulse.agenda.ride_id IS 'The ride.';
COMMENT ON COLUMN ridepulse.agenda.due_at IS 'When the ride next needs attention; null if only its next event makes it due.';
COMMENT ON COLUMN ridepulse.agenda.memo IS 'What the last decision left for the next one: what waits, cards, schedule slots.';
COMMENT ON COLUMN ridepulse.agenda.node IS 'The claim that holds the ride; null once the ride is released. Its first 18 characters are those of the node. A settlement of any other claim is refused.';
COMMENT ON COLUMN ridepulse.agenda.fence IS 'Fencing token of the last claim. A settlement with any other one is refused. A failover may give one out twice; the claim in node is unique even then.';
COMMENT ON COLUMN ridepulse.agenda.leased_until IS 'When the lease ends: -infinity without a lease, infinity for a parked ride.';
COMMENT ON COLUMN ridepulse.agenda.parked_reason IS 'Why the ride is parked; null if it is not.';
COMMENT ON COLUMN ridepulse.agenda.unread IS 'Number of consecutive claims that could not read the ride.';
COMMENT ON COLUMN ridepulse.agenda.parked_at IS 'When the ride was parked; null if it is not.';
CREATE TABLE ridepulse.apps (
    app text NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT apps_app_check CHECK ((app <> ''::text))
);
COMMENT ON TABLE ridepulse.apps IS 'Apps that ridepulse serve is configured for. While there is no row, functions accept any app.';
COMMENT ON COLUMN ridepulse.apps.app IS 'The app''s name, as rules and phones name it.';
COMMENT ON COLUMN ridepulse.apps.seen_at IS 'When a service that is configured for the app last started.';
CREATE TABLE ridepulse.card_type_hours (
    attributes_type text NOT NULL,
    field text NOT NULL,
    json_type text NOT NULL,
    hour timestamp with time zone DEFAULT date_trunc('hour'::text, now(), 'UTC'::text) NOT NULL,
    count bigint NOT NULL,
    last_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE ridepulse.card_type_hours IS 'The JSON types that the fields of cards had in pushes which APNs accepted, by the hour. Each node adds its counts once a minute. Rows are kept for 1 day.';
COMMENT ON COLUMN ridepulse.card_type_hours.attributes_type IS 'The attributes-type of the card''s rule.';
COMMENT ON COLUMN ridepulse.card_type_hours.field IS 'The field with its part of the payload, such as content-state.etaEpoch.';
COMMENT ON COLUMN ridepulse.card_type_hours.json_type IS 'string, int, fraction (a number with a fraction or an exponent), bool, null, list or object.';
COMMENT ON COLUMN ridepulse.card_type_hours.hour IS 'The beginning of the hour.';
COMMENT ON COLUMN ridepulse.card_type_hours.count IS 'How many pushes had this type in the hour.';
COMMENT ON COLUMN ridepulse.card_type_hours.last_at IS 'When a node last recorded the type.';
CREATE TABLE ridepulse.card_types (
    attributes_type text NOT NULL,
    field text NOT NULL,
    json_type text NOT NULL,
    count bigint NOT NULL,
    first_at timestamp with time zone DEFAULT now() NOT NULL,
    last_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE ridepulse.card_types IS 'The counts of nodes of an earlier version, kept for 1 day; card_type_hours has all others.';
COMMENT ON COLUMN ridepulse.card_types.attributes_type IS 'The attributes-type of the card''s rule.';
COMMENT ON COLUMN ridepulse.card_types.field IS 'The field with its part of the payload, such as content-state.etaEpoch.';
COMMENT ON COLUMN ridepulse.card_types.json_type IS 'string, int, fraction (a number with a fraction or an exponent), bool, null, list or object.';
COMMENT ON COLUMN ridepulse.card_types.count IS 'How many pushes had this type since first_at.';
COMMENT ON COLUMN ridepulse.card_types.first_at IS 'When a node first recorded the type.';
COMMENT ON COLUMN ridepulse.card_types.last_at IS 'When a node last recorded the type.';
CREATE TABLE ridepulse.channel_listings (
    bundle_id text NOT NULL,
    environment text NOT NULL,
    began_at timestamp with time zone NOT NULL,
    channels integer NOT NULL
);
COMMENT ON TABLE ridepulse.channel_listings IS 'The last listing of channels for each app and environment.';
COMMENT ON COLUMN ridepulse.channel_listings.bundle_id IS 'The app''s bundle ID.';
COMMENT ON COLUMN ridepulse.channel_listings.environment IS 'The APNs environment.';
COMMENT ON COLUMN ridepulse.channel_listings.began_at IS 'When the listing was requested; -infinity if none is recorded yet.';
COMMENT ON COLUMN ridepulse.channel_listings.channels IS 'Number of channels in the listing.';
CREATE TABLE ridepulse.channels (
    id bigint NOT NULL,
    app text NOT NULL,
    environment text NOT NULL,
    bundle_id text NOT NULL,
    channel_id text,
    storage text NOT NULL,
    ride_id text,
    request_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    confirmed_at timestamp with time zone,
    unanswered_at timestamp with time zone,
    ended_at timestamp with time zone,
    ended_reason text,
    deleted_at timestamp with time zone,
    reported_at timestamp with time zone,
    CONSTRAINT channels_app_check CHECK ((app <> ''::text)),
    CONSTRAINT channels_bundle_id_check CHECK ((bundle_id <> ''::text)),
    CONSTRAINT channels_channel_id_check CHECK ((channel_id <> ''::text)),
    CONSTRAINT channels_check CHECK (((channel_id IS NULL) = (confirmed_at IS NULL))),
    CONSTRAINT channels_check1 CHECK (((ended_at IS NULL) = (ended_reason IS NULL))),
    CONSTRAINT channels_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT channels_ride_id_check CHECK ((ride_id <> ''::text)),
    CONSTRAINT channels_storage_check CHECK ((storage = ANY (ARRAY['none'::text, 'latest'::text])))
);
COMMENT ON TABLE ridepulse.channels IS 'Attempts to create a channel, one row for each.';
COMMENT ON COLUMN ridepulse.channels.id IS 'The key of the channel in token_outcomes.';
COMMENT ON COLUMN ridepulse.channels.app IS 'The app that shows the card.';
COMMENT ON COLUMN ridepulse.channels.environment IS 'The APNs environment.';
COMMENT ON COLUMN ridepulse.channels.bundle_id IS 'The app''s bundle ID.';
COMMENT ON COLUMN ridepulse.channels.channel_id IS 'Apple''s ID; null until the answer to the create has arrived.';
COMMENT ON COLUMN ridepulse.channels.storage IS 'Apple''s storage policy: latest stores the last message for phones that are offline, none stores nothing.';
COMMENT ON COLUMN ridepulse.channels.ride_id IS 'The ride; null for a channel that was created by hand.';
COMMENT ON COLUMN ridepulse.channels.request_id IS 'apns-request-id of the create.';
COMMENT ON COLUMN ridepulse.channels.created_at IS 'When the create was recorded, before the request was sent.';
COMMENT ON COLUMN ridepulse.channels.confirmed_at IS 'When the answer with the ID was recorded; null until then.';
COMMENT ON COLUMN ridepulse.channels.unanswered_at IS 'Since when the outcome of the create is unknown; null if it is known or the create is in progress.';
COMMENT ON COLUMN ridepulse.channels.ended_at IS 'When the card or channel ended, or the create was refused; null until then.';
COMMENT ON COLUMN ridepulse.channels.ended_reason IS 'How it ended: ended or expired like its card (RidePulse deletes the channel), gone, deleted, or why the create was refused.';
COMMENT ON COLUMN ridepulse.channels.deleted_at IS 'When RidePulse had deleted the channel, or found that APNs no longer has it.';
COMMENT ON COLUMN ridepulse.channels.reported_at IS 'When the outcome was reported to the ride: its ID added to the attributes, and the ride made due.';
ALTER TABLE ridepulse.channels ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.channels_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ridepulse.contacts (
    app text NOT NULL,
    owner_id text NOT NULL,
    contacted_at timestamp with time zone NOT NULL,
    unnamed_at timestamp with time zone,
    CONSTRAINT contacts_app_check CHECK ((app <> ''::text)),
    CONSTRAINT contacts_owner_id_check CHECK ((owner_id <> ''::text))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05');
COMMENT ON TABLE ridepulse.contacts IS 'The last contact of each owner''s phones with the app''s backend.';
COMMENT ON COLUMN ridepulse.contacts.app IS 'The app on the phone.';
COMMENT ON COLUMN ridepulse.contacts.owner_id IS 'The owner of the phone.';
COMMENT ON COLUMN ridepulse.contacts.contacted_at IS 'When ridepulse.contact was last called for the owner.';
COMMENT ON COLUMN ridepulse.contacts.unnamed_at IS 'The last contact that named no installation, -infinity for none; null if it is contacted_at.';
CREATE TABLE ridepulse.token_outcomes (
    id bigint NOT NULL,
    kind text NOT NULL,
    token_id bigint NOT NULL,
    gone_reason text,
    gone_since timestamp with time zone,
    is_refused boolean DEFAULT false NOT NULL,
    is_good boolean DEFAULT false NOT NULL,
    is_probed boolean DEFAULT false NOT NULL,
    environment text,
    probe uuid,
    unprobed uuid,
    quiet_until timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT token_outcomes_check CHECK (((gone_reason IS NULL) = (gone_since IS NULL))),
    CONSTRAINT token_outcomes_kind_check CHECK ((kind = ANY (ARRAY['phone'::text, 'activity'::text, 'start'::text, 'channel'::text])))
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='200');
COMMENT ON TABLE ridepulse.token_outcomes IS 'What APNs answered about tokens and is not applied to their rows yet.';
COMMENT ON COLUMN ridepulse.token_outcomes.id IS 'The outcomes of a token are applied in this order.';
COMMENT ON COLUMN ridepulse.token_outcomes.kind IS 'The table of the token: phone for devices, activity for live_activities, start for push_to_start_tokens, channel for channels.';
COMMENT ON COLUMN ridepulse.token_outcomes.token_id IS 'The token''s id in that table.';
COMMENT ON COLUMN ridepulse.token_outcomes.gone_reason IS 'Why the token is invalid; null if the outcome is an observation of a phone.';
COMMENT ON COLUMN ridepulse.token_outcomes.gone_since IS 'Since when the token is invalid: a later registration overrides it, unless it is infinity.';
COMMENT ON COLUMN ridepulse.token_outcomes.is_refused IS 'Whether APNs refused the phone''s token as bad.';
COMMENT ON COLUMN ridepulse.token_outcomes.is_good IS 'Whether APNs accepts pushes to the phone again.';
COMMENT ON COLUMN ridepulse.token_outcomes.is_probed IS 'Whether a push has tried the other environment.';
COMMENT ON COLUMN ridepulse.token_outcomes.environment IS 'The environment that accepted that push; null if none did.';
COMMENT ON COLUMN ridepulse.token_outcomes.probe IS 'apns-id of a push that may try the other environment.';
COMMENT ON COLUMN ridepulse.token_outcomes.unprobed IS 'apns-id of a push that was to try the other environment and ended before it could.';
COMMENT ON COLUMN ridepulse.token_outcomes.quiet_until IS 'End of the pause that APNs requested with status 429.';
COMMENT ON COLUMN ridepulse.token_outcomes.created_at IS 'When the settlement recorded the outcome.';
CREATE VIEW ridepulse.current_channels AS
 SELECT c.id,
    c.ride_id,
    c.app,
    c.environment,
    c.storage,
    c.channel_id,
    c.created_at,
    c.unanswered_at,
    COALESCE(c.ended_at, o.created_at) AS ended_at,
    COALESCE(c.ended_reason, o.gone_reason) AS ended_reason
   FROM (ridepulse.channels c
     LEFT JOIN LATERAL ( SELECT e.created_at,
            e.gone_reason
           FROM ridepulse.token_outcomes e
          WHERE ((e.kind = 'channel'::text) AND (e.token_id = c.id) AND (c.ended_at IS NULL))
          ORDER BY e.id
         LIMIT 1) o ON (true));
COMMENT ON VIEW ridepulse.current_channels IS 'Channels, as if all token_outcomes were applied.';
CREATE VIEW ridepulse.current_devices AS
 SELECT d.id,
    d.app,
    d.owner_id,
    d.token,
    d.installation_id,
    d.locale,
    d.registered_at,
        CASE
            WHEN (o.count = 0) THEN d.environment
            ELSE COALESCE(d.environment, ( SELECT e.environment
               FROM ridepulse.token_outcomes e
              WHERE ((e.kind = 'phone'::text) AND (e.token_id = d.id) AND (e.environment IS NOT NULL))
              ORDER BY e.id
             LIMIT 1))
        END AS environment,
    (
        CASE
            WHEN o.is_reset THEN 0
            ELSE d.refusals
        END + o.refusals) AS refusals,
        CASE
            WHEN ((NOT o.is_reset) AND (o.refusals = 0)) THEN d.quarantined_at
            WHEN ((
            CASE
                WHEN o.is_reset THEN 0
                ELSE d.refusals
            END + o.refusals) >= 3) THEN COALESCE(d.quarantined_at, now())
            ELSE NULL::timestamp with time zone
        END AS quarantined_at,
        CASE
            WHEN (o.count = 0) THEN d.probe
            WHEN (NOT o.is_probed) THEN COALESCE(
            CASE
                WHEN (NOT (EXISTS ( SELECT
                   FROM ridepulse.token_outcomes e
                  WHERE ((e.kind = 'phone'::text) AND (e.token_id = d.id) AND (e.unprobed = d.probe))))) THEN d.probe
                ELSE NULL::uuid
            END, ( SELECT e.probe
               FROM ridepulse.token_outcomes e
              WHERE ((e.kind = 'phone'::text) AND (e.token_id = d.id) AND (e.probe IS NOT NULL) AND (e.created_at >= d.registered_at) AND (NOT (EXISTS ( SELECT
                       FROM ridepulse.token_outcomes r
                      WHERE ((r.kind = 'phone'::text) AND (r.token_id = d.id) AND (r.unprobed = e.probe))))))
              ORDER BY e.id
             LIMIT 1))
            ELSE NULL::uuid
        END AS probe,
    (d.is_probed OR o.is_probed) AS is_probed,
    GREATEST(d.quiet_until, o.quiet_until) AS quiet_until,
    d.platform,
    d.time_zone,
    d.alerts,
    d.app_version
   FROM (ridepulse.devices d
     CROSS JOIN LATERAL ( SELECT count(*) AS count,
            COALESCE(bool_or(((f.gone_since >= d.registered_at) AND ((d.platform = 'ios'::text) OR (d.registered_at < (f.gone_since - '01:00:00'::interval))))), false) AS is_gone,
            COALESCE(bool_or(((f.is_good OR (f.environment IS NOT NULL)) AND (f.created_at >= d.registered_at))), false) AS is_reset,
            (count(*) FILTER (WHERE ((f.is_refused OR ((d.platform = 'android'::text) AND ((d.registered_at >= (f.gone_since - '01:00:00'::interval)) AND (d.registered_at <= f.gone_since)))) AND (f.created_at >= d.registered_at) AND (NOT (EXISTS ( SELECT
                   FROM ridepulse.token_outcomes g
                  WHERE ((g.kind = 'phone'::text) AND (g.token_id = d.id) AND (g.id >= f.id) AND (g.is_good OR (g.environment IS NOT NULL)))))))))::integer AS refusals,
            COALESCE(bool_or((f.is_probed AND (f.created_at >= d.registered_at))), false) AS is_probed,
            max(f.quiet_until) AS quiet_until
           FROM ridepulse.token_outcomes f
          WHERE ((f.kind = 'phone'::text) AND (f.token_id = d.id))) o)
  WHERE ((d.disabled_at IS NULL) AND (NOT o.is_gone));
COMMENT ON VIEW ridepulse.current_devices IS 'Enabled phones, quarantined ones included, as if all token_outcomes were applied.';
CREATE TABLE ridepulse.live_activities (
    id bigint NOT NULL,
    ride_id text NOT NULL,
    app text NOT NULL,
    owner_id text NOT NULL,
    activity_id text NOT NULL,
    token text NOT NULL,
    environment text,
    frequent boolean DEFAULT false NOT NULL,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    ended_reason text,
    installation_id text,
    CONSTRAINT live_activities_activity_id_check CHECK ((activity_id <> ''::text)),
    CONSTRAINT live_activities_app_check CHECK ((app <> ''::text)),
    CONSTRAINT live_activities_environment_check CHECK (((environment = ANY (ARRAY['production'::text, 'sandbox'::text])) OR ((environment = 'android'::text) AND (ended_at IS NOT NULL)))),
    CONSTRAINT live_activities_owner_id_check CHECK ((owner_id <> ''::text)),
    CONSTRAINT live_activities_token_check CHECK ((token <> ''::text))
);
COMMENT ON TABLE ridepulse.live_activities IS 'Cards (Live Activities) on phones, one row for each activity.';
COMMENT ON COLUMN ridepulse.live_activities.id IS 'The key of the card in a memo.';
COMMENT ON COLUMN ridepulse.live_activities.ride_id IS 'The ride that the card shows.';
COMMENT ON COLUMN ridepulse.live_activities.app IS 'The app that shows the card.';
COMMENT ON COLUMN ridepulse.live_activities.owner_id IS 'The owner of the phone.';
COMMENT ON COLUMN ridepulse.live_activities.activity_id IS 'ActivityKit''s ID of the activity; of a dismissed card of an Android phone, devices.id and the ride''s ID.';
COMMENT ON COLUMN ridepulse.live_activities.token IS 'The activity''s newest update token, in lower-case hexadecimal; of an Android phone''s card, devices.id.';
COMMENT ON COLUMN ridepulse.live_activities.environment IS 'The APNs environment; null if the app has not named one; android for a dismissed card of an Android phone, which has no row before.';
COMMENT ON COLUMN ridepulse.live_activities.frequent IS 'Whether the person allows frequent updates.';
COMMENT ON COLUMN ridepulse.live_activities.registered_at IS 'Time of the last registration, which overrides what APNs reported earlier.';
COMMENT ON COLUMN ridepulse.live_activities.ended_at IS 'When the card ended; null while it is live.';
COMMENT ON COLUMN ridepulse.live_activities.ended_reason IS 'How the card ended: ended, expired (no screen can show it any more), dismissed (the app reported its end), signed_out, or APNs'' reason; null while it is live.';
COMMENT ON COLUMN ridepulse.live_activities.installation_id IS 'The app''s ID of the installation that shows the card; null if the app has not named it.';
CREATE VIEW ridepulse.current_live_activities AS
 SELECT a.id,
    a.ride_id,
    a.app,
    a.owner_id,
    a.activity_id,
    a.token,
    a.environment,
    a.frequent,
    a.registered_at,
    COALESCE(a.ended_at, o.created_at) AS ended_at,
    COALESCE(a.ended_reason, o.gone_reason) AS ended_reason,
    a.installation_id
   FROM (ridepulse.live_activities a
     LEFT JOIN LATERAL ( SELECT e.created_at,
            e.gone_reason
           FROM ridepulse.token_outcomes e
          WHERE ((e.kind = 'activity'::text) AND (e.token_id = a.id) AND (a.ended_at IS NULL) AND (e.gone_since >= a.registered_at))
          ORDER BY e.id
         LIMIT 1) o ON (true));
COMMENT ON VIEW ridepulse.current_live_activities IS 'Cards, as if all token_outcomes were applied.';
CREATE TABLE ridepulse.push_to_start_tokens (
    id bigint NOT NULL,
    app text NOT NULL,
    owner_id text NOT NULL,
    attributes_type text NOT NULL,
    token text NOT NULL,
    environment text,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason text,
    installation_id text,
    CONSTRAINT push_to_start_tokens_app_check CHECK ((app <> ''::text)),
    CONSTRAINT push_to_start_tokens_attributes_type_check CHECK ((attributes_type <> ''::text)),
    CONSTRAINT push_to_start_tokens_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT push_to_start_tokens_owner_id_check CHECK ((owner_id <> ''::text)),
    CONSTRAINT push_to_start_tokens_token_check CHECK ((token <> ''::text))
);
COMMENT ON TABLE ridepulse.push_to_start_tokens IS 'Tokens with which the engine can start a card on a phone.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.id IS 'The key of the start in a memo.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.app IS 'The app that shows the card.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.owner_id IS 'The owner of the phone.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.attributes_type IS 'Name of the type of the activity''s attributes in the app.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.token IS 'The push-to-start token, in lower-case hexadecimal.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.environment IS 'The APNs environment; null if the app has not named one.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.registered_at IS 'Time of the last registration, which overrides what APNs reported earlier.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.disabled_at IS 'When the token became invalid; null while it is valid.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.disabled_reason IS 'APNs'' reason, withdrawn (by the app) or signed_out; null while the token is valid.';
COMMENT ON COLUMN ridepulse.push_to_start_tokens.installation_id IS 'The app''s ID of the installation that the token belongs to; null if the app has not named it.';
CREATE VIEW ridepulse.current_start_tokens AS
 SELECT t.id,
    t.app,
    t.owner_id,
    t.attributes_type,
    t.token,
    t.environment,
    t.registered_at,
    t.installation_id
   FROM ridepulse.push_to_start_tokens t
  WHERE ((t.disabled_at IS NULL) AND (NOT (EXISTS ( SELECT
           FROM ridepulse.token_outcomes o
          WHERE ((o.kind = 'start'::text) AND (o.token_id = t.id) AND (o.gone_since >= t.registered_at))
         OFFSET 0))));
COMMENT ON VIEW ridepulse.current_start_tokens IS 'Valid push-to-start tokens, as if all token_outcomes were applied.';
CREATE TABLE ridepulse.ledger (
    ride_id text NOT NULL,
    apns_id uuid NOT NULL,
    event_id bigint,
    event text NOT NULL,
    rule text NOT NULL,
    app text NOT NULL,
    push_type text NOT NULL,
    status text NOT NULL,
    reason text,
    attempts integer NOT NULL,
    collapse_id text,
    device_id bigint,
    token_suffix text,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    priority smallint,
    expiration bigint,
    card_event text,
    reason_code text,
    settled_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    decided_by integer,
    apns_unique_id text,
    owner_id text,
    CONSTRAINT ledger_card_event_check CHECK ((card_event = ANY (ARRAY['start'::text, 'update'::text, 'end'::text]))),
    CONSTRAINT ledger_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'rejected'::text, 'expired'::text, 'uncertain'::text, 'suppressed'::text, 'superseded'::text])))
)
PARTITION BY RANGE (occurred_at);
COMMENT ON TABLE ridepulse.ledger IS 'Outcomes of pushes: one row for each event or slot, rule and phone, and one row without a phone if a rule had no recipient; and of events that rules emit.';
COMMENT ON COLUMN ridepulse.ledger.ride_id IS 'The ride.';
COMMENT ON COLUMN ridepulse.ledger.apns_id IS 'apns-id, the same in every attempt of the push.';
COMMENT ON COLUMN ridepulse.ledger.event_id IS 'The event''s ID; null for a schedule slot.';
COMMENT ON COLUMN ridepulse.ledger.event IS 'The event''s name.';
COMMENT ON COLUMN ridepulse.ledger.rule IS 'The rule''s name.';
COMMENT ON COLUMN ridepulse.ledger.app IS 'The app of the phone.';
COMMENT ON COLUMN ridepulse.ledger.push_type IS 'apns-push-type; emit or escalation for what is no push.';
COMMENT ON COLUMN ridepulse.ledger.status IS 'The outcome; docs/sql.md describes each one.';
COMMENT ON COLUMN ridepulse.ledger.reason IS 'Why the push has this status, as a text for people.';
COMMENT ON COLUMN ridepulse.ledger.attempts IS 'Number of times the push was sent.';
COMMENT ON COLUMN ridepulse.ledger.collapse_id IS 'apns-collapse-id.';
COMMENT ON COLUMN ridepulse.ledger.device_id IS 'The phone, an ID in devices; null if there is none.';
COMMENT ON COLUMN ridepulse.ledger.token_suffix IS 'The last six digits of the token.';
COMMENT ON COLUMN ridepulse.ledger.occurred_at IS 'When the event happened or the slot was due: the same in every attempt, and the partition key.';
COMMENT ON COLUMN ridepulse.ledger.created_at IS 'When the push was first settled.';
COMMENT ON COLUMN ridepulse.ledger.finished_at IS 'When the outcome became final; null while the push is pending.';
COMMENT ON COLUMN ridepulse.ledger.priority IS 'apns-priority; null if nothing was sent.';
COMMENT ON COLUMN ridepulse.ledger.expiration IS 'apns-expiration in seconds since 1970, 0 for a push that APNs must not store; null if nothing was sent.';
COMMENT ON COLUMN ridepulse.ledger.card_event IS 'start, update or end; null if the push does not concern a card.';
COMMENT ON COLUMN ridepulse.ledger.reason_code IS 'The reason as a code: APNs'' reason, "HTTP n", or one of the engine''s words; see docs/sql.md.';
COMMENT ON COLUMN ridepulse.ledger.settled_xid IS 'The transaction that wrote the status: the order of ridepulse.deliveries_after.';
COMMENT ON COLUMN ridepulse.ledger.decided_by IS 'The rules and the program version that decided the status, an ID in revisions; null if a program that does not record it has.';
COMMENT ON COLUMN ridepulse.ledger.apns_unique_id IS 'apns-unique-id of the last answer, which APNs sends in its sandbox and for broadcasts; null without one.';
COMMENT ON COLUMN ridepulse.ledger.owner_id IS 'The person whom it was for; null if it was for none, for a raw push, and once the person is erased.';
CREATE TABLE ridepulse.receipts (
    apns_id uuid NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    app text,
    owner_id text
)
WITH (fillfactor='95', autovacuum_vacuum_scale_factor='0.05');
COMMENT ON TABLE ridepulse.receipts IS 'Pushes that apps have reported as seen. Kept as long as ledger rows.';
COMMENT ON COLUMN ridepulse.receipts.apns_id IS 'apns-id of the push.';
COMMENT ON COLUMN ridepulse.receipts.seen_at IS 'When the first report came.';
COMMENT ON COLUMN ridepulse.receipts.app IS 'The app of owner_id.';
COMMENT ON COLUMN ridepulse.receipts.owner_id IS 'The owner of whom this is the first receipt of a day that an escalation awaited; null for all others.';
CREATE VIEW ridepulse.deliveries AS
 SELECT
        CASE
            WHEN (l.push_type = ANY (ARRAY['emit'::text, 'escalation'::text, 'post'::text])) THEN l.push_type
            ELSE 'push'::text
        END AS kind,
    l.owner_id,
    ( SELECT d.platform
           FROM ridepulse.devices d
          WHERE (d.id = l.device_id)) AS platform,
    l.reason_code,
    l.ride_id,
    l.event,
    l.rule,
    l.app,
        CASE
            WHEN (l.push_type <> ALL (ARRAY['emit'::text, 'escalation'::text, 'post'::text])) THEN l.push_type
            ELSE NULL::text
        END AS push_type,
    l.status,
    l.reason,
    l.attempts,
        CASE
            WHEN (((l.attempts > 0) OR (l.status = 'pending'::text)) AND (l.push_type <> ALL (ARRAY['emit'::text, 'escalation'::text]))) THEN l.apns_id
            ELSE NULL::uuid
        END AS apns_id,
    l.collapse_id,
    l.created_at,
    l.finished_at,
    l.token_suffix,
    ( SELECT r.seen_at
           FROM ridepulse.receipts r
          WHERE (r.apns_id = l.apns_id)) AS seen_at,
    l.apns_unique_id
   FROM ridepulse.ledger l;
COMMENT ON VIEW ridepulse.deliveries IS 'Outcomes of pushes, of posts to receivers, and of events that rules emit, for people and backends. kind is push, post, emit or escalation; push_type is null unless it is push. owner_id is null if it was for no person, and for a raw push. platform is ios or android; null without a phone, and once its row is deleted. apns_id is null if nothing was sent; of a post it is the webhook-id. seen_at is null unless the app reported the push; apns_unique_id is that of Apple''s Push Notifications Console, null unless APNs sent one.';
ALTER TABLE ridepulse.devices ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.devices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ridepulse.entered_states (
    ride_id text NOT NULL,
    entered jsonb NOT NULL
)
WITH (fillfactor='70');
COMMENT ON TABLE ridepulse.entered_states IS 'When each ride last entered each of its states; rules read it as ride.entered. A ride that was attached or backfilled in a state has no time of it. Rows go with their ride.';
COMMENT ON COLUMN ridepulse.entered_states.ride_id IS 'The ride.';
COMMENT ON COLUMN ridepulse.entered_states.entered IS 'By state, the time of its event in microseconds since 1970.';
ALTER TABLE ridepulse.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE ridepulse.fence
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 100;
COMMENT ON SEQUENCE ridepulse.fence IS 'Fencing tokens of claims.';
CREATE TABLE ridepulse.idempotency_keys (
    key text NOT NULL,
    request bytea NOT NULL,
    status integer NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');
COMMENT ON TABLE ridepulse.idempotency_keys IS 'Answers to requests with an Idempotency-Key, valid for 1 day.';
COMMENT ON COLUMN ridepulse.idempotency_keys.key IS 'The Idempotency-Key of the request.';
COMMENT ON COLUMN ridepulse.idempotency_keys.request IS 'SHA-256 of the call and its arguments, which detects another request with the same key.';
COMMENT ON COLUMN ridepulse.idempotency_keys.status IS 'The HTTP status of the answer.';
COMMENT ON COLUMN ridepulse.idempotency_keys.body IS 'The body of the answer.';
COMMENT ON COLUMN ridepulse.idempotency_keys.created_at IS 'When the request was executed.';
CREATE TABLE ridepulse.installation_contacts (
    app text NOT NULL,
    owner_id text NOT NULL,
    installation_id text NOT NULL,
    contacted_at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');
COMMENT ON TABLE ridepulse.installation_contacts IS 'The last contact of each phone whose app named its installation. contacts has the last one of each owner, whichever phone made it.';
COMMENT ON COLUMN ridepulse.installation_contacts.app IS 'The app on the phone.';
COMMENT ON COLUMN ridepulse.installation_contacts.owner_id IS 'The owner of the phone.';
COMMENT ON COLUMN ridepulse.installation_contacts.installation_id IS 'The installation of the app, as in devices.';
COMMENT ON COLUMN ridepulse.installation_contacts.contacted_at IS 'When ridepulse.contact was last called for the installation.';
CREATE TABLE ridepulse.ledger_default (
    ride_id text NOT NULL,
    apns_id uuid NOT NULL,
    event_id bigint,
    event text NOT NULL,
    rule text NOT NULL,
    app text NOT NULL,
    push_type text NOT NULL,
    status text NOT NULL,
    reason text,
    attempts integer NOT NULL,
    collapse_id text,
    device_id bigint,
    token_suffix text,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    priority smallint,
    expiration bigint,
    card_event text,
    reason_code text,
    settled_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    decided_by integer,
    apns_unique_id text,
    owner_id text,
    CONSTRAINT ledger_card_event_check CHECK ((card_event = ANY (ARRAY['start'::text, 'update'::text, 'end'::text]))),
    CONSTRAINT ledger_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'rejected'::text, 'expired'::text, 'uncertain'::text, 'suppressed'::text, 'superseded'::text])))
)
WITH (fillfactor='95');
COMMENT ON TABLE ridepulse.ledger_default IS 'Ledger rows whose day has no partition.';
CREATE TABLE ridepulse.legacy_frames (
    frame uuid NOT NULL,
    apns_id uuid NOT NULL,
    taken_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');
COMMENT ON TABLE ridepulse.legacy_frames IS 'Recently committed frames of legacy senders, with their pushes.';
COMMENT ON COLUMN ridepulse.legacy_frames.frame IS 'The digest of the frame''s content.';
COMMENT ON COLUMN ridepulse.legacy_frames.apns_id IS 'apns-id of the push.';
COMMENT ON COLUMN ridepulse.legacy_frames.taken_at IS 'When the frame was committed.';
ALTER TABLE ridepulse.live_activities ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.live_activities_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ridepulse.lost_claims (
    ride_id text NOT NULL,
    fence bigint NOT NULL,
    claims smallint NOT NULL,
    is_waiting boolean DEFAULT true NOT NULL,
    is_deciding boolean DEFAULT false NOT NULL,
    held_until timestamp with time zone,
    lost_at timestamp with time zone DEFAULT now() NOT NULL,
    decisions smallint DEFAULT 0 NOT NULL
);
COMMENT ON TABLE ridepulse.lost_claims IS 'Rides whose last claim did not survive, or may not survive a clock that went back. They are decided apart from others, and parked if they end their node again and again. A row is void once its ride has another fence or no holder.';
COMMENT ON COLUMN ridepulse.lost_claims.fence IS 'The fence of the ride''s last claim.';
COMMENT ON COLUMN ridepulse.lost_claims.claims IS 'The number of claims in a row that did not survive.';
COMMENT ON COLUMN ridepulse.lost_claims.is_waiting IS 'Whether the ride waits to be claimed again; false while it is claimed.';
COMMENT ON COLUMN ridepulse.lost_claims.is_deciding IS 'Whether the last claim began to decide the ride and has not recorded the end of the decision.';
COMMENT ON COLUMN ridepulse.lost_claims.held_until IS 'The end of a lease that was set before the database''s clock went back: up to that time pushes may have left.';
COMMENT ON COLUMN ridepulse.lost_claims.lost_at IS 'When the end of the first of these claims was noticed.';
COMMENT ON COLUMN ridepulse.lost_claims.decisions IS 'How many of these claims, without the last, ended while the ride was decided.';
CREATE TABLE ridepulse.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE ridepulse.migrations IS 'The migrations that were applied to this database: the files of sql/.';
COMMENT ON COLUMN ridepulse.migrations.number IS 'The number that the file name begins with.';
COMMENT ON COLUMN ridepulse.migrations.name IS 'The file name without its extension.';
COMMENT ON COLUMN ridepulse.migrations.checksum IS 'SHA-256 of the file in hexadecimal: an applied file must not change.';
COMMENT ON COLUMN ridepulse.migrations.applied_at IS 'When the file was applied.';
CREATE UNLOGGED TABLE ridepulse.nodes (
    node uuid NOT NULL,
    host text NOT NULL,
    asleep boolean NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    edition integer NOT NULL,
    apns text,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    revision integer,
    rules_share text,
    rules_since timestamp with time zone,
    rules_problem text,
    CONSTRAINT nodes_apns_check CHECK ((apns = ANY (ARRAY['reached'::text, 'lost'::text])))
)
WITH (fillfactor='50');
COMMENT ON TABLE ridepulse.nodes IS 'The nodes that claim rides, and whether each sleeps until it is notified.';
COMMENT ON COLUMN ridepulse.nodes.node IS 'The node''s ID, new at each start.';
COMMENT ON COLUMN ridepulse.nodes.host IS 'The host name of the machine, for people.';
COMMENT ON COLUMN ridepulse.nodes.asleep IS 'Whether the node waits for a NOTIFY.';
COMMENT ON COLUMN ridepulse.nodes.seen_at IS 'When the node last claimed, updated every 2 s.';
COMMENT ON COLUMN ridepulse.nodes.edition IS 'Version of the schema that the node writes. A node that names none cannot claim.';
COMMENT ON COLUMN ridepulse.nodes.apns IS 'Whether the node reaches APNs: reached, with an open connection, or lost; null while unknown.';
COMMENT ON COLUMN ridepulse.nodes.started_at IS 'When the node first claimed.';
COMMENT ON COLUMN ridepulse.nodes.revision IS 'The rules and the program version that the node decides with, an ID in revisions; null until it has reported them.';
COMMENT ON COLUMN ridepulse.nodes.rules_share IS 'The beginning of the digest of the rules for a share of the rides, and the share; null if there are none.';
COMMENT ON COLUMN ridepulse.nodes.rules_since IS 'When the node reported these rules first.';
COMMENT ON COLUMN ridepulse.nodes.rules_problem IS 'The first problem of rule files that the node refused; null if it uses the last ones it read.';
CREATE TABLE ridepulse.other_channels (
    bundle_id text NOT NULL,
    environment text NOT NULL,
    channel_id text NOT NULL,
    absent_at timestamp with time zone,
    seen_at timestamp with time zone NOT NULL,
    storage text,
    CONSTRAINT other_channels_storage_check CHECK ((storage = ANY (ARRAY['none'::text, 'latest'::text])))
);
COMMENT ON TABLE ridepulse.other_channels IS 'Channels that Apple has listed and that have no row in channels.';
COMMENT ON COLUMN ridepulse.other_channels.bundle_id IS 'The app''s bundle ID.';
COMMENT ON COLUMN ridepulse.other_channels.environment IS 'The APNs environment.';
COMMENT ON COLUMN ridepulse.other_channels.channel_id IS 'Apple''s ID.';
COMMENT ON COLUMN ridepulse.other_channels.absent_at IS 'When the last listing without the channel was requested: it was created later. Null if there was no such listing.';
COMMENT ON COLUMN ridepulse.other_channels.seen_at IS 'When the first listing with the channel had arrived: it was created earlier.';
COMMENT ON COLUMN ridepulse.other_channels.storage IS 'Apple''s storage policy: latest stores the last message for phones that are offline, none stores nothing; null while it is unknown.';
CREATE VIEW ridepulse.parked AS
 SELECT agenda.ride_id,
    agenda.parked_reason AS reason
   FROM ridepulse.agenda
  WHERE (agenda.parked_reason IS NOT NULL);
COMMENT ON VIEW ridepulse.parked IS 'Rides that no node claims until ridepulse.unpark is called for them, with the reason.';
CREATE TABLE ridepulse.participants (
    ride_id text NOT NULL,
    app text NOT NULL,
    owner_id text NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL
);
COMMENT ON TABLE ridepulse.participants IS 'Further people of rides, written by the service''s backend: they receive what the ride''s own customer, driver and so on receive. They go with their ride.';
COMMENT ON COLUMN ridepulse.participants.ride_id IS 'The ride, which must exist.';
COMMENT ON COLUMN ridepulse.participants.app IS 'The app whose phones receive the pushes.';
COMMENT ON COLUMN ridepulse.participants.owner_id IS 'The owner of these phones, 1 to 512 bytes.';
COMMENT ON COLUMN ridepulse.participants.attributes IS 'What concerns this person alone, a JSON object of at most 8 KiB; rules and texts read it as me.';
CREATE TABLE ridepulse.pauses (
    kind text NOT NULL,
    name text NOT NULL,
    until timestamp with time zone NOT NULL,
    reason text,
    paused_by text DEFAULT SESSION_USER NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT pauses_check CHECK (((until > since) AND (until <= (since + '169:00:00'::interval)))),
    CONSTRAINT pauses_kind_check CHECK ((kind = ANY (ARRAY['rule'::text, 'event'::text, 'app'::text]))),
    CONSTRAINT pauses_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 512))),
    CONSTRAINT pauses_reason_check CHECK ((octet_length(reason) <= 500))
);
COMMENT ON TABLE ridepulse.pauses IS 'Rules, events and apps of which nothing is sent for a while: it waits, and is decided again after the pause. A row is void once its time is over.';
COMMENT ON COLUMN ridepulse.pauses.kind IS 'rule, event or app.';
COMMENT ON COLUMN ridepulse.pauses.name IS 'The name of the rule, event or app.';
COMMENT ON COLUMN ridepulse.pauses.until IS 'When the pause ends by itself: at most 7 days ahead.';
COMMENT ON COLUMN ridepulse.pauses.reason IS 'Why, as a text for people; null if none was given.';
COMMENT ON COLUMN ridepulse.pauses.paused_by IS 'Who paused it, a login of Postgres.';
COMMENT ON COLUMN ridepulse.pauses.since IS 'When it was paused.';
CREATE TABLE ridepulse.permits (
    id uuid NOT NULL,
    app text NOT NULL,
    owner_id text NOT NULL,
    name text NOT NULL,
    is_sent boolean DEFAULT false NOT NULL,
    counts_at timestamp with time zone NOT NULL,
    keep_until timestamp with time zone NOT NULL,
    kind text NOT NULL,
    ride_id text NOT NULL,
    CONSTRAINT permits_kind_check CHECK ((kind = ANY (ARRAY['topic'::text, 'rule'::text])))
);
COMMENT ON TABLE ridepulse.permits IS 'Pushes that at-most counts: one row for each event or slot, rule and owner.';
COMMENT ON COLUMN ridepulse.permits.id IS 'The same on every node and in every attempt.';
COMMENT ON COLUMN ridepulse.permits.app IS 'The app of the phones.';
COMMENT ON COLUMN ridepulse.permits.owner_id IS 'The owner of the phones.';
COMMENT ON COLUMN ridepulse.permits.name IS 'The name of the topic, or of the rule.';
COMMENT ON COLUMN ridepulse.permits.is_sent IS 'Whether it was sent to a phone, or may have been.';
COMMENT ON COLUMN ridepulse.permits.counts_at IS 'When it was sent; until that is known, the end of its validity.';
COMMENT ON COLUMN ridepulse.permits.keep_until IS 'When no rule counts it any more.';
COMMENT ON COLUMN ridepulse.permits.kind IS 'What is counted: topic, or rule.';
COMMENT ON COLUMN ridepulse.permits.ride_id IS 'The ride that it is about, for what is counted within a ride; empty if an older version wrote it.';
CREATE TABLE ridepulse.phone_counts (
    is_only boolean DEFAULT true NOT NULL,
    counted_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    took interval DEFAULT '00:00:00'::interval NOT NULL,
    counts jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT phone_counts_is_only_check CHECK (is_only)
);
COMMENT ON TABLE ridepulse.phone_counts IS 'The number of phones in each state, in one row: one node counts them, all of them export it.';
COMMENT ON COLUMN ridepulse.phone_counts.is_only IS 'True.';
COMMENT ON COLUMN ridepulse.phone_counts.counted_at IS 'When phones were last counted, or a node last began to count them.';
COMMENT ON COLUMN ridepulse.phone_counts.took IS 'How long it took; they are not counted again within a thousand times as long.';
COMMENT ON COLUMN ridepulse.phone_counts.counts IS 'A list of lists: app, platform, state, disabled_reason and number.';
CREATE TABLE ridepulse.pin (
    is_only boolean DEFAULT true NOT NULL,
    system_identifier bigint NOT NULL,
    database_oid oid NOT NULL,
    pinned_at timestamp with time zone DEFAULT now() NOT NULL,
    held_at timestamp with time zone,
    held_reason text,
    site text,
    held_by text,
    CONSTRAINT pin_check CHECK (((held_at IS NULL) = (held_reason IS NULL))),
    CONSTRAINT pin_is_only_check CHECK (is_only)
);
COMMENT ON TABLE ridepulse.pin IS 'One row: the server and database in which services may claim rides and send. No row: the next service that starts pins the database.';
COMMENT ON COLUMN ridepulse.pin.is_only IS 'Always true: the primary key of the only row.';
COMMENT ON COLUMN ridepulse.pin.system_identifier IS 'The server, as pg_control_system() names it: a standby has that of its primary, a restored dump another one.';
COMMENT ON COLUMN ridepulse.pin.database_oid IS 'The database: a copy on the same server has another OID.';
COMMENT ON COLUMN ridepulse.pin.pinned_at IS 'When the database was pinned.';
COMMENT ON COLUMN ridepulse.pin.held_at IS 'When sending was held; null if it is not.';
COMMENT ON COLUMN ridepulse.pin.held_reason IS 'Why sending is held; null if it is not.';
COMMENT ON COLUMN ridepulse.pin.site IS 'The RIDEPULSE_SITE of the services that may send, empty if they have none; null until one of them checks the pin.';
COMMENT ON COLUMN ridepulse.pin.held_by IS 'Who holds sending, a login of Postgres; null if it is not held.';
CREATE TABLE ridepulse.pinned_apps (
    app text NOT NULL,
    bundle_id text,
    environment text,
    pinned_at timestamp with time zone DEFAULT now() NOT NULL,
    project text,
    CONSTRAINT pinned_apps_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
);
COMMENT ON TABLE ridepulse.pinned_apps IS 'The apps of the services that send from this database: one with another bundle ID, default environment or FCM project claims nothing.';
COMMENT ON COLUMN ridepulse.pinned_apps.app IS 'The app.';
COMMENT ON COLUMN ridepulse.pinned_apps.bundle_id IS 'Its bundle ID, APNS_<APP>_BUNDLE_ID; null if no service has had one.';
COMMENT ON COLUMN ridepulse.pinned_apps.environment IS 'The environment of phones that name none, APNS_SANDBOX; null without a bundle ID.';
COMMENT ON COLUMN ridepulse.pinned_apps.pinned_at IS 'When the app was pinned.';
COMMENT ON COLUMN ridepulse.pinned_apps.project IS 'The project of its FCM service account; null if no service has had one.';
CREATE TABLE ridepulse.preferences (
    app text NOT NULL,
    owner_id text NOT NULL,
    topic text NOT NULL,
    is_allowed boolean NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
COMMENT ON TABLE ridepulse.preferences IS 'Topics that people have turned on or off. A topic without a row is on.';
COMMENT ON COLUMN ridepulse.preferences.app IS 'The app whose pushes it concerns.';
COMMENT ON COLUMN ridepulse.preferences.owner_id IS 'The owner of the phones.';
COMMENT ON COLUMN ridepulse.preferences.topic IS 'The topic, as rules name it.';
COMMENT ON COLUMN ridepulse.preferences.is_allowed IS 'Whether the topic is on.';
COMMENT ON COLUMN ridepulse.preferences.changed_at IS 'When it was last turned on or off.';
ALTER TABLE ridepulse.push_to_start_tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.push_to_start_tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW ridepulse.quarantine AS
 SELECT current_devices.id AS device_id,
    current_devices.app,
    current_devices.owner_id,
    "right"(current_devices.token, 6) AS token_suffix,
    current_devices.environment,
    current_devices.refusals,
    current_devices.quarantined_at
   FROM ridepulse.current_devices
  WHERE ((current_devices.quarantined_at IS NOT NULL) AND (current_devices.id = ANY ((ARRAY( SELECT d.id
           FROM ridepulse.devices d
          WHERE (d.quarantined_at IS NOT NULL)) || ARRAY( SELECT o.token_id
           FROM ridepulse.token_outcomes o
          WHERE (o.kind = 'phone'::text))))));
COMMENT ON VIEW ridepulse.quarantine IS 'Phones in quarantine: APNs or FCM has refused their tokens three times in a row. token_suffix is the last six characters.';
CREATE TABLE ridepulse.recorded (
    ride_id text NOT NULL,
    fence bigint NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    from_at timestamp with time zone NOT NULL,
    revision integer,
    sample integer NOT NULL,
    pass jsonb NOT NULL
)
PARTITION BY RANGE (decided_at);
COMMENT ON TABLE ridepulse.recorded IS 'One row for each pass of a sampled ride: what the decision read, and the outcome. Partitioned by day.';
COMMENT ON COLUMN ridepulse.recorded.ride_id IS 'The ride.';
COMMENT ON COLUMN ridepulse.recorded.fence IS 'The claim''s fence: the order of a ride''s passes.';
COMMENT ON COLUMN ridepulse.recorded.decided_at IS 'When it was decided; the partition key.';
COMMENT ON COLUMN ridepulse.recorded.from_at IS 'The earliest time in the pass: ridepulse record reads passes in this order.';
COMMENT ON COLUMN ridepulse.recorded.revision IS 'The rule set that decided it, as in ridepulse.revisions.';
COMMENT ON COLUMN ridepulse.recorded.sample IS 'The share of rides that the node recorded, in millionths.';
COMMENT ON COLUMN ridepulse.recorded.pass IS 'The rows that the decision read, the answers of APNs, and the outcomes.';
CREATE TABLE ridepulse.recorded_default (
    ride_id text NOT NULL,
    fence bigint NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    from_at timestamp with time zone NOT NULL,
    revision integer,
    sample integer NOT NULL,
    pass jsonb NOT NULL
);
COMMENT ON TABLE ridepulse.recorded_default IS 'Recorded passes whose day has no partition.';
CREATE UNLOGGED TABLE ridepulse.removed_rows (
    ride_id text NOT NULL,
    state text,
    removed_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE ridepulse.removed_rows IS 'Deleted rows of attached tables that had no ride: one that is inserted again within a day has moved.';
COMMENT ON COLUMN ridepulse.removed_rows.ride_id IS 'The ID that the row''s ride would have.';
COMMENT ON COLUMN ridepulse.removed_rows.state IS 'The state of the row.';
COMMENT ON COLUMN ridepulse.removed_rows.removed_at IS 'When the row was deleted.';
CREATE TABLE ridepulse.retention (
    is_only boolean DEFAULT true NOT NULL,
    ledger interval DEFAULT '30 days'::interval NOT NULL,
    rides interval DEFAULT '30 days'::interval NOT NULL,
    phones interval DEFAULT '270 days'::interval NOT NULL,
    disabled_phones interval DEFAULT '90 days'::interval NOT NULL,
    cards interval DEFAULT '7 days'::interval NOT NULL,
    start_tokens interval DEFAULT '270 days'::interval NOT NULL,
    disabled_tokens interval DEFAULT '7 days'::interval NOT NULL,
    contacts interval DEFAULT '270 days'::interval NOT NULL,
    watch_errors interval DEFAULT '30 days'::interval NOT NULL,
    channels interval DEFAULT '90 days'::interval NOT NULL,
    recorded interval DEFAULT '7 days'::interval NOT NULL,
    CONSTRAINT retention_check CHECK ((LEAST(ledger, rides, phones, disabled_phones, cards, start_tokens, disabled_tokens, contacts, watch_errors, channels) >= '1 day'::interval)),
    CONSTRAINT retention_check1 CHECK ((contacts >= phones)),
    CONSTRAINT retention_is_only_check CHECK (is_only),
    CONSTRAINT retention_recorded_check CHECK ((recorded >= '1 day'::interval))
);
COMMENT ON TABLE ridepulse.retention IS 'One row: how long each kind of row is kept, at least 1 day. See docs/privacy.md.';
COMMENT ON COLUMN ridepulse.retention.is_only IS 'Always true: the primary key of the only row.';
COMMENT ON COLUMN ridepulse.retention.ledger IS 'Ledger rows and counts of slots, from their events; parked rides, from when they were parked.';
COMMENT ON COLUMN ridepulse.retention.rides IS 'Rides that are not on the agenda, from their last change or, if later, their pickup.';
COMMENT ON COLUMN ridepulse.retention.phones IS 'Enabled phones, from their last registration or, if later, their owner''s last contact.';
COMMENT ON COLUMN ridepulse.retention.disabled_phones IS 'Disabled phones, from when they were disabled.';
COMMENT ON COLUMN ridepulse.retention.cards IS 'Cards, from their end; one whose end is unknown, from 1 day after its last registration.';
COMMENT ON COLUMN ridepulse.retention.start_tokens IS 'Valid push-to-start tokens, from their last registration.';
COMMENT ON COLUMN ridepulse.retention.disabled_tokens IS 'Invalid push-to-start tokens, from when they became invalid.';
COMMENT ON COLUMN ridepulse.retention.contacts IS 'Contacts, from the last one. At least as long as phones, whose age they show.';
COMMENT ON COLUMN ridepulse.retention.watch_errors IS 'Problems of attached tables, from their last occurrence.';
COMMENT ON COLUMN ridepulse.retention.channels IS 'Channels that were deleted or refused, from then on.';
COMMENT ON COLUMN ridepulse.retention.recorded IS 'Recorded passes, from their decision, by whole days. Only nodes with RIDEPULSE_RECORD write any.';
CREATE TABLE ridepulse.revisions (
    id integer NOT NULL,
    rules text NOT NULL,
    version text NOT NULL,
    first_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
COMMENT ON TABLE ridepulse.revisions IS 'The rule files and program versions that decided pushes: one row for each combination that a service has started with or reloaded.';
COMMENT ON COLUMN ridepulse.revisions.id IS 'The decided_by of ledger rows: the first 32 bits of the SHA-256 of rules, a space and version.';
COMMENT ON COLUMN ridepulse.revisions.rules IS 'SHA-256 of the rule files, as `ridepulse check` prints it.';
COMMENT ON COLUMN ridepulse.revisions.version IS 'The version of the program.';
COMMENT ON COLUMN ridepulse.revisions.first_at IS 'When a service first used the combination.';
COMMENT ON COLUMN ridepulse.revisions.last_at IS 'When a service last started with the combination or reloaded it.';
CREATE TABLE ridepulse.rule_sets (
    digest text NOT NULL,
    names text[] NOT NULL,
    texts text[] NOT NULL,
    version text NOT NULL,
    used_at timestamp with time zone DEFAULT now(),
    share_used_at timestamp with time zone,
    CONSTRAINT rule_sets_check CHECK ((cardinality(texts) = cardinality(names))),
    CONSTRAINT rule_sets_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text))
);
COMMENT ON TABLE ridepulse.rule_sets IS 'The files of the last rules that a node loaded without a problem; the newest five are kept.';
COMMENT ON COLUMN ridepulse.rule_sets.digest IS 'The SHA-256 that ridepulse check prints, and that revisions.rules has.';
COMMENT ON COLUMN ridepulse.rule_sets.names IS 'The names of the files below the rule directory, such as strings/en.yaml.';
COMMENT ON COLUMN ridepulse.rule_sets.texts IS 'The text of each file, in the order of the names.';
COMMENT ON COLUMN ridepulse.rule_sets.version IS 'The version of the program that loaded them last.';
COMMENT ON COLUMN ridepulse.rule_sets.used_at IS 'When a node last loaded them from its rule directory; null if none did.';
COMMENT ON COLUMN ridepulse.rule_sets.share_used_at IS 'When a node last loaded them for a share of the rides; null if none did.';
CREATE TABLE ridepulse.settings (
    is_only boolean DEFAULT true NOT NULL,
    notify_deliveries boolean DEFAULT false NOT NULL,
    CONSTRAINT settings_is_only_check CHECK (is_only)
);
COMMENT ON TABLE ridepulse.settings IS 'One row: what settlements do besides writing the ledger.';
COMMENT ON COLUMN ridepulse.settings.is_only IS 'Always true: the primary key of the only row.';
COMMENT ON COLUMN ridepulse.settings.notify_deliveries IS 'Whether a settlement with a verdict notifies the channel ridepulse_deliveries. NOTIFY lets only one transaction commit at a time.';
CREATE TABLE ridepulse.slot_counts (
    rule text NOT NULL,
    day date NOT NULL,
    node uuid NOT NULL,
    due bigint NOT NULL,
    fired bigint NOT NULL,
    skipped bigint NOT NULL,
    missed bigint NOT NULL,
    capped bigint NOT NULL,
    expired bigint NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE ridepulse.slot_counts IS 'Number of schedule slots by outcome, for each rule, day and node.';
COMMENT ON COLUMN ridepulse.slot_counts.rule IS 'The rule''s name.';
COMMENT ON COLUMN ridepulse.slot_counts.day IS 'The day of the settlement, in UTC.';
COMMENT ON COLUMN ridepulse.slot_counts.node IS 'The node that settled the slots.';
COMMENT ON COLUMN ridepulse.slot_counts.due IS 'Slots that were due, counted independently of their outcomes.';
COMMENT ON COLUMN ridepulse.slot_counts.fired IS 'Slots at which the rule fired.';
COMMENT ON COLUMN ridepulse.slot_counts.skipped IS 'Slots at which the rule was not to fire, such as a heartbeat whose successor was due.';
COMMENT ON COLUMN ridepulse.slot_counts.missed IS 'Cron slots that no node evaluated in time and that the rule does not make up for.';
COMMENT ON COLUMN ridepulse.slot_counts.capped IS 'Missed cron slots beyond the number that the rule makes up for.';
COMMENT ON COLUMN ridepulse.slot_counts.expired IS 'Slots whose push was no longer valid.';
CREATE VIEW ridepulse.slots AS
 SELECT slot_counts.rule,
    slot_counts.day,
    (sum(slot_counts.due))::bigint AS due,
    (sum(slot_counts.fired))::bigint AS fired,
    (sum(slot_counts.skipped))::bigint AS skipped,
    (sum(slot_counts.missed))::bigint AS missed,
    (sum(slot_counts.capped))::bigint AS capped,
    (sum(slot_counts.expired))::bigint AS expired,
    (sum((((((slot_counts.due - slot_counts.fired) - slot_counts.skipped) - slot_counts.missed) - slot_counts.capped) - slot_counts.expired)))::bigint AS remainder
   FROM ridepulse.slot_counts
  GROUP BY slot_counts.rule, slot_counts.day;
COMMENT ON VIEW ridepulse.slots IS 'Number of schedule slots by outcome, for each rule and day (UTC). remainder is due minus all outcomes: anything except 0 is a bug in RidePulse.';
CREATE TABLE ridepulse.sweeps (
    name text NOT NULL,
    place integer NOT NULL,
    next_page bigint DEFAULT 0 NOT NULL,
    began_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone
)
WITH (fillfactor='50');
COMMENT ON TABLE ridepulse.sweeps IS 'How far ridepulse.sweep has read each table.';
COMMENT ON COLUMN ridepulse.sweeps.name IS 'The table.';
COMMENT ON COLUMN ridepulse.sweeps.place IS 'The tables are swept in this order.';
COMMENT ON COLUMN ridepulse.sweeps.next_page IS 'The page that the next call reads first.';
COMMENT ON COLUMN ridepulse.sweeps.began_at IS 'When page 0 was last read.';
COMMENT ON COLUMN ridepulse.sweeps.ended_at IS 'When the last page was last read.';
CREATE TABLE ridepulse.timing (
    is_only boolean DEFAULT true NOT NULL,
    rules text NOT NULL,
    adopted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT timing_is_only_check CHECK (is_only)
);
COMMENT ON TABLE ridepulse.timing IS 'One row: the schedule rules for which live rides were last rescheduled.';
COMMENT ON COLUMN ridepulse.timing.is_only IS 'Always true: the primary key of the only row.';
COMMENT ON COLUMN ridepulse.timing.rules IS 'The digest of the schedule rules.';
COMMENT ON COLUMN ridepulse.timing.adopted_at IS 'When the last live ride was rescheduled for them.';
ALTER TABLE ridepulse.token_outcomes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.token_outcomes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ridepulse.traced_pushes (
    apns_id uuid NOT NULL,
    trace text NOT NULL,
    app text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    is_seen boolean DEFAULT false NOT NULL
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.05');
COMMENT ON TABLE ridepulse.traced_pushes IS 'Accepted pushes of sampled traces whose receipts have not been exported. See docs/traces.md.';
COMMENT ON COLUMN ridepulse.traced_pushes.apns_id IS 'apns-id of the push.';
COMMENT ON COLUMN ridepulse.traced_pushes.trace IS 'The traceparent of the attempt that was accepted.';
COMMENT ON COLUMN ridepulse.traced_pushes.app IS 'The app of the phone.';
COMMENT ON COLUMN ridepulse.traced_pushes.created_at IS 'When the row was written.';
COMMENT ON COLUMN ridepulse.traced_pushes.is_seen IS 'Whether the app has reported the push since.';
CREATE TABLE ridepulse.unread_rides (
    ride_id text NOT NULL,
    relation regclass NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    sqlstate text NOT NULL
);
COMMENT ON TABLE ridepulse.unread_rides IS 'Rides whose row of an attached table changed and could not be read since. No clock rule fires for them.';
COMMENT ON COLUMN ridepulse.unread_rides.ride_id IS 'The ride.';
COMMENT ON COLUMN ridepulse.unread_rides.relation IS 'The attached table.';
COMMENT ON COLUMN ridepulse.unread_rides.since IS 'When the row could first not be read.';
COMMENT ON COLUMN ridepulse.unread_rides.sqlstate IS 'The SQLSTATE of the error.';
CREATE TABLE ridepulse.watch_errors (
    relation regclass NOT NULL,
    column_name text NOT NULL,
    problem text NOT NULL,
    row_id text,
    detail text,
    count bigint DEFAULT 1 NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE ridepulse.watch_errors IS 'Problems met while rows of attached tables were copied.';
COMMENT ON COLUMN ridepulse.watch_errors.relation IS 'The attached table.';
COMMENT ON COLUMN ridepulse.watch_errors.column_name IS 'The column or trigger; empty if the problem concerns the row or the table.';
COMMENT ON COLUMN ridepulse.watch_errors.problem IS 'The kind of problem; docs/sql.md describes each one.';
COMMENT ON COLUMN ridepulse.watch_errors.row_id IS 'The ID of the last row concerned, at most 80 characters of it.';
COMMENT ON COLUMN ridepulse.watch_errors.detail IS 'Details of the last occurrence, at most 200 characters.';
COMMENT ON COLUMN ridepulse.watch_errors.count IS 'Number of transactions that met the problem: a lower bound.';
COMMENT ON COLUMN ridepulse.watch_errors.first_at IS 'When the problem was first recorded.';
COMMENT ON COLUMN ridepulse.watch_errors.last_at IS 'When the problem was last recorded.';
CREATE VIEW ridepulse.watch_problems AS
 SELECT
        CASE
            WHEN (t.oid IS NULL) THEN ((p.relation)::oid)::text
            ELSE format('%I.%I'::text, n.nspname, t.relname)
        END AS "table",
    p.column_name,
    p.problem,
    p.row_id,
    p.detail,
    p.count,
    p.first_at,
    p.last_at
   FROM ((( SELECT w.relation,
            ''::text AS column_name,
            'missing_table'::text AS problem,
            NULL::text AS row_id,
            NULL::text AS detail,
            NULL::bigint AS count,
            NULL::timestamp with time zone AS first_at,
            NULL::timestamp with time zone AS last_at
           FROM ridepulse.watches w
          WHERE (NOT (EXISTS ( SELECT
                   FROM pg_class c
                  WHERE (c.oid = (w.relation)::oid))))
        UNION ALL
         SELECT w.relation,
            m.column_name,
            'missing_column'::text AS text,
            NULL::text AS text,
            ('mapped to '::text || m.target),
            NULL::bigint AS int8,
            NULL::timestamp with time zone AS timestamptz,
            NULL::timestamp with time zone AS timestamptz
           FROM ((ridepulse.watches w
             JOIN pg_class c ON ((c.oid = (w.relation)::oid)))
             CROSS JOIN LATERAL ( SELECT jsonb_each_text.key AS target,
                    jsonb_each_text.value AS column_name
                   FROM jsonb_each_text(w.columns) jsonb_each_text(key, value)
                  WHERE (w.ride_function IS NULL)
                UNION ALL
                 SELECT ('attributes.'::text || jsonb_each_text.key),
                    jsonb_each_text.value
                   FROM jsonb_each_text(w.attributes) jsonb_each_text(key, value)) m)
          WHERE (NOT (EXISTS ( SELECT
                   FROM pg_attribute a
                  WHERE ((a.attrelid = (w.relation)::oid) AND (a.attname = m.column_name) AND (a.attnum > 0) AND (NOT a.attisdropped)))))
        UNION ALL
         SELECT w.relation,
            wanted.name,
                CASE
                    WHEN g.is_there THEN 'disabled_trigger'::text
                    ELSE 'missing_trigger'::text
                END AS "case",
            NULL::text AS text,
            NULL::text AS text,
            NULL::bigint AS int8,
            NULL::timestamp with time zone AS timestamptz,
            NULL::timestamp with time zone AS timestamptz
           FROM (((ridepulse.watches w
             JOIN pg_class c ON ((c.oid = (w.relation)::oid)))
             CROSS JOIN ( VALUES ('ridepulse_read'::text), ('ridepulse_watch'::text), ('ridepulse_read_update'::text), ('ridepulse_watch_update'::text)) wanted(name))
             LEFT JOIN LATERAL ( SELECT bool_or((g_1.tgenabled = ANY (ARRAY['D'::"char", 'R'::"char"]))) AS is_disabled,
                    (count(*) > 0) AS is_there
                   FROM pg_trigger g_1
                  WHERE ((g_1.tgname = wanted.name) AND (g_1.tgrelid IN ( SELECT (w.relation)::oid AS relation
                        UNION ALL
                         SELECT (pg_partition_tree.relid)::oid AS relid
                           FROM pg_partition_tree(w.relation) pg_partition_tree(relid, parentrelid, isleaf, level))))) g ON (true))
          WHERE ((NOT g.is_there) OR g.is_disabled)
        UNION ALL
         SELECT w.relation,
            ''::text AS text,
            'late_trigger'::text AS text,
            NULL::text AS text,
            NULL::text AS text,
            NULL::bigint AS int8,
            NULL::timestamp with time zone AS timestamptz,
            NULL::timestamp with time zone AS timestamptz
           FROM (ridepulse.watches w
             JOIN pg_trigger g ON (((g.tgrelid = (w.relation)::oid) AND (g.tgname = 'ridepulse_read_update'::name))))
          WHERE ((cardinality((g.tgattr)::smallint[]) > 0) AND ((EXISTS ( SELECT
                   FROM pg_trigger b
                  WHERE ((b.tgrelid IN ( SELECT (w.relation)::oid AS relation
                        UNION ALL
                         SELECT (pg_partition_tree.relid)::oid AS relid
                           FROM pg_partition_tree(w.relation) pg_partition_tree(relid, parentrelid, isleaf, level))) AND (NOT b.tgisinternal) AND (((b.tgtype)::integer & 19) = 19)))) OR (EXISTS ( SELECT
                   FROM pg_attribute a
                  WHERE ((a.attrelid = (w.relation)::oid) AND (a.attgenerated <> ''::"char") AND (NOT a.attisdropped))))))
        UNION ALL
         SELECT w.relation,
            g.tgname,
            'old_trigger'::text AS text,
            NULL::text AS text,
            NULL::text AS text,
            NULL::bigint AS int8,
            NULL::timestamp with time zone AS timestamptz,
            NULL::timestamp with time zone AS timestamptz
           FROM (ridepulse.watches w
             JOIN pg_trigger g ON (((g.tgrelid = (w.relation)::oid) AND (g.tgname = ANY (ARRAY['ridepulse_read'::name, 'ridepulse_read_update'::name])) AND (g.tgargs <> '\x3200'::bytea))))
        UNION ALL
         SELECT w.relation,
            ''::text AS text,
            'replaced_table'::text AS text,
            NULL::text AS text,
            (format('%I.%I'::text, n_1.nspname, o.relname) COLLATE "default") AS format,
            NULL::bigint AS int8,
            NULL::timestamp with time zone AS timestamptz,
            NULL::timestamp with time zone AS timestamptz
           FROM ((ridepulse.watches w
             JOIN pg_namespace n_1 ON ((n_1.nspname = w.attached_schema)))
             JOIN pg_class o ON (((o.relnamespace = n_1.oid) AND (o.relname = w.attached_name))))
          WHERE ((o.oid <> (w.relation)::oid) AND (EXISTS ( SELECT
                   FROM pg_class c
                  WHERE (c.oid = (w.relation)::oid))) AND (NOT (EXISTS ( SELECT
                   FROM ridepulse.watches a
                  WHERE ((a.relation)::oid = o.oid)))))
        UNION ALL
         SELECT u.relation,
            ''::text AS text,
            'unread_ride'::text AS text,
            (array_agg(u.ride_id ORDER BY u.since DESC))[1] AS array_agg,
            ('SQLSTATE '::text || (array_agg(u.sqlstate ORDER BY u.since DESC))[1]),
            count(*) AS count,
            min(u.since) AS min,
            NULL::timestamp with time zone AS timestamptz
           FROM ridepulse.unread_rides u
          GROUP BY u.relation
        UNION ALL
         SELECT w.relation,
            ''::text AS text,
            'missing_function'::text AS text,
            NULL::text AS text,
            w.ride_function,
            NULL::bigint AS int8,
            NULL::timestamp with time zone AS timestamptz,
            NULL::timestamp with time zone AS timestamptz
           FROM (ridepulse.watches w
             JOIN pg_class c ON ((c.oid = (w.relation)::oid)))
          WHERE ((NOT (EXISTS ( SELECT
                   FROM pg_proc f
                  WHERE ((ARRAY[(( SELECT n_1.nspname
                           FROM pg_namespace n_1
                          WHERE (n_1.oid = f.pronamespace)))::text, (f.proname)::text] = parse_ident(w.ride_function)) AND (f.pronargs = 1) AND (f.proargtypes[0] = c.reltype))))) AND (w.ride_function IS NOT NULL))
        UNION ALL
         SELECT (g.tgrelid)::regclass AS tgrelid,
            g.tgname,
            'disabled_trigger'::text AS text,
            NULL::text AS text,
            NULL::text AS text,
            NULL::bigint AS int8,
            NULL::timestamp with time zone AS timestamptz,
            NULL::timestamp with time zone AS timestamptz
           FROM (pg_trigger g
             JOIN pg_class c ON ((c.oid = g.tgrelid)))
          WHERE ((c.relnamespace = ('ridepulse'::regnamespace)::oid) AND (NOT g.tgisinternal) AND (g.tgenabled = ANY (ARRAY['D'::"char", 'R'::"char"])))
        UNION ALL
         SELECT e.relation,
            e.column_name,
            e.problem,
            e.row_id,
            e.detail,
            e.count,
            e.first_at,
            e.last_at
           FROM ridepulse.watch_errors e
          WHERE ((e.problem <> 'missing_column'::text) OR (EXISTS ( SELECT
                   FROM pg_attribute a
                  WHERE ((a.attrelid = (e.relation)::oid) AND (a.attname = e.column_name)))))) p
     LEFT JOIN pg_class t ON ((t.oid = (p.relation)::oid)))
     LEFT JOIN pg_namespace n ON ((n.oid = t.relnamespace)));
COMMENT ON VIEW ridepulse.watch_problems IS 'Problems of attached tables: those that the catalog shows now, and those in watch_errors.';
CREATE VIEW ridepulse.watched AS
 SELECT watches.relation AS "table",
    watches.mapping,
    watches.watched_at,
    watches.backfilled_at,
    (NOT (watches.backfilled_watch IS DISTINCT FROM watches.watched_at)) AS is_backfilled,
    watches.live_states
   FROM ridepulse.watches;
COMMENT ON VIEW ridepulse.watched IS 'The attached tables, with their mappings. is_backfilled: whether live rows were copied since ridepulse.watch was last called; live_states: those of which states.';
ALTER TABLE ONLY ridepulse.ledger ATTACH PARTITION ridepulse.ledger_default DEFAULT;
ALTER TABLE ONLY ridepulse.recorded ATTACH PARTITION ridepulse.recorded_default DEFAULT;
ALTER TABLE ONLY ridepulse.agenda
    ADD CONSTRAINT agenda_pkey PRIMARY KEY (ride_id);
ALTER TABLE ONLY ridepulse.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (app);
ALTER TABLE ONLY ridepulse.card_type_hours
    ADD CONSTRAINT card_type_hours_pkey PRIMARY KEY (attributes_type, field, json_type, hour);
ALTER TABLE ONLY ridepulse.card_types
    ADD CONSTRAINT card_types_pkey PRIMARY KEY (attributes_type, field, json_type);
ALTER TABLE ONLY ridepulse.channel_listings
    ADD CONSTRAINT channel_listings_pkey PRIMARY KEY (bundle_id, environment);
ALTER TABLE ONLY ridepulse.channels
    ADD CONSTRAINT channels_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.channels
    ADD CONSTRAINT channels_request_id_key UNIQUE (request_id);
ALTER TABLE ONLY ridepulse.contacts
    ADD CONSTRAINT contacts_pkey PRIMARY KEY (app, owner_id);
ALTER TABLE ONLY ridepulse.devices
    ADD CONSTRAINT devices_app_token_key UNIQUE (app, token);
ALTER TABLE ONLY ridepulse.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.entered_states
    ADD CONSTRAINT entered_states_pkey PRIMARY KEY (ride_id);
ALTER TABLE ONLY ridepulse.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key);
ALTER TABLE ONLY ridepulse.installation_contacts
    ADD CONSTRAINT installation_contacts_pkey PRIMARY KEY (app, owner_id, installation_id);
ALTER TABLE ONLY ridepulse.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (ride_id, apns_id, occurred_at);
ALTER TABLE ONLY ridepulse.ledger_default
    ADD CONSTRAINT ledger_default_pkey PRIMARY KEY (ride_id, apns_id, occurred_at);
ALTER TABLE ONLY ridepulse.legacy_frames
    ADD CONSTRAINT legacy_frames_pkey PRIMARY KEY (frame);
ALTER TABLE ONLY ridepulse.live_activities
    ADD CONSTRAINT live_activities_app_activity_id_key UNIQUE (app, activity_id);
ALTER TABLE ONLY ridepulse.live_activities
    ADD CONSTRAINT live_activities_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.lost_claims
    ADD CONSTRAINT lost_claims_pkey PRIMARY KEY (ride_id);
ALTER TABLE ONLY ridepulse.migrations
    ADD CONSTRAINT migrations_name_key UNIQUE (name);
ALTER TABLE ONLY ridepulse.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY ridepulse.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (node);
ALTER TABLE ONLY ridepulse.other_channels
    ADD CONSTRAINT other_channels_pkey PRIMARY KEY (bundle_id, environment, channel_id);
ALTER TABLE ONLY ridepulse.participants
    ADD CONSTRAINT participants_pkey PRIMARY KEY (ride_id, app, owner_id);
ALTER TABLE ONLY ridepulse.pauses
    ADD CONSTRAINT pauses_pkey PRIMARY KEY (kind, name);
ALTER TABLE ONLY ridepulse.permits
    ADD CONSTRAINT permits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.phone_counts
    ADD CONSTRAINT phone_counts_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY ridepulse.pin
    ADD CONSTRAINT pin_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY ridepulse.pinned_apps
    ADD CONSTRAINT pinned_apps_pkey PRIMARY KEY (app);
ALTER TABLE ONLY ridepulse.preferences
    ADD CONSTRAINT preferences_pkey PRIMARY KEY (app, owner_id, topic);
ALTER TABLE ONLY ridepulse.push_to_start_tokens
    ADD CONSTRAINT push_to_start_tokens_app_attributes_type_token_key UNIQUE (app, attributes_type, token);
ALTER TABLE ONLY ridepulse.push_to_start_tokens
    ADD CONSTRAINT push_to_start_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (apns_id);
ALTER TABLE ONLY ridepulse.removed_rows
    ADD CONSTRAINT removed_rows_pkey PRIMARY KEY (ride_id);
ALTER TABLE ONLY ridepulse.retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY ridepulse.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (id);
ALTER TABLE ridepulse.rides
    ADD CONSTRAINT rides_id_at_most_512_bytes CHECK ((octet_length(id) <= 512)) NOT VALID;
ALTER TABLE ONLY ridepulse.rides
    ADD CONSTRAINT rides_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.rule_sets
    ADD CONSTRAINT rule_sets_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY ridepulse.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY ridepulse.slot_counts
    ADD CONSTRAINT slot_counts_pkey PRIMARY KEY (rule, day, node);
ALTER TABLE ONLY ridepulse.sweeps
    ADD CONSTRAINT sweeps_pkey PRIMARY KEY (name);
ALTER TABLE ONLY ridepulse.timing
    ADD CONSTRAINT timing_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY ridepulse.token_outcomes
    ADD CONSTRAINT token_outcomes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.traced_pushes
    ADD CONSTRAINT traced_pushes_pkey PRIMARY KEY (apns_id);
ALTER TABLE ONLY ridepulse.unread_rides
    ADD CONSTRAINT unread_rides_pkey PRIMARY KEY (ride_id);
ALTER TABLE ONLY ridepulse.watch_errors
    ADD CONSTRAINT watch_errors_pkey PRIMARY KEY (relation, column_name, problem);
ALTER TABLE ONLY ridepulse.watches
    ADD CONSTRAINT watches_pkey PRIMARY KEY (relation);
ALTER TABLE ONLY ridepulse.watches
    ADD CONSTRAINT watches_prefix_key UNIQUE (prefix);
CREATE INDEX agenda_due ON ridepulse.agenda USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX channels_by_channel_id ON ridepulse.channels USING btree (channel_id) WHERE (channel_id IS NOT NULL);
CREATE UNIQUE INDEX channels_by_id ON ridepulse.channels USING btree (bundle_id, environment, channel_id) WHERE (channel_id IS NOT NULL);
CREATE UNIQUE INDEX channels_by_ride ON ridepulse.channels USING btree (ride_id, app, environment) WHERE ((ride_id IS NOT NULL) AND (ended_at IS NULL) AND (unanswered_at IS NULL));
CREATE INDEX channels_of_ride ON ridepulse.channels USING btree (ride_id, app, environment, id) WHERE (ride_id IS NOT NULL);
CREATE INDEX channels_to_delete ON ridepulse.channels USING btree (ended_at) WHERE ((ended_reason = ANY (ARRAY['ended'::text, 'expired'::text])) AND (deleted_at IS NULL));
CREATE INDEX channels_to_report ON ridepulse.channels USING btree (id) WHERE ((channel_id IS NOT NULL) AND (ride_id IS NOT NULL) AND (ended_at IS NULL) AND (reported_at IS NULL));
CREATE INDEX devices_by_installation ON ridepulse.devices USING btree (app, installation_id) WHERE ((installation_id IS NOT NULL) AND (disabled_at IS NULL));
CREATE INDEX devices_by_owner ON ridepulse.devices USING btree (app, owner_id, id) WHERE (disabled_at IS NULL);
CREATE INDEX devices_by_suffix ON ridepulse.devices USING btree ("right"(token, 6) text_pattern_ops);
CREATE INDEX devices_disabled_by_owner ON ridepulse.devices USING btree (app, owner_id, id) WHERE (disabled_at IS NOT NULL);
CREATE INDEX devices_in_quarantine ON ridepulse.devices USING btree (app) WHERE (quarantined_at IS NOT NULL);
CREATE INDEX devices_to_report ON ridepulse.devices USING btree (app, id) WHERE ((disabled_reason = ANY (ARRAY['Unregistered'::text, 'ExpiredToken'::text])) AND (reported_disabled_at IS DISTINCT FROM disabled_at));
CREATE INDEX events_by_ride ON ridepulse.events USING btree (ride_id, id);
CREATE INDEX idempotency_keys_by_age ON ridepulse.idempotency_keys USING btree (created_at);
CREATE INDEX ledger_by_apns_id ON ONLY ridepulse.ledger USING brin (apns_id uuid_bloom_ops (n_distinct_per_range='2000', false_positive_rate='0.001')) WITH (pages_per_range='64', autosummarize='on');
CREATE INDEX ledger_by_time ON ONLY ridepulse.ledger USING brin (created_at, finished_at) WITH (autosummarize='on');
CREATE INDEX ledger_by_token ON ONLY ridepulse.ledger USING btree (token_suffix text_pattern_ops) WHERE (token_suffix IS NOT NULL);
CREATE INDEX ledger_default_by_apns_id ON ridepulse.ledger_default USING brin (apns_id uuid_bloom_ops (n_distinct_per_range='2000', false_positive_rate='0.001')) WITH (pages_per_range='64', autosummarize='on');
CREATE INDEX ledger_default_by_token ON ridepulse.ledger_default USING btree (token_suffix text_pattern_ops) WHERE (token_suffix IS NOT NULL);
CREATE INDEX ledger_default_created_at_finished_at_idx ON ridepulse.ledger_default USING brin (created_at, finished_at) WITH (autosummarize='on');
CREATE INDEX ledger_unknown_words ON ONLY ridepulse.ledger USING btree (created_at) WHERE (reason_code = ANY (ARRAY['unknown_event'::text, 'unknown_state'::text]));
CREATE INDEX ledger_default_created_at_idx ON ridepulse.ledger_default USING btree (created_at) WHERE (reason_code = ANY (ARRAY['unknown_event'::text, 'unknown_state'::text]));
CREATE INDEX ledger_verdicts ON ONLY ridepulse.ledger USING btree (settled_xid) WHERE (status <> 'pending'::text);
CREATE INDEX ledger_default_settled_xid_idx ON ridepulse.ledger_default USING btree (settled_xid) WHERE (status <> 'pending'::text);
CREATE INDEX legacy_frames_by_age ON ridepulse.legacy_frames USING btree (taken_at);
CREATE INDEX live_activities_by_installation ON ridepulse.live_activities USING btree (app, installation_id) WHERE ((installation_id IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX live_activities_by_owner ON ridepulse.live_activities USING btree (app, owner_id) WHERE (ended_at IS NULL);
CREATE INDEX live_activities_by_ride ON ridepulse.live_activities USING btree (ride_id);
CREATE INDEX live_activities_by_suffix ON ridepulse.live_activities USING btree ("right"(token, 6) text_pattern_ops);
CREATE INDEX participants_by_owner ON ridepulse.participants USING btree (owner_id, app);
CREATE INDEX permits_by_age ON ridepulse.permits USING btree (keep_until);
CREATE INDEX permits_by_counted ON ridepulse.permits USING btree (app, owner_id, kind, name, counts_at);
CREATE INDEX permits_by_ride ON ridepulse.permits USING btree (ride_id);
CREATE INDEX push_to_start_tokens_by_installation ON ridepulse.push_to_start_tokens USING btree (app, installation_id) WHERE ((installation_id IS NOT NULL) AND (disabled_at IS NULL));
CREATE INDEX push_to_start_tokens_by_owner ON ridepulse.push_to_start_tokens USING btree (app, owner_id) WHERE (disabled_at IS NULL);
CREATE INDEX push_to_start_tokens_by_suffix ON ridepulse.push_to_start_tokens USING btree ("right"(token, 6) text_pattern_ops);
CREATE INDEX push_to_start_tokens_disabled_by_owner ON ridepulse.push_to_start_tokens USING btree (app, owner_id) WHERE (disabled_at IS NOT NULL);
CREATE INDEX receipts_of_owners ON ridepulse.receipts USING btree (app, owner_id) WHERE (owner_id IS NOT NULL);
CREATE INDEX recorded_by_time ON ONLY ridepulse.recorded USING btree (from_at, fence);
CREATE INDEX recorded_default_from_at_fence_idx ON ridepulse.recorded_default USING btree (from_at, fence);
CREATE INDEX rides_by_customer ON ridepulse.rides USING btree (customer_id) WHERE (customer_id IS NOT NULL);
CREATE INDEX rides_by_driver ON ridepulse.rides USING btree (driver_id) WHERE (driver_id IS NOT NULL);
CREATE INDEX token_outcomes_by_token ON ridepulse.token_outcomes USING btree (kind, token_id, id);
CREATE INDEX traced_pushes_by_age ON ridepulse.traced_pushes USING btree (created_at);
CREATE INDEX traced_pushes_seen ON ridepulse.traced_pushes USING btree (apns_id) WHERE is_seen;
ALTER INDEX ridepulse.ledger_by_apns_id ATTACH PARTITION ridepulse.ledger_default_by_apns_id;
ALTER INDEX ridepulse.ledger_by_token ATTACH PARTITION ridepulse.ledger_default_by_token;
ALTER INDEX ridepulse.ledger_by_time ATTACH PARTITION ridepulse.ledger_default_created_at_finished_at_idx;
ALTER INDEX ridepulse.ledger_unknown_words ATTACH PARTITION ridepulse.ledger_default_created_at_idx;
ALTER INDEX ridepulse.ledger_pkey ATTACH PARTITION ridepulse.ledger_default_pkey;
ALTER INDEX ridepulse.ledger_verdicts ATTACH PARTITION ridepulse.ledger_default_settled_xid_idx;
ALTER INDEX ridepulse.recorded_by_time ATTACH PARTITION ridepulse.recorded_default_from_at_fence_idx;
CREATE TRIGGER added AFTER INSERT ON ridepulse.rides FOR EACH ROW EXECUTE FUNCTION ridepulse.ride_changed();
CREATE TRIGGER changed AFTER UPDATE ON ridepulse.participants FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION ridepulse.participant_removed();
CREATE TRIGGER changed AFTER UPDATE ON ridepulse.rides FOR EACH ROW EXECUTE FUNCTION ridepulse.ride_changed();
CREATE TRIGGER checked BEFORE INSERT OR UPDATE ON ridepulse.participants FOR EACH ROW EXECUTE FUNCTION ridepulse.participant_checked();
CREATE CONSTRAINT TRIGGER entered_states_removed AFTER DELETE ON ridepulse.rides DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ridepulse.entered_states_removed();
CREATE TRIGGER keep_channel_ids BEFORE UPDATE OF attributes ON ridepulse.rides FOR EACH ROW WHEN (((old.attributes IS DISTINCT FROM new.attributes) AND (jsonb_typeof(old.attributes) = 'object'::text) AND (jsonb_typeof(new.attributes) = 'object'::text) AND ((old.attributes)::text ~~ '%\_channel\_id"%'::text))) EXECUTE FUNCTION ridepulse.keep_channel_ids();
CREATE TRIGGER left_ride AFTER DELETE ON ridepulse.participants FOR EACH ROW EXECUTE FUNCTION ridepulse.participant_removed();
CREATE TRIGGER record_hold BEFORE INSERT OR UPDATE OF held_at ON ridepulse.pin FOR EACH ROW EXECUTE FUNCTION ridepulse.record_hold();
CREATE TRIGGER removed AFTER DELETE ON ridepulse.rides REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION ridepulse.rides_removed();
CREATE TRIGGER stamped BEFORE UPDATE ON ridepulse.rides FOR EACH ROW EXECUTE FUNCTION ridepulse.ride_stamped();
CREATE CONSTRAINT TRIGGER wake AFTER INSERT ON ridepulse.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((current_setting('ridepulse.transaction'::text, true) IS DISTINCT FROM (pg_current_xact_id())::text) AND (set_config('ridepulse.transaction'::text, (pg_current_xact_id())::text, true) IS NOT NULL))) EXECUTE FUNCTION ridepulse.wake();
