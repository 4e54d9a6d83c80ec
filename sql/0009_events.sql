-- Emitting events, and the checks of arguments that SQL and HTTP share. Contract: docs/sql.md.

-- For texts that are keys: an index entry holds at most 2,704 bytes over all of its columns.
create function ridepulse.check_text(
  function_name text, argument text, value text, is_required boolean default true
) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
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

comment on function ridepulse.check_text(text, text, text, boolean) is
  'Checks a text argument: at most 512 bytes without control characters. function_name and '
  'argument are for the message, value is the text, is_required also refuses null and an empty '
  'text. Errors: 22023.';

create function ridepulse.check_app(function_name text, app text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
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

comment on function ridepulse.check_app(text, text) is
  'Checks the argument app: a name in ridepulse.apps, if that has any. function_name is for the '
  'message. Errors: 22023.';

-- The message does not quote the value: it may be a real token.
create function ridepulse.check_token(function_name text, token text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if token is null or token !~ '^([0-9A-Fa-f]{2}){1,255}([0-9A-Fa-f]{2})?$' then
    raise exception 'token of ridepulse.% is no token', function_name
      using errcode = 'invalid_parameter_value',
            hint = 'Send 2 to 512 hexadecimal digits, an even number of them.';
  end if;
end
$$;

comment on function ridepulse.check_token(text, text) is
  'Checks the argument token: 2 to 512 hexadecimal digits, an even number of them. function_name '
  'is for the message. Errors: 22023.';

create function ridepulse.canonical_token(platform text, token text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case $1 when 'android' then $2 else lower($2) end
$$;

comment on function ridepulse.canonical_token(text, text) is
  'Returns a token as it is stored: in lower case for ios, unchanged for android, whose tokens are '
  'case-sensitive.';

create function ridepulse.firebase_installation(token text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case when $1 ~ '^[cdef][A-Za-z0-9_-]{21}$' then $1
    when strpos($1, ':') = 23 then left($1, 22) end
$$;

comment on function ridepulse.firebase_installation(text) is
  'Returns the Firebase installation ID that an FCM token is or begins with; null if there is none.';

-- The messages do not quote the value: it may be a real token.
create function ridepulse.check_phone_token(function_name text, platform text, token text)
returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
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
$$;

comment on function ridepulse.check_phone_token(text, text, text) is
  'Checks the argument token of a phone. platform: ios, android, or null if it is not known. '
  'function_name is for the message. Errors: 22023.';

create function ridepulse.check_environment(function_name text, environment text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if environment not in ('production', 'sandbox') then
    raise exception 'environment of ridepulse.% is %, which is unknown',
      function_name, quote_literal(environment)
      using errcode = 'invalid_parameter_value', hint = 'Send production, sandbox or null.';
  end if;
end
$$;

comment on function ridepulse.check_environment(text, text) is
  'Checks the argument environment: production, sandbox or null. function_name is for the '
  'message. Errors: 22023.';

create function ridepulse.emit(event text, ride_id text, data jsonb default '{}')
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
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

comment on function ridepulse.emit(text, text, jsonb) is
  'Emits an event and returns its ID; it takes effect when the transaction commits. event: a name '
  'that rules match. ride_id: the ride, which need not exist; null means that the event concerns the '
  'people whom data names, as in ridepulse.emit_to_people, and the first one''s ID is returned. data: '
  'a JSON object; null means {}. Errors: 22023 if a required text is null or empty, or if a text has '
  'more than 512 bytes, or if data is not an object, or if ride_id is null and data names nobody.';

-- Each person has an event and a pseudo ride of their own: their events stay in order, and what is
-- stored for one person names no other. The data keeps all keys but those of other people.
create function ridepulse.emit_to_people(event text, data jsonb)
returns table (event_id bigint, ride_id text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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

comment on function ridepulse.emit_to_people(text, jsonb) is
  'Emits an event about no ride, once for each person whom data names by <app>_id; returns the IDs, '
  'and the pseudo ride of each person. event: a name that rules match. data: a JSON object; an ID or '
  'a list of IDs for each app, at most 1000 in all. Errors: 22023 for an argument that is not what '
  'the function takes, or if data names nobody.';
