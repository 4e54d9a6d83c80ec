-- Settings of a session that change what a function means, and a remedy for the engine's role.

-- With standard_conforming_strings = off, a session reads a backslash in a text as an escape. read_row
-- evaluates mappings.
do $$
declare
  routine regprocedure;
begin
  for routine in
    select p.oid from pg_proc p
    where p.pronamespace = 'ridepulse'::regnamespace
      and (strpos(p.prosrc, chr(92)) > 0 or p.proname = 'read_row')
  loop
    execute format('alter routine %s set standard_conforming_strings = on', routine);
  end loop;
end
$$;

create function ridepulse.unwatch_missing() returns bigint
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with gone as (
    delete from ridepulse.watches w
    where not exists (select from pg_class c where c.oid = w.relation) returning w.relation),
  errors as (
    delete from ridepulse.watch_errors e using gone g where e.relation = g.relation)
  select count(*) from gone
$$;

comment on function ridepulse.unwatch_missing() is
  'Detaches attached tables that were dropped; their rides stay. Returns their number.';
