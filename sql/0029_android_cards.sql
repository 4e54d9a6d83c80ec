-- Cards of Android phones: the phones that show them, and those that are gone.
-- Contract: docs/sql.md; reasons: docs/decisions/0096-platform-in-rows.md.

create function ridepulse.has_android(app text, owner_id text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from ridepulse.devices d
    where d.app = $1 and d.owner_id = $2 and d.disabled_at is null and d.platform = 'android')
$$;

comment on function ridepulse.has_android(text, text) is
  'Returns whether a person has an enabled Android phone, on which a card may run without a row.';

-- By index: a person who is found otherwise has the card with the next decision on the ride.
create function ridepulse.make_rides_due(app text, owner_id text, event text) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  insert into ridepulse.events (ride_id, event, data)
  select r.id, $3, '{}'::jsonb
  from (
    select c.id from ridepulse.rides c where $1 = 'customer' and c.customer_id = $2
    union
    select d.id from ridepulse.rides d where $1 = 'driver' and d.driver_id = $2
    union
    select p.ride_id from ridepulse.participants p where p.app = $1 and p.owner_id = $2) r
  where (select a.ride_id from ridepulse.agenda a where a.ride_id = r.id) is not null
  order by 1
$$;

comment on function ridepulse.make_rides_due(text, text, text) is
  'Makes a person''s live rides due by an event that no rule matches: those of a customer, a driver '
  'or a participant.';

-- A card of an Android phone has no row while it runs: the phone's and the ride's ID name it.
create function ridepulse.dismiss_card(app text, activity_id text, owner_id text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  phone ridepulse.devices;
  ride constant text := substr(activity_id, strpos(activity_id, '.') + 1);
begin
  if activity_id !~ '^[1-9][0-9]{0,17}[.].' then
    return false;
  end if;
  select * into phone from ridepulse.devices d
  where d.id = split_part(dismiss_card.activity_id, '.', 1)::bigint
    and d.app = dismiss_card.app and d.platform = 'android';
  if not found or phone.owner_id <> dismiss_card.owner_id then
    return false;
  end if;
  insert into ridepulse.live_activities (ride_id, app, owner_id, activity_id, token, environment,
                                         installation_id, ended_at, ended_reason)
  values (ride, phone.app, phone.owner_id, dismiss_card.activity_id, phone.id::text, 'android',
          phone.installation_id, clock_timestamp(), 'dismissed')
  on conflict on constraint live_activities_app_activity_id_key do nothing;
  if not found then
    return false;
  end if;
  insert into ridepulse.events (ride_id, event, data) values (ride, 'card_ended', '{}');
  return true;
end
$$;

comment on function ridepulse.dismiss_card(text, text, text) is
  'Records that a card of an Android phone is gone; returns whether that was not recorded yet. '
  'activity_id: the phone''s ID in devices, a dot, and the ride''s ID. owner_id: null, or the '
  'phone''s owner.';
