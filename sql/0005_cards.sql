-- What cards (Live Activities) need: a registration that the engine hears of, and a ledger that
-- says what was asked of APNs.

-- Those that a person put away are looked at too: no other card takes their place.
drop index ridepulse.live_activities_by_ride;
create index live_activities_by_ride on ridepulse.live_activities (ride_id);

-- A card that is new, or has a new token, must be told how things stand: the event card_registered,
-- of which no rule speaks, makes its ride due. One that was ended from here stays ended; one that
-- APNs no longer knew lives again with its next registration.
create or replace function ridepulse.register_live_activity(
  ride_id text, app text, owner_id text, token text, activity_id text,
  environment text default null, frequent boolean default false
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  old ridepulse.live_activities;
begin
  if coalesce(register_live_activity.ride_id, '') = '' then
    raise exception 'ridepulse.register_live_activity needs a ride, got %',
      quote_nullable(register_live_activity.ride_id) using errcode = 'invalid_parameter_value';
  end if;
  select * into old from ridepulse.live_activities a
  where a.app = register_live_activity.app and a.activity_id = register_live_activity.activity_id
  for update;
  insert into ridepulse.live_activities as a
    (ride_id, app, owner_id, token, activity_id, environment, frequent)
  values (register_live_activity.ride_id, register_live_activity.app,
          register_live_activity.owner_id, lower(register_live_activity.token),
          register_live_activity.activity_id, register_live_activity.environment,
          coalesce(register_live_activity.frequent, false))
  on conflict on constraint live_activities_app_activity_id_key do update set
    ride_id = excluded.ride_id,
    owner_id = excluded.owner_id,
    token = excluded.token,
    environment = coalesce(excluded.environment, a.environment),
    frequent = excluded.frequent,
    registered_at = excluded.registered_at,
    ended_at = case when a.ended_reason in ('ended', 'expired') then a.ended_at end,
    ended_reason = case when a.ended_reason in ('ended', 'expired') then a.ended_reason end;
  if coalesce(old.ended_reason, '') not in ('ended', 'expired')
     and (old.id is null or old.ended_at is not null
          or old.ride_id <> register_live_activity.ride_id
          or old.token <> lower(register_live_activity.token)) then
    insert into ridepulse.events (ride_id, event, data)
    values (register_live_activity.ride_id, 'card_registered', '{}');
  end if;
end
$$;

-- What was asked of APNs; null where nothing was sent. expiration is the header's value.
alter table ridepulse.ledger
  add column priority smallint,
  add column expiration bigint,
  add column card_event text check (card_event in ('start', 'update', 'end'));
