-- What APNs answered about tokens, and phones and cards as they are with these answers.

-- A settlement only inserts here: it never waits for an app that has locked a phone's row, and no
-- app waits for a settlement. A later transaction applies each row to its token, in the order of
-- the IDs, as soon as the token's row is not locked, and deletes it. Until then the views current_…
-- show the token as if the row were applied.
create table ridepulse.token_outcomes (
  id          bigint generated always as identity primary key,
  kind        text not null check (kind in ('phone', 'activity', 'start', 'channel')),
  token_id    bigint not null,
  gone_reason text,
  gone_since  timestamptz,
  is_refused  boolean not null default false,
  is_good     boolean not null default false,
  is_probed   boolean not null default false,
  environment text,
  probe       uuid,
  unprobed    uuid,
  quiet_until timestamptz,
  created_at  timestamptz not null default clock_timestamp(),
  check ((gone_reason is null) = (gone_since is null))
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);

-- Each claim looks up its phones here and almost always finds no row.
create index token_outcomes_by_token on ridepulse.token_outcomes (kind, token_id, id);

comment on table ridepulse.token_outcomes is
  'What APNs answered about tokens and is not applied to their rows yet.';
comment on column ridepulse.token_outcomes.id is
  'The outcomes of a token are applied in this order.';
comment on column ridepulse.token_outcomes.kind is
  'The table of the token: phone for devices, activity for live_activities, start for '
  'push_to_start_tokens, channel for channels.';
comment on column ridepulse.token_outcomes.token_id is 'The token''s id in that table.';
comment on column ridepulse.token_outcomes.gone_reason is
  'Why the token is invalid; null if the outcome is an observation of a phone.';
comment on column ridepulse.token_outcomes.gone_since is
  'Since when the token is invalid: a later registration overrides it, unless it is infinity.';
comment on column ridepulse.token_outcomes.is_refused is
  'Whether APNs refused the phone''s token as bad.';
comment on column ridepulse.token_outcomes.is_good is
  'Whether APNs accepts pushes to the phone again.';
comment on column ridepulse.token_outcomes.is_probed is
  'Whether a push has tried the other environment.';
comment on column ridepulse.token_outcomes.environment is
  'The environment that accepted that push; null if none did.';
comment on column ridepulse.token_outcomes.probe is
  'apns-id of a push that may try the other environment.';
comment on column ridepulse.token_outcomes.unprobed is
  'apns-id of a push that was to try the other environment and ended before it could.';
comment on column ridepulse.token_outcomes.quiet_until is
  'End of the pause that APNs requested with status 429.';
comment on column ridepulse.token_outcomes.created_at is
  'When the settlement recorded the outcome.';

-- Of FCM's UNREGISTERED for a registration that is younger than an hour, only the refusal counts: it
-- is seen for tokens that are valid. TokenOutcomeStatements has the same rule.
create view ridepulse.current_devices as
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

comment on view ridepulse.current_devices is
  'Enabled phones, quarantined ones included, as if all token_outcomes were applied.';

-- The arrays keep the view from visiting every phone.
create view ridepulse.quarantine as
  select id as device_id, app, owner_id, right(token, 6) as token_suffix, environment, refusals,
    quarantined_at
  from ridepulse.current_devices
  where quarantined_at is not null and id = any (
    array(select d.id from ridepulse.devices d where d.quarantined_at is not null)
    || array(select o.token_id from ridepulse.token_outcomes o where o.kind = 'phone'));

comment on view ridepulse.quarantine is
  'Phones in quarantine: APNs or FCM has refused their tokens three times in a row. token_suffix is '
  'the last six characters.';

-- Recorded refusals that are not applied yet count too, and must not bring the quarantine back.
create function ridepulse.unquarantine(app text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  phones constant bigint[] := array(
    select q.device_id from ridepulse.quarantine q
    where unquarantine.app is null or q.app = unquarantine.app order by 1);
begin
  update ridepulse.token_outcomes o set is_refused = false, is_probed = false, probe = null
  where o.kind = 'phone' and o.token_id = any (phones);
  update ridepulse.devices d
  set quarantined_at = null, refusals = 0, probe = null, is_probed = false
  where d.id = any (phones);
  return cardinality(phones);
end
$$;

comment on function ridepulse.unquarantine(text) is
  'Lifts the quarantine of an app''s phones, or of all phones if app is null; returns how many. '
  'Also resets their refusals, and whether they were tried in the other environment.';

create view ridepulse.current_live_activities as
  select a.id, a.ride_id, a.app, a.owner_id, a.activity_id, a.token, a.environment, a.frequent,
    a.registered_at, coalesce(a.ended_at, o.created_at) as ended_at,
    coalesce(a.ended_reason, o.gone_reason) as ended_reason, a.installation_id
  from ridepulse.live_activities a
  left join lateral (
    select e.created_at, e.gone_reason from ridepulse.token_outcomes e
    where e.kind = 'activity' and e.token_id = a.id and a.ended_at is null
      and e.gone_since >= a.registered_at
    order by e.id limit 1
  ) o on true;

comment on view ridepulse.current_live_activities is
  'Cards, as if all token_outcomes were applied.';

create view ridepulse.current_start_tokens as
  select t.id, t.app, t.owner_id, t.attributes_type, t.token, t.environment, t.registered_at,
    t.installation_id
  from ridepulse.push_to_start_tokens t
  where t.disabled_at is null and not exists (
    select from ridepulse.token_outcomes o
    where o.kind = 'start' and o.token_id = t.id and o.gone_since >= t.registered_at
    -- Not a join, which could read all outcomes.
    offset 0);

comment on view ridepulse.current_start_tokens is
  'Valid push-to-start tokens, as if all token_outcomes were applied.';
