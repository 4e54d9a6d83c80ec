-- Dismissed cards of Android phones, and what is read of, answered about and erased with a phone of
-- either system. Contract: docs/sql.md; reasons: docs/decisions/0096-platform-in-rows.md.

alter table ridepulse.devices validate constraint devices_platform_check;
alter table ridepulse.live_activities validate constraint live_activities_environment_check;

-- Rights that were granted on what is made again are granted again.
select set_config('ridepulse.kept_rights', (
  select string_agg(
    format('grant %s on %s to %s', g.privilege, g.object, g.grantee::regrole), ';')
  from (
    select a.privilege_type as privilege, 'function ridepulse.' || p.proname as object, a.grantee
    from pg_proc p, aclexplode(p.proacl) a
    where p.oid = 'ridepulse.end_live_activity(text, text)'::regprocedure
      and a.grantee not in (0, p.proowner)) g), true);

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

drop function ridepulse.end_live_activity(text, text);
-- What the app saw outweighs APNs' answer, which a later registration would override.
create function ridepulse.end_live_activity(
  app text, activity_id text, owner_id text default null
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  card ridepulse.live_activities;
begin
  perform ridepulse.check_app('end_live_activity', app),
    ridepulse.check_text('end_live_activity', 'activity_id', activity_id),
    ridepulse.check_text('end_live_activity', 'owner_id', owner_id, owner_id is not null);
  select * into card from ridepulse.live_activities a
  where a.app = end_live_activity.app and a.activity_id = end_live_activity.activity_id for update;
  if not found then
    return ridepulse.dismiss_card(app, activity_id, owner_id);
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
  set ended_at = coalesce(card.ended_at, clock_timestamp()), ended_reason = 'dismissed'
  where a.id = card.id;
  if card.ended_at is null then
    insert into ridepulse.events (ride_id, event, data) values (card.ride_id, 'card_ended', '{}');
  end if;
  return card.ended_at is null;
end
$$;

comment on function ridepulse.end_live_activity(text, text, text) is
  'Records that a card is gone from its phone, because a person dismissed it or the app ended it: '
  'nothing is sent to it any more, no new card replaces it, and its ride becomes due. activity_id: '
  'ActivityKit''s ID, or rp_card of an Android phone''s card. owner_id: the card''s owner, so that no '
  'other person can end it; null means any. Returns whether the card was live. Errors: 22023 for an '
  'argument that is not what the function takes.';

-- Of FCM's UNREGISTERED for a registration that is younger than an hour, only the refusal counts: it
-- is seen for tokens that are valid. TokenOutcomeStatements has the same rule.
create or replace view ridepulse.current_devices as
  select d.id, d.app, d.owner_id, d.token, d.installation_id, d.locale, d.registered_at,
    case when o.count = 0 then d.environment
      else coalesce(d.environment, (
        select e.environment from ridepulse.token_outcomes e
        where e.kind = 'phone' and e.token_id = d.id and e.environment is not null
        order by e.id limit 1)) end as environment,
    case when o.is_reset then 0 else d.refusals end + o.refusals as refusals,
    -- Three is PhoneProblem.quarantineAfter.
    case when not o.is_reset and o.refusals = 0 then d.quarantined_at
      when case when o.is_reset then 0 else d.refusals end + o.refusals >= 3
      then coalesce(d.quarantined_at, now()) end as quarantined_at,
    case when o.count = 0 then d.probe when not o.is_probed then coalesce(
      case when not exists (
        select from ridepulse.token_outcomes e
        where e.kind = 'phone' and e.token_id = d.id and e.unprobed = d.probe) then d.probe end, (
      select e.probe from ridepulse.token_outcomes e
      where e.kind = 'phone' and e.token_id = d.id and e.probe is not null
        and e.created_at >= d.registered_at and not exists (
        select from ridepulse.token_outcomes r
        where r.kind = 'phone' and r.token_id = d.id and r.unprobed = e.probe)
      order by e.id limit 1)) end as probe,
    d.is_probed or o.is_probed as is_probed,
    greatest(d.quiet_until, o.quiet_until) as quiet_until,
    d.platform, d.time_zone, d.alerts, d.app_version
  from ridepulse.devices d
  cross join lateral (
    select count(*) as count,
      coalesce(bool_or(f.gone_since >= d.registered_at and (
        d.platform = 'ios' or d.registered_at < f.gone_since - interval '1 hour')), false) as is_gone,
      coalesce(bool_or((f.is_good or f.environment is not null)
        and f.created_at >= d.registered_at), false) as is_reset,
      -- Only refusals after the last good outcome are consecutive.
      count(*) filter (where (f.is_refused or d.platform = 'android'
          and d.registered_at between f.gone_since - interval '1 hour' and f.gone_since)
        and f.created_at >= d.registered_at and not exists (
        select from ridepulse.token_outcomes g
        where g.kind = 'phone' and g.token_id = d.id and g.id >= f.id
          and (g.is_good or g.environment is not null)))::integer as refusals,
      coalesce(bool_or(f.is_probed and f.created_at >= d.registered_at), false) as is_probed,
      max(f.quiet_until) as quiet_until
    from ridepulse.token_outcomes f where f.kind = 'phone' and f.token_id = d.id
  ) o
  where d.disabled_at is null and not o.is_gone;

-- Functions of which a line changes are rewritten in place, so that each is spelled once.
do $$
declare
  change record;
  call regprocedure;
  former text;
begin
  for change in
    select * from (values
      ('ridepulse.answer(text, jsonb)', 'right(lower(a ->> ''token''), 6)',
        -- Of a token to withdraw, the form tells the platform.
        'right(ridepulse.canonical_token(coalesce(a ->> ''platform'',
    case when a ->> ''token'' ~ ''^[0-9A-Fa-f]+$'' then ''ios'' else ''android'' end), a ->> ''token''), 6)'),
      ('ridepulse.answer(text, jsonb)',
        'ridepulse.end_live_activity(a ->> ''app'', a ->> ''activity_id'')',
        'ridepulse.end_live_activity(a ->> ''app'', a ->> ''activity_id'', a ->> ''owner_id'')'),
      -- The token of an Android card is a number, which is in other people's answers, too.
      ('ridepulse.find_person(text, text)', 'tokens || coalesce(array_agg(a.token), ''{}'')',
        'tokens || coalesce(array_agg(a.token)
      filter (where a.environment is distinct from ''android''), ''{}'')'),
      ('ridepulse.scrub_memo(jsonb, ridepulse.erasure, boolean)',
        '(memo -> ''cards'') - person.cards::text[]',
        '(memo -> ''cards'')
      - (person.cards::text[] || array(select ''phone '' || p from unnest(person.phones) p))'),
      -- A card of an Android phone ends with the next decision on its ride, too.
      ('ridepulse.participant_removed()', 'and a.ended_at is null);',
        'and a.ended_at is null)
    or ridepulse.has_android(old.app, old.owner_id)
      and exists (select from ridepulse.agenda a where a.ride_id = old.ride_id);'),
      ('ridepulse.set_preference(text, text, text, boolean)', '  order by 1;
  return true;', '  order by 1;
  perform ridepulse.make_rides_due(set_preference.app, set_preference.owner_id, ''preference_changed'')
  where ridepulse.has_android(set_preference.app, set_preference.owner_id);
  return true;')
    ) c (call, former, later)
  loop
    call := change.call::regprocedure;
    former := pg_get_functiondef(call);
    if strpos(former, change.former) = 0 then
      raise exception '% has another text than this step expects', call;
    end if;
    execute replace(former, change.former, change.later);
  end loop;
  if coalesce(current_setting('ridepulse.kept_rights', true), '') <> '' then
    execute current_setting('ridepulse.kept_rights');
  end if;
end
$$;

comment on column ridepulse.erasure.suffixes is 'The last six characters of all these tokens.';
comment on view ridepulse.quarantine is
  'Phones in quarantine: APNs or FCM has refused their tokens three times in a row. token_suffix is '
  'the last six characters.';
