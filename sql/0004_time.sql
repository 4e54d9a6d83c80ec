-- What rules that speak by the clock need: the counts of their slots, under which rule files the
-- agenda was last decided, and rides that come in silently.

-- What became of slots, by rule, day (UTC) and node: each node adds to rows of its own, so that no
-- two nodes wait for each other.
create table ridepulse.slot_counts (
  rule    text not null,
  day     date not null,
  node    uuid not null,
  due     bigint not null,
  fired   bigint not null,
  skipped bigint not null,
  missed  bigint not null,
  capped  bigint not null,
  expired bigint not null,
  primary key (rule, day, node)
) with (fillfactor = 50);

-- Each slot that was due has one fate. A remainder other than 0 is a fault of RidePulse.
create view ridepulse.slots as
  select rule, day, sum(due)::bigint as due, sum(fired)::bigint as fired,
    sum(skipped)::bigint as skipped, sum(missed)::bigint as missed, sum(capped)::bigint as capped,
    sum(expired)::bigint as expired,
    sum(due - fired - skipped - missed - capped - expired)::bigint as remainder
  from ridepulse.slot_counts group by rule, day;

-- When rules that speak by the clock change, every live ride must be decided anew: its due_at
-- follows from the old ones.
create table ridepulse.timing (
  is_only    boolean primary key default true check (is_only),
  rules      text not null,
  adopted_at timestamptz not null default now()
);

-- A ride that comes in silently is told to nobody, and still has an agenda of its own: the event
-- ride_watched, of which no rule speaks, puts it there.
create or replace function ridepulse.ride_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('ridepulse.silent', true) = 'on' then
    if tg_op = 'INSERT' then
      insert into ridepulse.events (ride_id, event, data) values (new.id, 'ride_watched', '{}');
    end if;
  elsif new.state is not null and new.state <> ''
     and (tg_op = 'INSERT' or new.state is distinct from old.state) then
    insert into ridepulse.events (ride_id, event, data) values (new.id, new.state, '{}');
  elsif tg_op = 'UPDATE' then
    insert into ridepulse.events (ride_id, event, data) values (new.id, 'ride_updated', '{}');
  end if;
  return null;
end
$$;

drop trigger added on ridepulse.rides;
create trigger added after insert on ridepulse.rides for each row
execute function ridepulse.ride_changed();
