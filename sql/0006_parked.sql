-- A ride whose settlement Postgres itself refuses (a constraint of somebody's, a value out of range)
-- would be tried for ever, and its batch with it. It is parked instead: held by nobody, and by no
-- lease that ends, until somebody has looked. parked_reason is null for all others.

alter table ridepulse.agenda add column parked_reason text;

create function ridepulse.unpark(ride_id text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with unparked as (
    update ridepulse.agenda a
    set parked_reason = null, leased_until = '-infinity', due_at = now()
    where a.ride_id = $1 and a.parked_reason is not null
    returning 1
  )
  select exists (select from unparked)
$$;

create view ridepulse.parked as
  select ride_id, parked_reason as reason from ridepulse.agenda where parked_reason is not null;

-- Those who attend to the service may do this, and not every app's backend.
revoke execute on function ridepulse.unpark(text) from public;
