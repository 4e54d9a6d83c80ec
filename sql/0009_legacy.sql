-- What old senders bring through ridepulse legacy-gateway. Their pushes have no ride: each phone has
-- a pseudo ride of its own, so that what is for one phone leaves in order.

-- The pseudo ride of a phone, which shows no token: ride IDs stand in logs.
create function ridepulse.legacy_ride(app text, token text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select 'legacy:' || $1 || ':' || left(encode(sha256(convert_to(lower($2), 'UTF8')), 'hex'), 32)
$$;

-- Frames that came lately, by what they say, and the push that each became: an old sender repeats
-- what came after a bad one, and a repeat is the same push. Who does not repeat at once means another.
create table ridepulse.legacy_frames (
  frame    uuid primary key,
  apns_id  uuid not null,
  taken_at timestamptz not null default now()
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index legacy_frames_by_age on ridepulse.legacy_frames (taken_at);

-- Up to which of its ends a phone was handed out by the feedback port; not before disabled_at: it is
-- told. A phone that was enabled and disabled again is told again.
alter table ridepulse.devices add column told_disabled_at timestamptz;

create index devices_to_be_told on ridepulse.devices (app, id)
  where disabled_reason in ('Unregistered', 'ExpiredToken')
    and told_disabled_at is distinct from disabled_at;
