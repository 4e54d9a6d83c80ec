CREATE SCHEMA ridepulse;
CREATE FUNCTION ridepulse.answer(call text, arguments jsonb, OUT status integer, OUT body text) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  a constant jsonb := arguments;
  suffix constant text := right(lower(a ->> 'token'), 6);
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
        a ->> 'environment', a ->> 'installation_id', a ->> 'locale');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'token_suffix', suffix);
    when 'live-activities' then
      perform ridepulse.register_live_activity(a ->> 'ride_id', a ->> 'app', a ->> 'owner_id',
        a ->> 'token', a ->> 'activity_id', a ->> 'environment', (a ->> 'frequent')::boolean);
      answer := jsonb_build_object('ride_id', a -> 'ride_id', 'app', a -> 'app',
        'activity_id', a -> 'activity_id', 'token_suffix', suffix);
    when 'push-to-start' then
      perform ridepulse.register_push_to_start(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'attributes_type', a ->> 'environment');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'attributes_type', a -> 'attributes_type', 'token_suffix', suffix);
    when 'contact' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'contacted_at', to_char(ridepulse.contact(a ->> 'app', a ->> 'owner_id')
          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
  end case;
  body := answer::text;
end
$$;
COMMENT ON FUNCTION ridepulse.answer(call text, arguments jsonb, OUT status integer, OUT body text) IS 'Executes an API call and returns the HTTP status and body of its answer. call: events, devices, live-activities, push-to-start or contact. arguments: the body of the request, which the service has validated. Errors: those of the called function.';
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
CREATE FUNCTION ridepulse.check_text(function_name text, argument text, value text, is_required boolean DEFAULT true) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if is_required and coalesce(value, '') = '' then
    raise exception 'ridepulse.% needs %, got %', function_name, argument, quote_nullable(value)
      using errcode = 'invalid_parameter_value', hint = 'It must be neither null nor empty.';
  elsif octet_length(value) > 512 then
    raise exception '% of ridepulse.% has % bytes', argument, function_name, octet_length(value)
      using errcode = 'invalid_parameter_value',
            hint = 'IDs, names and tokens have 512 bytes at most.';
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.check_text(function_name text, argument text, value text, is_required boolean) IS 'Checks a text argument. function_name and argument are for the message, value is the text, is_required also refuses null and an empty text. Errors: 22023.';
CREATE FUNCTION ridepulse.contact(app text, owner_id text) RETURNS timestamp with time zone
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  last_contact timestamptz;
begin
  perform ridepulse.check_text('contact', 'app', app),
    ridepulse.check_text('contact', 'owner_id', owner_id);
  -- Concurrent calls may finish in any order: the latest time stays.
  insert into ridepulse.contacts as c (app, owner_id, contacted_at)
  values (contact.app, contact.owner_id, clock_timestamp())
  on conflict on constraint contacts_pkey do update
  set contacted_at = greatest(c.contacted_at, excluded.contacted_at)
  returning c.contacted_at into last_contact;
  return last_contact;
end
$$;
COMMENT ON FUNCTION ridepulse.contact(app text, owner_id text) IS 'Records that a phone of the owner made contact with the app''s backend, and returns the time of the last contact. Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes.';
CREATE FUNCTION ridepulse.emit(event text, ride_id text, data jsonb DEFAULT '{}'::jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  new_id bigint;
begin
  perform ridepulse.check_text('emit', 'event', event),
    ridepulse.check_text('emit', 'ride_id', ride_id);
  if jsonb_typeof(data) <> 'object' then
    raise exception 'ridepulse.emit needs a JSON object as data, got %', jsonb_typeof(data)
      using errcode = 'invalid_parameter_value';
  end if;
  insert into ridepulse.events (ride_id, event, data, customer_id, driver_id)
  select emit.ride_id, emit.event, coalesce(emit.data, '{}'), r.customer_id, r.driver_id
  from (values (1)) one left join ridepulse.rides r on r.id = emit.ride_id
  returning id into new_id;
  return new_id;
end
$$;
COMMENT ON FUNCTION ridepulse.emit(event text, ride_id text, data jsonb) IS 'Emits an event and returns its ID; it takes effect when the transaction commits. event: a name that rules match. ride_id: the ride, which need not exist. data: a JSON object; null means {}. Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes, or if data is not an object.';
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
CREATE FUNCTION ridepulse.idempotent_call(key text, call text, arguments jsonb, OUT outcome text, OUT status integer, OUT body text) RETURNS record
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
    select a.status, a.body into status, body from ridepulse.answer(call, arguments) a;
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
  select a.status, a.body into status, body from ridepulse.answer(call, arguments) a;
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
COMMENT ON FUNCTION ridepulse.idempotent_call(key text, call text, arguments jsonb, OUT outcome text, OUT status integer, OUT body text) IS 'Executes an API call once for each key. key: null executes it each time. call, arguments: as for ridepulse.answer. outcome: done, replayed, under way (another transaction is executing it) or other request (the key belongs to another one); the last two have neither status nor body. Errors: those of ridepulse.answer.';
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
CREATE FUNCTION ridepulse.legacy_ride(app text, token text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select 'legacy:' || $1 || ':' || left(encode(sha256(convert_to(lower($2), 'UTF8')), 'hex'), 32)
$_$;
COMMENT ON FUNCTION ridepulse.legacy_ride(app text, token text) IS 'Returns the ID of a phone''s pseudo ride. token: hexadecimal, in upper or lower case.';
CREATE FUNCTION ridepulse.parse_mapping(mapping jsonb, OUT columns jsonb, OUT attributes jsonb, OUT time_zone text) RETURNS record
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;
COMMENT ON FUNCTION ridepulse.parse_mapping(mapping jsonb, OUT columns jsonb, OUT attributes jsonb, OUT time_zone text) IS 'Splits a mapping into columns, attributes and the time zone of pickup_at, without checking that the columns exist. A column is a text or {"column": …}; pickup_at may also have a time_zone. Errors: 22023 if id or state is missing or a value names no column; 42703 if a key is unknown.';
CREATE FUNCTION ridepulse.parse_time(value text, zone text, OUT instant timestamp with time zone, OUT problem text) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    AS $_$
begin
  if value ~* '\d:\d\d(:\d\d(\.\d+)?)?\s*(z|utc|gmt|[+-]\d\d(:?\d\d){0,2})(\s+bc)?\s*$'
     or value ~* '^\s*[+-]?infinity\s*$' then
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
COMMENT ON FUNCTION ridepulse.parse_time(value text, zone text, OUT instant timestamp with time zone, OUT problem text) IS 'Converts a text to a time. zone: the time zone of a text without an offset; may be null. problem is no_time_zone or bad_time if the conversion fails, otherwise null.';
CREATE FUNCTION ridepulse.read_row() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  source jsonb;
begin
  execute 'select to_jsonb(x) from (select ' || tg_argv[0] || ' from (select ($1).*) r) x'
    into source using new;
  perform set_config('ridepulse.row', source::text, true);
  return null;
exception when others then
  -- The writer receives errors that a repetition may fix; the second trigger records all others.
  if sqlstate ~ '^(08|25|40|53|55|57|58|XX)' then
    raise;
  end if;
  -- The empty key marks an error: no column has an empty name.
  perform set_config('ridepulse.row', jsonb_build_object('',
    jsonb_build_object('state', sqlstate, 'message', sqlerrm))::text, true);
  return null;
end
$_$;
COMMENT ON FUNCTION ridepulse.read_row() IS 'Trigger function of ridepulse_read: stores the mapped columns of the row as JSON in the setting ridepulse.row of the transaction. Argument: the columns, as a list for SELECT. Errors: only those that a repetition may fix.';
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
CREATE FUNCTION ridepulse.register_device(app text, owner_id text, token text, environment text DEFAULT NULL::text, installation_id text DEFAULT NULL::text, locale text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform ridepulse.check_text('register_device', 'app', app),
    ridepulse.check_text('register_device', 'owner_id', owner_id),
    ridepulse.check_text('register_device', 'token', token),
    ridepulse.check_text('register_device', 'installation_id', installation_id, false),
    ridepulse.check_text('register_device', 'locale', locale, false);
  insert into ridepulse.devices as d (app, owner_id, token, environment, installation_id, locale)
  values (register_device.app, register_device.owner_id, lower(register_device.token),
          register_device.environment, nullif(register_device.installation_id, ''),
          nullif(register_device.locale, ''))
  on conflict on constraint devices_app_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, d.environment),
    installation_id = coalesce(excluded.installation_id, d.installation_id),
    locale = coalesce(excluded.locale, d.locale),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null,
    refusals = 0,
    probe = null,
    quarantined_at = null;
  -- An installation has one enabled token: the newest.
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'replaced'
  where d.app = register_device.app
    and d.installation_id = nullif(register_device.installation_id, '')
    and d.token <> lower(register_device.token) and d.disabled_at is null;
end
$$;
COMMENT ON FUNCTION ridepulse.register_device(app text, owner_id text, token text, environment text, installation_id text, locale text) IS 'Registers a phone or enables it again, and disables the older tokens of its installation. token: hexadecimal, in upper or lower case. environment, installation_id, locale: null keeps the stored value. Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes; 23514 if environment is neither null, production nor sandbox.';
CREATE FUNCTION ridepulse.register_live_activity(ride_id text, app text, owner_id text, token text, activity_id text, environment text DEFAULT NULL::text, frequent boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  old ridepulse.live_activities;
begin
  perform ridepulse.check_text('register_live_activity', 'ride_id', ride_id),
    ridepulse.check_text('register_live_activity', 'app', app),
    ridepulse.check_text('register_live_activity', 'owner_id', owner_id),
    ridepulse.check_text('register_live_activity', 'token', token),
    ridepulse.check_text('register_live_activity', 'activity_id', activity_id);
  select * into old from ridepulse.live_activities a
  where a.app = register_live_activity.app and a.activity_id = register_live_activity.activity_id
  for update;
  insert into ridepulse.live_activities as a
    (ride_id, app, owner_id, token, activity_id, environment, frequent)
  values (register_live_activity.ride_id, register_live_activity.app,
          register_live_activity.owner_id, lower(register_live_activity.token),
          register_live_activity.activity_id, register_live_activity.environment,
          coalesce(register_live_activity.frequent, false))
  on conflict on constraint live_activities_app_activity_id_key do update set
    ride_id = excluded.ride_id,
    owner_id = excluded.owner_id,
    token = excluded.token,
    environment = coalesce(excluded.environment, a.environment),
    frequent = excluded.frequent,
    registered_at = excluded.registered_at,
    ended_at = case when a.ended_reason in ('ended', 'expired') then a.ended_at end,
    ended_reason = case when a.ended_reason in ('ended', 'expired') then a.ended_reason end;
  if coalesce(old.ended_reason, '') not in ('ended', 'expired')
     and (old.id is null or old.ended_at is not null
          or old.ride_id <> register_live_activity.ride_id
          or old.token <> lower(register_live_activity.token)) then
    insert into ridepulse.events (ride_id, event, data)
    values (register_live_activity.ride_id, 'card_registered', '{}');
  end if;
end
$$;
COMMENT ON FUNCTION ridepulse.register_live_activity(ride_id text, app text, owner_id text, token text, activity_id text, environment text, frequent boolean) IS 'Registers the update token of a card, and makes its ride due if the card is new or live again, or has a new token or ride. token: hexadecimal, in upper or lower case. activity_id: ActivityKit''s ID. environment: null keeps the stored value. frequent: whether the person allows frequent updates. Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes; 23514 if environment is neither null, production nor sandbox.';
CREATE FUNCTION ridepulse.register_push_to_start(app text, owner_id text, token text, attributes_type text, environment text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform ridepulse.check_text('register_push_to_start', 'app', app),
    ridepulse.check_text('register_push_to_start', 'owner_id', owner_id),
    ridepulse.check_text('register_push_to_start', 'token', token),
    ridepulse.check_text('register_push_to_start', 'attributes_type', attributes_type);
  insert into ridepulse.push_to_start_tokens as t
    (app, owner_id, token, attributes_type, environment)
  values (register_push_to_start.app, register_push_to_start.owner_id,
          lower(register_push_to_start.token), register_push_to_start.attributes_type,
          register_push_to_start.environment)
  on conflict on constraint push_to_start_tokens_app_attributes_type_token_key do update set
    owner_id = excluded.owner_id,
    environment = coalesce(excluded.environment, t.environment),
    registered_at = excluded.registered_at,
    disabled_at = null,
    disabled_reason = null;
end
$$;
COMMENT ON FUNCTION ridepulse.register_push_to_start(app text, owner_id text, token text, attributes_type text, environment text) IS 'Registers a token with which cards can be started, or makes it valid again. token: hexadecimal, in upper or lower case. attributes_type: name of the type of the activity''s attributes. environment: null keeps the stored value. Errors: 22023 if a required text is null or empty, or if a text has more than 512 bytes; 23514 if environment is neither null, production nor sandbox.';
CREATE FUNCTION ridepulse.register_watch(relation regclass, mapping jsonb) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.register_watch(relation regclass, mapping jsonb) IS 'Stores the mapping of a table, clears the recorded problems of the table, and returns the columns that the mapping reads, as a list for SELECT. A null mapping detaches the table. Errors: 42809 if the table cannot be attached; 42703 if a column does not exist; 42804 and 22023 if pickup_at has an unusable type or time zone; those of ridepulse.parse_mapping.';
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
CREATE FUNCTION ridepulse.require_owner("table" regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.require_owner("table" regclass) IS 'Refuses a role that does not own the table, or lacks a right that attaching needs. Errors: 42501.';
CREATE FUNCTION ridepulse.ride_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  event text;
  former jsonb;
begin
  -- Must precede any use of the row, whose types would belong to the owner of the other table.
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.ride_changed serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  if current_setting('ridepulse.silent', true) = 'on' then
    if tg_op = 'UPDATE' then
      return null;
    end if;
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
  values (new.id, event, '{}', new.customer_id, new.driver_id, former);
  return null;
end
$$;
COMMENT ON FUNCTION ridepulse.ride_changed() IS 'Trigger function: emits the event of a new or changed ride. Errors: 42501 on any table other than ridepulse.rides.';
CREATE FUNCTION ridepulse.ride_stamped() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  new.updated_at := now();
  return new;
end
$$;
COMMENT ON FUNCTION ridepulse.ride_stamped() IS 'Trigger function: sets updated_at of a changed ride to the start of the transaction.';
CREATE FUNCTION ridepulse.rotate_ledger(keep interval DEFAULT NULL::interval) RETURNS TABLE(action text, object text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET lock_timeout TO '100ms'
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
  keep := coalesce(rotate_ledger.keep, rules.keep, interval '30 days');
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
  begin
    for object, day in
      select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'ridepulse.ledger'::regclass and c.relname ~ '^ledger_\d{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() - keep)::date
      order by 2
    loop
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
      return next;
    end loop;
    if rules.cut_at < now() - keep and pg_relation_size('ridepulse.ledger_before') > 0 then
      -- Nothing writes to it, and none of its rows is pending.
      object := 'ledger_before';
      truncate ridepulse.ledger_before;
      action := 'emptied';
      return next;
    end if;
  exception when lock_not_available then
    action := 'in use, left for the next time:';
    return next;
  end;
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
CREATE FUNCTION ridepulse.select_list(columns jsonb, attributes jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select string_agg(format('r.%I', name), ', ' order by name) from (
    select value as name from jsonb_each_text(columns)
    union
    select value from jsonb_each_text(attributes)) names
$$;
COMMENT ON FUNCTION ridepulse.select_list(columns jsonb, attributes jsonb) IS 'Returns the columns that a mapping reads, as a list for SELECT from a row r.';
CREATE FUNCTION ridepulse.store_row(relation regclass, source jsonb, is_copy boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  w ridepulse.watches;
  ride ridepulse.rides;
  problems text[] := '{}';
begin
  select * into w from ridepulse.watches a where a.relation = store_row.relation;
  if not found then
    raise exception 'ridepulse.store_row: % is not attached', store_row.relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Call ridepulse.watch as the owner of the table.';
  end if;
  ride.id := source ->> (w.columns ->> 'id');
  ride.state := source ->> (w.columns ->> 'state');
  ride.customer_id := source ->> (w.columns ->> 'customer_id');
  ride.driver_id := source ->> (w.columns ->> 'driver_id');
  ride.time_zone := coalesce(source ->> (w.columns ->> 'time_zone'), 'UTC');
  if coalesce(ride.id, '') = '' or octet_length(ride.id) > 512 then
    perform ridepulse.record_watch_error(w.relation, w.columns ->> 'id',
      case when ride.id is null then 'null_id' when ride.id = '' then 'empty_id'
        else 'too_long' end, ride.id);
    return;
  end if;
  if octet_length(ride.state) > 512 then
    ride.state := null;
    problems := problems || array['state', 'too_long'];
  end if;
  if octet_length(ride.customer_id) > 512 then
    ride.customer_id := null;
    problems := problems || array['customer_id', 'too_long'];
  end if;
  if octet_length(ride.driver_id) > 512 then
    ride.driver_id := null;
    problems := problems || array['driver_id', 'too_long'];
  end if;
  if ride.time_zone <> 'UTC'
     and (ridepulse.parse_time('2000-01-01', ride.time_zone)).problem is not null then
    ride.time_zone := 'UTC';
    problems := problems || array['time_zone', 'unknown_time_zone'];
  end if;
  if w.columns ? 'pickup_at' then
    declare
      pickup record;
    begin
      select * into pickup
      from ridepulse.parse_time(source ->> (w.columns ->> 'pickup_at'), w.time_zone);
      ride.pickup_at := pickup.instant;
      if pickup.problem is not null then
        problems := problems || array['pickup_at', pickup.problem];
      end if;
    end;
  end if;
  ride.attributes := coalesce(nullif(source -> (w.columns ->> 'attributes'), 'null'), '{}');
  if jsonb_typeof(ride.attributes) <> 'object' then
    ride.attributes := '{}';
    problems := problems || array['attributes', 'not_an_object'];
  end if;
  if w.attributes <> '{}' then
    select jsonb_object_agg(key, source -> value) into ride.attributes
    from jsonb_each_text(w.attributes);
  end if;
  for i in 1 .. cardinality(problems) by 2 loop
    perform ridepulse.record_watch_error(
      w.relation, w.columns ->> problems[i], problems[i + 1], ride.id);
  end loop;
  insert into ridepulse.rides as r
    (id, state, customer_id, driver_id, pickup_at, time_zone, attributes)
  values (ride.id, ride.state, ride.customer_id, ride.driver_id, ride.pickup_at, ride.time_zone,
          ride.attributes)
  on conflict (id) do update set
    state = excluded.state, customer_id = excluded.customer_id, driver_id = excluded.driver_id,
    pickup_at = excluded.pickup_at, time_zone = excluded.time_zone,
    attributes = excluded.attributes
  where not store_row.is_copy
    and (r.state, r.customer_id, r.driver_id, r.pickup_at, r.time_zone, r.attributes)
      is distinct from (excluded.state, excluded.customer_id, excluded.driver_id,
                        excluded.pickup_at, excluded.time_zone, excluded.attributes);
end
$$;
COMMENT ON FUNCTION ridepulse.store_row(relation regclass, source jsonb, is_copy boolean) IS 'Copies a row of an attached table to ridepulse.rides. source: the mapped columns as JSON. is_copy: leaves a ride that exists unchanged. Errors: 55000 if the table is not attached.';
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
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with lifted as (
    update ridepulse.devices d
    set quarantined_at = null, refusals = 0, probe = null, is_probed = false
    where d.quarantined_at is not null
      and (unquarantine.app is null or d.app = unquarantine.app)
    returning 1
  )
  select count(*) from lifted
$$;
COMMENT ON FUNCTION ridepulse.unquarantine(app text) IS 'Lifts the quarantine of an app''s phones, or of all phones if app is null; returns how many. Also resets their refusals, and whether they were tried in the other environment.';
CREATE FUNCTION ridepulse.unwatch("table" regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform ridepulse.require_owner("table");
  execute format('lock table %s in access exclusive mode', "table");
  execute format('drop trigger if exists ridepulse_read on %s', "table");
  execute format('drop trigger if exists ridepulse_watch on %s', "table");
  perform ridepulse.register_watch("table", null);
end
$$;
COMMENT ON FUNCTION ridepulse.unwatch("table" regclass) IS 'Detaches a table; its rides stay. Errors: 42501 if the caller may not detach the table.';
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
CREATE FUNCTION ridepulse.watch("table" regclass, mapping jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.watch("table" regclass, mapping jsonb) IS 'Attaches a table, whose rows become rides from now on. Existing rows are copied without a push. A second call replaces the mapping. mapping: see docs/sql.md. Errors: 42501 if the caller may not attach the table; those of ridepulse.register_watch.';
CREATE FUNCTION ridepulse.watched() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION ridepulse.watched() IS 'Trigger function of ridepulse_watch: copies the row that ridepulse_read has stored as JSON, or records a problem. It must not read the row itself.';
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
COMMENT ON COLUMN ridepulse.agenda.memo IS 'What the last decision left for the next one: retries, cards, schedule slots.';
COMMENT ON COLUMN ridepulse.agenda.node IS 'The node that claimed the ride; null once the ride is released. A settlement by any other node is refused.';
COMMENT ON COLUMN ridepulse.agenda.fence IS 'Fencing token of the last claim. A settlement with any other one is refused.';
COMMENT ON COLUMN ridepulse.agenda.leased_until IS 'When the lease ends: -infinity without a lease, infinity for a parked ride.';
COMMENT ON COLUMN ridepulse.agenda.parked_reason IS 'Why the ride is parked; null if it is not.';
COMMENT ON COLUMN ridepulse.agenda.unread IS 'Number of consecutive claims that could not read the ride.';
COMMENT ON COLUMN ridepulse.agenda.parked_at IS 'When the ride was parked; null if it is not.';
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
    CONSTRAINT contacts_app_check CHECK ((app <> ''::text)),
    CONSTRAINT contacts_owner_id_check CHECK ((owner_id <> ''::text))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05');
COMMENT ON TABLE ridepulse.contacts IS 'The last contact of each owner''s phones with the app''s backend.';
COMMENT ON COLUMN ridepulse.contacts.app IS 'The app on the phone.';
COMMENT ON COLUMN ridepulse.contacts.owner_id IS 'The owner of the phone.';
COMMENT ON COLUMN ridepulse.contacts.contacted_at IS 'When ridepulse.contact was last called for the owner.';
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
    told_disabled_at timestamp with time zone,
    CONSTRAINT devices_app_check CHECK ((app <> ''::text)),
    CONSTRAINT devices_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT devices_owner_id_check CHECK ((owner_id <> ''::text)),
    CONSTRAINT devices_token_check CHECK ((token <> ''::text))
);
COMMENT ON TABLE ridepulse.devices IS 'Phones. Never deleted: a phone is disabled with a reason, and its next registration enables it again.';
COMMENT ON COLUMN ridepulse.devices.id IS 'The phones of an owner are addressed in the order of their IDs.';
COMMENT ON COLUMN ridepulse.devices.app IS 'The app on the phone.';
COMMENT ON COLUMN ridepulse.devices.owner_id IS 'The person, as rides name customers, drivers and other owners.';
COMMENT ON COLUMN ridepulse.devices.token IS 'The device token, in lower-case hexadecimal.';
COMMENT ON COLUMN ridepulse.devices.environment IS 'The APNs environment; null if the app has not named one and no push has found it.';
COMMENT ON COLUMN ridepulse.devices.installation_id IS 'The app''s ID of this installation. Only the newest token of an installation stays enabled.';
COMMENT ON COLUMN ridepulse.devices.locale IS 'The locale of texts, such as de-CH.';
COMMENT ON COLUMN ridepulse.devices.registered_at IS 'Time of the last registration, which overrides what APNs reported earlier. -infinity for a phone that only the legacy gateway has added.';
COMMENT ON COLUMN ridepulse.devices.disabled_at IS 'When the phone was disabled; null while it is enabled.';
COMMENT ON COLUMN ridepulse.devices.disabled_reason IS 'APNs'' reason, or replaced if the installation has a newer token; null while it is enabled.';
COMMENT ON COLUMN ridepulse.devices.refusals IS 'Number of consecutive BadDeviceToken answers.';
COMMENT ON COLUMN ridepulse.devices.probe IS 'apns-id of the push that may try the other environment; null if none may.';
COMMENT ON COLUMN ridepulse.devices.is_probed IS 'Whether a push has tried the other environment.';
COMMENT ON COLUMN ridepulse.devices.quiet_until IS 'End of the pause that APNs requested with status 429.';
COMMENT ON COLUMN ridepulse.devices.quarantined_at IS 'When the quarantine began; null if the phone is not in quarantine.';
COMMENT ON COLUMN ridepulse.devices.told_disabled_at IS 'The disabled_at that the legacy feedback port has reported; null if it has reported none.';
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
    GREATEST(d.quiet_until, o.quiet_until) AS quiet_until
   FROM (ridepulse.devices d
     CROSS JOIN LATERAL ( SELECT count(*) AS count,
            COALESCE(bool_or((f.gone_since >= d.registered_at)), false) AS is_gone,
            COALESCE(bool_or(((f.is_good OR (f.environment IS NOT NULL)) AND (f.created_at >= d.registered_at))), false) AS is_reset,
            (count(*) FILTER (WHERE (f.is_refused AND (f.created_at >= d.registered_at) AND (NOT (EXISTS ( SELECT
                   FROM ridepulse.token_outcomes g
                  WHERE ((g.kind = 'phone'::text) AND (g.token_id = d.id) AND (g.id >= f.id) AND (g.is_good OR (g.environment IS NOT NULL)))))))))::integer AS refusals,
            COALESCE(bool_or(f.is_probed), false) AS is_probed,
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
    CONSTRAINT live_activities_activity_id_check CHECK ((activity_id <> ''::text)),
    CONSTRAINT live_activities_app_check CHECK ((app <> ''::text)),
    CONSTRAINT live_activities_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT live_activities_owner_id_check CHECK ((owner_id <> ''::text)),
    CONSTRAINT live_activities_token_check CHECK ((token <> ''::text))
);
COMMENT ON TABLE ridepulse.live_activities IS 'Cards (Live Activities) on phones, one row for each activity.';
COMMENT ON COLUMN ridepulse.live_activities.id IS 'The key of the card in a memo.';
COMMENT ON COLUMN ridepulse.live_activities.ride_id IS 'The ride that the card shows.';
COMMENT ON COLUMN ridepulse.live_activities.app IS 'The app that shows the card.';
COMMENT ON COLUMN ridepulse.live_activities.owner_id IS 'The owner of the phone.';
COMMENT ON COLUMN ridepulse.live_activities.activity_id IS 'ActivityKit''s ID of the activity.';
COMMENT ON COLUMN ridepulse.live_activities.token IS 'The activity''s newest update token, in lower-case hexadecimal.';
COMMENT ON COLUMN ridepulse.live_activities.environment IS 'The APNs environment; null if the app has not named one.';
COMMENT ON COLUMN ridepulse.live_activities.frequent IS 'Whether the person allows frequent updates.';
COMMENT ON COLUMN ridepulse.live_activities.registered_at IS 'Time of the last registration, which overrides what APNs reported earlier.';
COMMENT ON COLUMN ridepulse.live_activities.ended_at IS 'When the card ended; null while it is live.';
COMMENT ON COLUMN ridepulse.live_activities.ended_reason IS 'How the card ended: ended, expired (no screen can show it any more), or APNs'' reason; null while it is live.';
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
    COALESCE(a.ended_reason, o.gone_reason) AS ended_reason
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
COMMENT ON COLUMN ridepulse.push_to_start_tokens.disabled_reason IS 'APNs'' reason; null while the token is valid.';
CREATE VIEW ridepulse.current_start_tokens AS
 SELECT t.id,
    t.app,
    t.owner_id,
    t.attributes_type,
    t.token,
    t.environment,
    t.registered_at
   FROM ridepulse.push_to_start_tokens t
  WHERE ((t.disabled_at IS NULL) AND (NOT (EXISTS ( SELECT
           FROM ridepulse.token_outcomes o
          WHERE ((o.kind = 'start'::text) AND (o.token_id = t.id) AND (o.gone_since >= t.registered_at))))));
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
    CONSTRAINT ledger_card_event_check CHECK ((card_event = ANY (ARRAY['start'::text, 'update'::text, 'end'::text]))),
    CONSTRAINT ledger_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'rejected'::text, 'expired'::text, 'uncertain'::text, 'suppressed'::text, 'superseded'::text])))
)
PARTITION BY RANGE (occurred_at);
COMMENT ON TABLE ridepulse.ledger IS 'Outcomes of pushes: one row for each event or slot, rule and phone, and one row without a phone if a rule had no recipient.';
COMMENT ON COLUMN ridepulse.ledger.ride_id IS 'The ride.';
COMMENT ON COLUMN ridepulse.ledger.apns_id IS 'apns-id, the same in every attempt of the push.';
COMMENT ON COLUMN ridepulse.ledger.event_id IS 'The event''s ID; null for a schedule slot.';
COMMENT ON COLUMN ridepulse.ledger.event IS 'The event''s name.';
COMMENT ON COLUMN ridepulse.ledger.rule IS 'The rule''s name.';
COMMENT ON COLUMN ridepulse.ledger.app IS 'The app of the phone.';
COMMENT ON COLUMN ridepulse.ledger.push_type IS 'apns-push-type.';
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
CREATE TABLE ridepulse.ledger_before (
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
    CONSTRAINT ledger_card_event_check CHECK ((card_event = ANY (ARRAY['start'::text, 'update'::text, 'end'::text])))
)
WITH (fillfactor='95');
COMMENT ON TABLE ridepulse.ledger_before IS 'Ledger rows of databases from before the ledger was partitioned. Nothing writes to it.';
COMMENT ON COLUMN ridepulse.ledger_before.ride_id IS 'The ride.';
COMMENT ON COLUMN ridepulse.ledger_before.apns_id IS 'apns-id, the same in every attempt of the push.';
COMMENT ON COLUMN ridepulse.ledger_before.event_id IS 'The event''s ID; null for a schedule slot.';
COMMENT ON COLUMN ridepulse.ledger_before.event IS 'The event''s name.';
COMMENT ON COLUMN ridepulse.ledger_before.rule IS 'The rule''s name.';
COMMENT ON COLUMN ridepulse.ledger_before.app IS 'The app of the phone.';
COMMENT ON COLUMN ridepulse.ledger_before.push_type IS 'apns-push-type.';
COMMENT ON COLUMN ridepulse.ledger_before.status IS 'The outcome; docs/sql.md describes each one.';
COMMENT ON COLUMN ridepulse.ledger_before.reason IS 'Why the push has this status, as a text for people.';
COMMENT ON COLUMN ridepulse.ledger_before.attempts IS 'Number of times the push was sent.';
COMMENT ON COLUMN ridepulse.ledger_before.collapse_id IS 'apns-collapse-id.';
COMMENT ON COLUMN ridepulse.ledger_before.device_id IS 'The phone, an ID in devices; null if there is none.';
COMMENT ON COLUMN ridepulse.ledger_before.token_suffix IS 'The last six digits of the token.';
COMMENT ON COLUMN ridepulse.ledger_before.occurred_at IS 'When the event happened or the slot was due: the same in every attempt.';
COMMENT ON COLUMN ridepulse.ledger_before.created_at IS 'When the push was first settled.';
COMMENT ON COLUMN ridepulse.ledger_before.finished_at IS 'When the outcome became final; null while the push is pending.';
COMMENT ON COLUMN ridepulse.ledger_before.priority IS 'apns-priority; null if nothing was sent.';
COMMENT ON COLUMN ridepulse.ledger_before.expiration IS 'apns-expiration in seconds since 1970, 0 for a push that APNs must not store; null if nothing was sent.';
COMMENT ON COLUMN ridepulse.ledger_before.card_event IS 'start, update or end; null if the push does not concern a card.';
CREATE VIEW ridepulse.deliveries AS
 SELECT rows.ride_id,
    rows.event,
    rows.rule,
    rows.app,
    rows.push_type,
    rows.status,
    rows.reason,
    rows.attempts,
        CASE
            WHEN ((rows.attempts > 0) OR (rows.status = 'pending'::text)) THEN rows.apns_id
            ELSE NULL::uuid
        END AS apns_id,
    rows.collapse_id,
    rows.created_at,
    rows.finished_at,
    rows.token_suffix
   FROM ( SELECT ledger.ride_id,
            ledger.apns_id,
            ledger.event_id,
            ledger.event,
            ledger.rule,
            ledger.app,
            ledger.push_type,
            ledger.status,
            ledger.reason,
            ledger.attempts,
            ledger.collapse_id,
            ledger.device_id,
            ledger.token_suffix,
            ledger.occurred_at,
            ledger.created_at,
            ledger.finished_at,
            ledger.priority,
            ledger.expiration,
            ledger.card_event
           FROM ridepulse.ledger
        UNION ALL
         SELECT ledger_before.ride_id,
            ledger_before.apns_id,
            ledger_before.event_id,
            ledger_before.event,
            ledger_before.rule,
            ledger_before.app,
            ledger_before.push_type,
            ledger_before.status,
            ledger_before.reason,
            ledger_before.attempts,
            ledger_before.collapse_id,
            ledger_before.device_id,
            ledger_before.token_suffix,
            ledger_before.occurred_at,
            ledger_before.created_at,
            ledger_before.finished_at,
            ledger_before.priority,
            ledger_before.expiration,
            ledger_before.card_event
           FROM ridepulse.ledger_before) rows;
COMMENT ON VIEW ridepulse.deliveries IS 'Outcomes of pushes, for people and backends. apns_id is null if nothing was sent.';
ALTER TABLE ridepulse.devices ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.devices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE ridepulse.events (
    id bigint NOT NULL,
    ride_id text NOT NULL,
    event text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    customer_id text,
    driver_id text,
    former jsonb
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
    edition integer NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE ridepulse.nodes IS 'The nodes that claim rides, and whether each sleeps until it is notified.';
COMMENT ON COLUMN ridepulse.nodes.node IS 'The node''s ID, new at each start.';
COMMENT ON COLUMN ridepulse.nodes.host IS 'The host name of the machine, for people.';
COMMENT ON COLUMN ridepulse.nodes.asleep IS 'Whether the node waits for a NOTIFY.';
COMMENT ON COLUMN ridepulse.nodes.seen_at IS 'When the node last claimed, updated every 2 s.';
COMMENT ON COLUMN ridepulse.nodes.edition IS 'Version of the schema that the node writes. A node that names none cannot claim.';
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
ALTER TABLE ridepulse.push_to_start_tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ridepulse.push_to_start_tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW ridepulse.quarantine AS
 SELECT devices.id AS device_id,
    devices.app,
    devices.owner_id,
    "right"(devices.token, 6) AS token_suffix,
    devices.environment,
    devices.refusals,
    devices.quarantined_at
   FROM ridepulse.devices
  WHERE ((devices.quarantined_at IS NOT NULL) AND (devices.disabled_at IS NULL));
COMMENT ON VIEW ridepulse.quarantine IS 'Phones in quarantine: APNs has refused their tokens three times in a row. token_suffix is the last six digits.';
CREATE TABLE ridepulse.retention (
    is_only boolean DEFAULT true NOT NULL,
    keep interval DEFAULT '30 days'::interval NOT NULL,
    cut_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT retention_is_only_check CHECK (is_only),
    CONSTRAINT retention_keep_check CHECK ((keep >= '1 day'::interval))
);
COMMENT ON TABLE ridepulse.retention IS 'One row: how long the ledger is kept.';
COMMENT ON COLUMN ridepulse.retention.is_only IS 'Always true: the primary key of the only row.';
COMMENT ON COLUMN ridepulse.retention.keep IS 'How long ledger rows are kept, counted from their events; at least 1 day.';
COMMENT ON COLUMN ridepulse.retention.cut_at IS 'When the ledger was partitioned: ledger_before is emptied once this is older than keep.';
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
CREATE TABLE ridepulse.watches (
    relation regclass NOT NULL,
    mapping jsonb NOT NULL,
    columns jsonb NOT NULL,
    attributes jsonb NOT NULL,
    time_zone text,
    watched_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
COMMENT ON TABLE ridepulse.watches IS 'The attached tables. Rows of no other table become rides.';
COMMENT ON COLUMN ridepulse.watches.relation IS 'The table.';
COMMENT ON COLUMN ridepulse.watches.mapping IS 'The mapping as it was passed to ridepulse.watch.';
COMMENT ON COLUMN ridepulse.watches.columns IS 'Columns of ridepulse.rides, each with the table''s column that is copied to it.';
COMMENT ON COLUMN ridepulse.watches.attributes IS 'Keys of rides.attributes, each with the table''s column that is copied to it.';
COMMENT ON COLUMN ridepulse.watches.time_zone IS 'IANA name of the time zone of pickup_at values without an offset; null if the mapping names none.';
COMMENT ON COLUMN ridepulse.watches.watched_at IS 'When ridepulse.watch was last called for the table.';
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
            'missing_column'::text,
            NULL::text,
            ('mapped to '::text || m.target),
            NULL::bigint,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone
           FROM ((ridepulse.watches w
             JOIN pg_class c ON ((c.oid = (w.relation)::oid)))
             CROSS JOIN LATERAL ( SELECT jsonb_each_text.key AS target,
                    jsonb_each_text.value AS column_name
                   FROM jsonb_each_text(w.columns) jsonb_each_text(key, value)
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
            NULL::text,
            NULL::text,
            NULL::bigint,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone
           FROM (((ridepulse.watches w
             JOIN pg_class c ON ((c.oid = (w.relation)::oid)))
             CROSS JOIN ( VALUES ('ridepulse_read'::text), ('ridepulse_watch'::text)) wanted(name))
             LEFT JOIN LATERAL ( SELECT bool_or((g_1.tgenabled = ANY (ARRAY['D'::"char", 'R'::"char"]))) AS is_disabled,
                    (count(*) > 0) AS is_there
                   FROM pg_trigger g_1
                  WHERE ((g_1.tgname = wanted.name) AND (g_1.tgrelid IN ( SELECT (w.relation)::oid AS relation
                        UNION ALL
                         SELECT (pg_partition_tree.relid)::oid AS relid
                           FROM pg_partition_tree(w.relation) pg_partition_tree(relid, parentrelid, isleaf, level))))) g ON (true))
          WHERE ((NOT g.is_there) OR g.is_disabled)
        UNION ALL
         SELECT (g.tgrelid)::regclass AS tgrelid,
            g.tgname,
            'disabled_trigger'::text,
            NULL::text,
            NULL::text,
            NULL::bigint,
            NULL::timestamp with time zone,
            NULL::timestamp with time zone
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
    watches.watched_at
   FROM ridepulse.watches;
COMMENT ON VIEW ridepulse.watched IS 'The attached tables, with their mappings.';
ALTER TABLE ONLY ridepulse.ledger ATTACH PARTITION ridepulse.ledger_default DEFAULT;
ALTER TABLE ONLY ridepulse.agenda
    ADD CONSTRAINT agenda_pkey PRIMARY KEY (ride_id);
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
ALTER TABLE ONLY ridepulse.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key);
ALTER TABLE ONLY ridepulse.ledger_before
    ADD CONSTRAINT ledger_before_pkey PRIMARY KEY (ride_id, apns_id);
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
ALTER TABLE ONLY ridepulse.migrations
    ADD CONSTRAINT migrations_name_key UNIQUE (name);
ALTER TABLE ONLY ridepulse.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY ridepulse.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (node);
ALTER TABLE ONLY ridepulse.other_channels
    ADD CONSTRAINT other_channels_pkey PRIMARY KEY (bundle_id, environment, channel_id);
ALTER TABLE ONLY ridepulse.push_to_start_tokens
    ADD CONSTRAINT push_to_start_tokens_app_attributes_type_token_key UNIQUE (app, attributes_type, token);
ALTER TABLE ONLY ridepulse.push_to_start_tokens
    ADD CONSTRAINT push_to_start_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (is_only);
ALTER TABLE ridepulse.rides
    ADD CONSTRAINT rides_id_at_most_512_bytes CHECK ((octet_length(id) <= 512)) NOT VALID;
ALTER TABLE ONLY ridepulse.rides
    ADD CONSTRAINT rides_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.slot_counts
    ADD CONSTRAINT slot_counts_pkey PRIMARY KEY (rule, day, node);
ALTER TABLE ONLY ridepulse.timing
    ADD CONSTRAINT timing_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY ridepulse.token_outcomes
    ADD CONSTRAINT token_outcomes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ridepulse.watch_errors
    ADD CONSTRAINT watch_errors_pkey PRIMARY KEY (relation, column_name, problem);
ALTER TABLE ONLY ridepulse.watches
    ADD CONSTRAINT watches_pkey PRIMARY KEY (relation);
CREATE INDEX agenda_due ON ridepulse.agenda USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX channels_by_id ON ridepulse.channels USING btree (bundle_id, environment, channel_id) WHERE (channel_id IS NOT NULL);
CREATE UNIQUE INDEX channels_by_ride ON ridepulse.channels USING btree (ride_id, app, environment) WHERE ((ride_id IS NOT NULL) AND (ended_at IS NULL) AND (unanswered_at IS NULL));
CREATE INDEX channels_of_ride ON ridepulse.channels USING btree (ride_id, app, environment, id) WHERE (ride_id IS NOT NULL);
CREATE INDEX channels_to_delete ON ridepulse.channels USING btree (ended_at) WHERE ((ended_reason = ANY (ARRAY['ended'::text, 'expired'::text])) AND (deleted_at IS NULL));
CREATE INDEX channels_to_report ON ridepulse.channels USING btree (id) WHERE ((channel_id IS NOT NULL) AND (ride_id IS NOT NULL) AND (ended_at IS NULL) AND (reported_at IS NULL));
CREATE INDEX devices_by_installation ON ridepulse.devices USING btree (app, installation_id) WHERE ((installation_id IS NOT NULL) AND (disabled_at IS NULL));
CREATE INDEX devices_by_owner ON ridepulse.devices USING btree (app, owner_id, id) WHERE (disabled_at IS NULL);
CREATE INDEX devices_in_quarantine ON ridepulse.devices USING btree (app) WHERE (quarantined_at IS NOT NULL);
CREATE INDEX devices_to_be_told ON ridepulse.devices USING btree (app, id) WHERE ((disabled_reason = ANY (ARRAY['Unregistered'::text, 'ExpiredToken'::text])) AND (told_disabled_at IS DISTINCT FROM disabled_at));
CREATE INDEX events_by_ride ON ridepulse.events USING btree (ride_id, id);
CREATE INDEX idempotency_keys_by_age ON ridepulse.idempotency_keys USING btree (created_at);
CREATE INDEX legacy_frames_by_age ON ridepulse.legacy_frames USING btree (taken_at);
CREATE INDEX live_activities_by_ride ON ridepulse.live_activities USING btree (ride_id);
CREATE INDEX push_to_start_tokens_by_owner ON ridepulse.push_to_start_tokens USING btree (app, owner_id) WHERE (disabled_at IS NULL);
CREATE INDEX token_outcomes_by_token ON ridepulse.token_outcomes USING btree (kind, token_id, id);
ALTER INDEX ridepulse.ledger_pkey ATTACH PARTITION ridepulse.ledger_default_pkey;
CREATE TRIGGER added AFTER INSERT ON ridepulse.rides FOR EACH ROW EXECUTE FUNCTION ridepulse.ride_changed();
CREATE TRIGGER changed AFTER UPDATE ON ridepulse.rides FOR EACH ROW WHEN (((old.* IS DISTINCT FROM new.*) AND (current_setting('ridepulse.silent'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION ridepulse.ride_changed();
CREATE TRIGGER keep_channel_ids BEFORE UPDATE OF attributes ON ridepulse.rides FOR EACH ROW WHEN (((old.attributes IS DISTINCT FROM new.attributes) AND (jsonb_typeof(old.attributes) = 'object'::text) AND (jsonb_typeof(new.attributes) = 'object'::text) AND ((old.attributes)::text ~~ '%\_channel\_id"%'::text))) EXECUTE FUNCTION ridepulse.keep_channel_ids();
CREATE TRIGGER stamped BEFORE UPDATE ON ridepulse.rides FOR EACH ROW WHEN (((old.* IS DISTINCT FROM new.*) AND (NOT (old.updated_at IS DISTINCT FROM new.updated_at)))) EXECUTE FUNCTION ridepulse.ride_stamped();
CREATE CONSTRAINT TRIGGER wake AFTER INSERT ON ridepulse.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((current_setting('ridepulse.transaction'::text, true) IS DISTINCT FROM (pg_current_xact_id())::text) AND (set_config('ridepulse.transaction'::text, (pg_current_xact_id())::text, true) IS NOT NULL))) EXECUTE FUNCTION ridepulse.wake();
