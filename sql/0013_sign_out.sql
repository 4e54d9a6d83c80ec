-- Sign-out, and the end of cards and start tokens. Contract: docs/sql.md; reasons:
-- docs/decisions/0036-people.md.

create function ridepulse.owners_of_installation(app text, installation_id text)
returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select d.owner_id from ridepulse.devices d
  where d.app = $1 and d.installation_id = $2 and d.disabled_at is null
  union
  select a.owner_id from ridepulse.live_activities a
  where a.app = $1 and a.installation_id = $2 and a.ended_at is null
  union
  select t.owner_id from ridepulse.push_to_start_tokens t
  where t.app = $1 and t.installation_id = $2 and t.disabled_at is null
$$;

comment on function ridepulse.owners_of_installation(text, text) is
  'Returns the owners of an installation''s enabled phones, live cards and valid start tokens.';

-- What names no installation may be on this phone, whose next person must not see it.
create function ridepulse.withdraw(app text, owner_id text, installation_id text)
returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Without an ID of this installation: all except those of the owner's other phones.
  others constant text[] := case when installation_id is null then array(
    select d.installation_id from ridepulse.devices d
    where d.app = withdraw.app and d.owner_id = withdraw.owner_id and d.disabled_at is null
      and d.installation_id is not null) end;
  ended bigint;
  disabled bigint;
begin
  with ended as (
    update ridepulse.live_activities a
    set ended_at = clock_timestamp(), ended_reason = 'signed_out'
    where a.app = withdraw.app and a.owner_id = withdraw.owner_id and a.ended_at is null
      and (a.installation_id is null or a.installation_id = withdraw.installation_id
           or a.installation_id <> all (others))
      and not exists (
        select from ridepulse.token_outcomes o
        where o.kind = 'activity' and o.token_id = a.id and o.gone_since >= a.registered_at)
    returning a.ride_id
  ), emitted as (
    insert into ridepulse.events (ride_id, event, data)
    select distinct e.ride_id, 'card_ended', '{}'::jsonb from ended e order by 1
  )
  select count(*) into ended from ended;
  update ridepulse.push_to_start_tokens t
  set disabled_at = clock_timestamp(), disabled_reason = 'signed_out'
  where t.app = withdraw.app and t.owner_id = withdraw.owner_id and t.disabled_at is null
    and (t.installation_id is null or t.installation_id = withdraw.installation_id
         or t.installation_id <> all (others));
  get diagnostics disabled = row_count;
  return ended + disabled > 0;
end
$$;

comment on function ridepulse.withdraw(text, text, text) is
  'Withdraws an owner''s cards and start tokens on an installation, and those that name none; '
  'returns whether there were any. installation_id: null means all except those of the owner''s '
  'other phones.';

-- The cards and start tokens that a sign-out withdraws are an iPhone's.
create function ridepulse.unregister_device(app text, token text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  phone ridepulse.devices;
  disabled bigint;
begin
  perform ridepulse.check_app('unregister_device', app),
    ridepulse.check_phone_token('unregister_device', null, token);
  phone := ridepulse.lock_phone(app, null, token);
  -- A repeated call must not sign out what the owner has registered since.
  if phone.id is null or phone.disabled_reason = 'signed_out' then
    return false;
  end if;
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'signed_out'
  where d.id = phone.id and (d.disabled_at is null or d.disabled_reason = 'replaced')
    or d.app = phone.app and d.installation_id = phone.installation_id
      and d.owner_id = phone.owner_id and d.disabled_at is null;
  get diagnostics disabled = row_count;
  -- Otherwise ridepulse revive would bring back a phone that APNs or FCM had reported as gone before.
  update ridepulse.devices d set disabled_reason = 'signed_out'
  where d.id = phone.id and d.disabled_reason <> 'signed_out';
  if phone.platform = 'android' then
    return disabled > 0;
  end if;
  return ridepulse.withdraw(phone.app, phone.owner_id, phone.installation_id) or disabled > 0;
end
$$;

comment on function ridepulse.unregister_device(text, text) is
  'Signs a phone out: it receives nothing any more until it is registered again. An iPhone''s '
  'cards and start tokens on the same installation, and those of its owner that name no '
  'installation, are withdrawn for good. token: as it was registered, of an iPhone in upper or lower '
  'case. Returns whether anything was withdrawn. Errors: 22023 for an argument that is not what the '
  'function takes.';

-- What the app saw outweighs APNs' answer, which a later registration would override.
create function ridepulse.end_live_activity(
  app text, activity_id text, owner_id text default null, reason text default 'dismissed'
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  card ridepulse.live_activities;
begin
  perform ridepulse.check_app('end_live_activity', app),
    ridepulse.check_text('end_live_activity', 'activity_id', activity_id),
    ridepulse.check_text('end_live_activity', 'owner_id', owner_id, owner_id is not null);
  if coalesce(reason, 'dismissed') not in ('dismissed', 'signed_out') then
    raise exception 'reason of ridepulse.end_live_activity is %, which is unknown',
      quote_literal(reason)
      using errcode = 'invalid_parameter_value', hint = 'Send dismissed or signed_out.';
  end if;
  select * into card from ridepulse.live_activities a
  where a.app = end_live_activity.app and a.activity_id = end_live_activity.activity_id for update;
  if not found then
    -- An Android phone's card goes with its phone.
    return reason is distinct from 'signed_out'
      and ridepulse.dismiss_card(app, activity_id, owner_id);
  elsif card.owner_id <> end_live_activity.owner_id
     or card.ended_reason in ('ended', 'expired', 'dismissed', 'signed_out') then
    return false;
  end if;
  select c.ended_at into card.ended_at from ridepulse.current_live_activities c
  where c.id = card.id and coalesce(c.ended_reason, '') not in ('ended', 'expired');
  if not found then
    return false;
  end if;
  update ridepulse.live_activities a
  set ended_at = coalesce(card.ended_at, clock_timestamp()),
    ended_reason = coalesce(end_live_activity.reason, 'dismissed')
  where a.id = card.id;
  if card.ended_at is null then
    insert into ridepulse.events (ride_id, event, data) values (card.ride_id, 'card_ended', '{}');
  end if;
  return card.ended_at is null;
end
$$;

comment on function ridepulse.end_live_activity(text, text, text, text) is
  'Records that a card is gone from its phone, because a person dismissed it or the app ended it: '
  'nothing is sent to it any more, no new card replaces it, and its ride becomes due. activity_id: '
  'ActivityKit''s ID, or rp_card of an Android phone''s card. owner_id: the card''s owner, so that no '
  'other person can end it; null means any. reason: dismissed, or signed_out, after which the card is '
  'live again once its owner is signed in on its phone and registers it; null is dismissed. Returns '
  'whether the card was live. Errors: 22023 for an argument that is not what the function takes.';

create function ridepulse.unregister_push_to_start(app text, token text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  disabled bigint;
begin
  perform ridepulse.check_app('unregister_push_to_start', app),
    ridepulse.check_token('unregister_push_to_start', token);
  update ridepulse.push_to_start_tokens t
  set disabled_at = clock_timestamp(), disabled_reason = 'withdrawn'
  where t.app = unregister_push_to_start.app and t.token = lower(unregister_push_to_start.token)
    and t.disabled_at is null;
  get diagnostics disabled = row_count;
  return disabled > 0;
end
$$;

comment on function ridepulse.unregister_push_to_start(text, text) is
  'Withdraws a push-to-start token: no card is started with it until it is registered again. '
  'Returns whether it was valid. Errors: 22023 for an argument that is not what the function '
  'takes.';

create function ridepulse.owner_apps(owner_id text, app text) returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select $2 where $2 is not null
  union
  select a.app from (
    select 'customer' as app union select 'driver' union select s.app from ridepulse.apps s
    union select d.app from ridepulse.devices d where d.owner_id = $1
    union select c.app from ridepulse.live_activities c where c.owner_id = $1
    union select t.app from ridepulse.push_to_start_tokens t where t.owner_id = $1
    union select k.app from ridepulse.contacts k where k.owner_id = $1
    union select p.app from ridepulse.preferences p where p.owner_id = $1
    union select p.app from ridepulse.permits p where p.owner_id = $1) a
  where $2 is null
$$;

comment on function ridepulse.owner_apps(text, text) is
  'Returns the apps in which an owner ID names the person to erase: app, or all if it is null.';

create function ridepulse.sign_out(owner_id text, app text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  apps constant text[] := array(select ridepulse.owner_apps(sign_out.owner_id, sign_out.app));
  phones bigint;
begin
  update ridepulse.devices d set disabled_at = clock_timestamp(), disabled_reason = 'signed_out'
  where d.app = any (apps) and d.owner_id = sign_out.owner_id and d.disabled_at is null;
  get diagnostics phones = row_count;
  update ridepulse.devices d set disabled_reason = 'signed_out'
  where d.app = any (apps) and d.owner_id = sign_out.owner_id and d.disabled_reason <> 'signed_out';
  perform ridepulse.withdraw(a, sign_out.owner_id, null) from unnest(apps) a;
  return phones;
end
$$;

comment on function ridepulse.sign_out(text, text) is
  'Signs all phones of a person out, and withdraws all cards and start tokens; returns how many '
  'phones. app: only in that app; null means in all.';
