-- Broadcast channels: a ride has its own channel, and everyone who follows the ride sees the same
-- card.
--
-- Apple permits 10,000 channels for each app and environment. Only the answer to a create contains
-- the random ID of the channel, so that a lost answer loses a channel. A row is therefore written
-- before the request, and the rows are compared with Apple's list.

-- A row without channel_id, unanswered_at and ended_at is a create in progress, or one whose node
-- died.
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

-- A ride has one channel, or one create in progress, for each app and environment. A create without
-- an answer does not count: the ride gets another channel, and `ridepulse channels reconcile` finds
-- the lost one.
create unique index channels_by_ride on ridepulse.channels (ride_id, app, environment)
  where ride_id is not null and ended_at is null and unanswered_at is null;
create index channels_of_ride on ridepulse.channels (ride_id, app, environment, id)
  where ride_id is not null;
create index channels_to_delete on ridepulse.channels (ended_at)
  where ended_reason in ('ended', 'expired') and deleted_at is null;
create index channels_to_report on ridepulse.channels (id)
  where channel_id is not null and ride_id is not null and ended_at is null and reported_at is null;

-- For the lookup of a channel by its ID alone, which Apple gives only once.
create index channels_by_channel_id on ridepulse.channels (channel_id) where channel_id is not null;

comment on table ridepulse.channels is 'Attempts to create a channel, one row for each.';
comment on column ridepulse.channels.id is 'The key of the channel in token_outcomes.';
comment on column ridepulse.channels.app is 'The app that shows the card.';
comment on column ridepulse.channels.environment is 'The APNs environment.';
comment on column ridepulse.channels.bundle_id is 'The app''s bundle ID.';
comment on column ridepulse.channels.channel_id is
  'Apple''s ID; null until the answer to the create has arrived.';
comment on column ridepulse.channels.storage is
  'Apple''s storage policy: latest stores the last message for phones that are offline, none '
  'stores nothing.';
comment on column ridepulse.channels.ride_id is
  'The ride; null for a channel that was created by hand.';
comment on column ridepulse.channels.request_id is 'apns-request-id of the create.';
comment on column ridepulse.channels.created_at is
  'When the create was recorded, before the request was sent.';
comment on column ridepulse.channels.confirmed_at is
  'When the answer with the ID was recorded; null until then.';
comment on column ridepulse.channels.unanswered_at is
  'Since when the outcome of the create is unknown; null if it is known or the create is in '
  'progress.';
comment on column ridepulse.channels.ended_at is
  'When the card or channel ended, or the create was refused; null until then.';
comment on column ridepulse.channels.ended_reason is
  'How it ended: ended or expired like its card (RidePulse deletes the channel), gone, deleted, '
  'or why the create was refused.';
comment on column ridepulse.channels.deleted_at is
  'When RidePulse had deleted the channel, or found that APNs no longer has it.';
comment on column ridepulse.channels.reported_at is
  'When the outcome was reported to the ride: its ID added to the attributes, and the ride made '
  'due.';

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

comment on view ridepulse.current_channels is 'Channels, as if all token_outcomes were applied.';

-- The two times distinguish channels of other programs from those whose create lost its answer.
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
  'Channels that Apple has listed and that have no row in channels.';
comment on column ridepulse.other_channels.bundle_id is 'The app''s bundle ID.';
comment on column ridepulse.other_channels.environment is 'The APNs environment.';
comment on column ridepulse.other_channels.channel_id is 'Apple''s ID.';
comment on column ridepulse.other_channels.absent_at is
  'When the last listing without the channel was requested: it was created later. Null if there '
  'was no such listing.';
comment on column ridepulse.other_channels.seen_at is
  'When the first listing with the channel had arrived: it was created earlier.';
comment on column ridepulse.other_channels.storage is
  'Apple''s storage policy: latest stores the last message for phones that are offline, none '
  'stores nothing; null while it is unknown.';

create table ridepulse.channel_listings (
  bundle_id   text not null,
  environment text not null,
  began_at    timestamptz not null,
  channels    integer not null,
  primary key (bundle_id, environment)
);

comment on table ridepulse.channel_listings is
  'The last listing of channels for each app and environment.';
comment on column ridepulse.channel_listings.bundle_id is 'The app''s bundle ID.';
comment on column ridepulse.channel_listings.environment is 'The APNs environment.';
comment on column ridepulse.channel_listings.began_at is
  'When the listing was requested; -infinity if none is recorded yet.';
comment on column ridepulse.channel_listings.channels is 'Number of channels in the listing.';

-- If no service awaits the channel, a ride that is not on the agenda gets no event. The ride's
-- attributes are written without the event ride_updated, because only the ID changes.
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
  'Adds a channel''s ID to the attributes of its ride as <app>_channel_id, and makes the ride due '
  'by the event channel_opened, or channel_refused if channel_id is null. refusal: why the create '
  'was refused. is_awaited: makes the ride due even if it is not on the agenda.';

-- Does not wait for an app that has locked the ride: the engine calls it again later.
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
  -- A refused create is reported; a channel that has ended in the meantime is not.
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
  'Reports the outcome of a create to its ride. channel: the ID in channels. is_awaited: as for '
  'ridepulse.attach_channel. Returns false if the channel or its ride is locked and the outcome '
  'is still to be reported, otherwise true.';

-- Programs that replace a ride's attributes, such as ridepulse.watch, do not include the channel
-- IDs.
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
  'Trigger function: keeps the IDs of open channels when an update replaces a ride''s attributes. '
  'Errors: 42501 on any table other than ridepulse.rides.';

create trigger keep_channel_ids before update of attributes on ridepulse.rides for each row
when (old.attributes is distinct from new.attributes and jsonb_typeof(old.attributes) = 'object'
      and jsonb_typeof(new.attributes) = 'object' and old.attributes::text like '%\_channel\_id"%')
execute function ridepulse.keep_channel_ids();
