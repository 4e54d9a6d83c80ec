-- What the engine alone writes: the agenda, the ledger, and which nodes sleep.

-- One row for each live ride. due_at is the next instant at which it needs attention; null: none
-- but its next event. A ride with unconsumed events is due whatever stands here.
-- node, fence and leased_until say who holds it: a settlement of any other holder is refused.
-- The lease is not indexed and due_at stays as it is while a ride is held, so a claim is a HOT
-- update.
create table ridepulse.agenda (
  ride_id      text primary key,
  due_at       timestamptz,
  memo         jsonb,
  node         uuid,
  fence        bigint not null,
  leased_until timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

create index agenda_due on ridepulse.agenda (due_at) where due_at is not null;

-- Fences rise over all rides and for ever, also for a ride whose row was deleted in between.
create sequence ridepulse.fence cache 100;

-- What was decided for each phone: one row for each (event, rule, phone), and one with neither
-- token nor phone where a rule found nobody to tell.
create table ridepulse.ledger (
  ride_id      text not null,
  apns_id      uuid not null,
  event_id     bigint,
  event        text not null,
  rule         text not null,
  app          text not null,
  push_type    text not null,
  status       text not null
    check (status in ('pending', 'accepted', 'rejected', 'expired', 'uncertain', 'suppressed')),
  reason       text,
  attempts     integer not null,
  collapse_id  text,
  device_id    bigint,
  token_suffix text,
  occurred_at  timestamptz not null,
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  primary key (ride_id, apns_id)
) with (fillfactor = 95);

create view ridepulse.deliveries as
  select ride_id, event, rule, app, push_type, status, reason, attempts,
         case when attempts > 0 or status = 'pending' then apns_id end as apns_id,
         collapse_id, created_at, finished_at, token_suffix
  from ridepulse.ledger;

-- Which nodes look, and which of them sleep until they are notified. Unlogged: it is true only
-- while the nodes live, and each look writes it.
create unlogged table ridepulse.nodes (
  node    uuid primary key,
  host    text not null,
  asleep  boolean not null,
  seen_at timestamptz not null
) with (fillfactor = 50);

-- A NOTIFY takes a lock that all committing transactions share, so it is sent only where somebody
-- sleeps, once a transaction, and as late as can be: between this look and the commit lies no
-- more than the write to disk, and a node looks once more after that time before it trusts its
-- sleep.
create function ridepulse.first_event_of_transaction() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  this text := pg_current_xact_id()::text;
begin
  if current_setting('ridepulse.transaction', true) = this then
    return false;
  end if;
  perform set_config('ridepulse.transaction', this, true);
  return true;
end
$$;

create function ridepulse.wake() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from ridepulse.nodes where asleep and seen_at > now() - interval '10 seconds')
  then
    perform pg_notify('ridepulse_wake', '');
  end if;
  return null;
end
$$;

create constraint trigger wake after insert on ridepulse.events deferrable initially deferred
for each row when (ridepulse.first_event_of_transaction())
execute function ridepulse.wake();
