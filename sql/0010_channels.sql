-- Broadcast channels. Apple gives an app 10,000 of them in each environment, under random IDs that
-- come in the answer to a create and nowhere else, so an answer that is lost loses a channel. A row
-- is therefore written before the call, and what Apple lists is compared with the rows.

-- One row for each create. channel_id: null until the answer has come. unanswered_at: nobody knows
-- what became of the call. A row that has neither is a call under way, or one whose node died.
create table ridepulse.channels (
  id            bigint generated always as identity primary key,
  app           text not null check (app <> ''),
  environment   text not null check (environment in ('production', 'sandbox')),
  bundle_id     text not null check (bundle_id <> ''),
  channel_id    text check (channel_id <> ''),
  storage       text not null check (storage in ('none', 'latest')),
  ride_id       text check (ride_id <> ''),
  -- apns-request-id of the create.
  request_id    uuid not null unique,
  created_at    timestamptz not null default clock_timestamp(),
  confirmed_at  timestamptz,
  unanswered_at timestamptz,
  ended_at      timestamptz,
  ended_reason  text,
  check ((channel_id is null) = (confirmed_at is null)),
  check ((ended_at is null) = (ended_reason is null))
);

create unique index channels_by_id on ridepulse.channels (bundle_id, environment, channel_id)
  where channel_id is not null;

-- A ride has one channel for each app and environment, or one create under way. A create without an
-- answer holds no place: the ride gets another one, and what was lost is cleared away later.
create unique index channels_by_ride on ridepulse.channels (ride_id, app, environment)
  where ride_id is not null and ended_at is null and unanswered_at is null;

-- Channels that Apple has listed and no row names. A channel came into being after absent_at, when
-- a listing without it began (null: before the first listing), and before seen_at, when the first
-- one with it had come. That tells a channel of somebody else from one that was lost here.
create table ridepulse.other_channels (
  bundle_id   text not null,
  environment text not null,
  channel_id  text not null,
  absent_at   timestamptz,
  seen_at     timestamptz not null,
  storage     text check (storage in ('none', 'latest')),
  primary key (bundle_id, environment, channel_id)
);

-- The last listing of each app and environment.
create table ridepulse.channel_listings (
  bundle_id   text not null,
  environment text not null,
  began_at    timestamptz not null,
  channels    integer not null,
  primary key (bundle_id, environment)
);
