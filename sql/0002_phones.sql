-- Phones, cards and push-to-start tokens, and what APNs answered about their tokens.

-- BadDeviceToken alone proves nothing: the phone may belong to the other environment, or the
-- configuration may be wrong. No answer therefore deletes a phone: one push tries it in the other
-- environment, and three refusals in a row put it in quarantine.
create table ridepulse.devices (
  id               bigint generated always as identity primary key,
  app              text not null check (app <> ''),
  owner_id         text not null check (owner_id <> ''),
  token            text not null check (token <> ''),
  environment      text check (environment in ('production', 'sandbox')),
  installation_id  text,
  locale           text,
  registered_at    timestamptz not null default clock_timestamp(),
  disabled_at      timestamptz,
  disabled_reason  text,
  refusals         integer not null default 0,
  probe            uuid,
  is_probed        boolean not null default false,
  quiet_until      timestamptz,
  quarantined_at   timestamptz,
  reported_disabled_at timestamptz,
  unique (app, token)
);

-- Large sets of an owner's phones are read in parts, in the order of their IDs.
create index devices_by_owner on ridepulse.devices (app, owner_id, id) where disabled_at is null;
create index devices_by_installation on ridepulse.devices (app, installation_id)
  where installation_id is not null and disabled_at is null;
create index devices_in_quarantine on ridepulse.devices (app) where quarantined_at is not null;
create index devices_to_report on ridepulse.devices (app, id)
  where disabled_reason in ('Unregistered', 'ExpiredToken')
    and reported_disabled_at is distinct from disabled_at;

comment on table ridepulse.devices is
  'Phones. A phone is disabled with a reason, and its next registration enables it again; only '
  'ridepulse.sweep and ridepulse.forget delete phones.';
comment on column ridepulse.devices.id is
  'The phones of an owner are addressed in the order of their IDs.';
comment on column ridepulse.devices.app is 'The app on the phone.';
comment on column ridepulse.devices.owner_id is
  'The person, as rides name customers, drivers and other owners.';
comment on column ridepulse.devices.token is 'The device token, in lower-case hexadecimal.';
comment on column ridepulse.devices.environment is
  'The APNs environment; null if the app has not named one and no push has found it.';
comment on column ridepulse.devices.installation_id is
  'The app''s ID of this installation. Only the newest token of an installation stays enabled.';
comment on column ridepulse.devices.locale is 'The locale of texts, such as de-CH.';
comment on column ridepulse.devices.registered_at is
  'Time of the last registration, which overrides what APNs reported earlier. -infinity for a '
  'phone that only the legacy gateway has added.';
comment on column ridepulse.devices.disabled_at is
  'When the phone was disabled; null while it is enabled.';
comment on column ridepulse.devices.disabled_reason is
  'APNs'' reason, replaced if the installation has a newer token, or signed_out; null while it is '
  'enabled.';
comment on column ridepulse.devices.refusals is 'Number of consecutive BadDeviceToken answers.';
comment on column ridepulse.devices.probe is
  'apns-id of the push that may try the other environment; null if none may.';
comment on column ridepulse.devices.is_probed is 'Whether a push has tried the other environment.';
comment on column ridepulse.devices.quiet_until is
  'End of the pause that APNs requested with status 429.';
comment on column ridepulse.devices.quarantined_at is
  'When the quarantine began; null if the phone is not in quarantine.';
comment on column ridepulse.devices.reported_disabled_at is
  'The disabled_at that the legacy feedback port has reported; null if it has reported none.';

create table ridepulse.live_activities (
  id            bigint generated always as identity primary key,
  ride_id       text not null,
  app           text not null check (app <> ''),
  owner_id      text not null check (owner_id <> ''),
  activity_id   text not null check (activity_id <> ''),
  token         text not null check (token <> ''),
  environment   text check (environment in ('production', 'sandbox')),
  frequent      boolean not null default false,
  registered_at timestamptz not null default clock_timestamp(),
  ended_at      timestamptz,
  ended_reason  text,
  installation_id text,
  unique (app, activity_id)
);

-- Not partial: ended cards are read, too, because no new card may replace one that a person
-- dismissed.
create index live_activities_by_ride on ridepulse.live_activities (ride_id);

comment on table ridepulse.live_activities is
  'Cards (Live Activities) on phones, one row for each activity.';
comment on column ridepulse.live_activities.id is 'The key of the card in a memo.';
comment on column ridepulse.live_activities.ride_id is 'The ride that the card shows.';
comment on column ridepulse.live_activities.app is 'The app that shows the card.';
comment on column ridepulse.live_activities.owner_id is 'The owner of the phone.';
comment on column ridepulse.live_activities.activity_id is 'ActivityKit''s ID of the activity.';
comment on column ridepulse.live_activities.token is
  'The activity''s newest update token, in lower-case hexadecimal.';
comment on column ridepulse.live_activities.environment is
  'The APNs environment; null if the app has not named one.';
comment on column ridepulse.live_activities.frequent is
  'Whether the person allows frequent updates.';
comment on column ridepulse.live_activities.registered_at is
  'Time of the last registration, which overrides what APNs reported earlier.';
comment on column ridepulse.live_activities.ended_at is
  'When the card ended; null while it is live.';
comment on column ridepulse.live_activities.ended_reason is
  'How the card ended: ended, expired (no screen can show it any more), dismissed (the app '
  'reported its end), signed_out, or APNs'' reason; null while it is live.';
comment on column ridepulse.live_activities.installation_id is
  'The app''s ID of the installation that shows the card; null if the app has not named it.';

create table ridepulse.push_to_start_tokens (
  id              bigint generated always as identity primary key,
  app             text not null check (app <> ''),
  owner_id        text not null check (owner_id <> ''),
  attributes_type text not null check (attributes_type <> ''),
  token           text not null check (token <> ''),
  environment     text check (environment in ('production', 'sandbox')),
  registered_at   timestamptz not null default clock_timestamp(),
  disabled_at     timestamptz,
  disabled_reason text,
  installation_id text,
  unique (app, attributes_type, token)
);

create index push_to_start_tokens_by_owner on ridepulse.push_to_start_tokens (app, owner_id)
  where disabled_at is null;

comment on table ridepulse.push_to_start_tokens is
  'Tokens with which the engine can start a card on a phone.';
comment on column ridepulse.push_to_start_tokens.id is 'The key of the start in a memo.';
comment on column ridepulse.push_to_start_tokens.app is 'The app that shows the card.';
comment on column ridepulse.push_to_start_tokens.owner_id is 'The owner of the phone.';
comment on column ridepulse.push_to_start_tokens.attributes_type is
  'Name of the type of the activity''s attributes in the app.';
comment on column ridepulse.push_to_start_tokens.token is
  'The push-to-start token, in lower-case hexadecimal.';
comment on column ridepulse.push_to_start_tokens.environment is
  'The APNs environment; null if the app has not named one.';
comment on column ridepulse.push_to_start_tokens.registered_at is
  'Time of the last registration, which overrides what APNs reported earlier.';
comment on column ridepulse.push_to_start_tokens.disabled_at is
  'When the token became invalid; null while it is valid.';
comment on column ridepulse.push_to_start_tokens.disabled_reason is
  'APNs'' reason, withdrawn (by the app) or signed_out; null while the token is valid.';
comment on column ridepulse.push_to_start_tokens.installation_id is
  'The app''s ID of the installation that the token belongs to; null if the app has not named it.';

create table ridepulse.contacts (
  app          text not null check (app <> ''),
  owner_id     text not null check (owner_id <> ''),
  contacted_at timestamptz not null,
  primary key (app, owner_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

comment on table ridepulse.contacts is
  'The last contact of each owner''s phones with the app''s backend.';
comment on column ridepulse.contacts.app is 'The app on the phone.';
comment on column ridepulse.contacts.owner_id is 'The owner of the phone.';
comment on column ridepulse.contacts.contacted_at is
  'When ridepulse.contact was last called for the owner.';

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
    greatest(d.quiet_until, o.quiet_until) as quiet_until
  from ridepulse.devices d
  cross join lateral (
    select count(*) as count, coalesce(bool_or(f.gone_since >= d.registered_at), false) as is_gone,
      coalesce(bool_or((f.is_good or f.environment is not null)
        and f.created_at >= d.registered_at), false) as is_reset,
      -- Only refusals after the last good outcome are consecutive.
      count(*) filter (where f.is_refused and f.created_at >= d.registered_at and not exists (
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
  'Phones in quarantine: APNs has refused their tokens three times in a row. token_suffix is the '
  'last six digits.';

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
    where o.kind = 'start' and o.token_id = t.id and o.gone_since >= t.registered_at);

comment on view ridepulse.current_start_tokens is
  'Valid push-to-start tokens, as if all token_outcomes were applied.';
