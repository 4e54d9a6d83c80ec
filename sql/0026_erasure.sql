-- What ridepulse.forget needs to remove a person from JSON. See docs/privacy.md and
-- docs/decisions/0037-forget.md.

-- How often a text was quoted changes only the number of its backslashes.
create function ridepulse.json_contains(json text, owner_id text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
  select coalesce(strpos(replace($1, '\', ''),
    replace(trim(both '"' from to_jsonb($2)::text), '\', '')) > 0, false)
$$;

comment on function ridepulse.json_contains(text, text) is
  'Returns whether JSON as a text may contain an owner ID, also in JSON that is quoted in it.';

-- Stands for an erased person in stored events, where null would mean another person.
create function ridepulse.scrub(value jsonb, owner_id text, keys text[]) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
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

comment on function ridepulse.scrub(jsonb, text, text[]) is
  'Returns JSON in which each text that is an owner''s ID is (erased), also in JSON that is quoted '
  'as a text. keys: the members that may name the owner; null means all.';

create type ridepulse.erasure as (
  owner_id text,
  app      text,
  apps     text[],
  keys     text[],
  phones   bigint[],
  cards    bigint[],
  starts   bigint[],
  suffixes text[],
  rides    text[],
  roles    text[],
  legacy   text[],
  gone     text[],
  scope    text[]
);

comment on type ridepulse.erasure is 'What ridepulse.forget has found of a person.';
comment on column ridepulse.erasure.owner_id is 'The person''s owner ID.';
comment on column ridepulse.erasure.app is 'The only app of the erasure; null means all apps.';
comment on column ridepulse.erasure.apps is 'The apps in which the ID names the person.';
comment on column ridepulse.erasure.keys is
  'Members of JSON that may name the person; null means all.';
comment on column ridepulse.erasure.phones is 'IDs in devices.';
comment on column ridepulse.erasure.cards is 'IDs in live_activities.';
comment on column ridepulse.erasure.starts is 'IDs in push_to_start_tokens.';
comment on column ridepulse.erasure.suffixes is 'The last six characters of all these tokens.';
comment on column ridepulse.erasure.rides is 'Rides that name the person.';
comment on column ridepulse.erasure.roles is 'The app by which each of these rides does.';
comment on column ridepulse.erasure.legacy is
  'Pseudo rides of the person, of the phones, of cards and of start tokens.';
comment on column ridepulse.erasure.gone is 'Rides to delete.';
comment on column ridepulse.erasure.scope is
  'All rides whose memo, events or ledger rows may name the person.';

-- The row of a ride as it was: its texts are for the person alone, its IDs are for others too.
create function ridepulse.scrub_former(former jsonb, person ridepulse.erasure) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
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

comment on function ridepulse.scrub_former(jsonb, ridepulse.erasure) is
  'Returns a former row of a ride without the person, and without attributes if it named the '
  'person.';

create function ridepulse.scrub_memo(memo jsonb, person ridepulse.erasure, is_gone boolean)
returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
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

comment on function ridepulse.scrub_memo(jsonb, ridepulse.erasure, boolean) is
  'Returns a memo without a person''s pushes, cards and starts. is_gone: the ride is deleted; '
  'only other people''s cards stay.';

create function ridepulse.is_push_to(person ridepulse.erasure, entry jsonb) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce((entry ->> 'phone')::bigint = any (person.phones), false)
    or coalesce((entry ->> 'startToken')::bigint = any (person.starts), false)
    or coalesce(entry ->> 'owner' = person.owner_id and entry ->> 'app' = any (person.apps), false)
$$;

comment on function ridepulse.is_push_to(ridepulse.erasure, jsonb) is
  'Returns whether a memo''s ledger entry is of a push to the person.';

create function ridepulse.names_person(text text, person ridepulse.erasure) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on as $$
  select coalesce(text ~ ('(^|[^[:alnum:]])'
    || regexp_replace(person.owner_id, '([^[:alnum:]])', '\\\1', 'g') || '($|[^[:alnum:]])'), false)
$$;

comment on function ridepulse.names_person(text, ridepulse.erasure) is
  'Returns whether a text contains the person''s ID as a word.';

-- Reads whole tables, and locks nothing.
-- The token of an Android card is a number, which is in other people's answers, too.
create function ridepulse.find_person(owner_id text, app text) returns ridepulse.erasure
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
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

comment on function ridepulse.find_person(text, text) is
  'Finds all rows that name a person. app: null means in any app.';
