-- Broadcast cards: a ride has a channel of its own, and everybody who watches it sees one card.

-- When APNs was told to delete the channel of an ended row, or knew none any more.
alter table ridepulse.channels add column deleted_at timestamptz;

create index channels_of_ride on ridepulse.channels (ride_id, app, environment, id)
  where ride_id is not null;

-- Those whose card has ended, and that are still to be deleted.
create index channels_to_delete on ridepulse.channels (ended_at)
  where ended_reason in ('ended', 'expired') and deleted_at is null;

-- What became of a channel that a ride needed: the ride falls due, and its data tells the channel's
-- ID to the app. That alone is no news of the ride, so it is written silently.
-- One for which no service waits leaves alone what is not on the agenda.
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

revoke execute on function ridepulse.attach_channel(text, text, text, text, boolean) from public;

-- Whoever writes a ride's attributes anew knows nothing of channels, ridepulse.watch least of all:
-- the ID of an open one stays.
create function ridepulse.keep_channel_ids() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
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

create trigger keep_channel_ids before update of attributes on ridepulse.rides for each row
when (old.attributes is distinct from new.attributes and jsonb_typeof(old.attributes) = 'object'
      and jsonb_typeof(new.attributes) = 'object' and old.attributes::text like '%\_channel\_id"%')
execute function ridepulse.keep_channel_ids();
