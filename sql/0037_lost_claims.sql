-- Claims whose node ended before it settled or released the ride.

create table ridepulse.lost_claims (
  ride_id    text primary key,
  fence      bigint not null,
  claims     smallint not null,
  is_waiting boolean not null default true,
  is_deciding boolean not null default false,
  held_until timestamptz,
  lost_at    timestamptz not null default now()
);

comment on table ridepulse.lost_claims is
  'Rides whose last claim did not survive, or may not survive a clock that went back. They are decided apart from others, and parked if they '
  'end their node again and again. A row is void once its ride has another fence or no holder.';
comment on column ridepulse.lost_claims.fence is 'The fence of the ride''s last claim.';
comment on column ridepulse.lost_claims.claims is
  'The number of claims in a row that did not survive.';
comment on column ridepulse.lost_claims.is_waiting is
  'Whether the ride waits to be claimed again; false while it is claimed.';
comment on column ridepulse.lost_claims.is_deciding is
  'Whether the last claim began to decide the ride and has not recorded the end of the decision.';
comment on column ridepulse.lost_claims.held_until is
  'The end of a lease that was set before the database''s clock went back: up to that time pushes may '
  'have left.';
comment on column ridepulse.lost_claims.lost_at is
  'When the end of the first of these claims was noticed.';
