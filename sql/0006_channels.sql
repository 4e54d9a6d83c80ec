-- Broadcast channels: a ride has a channel of its own, and everyone who watches it sees one card.
--
-- Apple gives an app 10,000 channels in each environment, under random IDs that only the answer to a
-- create contains, so that a lost answer loses a channel. A row is therefore written before the call,
-- and the rows are compared with what Apple lists.

-- A row without channel_id and unanswered_at is a call in progress, or one whose node died.
create table ridepulse.channels (
  id            bigint generated always as identity primary key,
  app           text not null check (app <> ''),
  environment   text not null check (environment in ('production', 'sandbox')),
  bundle_id     text not null check (bundle_id <> ''),
  channel_id    text check (channel_id <> ''),
  storage       text not null check (storage in ('none', 'latest')),
  ride_id       text check (ride_id <> ''),
  request_id    uuid not null unique,
  created_at    timestamptz not null default clock_timestamp(),
  confirmed_at  timestamptz,
  unanswered_at timestamptz,
  ended_at      timestamptz,
  ended_reason  text,
  deleted_at    timestamptz,
  reported_at   timestamptz,
  check ((channel_id is null) = (confirmed_at is null)),
  check ((ended_at is null) = (ended_reason is null))
);

create unique index channels_by_id on ridepulse.channels (bundle_id, environment, channel_id)
  where channel_id is not null;

-- A ride has one channel for each app and environment, or one create in progress. A create without an
-- answer holds no place: the ride gets another one, and the lost one is deleted later.
create unique index channels_by_ride on ridepulse.channels (ride_id, app, environment)
  where ride_id is not null and ended_at is null and unanswered_at is null;

create index channels_of_ride on ridepulse.channels (ride_id, app, environment, id)
  where ride_id is not null;

create index channels_to_delete on ridepulse.channels (ended_at)
  where ended_reason in ('ended', 'expired') and deleted_at is null;

create index channels_to_report on ridepulse.channels (id)
  where channel_id is not null and ride_id is not null and ended_at is null and reported_at is null;

comment on table ridepulse.channels is 'One row for each create of a channel.';
comment on column ridepulse.channels.id is 'The key of the channel in token_outcomes.';
comment on column ridepulse.channels.app is 'The app that shows the card.';
comment on column ridepulse.channels.environment is 'The APNs environment.';
comment on column ridepulse.channels.bundle_id is 'The app''s bundle ID.';
comment on column ridepulse.channels.channel_id is
  'Apple''s ID; null until the answer has arrived.';
comment on column ridepulse.channels.storage is 'What Apple keeps for phones that come later.';
comment on column ridepulse.channels.ride_id is
  'The ride; null for a channel that was created by hand.';
comment on column ridepulse.channels.request_id is 'apns-request-id of the create.';
comment on column ridepulse.channels.created_at is 'When the create was recorded, before the call.';
comment on column ridepulse.channels.confirmed_at is 'When the answer was recorded.';
comment on column ridepulse.channels.unanswered_at is
  'Since when the outcome of the call is unknown.';
comment on column ridepulse.channels.ended_at is 'When its card ended, or the create was refused.';
comment on column ridepulse.channels.ended_reason is 'How it ended.';
comment on column ridepulse.channels.deleted_at is
  'When APNs was requested to delete it, or no longer had it.';
comment on column ridepulse.channels.reported_at is
  'When its ID was added to the ride''s attributes and the ride became due.';

create view ridepulse.current_channels as
  select c.id, c.ride_id, c.app, c.environment, c.storage, c.channel_id, c.created_at,
    c.unanswered_at, coalesce(c.ended_at, o.created_at) as ended_at,
    coalesce(c.ended_reason, o.gone_reason) as ended_reason
  from ridepulse.channels c
  left join lateral (
    select e.created_at, e.gone_reason from ridepulse.token_outcomes e
    where e.kind = 'channel' and e.token_id = c.id and c.ended_at is null
    order by e.id limit 1
  ) o on true;

comment on view ridepulse.current_channels is 'Channels, with outcomes that are not applied yet.';

-- The two times tell a channel of another program from one that was lost here.
create table ridepulse.other_channels (
  bundle_id   text not null,
  environment text not null,
  channel_id  text not null,
  absent_at   timestamptz,
  seen_at     timestamptz not null,
  storage     text check (storage in ('none', 'latest')),
  primary key (bundle_id, environment, channel_id)
);

comment on table ridepulse.other_channels is
  'Channels that Apple has listed and that no row names.';
comment on column ridepulse.other_channels.bundle_id is 'The app''s bundle ID.';
comment on column ridepulse.other_channels.environment is 'The APNs environment.';
comment on column ridepulse.other_channels.channel_id is 'Apple''s ID.';
comment on column ridepulse.other_channels.absent_at is
  'When a listing without it began: it was created later. Null before the first listing.';
comment on column ridepulse.other_channels.seen_at is
  'When the first listing with it had arrived: it was created earlier.';
comment on column ridepulse.other_channels.storage is
  'What Apple keeps for phones that come later.';

create table ridepulse.channel_listings (
  bundle_id   text not null,
  environment text not null,
  began_at    timestamptz not null,
  channels    integer not null,
  primary key (bundle_id, environment)
);

comment on table ridepulse.channel_listings is 'The last listing of each app and environment.';
comment on column ridepulse.channel_listings.bundle_id is 'The app''s bundle ID.';
comment on column ridepulse.channel_listings.environment is 'The APNs environment.';
comment on column ridepulse.channel_listings.began_at is 'When it was requested.';
comment on column ridepulse.channel_listings.channels is 'How many channels it had.';

-- A channel that no service waits for leaves alone what is not on the agenda. The ride's attributes
-- are written silently, because the ID alone is no news of the ride.
create function ridepulse.attach_channel(
  ride_id text, app text, channel_id text, refusal text, is_awaited boolean
) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before text := coalesce(current_setting('ridepulse.silent', true), '');
begin
  if channel_id is not null then
    perform set_config('ridepulse.silent', 'on', true);
    update ridepulse.rides r
    set attributes = r.attributes
      || jsonb_build_object(attach_channel.app || '_channel_id', attach_channel.channel_id)
    where r.id = attach_channel.ride_id and jsonb_typeof(r.attributes) = 'object';
    perform set_config('ridepulse.silent', before, true);
  end if;
  if is_awaited or exists (
    select from ridepulse.agenda a where a.ride_id = attach_channel.ride_id) then
    insert into ridepulse.events (ride_id, event, data)
    values (attach_channel.ride_id,
            case when channel_id is null then 'channel_refused' else 'channel_opened' end,
            jsonb_strip_nulls(jsonb_build_object('app', app, 'channel_id', channel_id,
                                                 'reason', refusal)));
  end if;
end
$$;

comment on function ridepulse.attach_channel(text, text, text, text, boolean) is
  'Adds a channel''s ID to the attributes of its ride, and makes the ride due.';

-- An app that has the ride locked is not waited for; what is not reported is tried again.
create function ridepulse.report_channel(channel bigint, is_awaited boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  this ridepulse.channels;
begin
  select * into this from ridepulse.channels c
  where c.id = channel and c.reported_at is null for update skip locked;
  if not found then
    return not exists (
      select from ridepulse.channels c where c.id = channel and c.reported_at is null);
  end if;
  if this.channel_id is null and this.ended_at is null then
    return true;
  end if;
  -- Of a channel that has ended there is nothing to report, of one that was refused there is.
  if this.ride_id is not null and (this.channel_id is null or this.ended_at is null) then
    if this.channel_id is not null then
      perform from ridepulse.rides r where r.id = this.ride_id for update skip locked;
      if not found and exists (select from ridepulse.rides r where r.id = this.ride_id) then
        return false;
      end if;
    end if;
    perform ridepulse.attach_channel(this.ride_id, this.app, this.channel_id, this.ended_reason,
      is_awaited);
  end if;
  update ridepulse.channels c set reported_at = clock_timestamp() where c.id = channel;
  return true;
end
$$;

comment on function ridepulse.report_channel(bigint, boolean) is
  'Reports the outcome of a create to its ride; returns whether nothing is left to do.';

-- A program that replaces a ride's attributes, such as ridepulse.watch, does not have the channel IDs.
create function ridepulse.keep_channel_ids() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.keep_channel_ids serves ridepulse.rides alone, not %', tg_relid::regclass
      using errcode = 'insufficient_privilege',
            hint = 'To attach a table of your own, call ridepulse.watch as its owner.';
  end if;
  new.attributes := new.attributes || coalesce((
    select jsonb_object_agg(old_one.key, old_one.value)
    from jsonb_each(old.attributes) old_one
    where not new.attributes ? old_one.key and exists (
      select from ridepulse.channels c
      where c.ride_id = new.id and c.app || '_channel_id' = old_one.key and c.ended_at is null
        and c.channel_id = old_one.value #>> '{}')), '{}');
  return new;
end
$$;

comment on function ridepulse.keep_channel_ids() is
  'Trigger: keeps the IDs of open channels when a ride''s attributes are replaced.';

create trigger keep_channel_ids before update of attributes on ridepulse.rides for each row
when (old.attributes is distinct from new.attributes and jsonb_typeof(old.attributes) = 'object'
      and jsonb_typeof(new.attributes) = 'object' and old.attributes::text like '%\_channel\_id"%')
execute function ridepulse.keep_channel_ids();
