-- A backfill reads a table only for a role whose rights the table's owner has, too: reading may run
-- code of the owner in more ways than can be listed. Reasons: docs/decisions/0073-backfill-as-owner.md.

create function ridepulse.lock_to_read("table" regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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

comment on function ridepulse.lock_to_read(regclass) is
  'Locks a table and its partitions against changes of their definition, and refuses to read them '
  'if an owner of them lacks rights of the caller: reading may run code of the owner. Errors: '
  '42501; 42809 if one of them is not a table.';

-- allows_owner_code has no effect any more: programs of the version before pass it.
create or replace function ridepulse.find_live_rows(
  "table" regclass, active text[], allows_owner_code boolean default true
)
returns table (ride_id text, key jsonb, version text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
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

comment on function ridepulse.find_live_rows(regclass, text[], boolean) is
  'Returns the live rows of an attached table and the rows of its live rides, by their keys; and '
  'live rides without a row, whose key is null. active: the active states. allows_owner_code has '
  'no effect. Errors: those of ridepulse.lock_to_read and ridepulse.backfill_plan.';

create or replace function ridepulse.backfill_batch(
  "table" regclass, active text[], rows jsonb, allows_owner_code boolean default true
)
returns table (inserted integer, refreshed integer, removed integer, unmatched integer)
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
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

comment on function ridepulse.backfill_batch(regclass, text[], jsonb, boolean) is
  'Reads rows of an attached table once more and stores them as rides, without a push. rows: '
  'arrays of ride ID, key and version, as ridepulse.find_live_rows returns them. allows_owner_code '
  'has no effect. Errors: 55P03 if it would have to wait for a writer; those of '
  'ridepulse.lock_to_read and ridepulse.backfill_plan.';

-- A look-up by to_regprocedure fails for a role without USAGE on the schema of a ride function. The
-- owner of this schema, and roles that read ridepulse.watch_problems, need none for the catalog.
do $$
declare
  same constant text := 'array[(select n.nspname from pg_namespace n where n.oid = %1$s.pronamespace), '
    '%1$s.proname]::text[] = parse_ident(w.ride_function) and %1$s.pronargs = 1 '
    'and %1$s.proargtypes[0] = %2$s';
  definition text := pg_get_functiondef('ridepulse.check_mapping(regclass, jsonb)'::regprocedure);
  changed text := replace(definition,
    'p.oid = to_regprocedure(format(''%s(%s)'', w.ride_function, relation))',
    format(same, 'p', '(select c.reltype from pg_class c where c.oid = check_mapping.relation)'));
begin
  if changed = definition then
    raise exception 'ridepulse.check_mapping does not have the expected text';
  end if;
  execute changed;
  definition := pg_get_viewdef('ridepulse.watch_problems'::regclass);
  changed := replace(definition,
    'to_regprocedure(format(''%s(%s)''::text, w.ride_function, w.relation)) IS NULL',
    'not exists (select from pg_proc f where ' || format(same, 'f', 'c.reltype') || ')');
  if changed = definition then
    raise exception 'ridepulse.watch_problems does not have the expected text';
  end if;
  execute 'create or replace view ridepulse.watch_problems as ' || changed;
end
$$;
