-- Phones, cards and push-to-start tokens, and when people made contact.

create table ridepulse.apps (
  app     text primary key check (app <> ''),
  seen_at timestamptz not null default clock_timestamp()
);

comment on table ridepulse.apps is
  'Apps that ridepulse serve is configured for. While there is no row, functions accept any app.';
comment on column ridepulse.apps.app is 'The app''s name, as rules and phones name it.';
comment on column ridepulse.apps.seen_at is
  'When a service that is configured for the app last started.';

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
  platform         text not null default 'ios' check (platform in ('ios', 'android')),
  time_zone        text,
  alerts           boolean,
  app_version      text,
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
comment on column ridepulse.devices.token is
  'Of ios, the device token in lower-case hexadecimal; of android, the FCM registration token or '
  'Firebase installation ID, byte for byte.';
comment on column ridepulse.devices.environment is
  'The APNs environment; null if the app has not named one and no push has found it, and for android.';
comment on column ridepulse.devices.installation_id is
  'The app''s ID of this installation; for android, the Firebase installation ID if the app named '
  'none. Only the newest token of an installation stays enabled.';
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
comment on column ridepulse.devices.platform is 'The phone''s system: ios or android.';
comment on column ridepulse.devices.time_zone is
  'The IANA name of the zone of the phone''s clock, as the app sent it; null if it sent none. A name that '
  'the tz database of the service lacks counts as none.';
comment on column ridepulse.devices.alerts is
  'Whether the person allows alerts of the app; null if the app has not stated it.';
comment on column ridepulse.devices.app_version is
  'The version of the app; null if the app has not stated it.';

create table ridepulse.live_activities (
  id            bigint generated always as identity primary key,
  ride_id       text not null,
  app           text not null check (app <> ''),
  owner_id      text not null check (owner_id <> ''),
  activity_id   text not null check (activity_id <> ''),
  token         text not null check (token <> ''),
  environment   text,
  frequent      boolean not null default false,
  registered_at timestamptz not null default clock_timestamp(),
  ended_at      timestamptz,
  ended_reason  text,
  installation_id text,
  unique (app, activity_id),
  constraint live_activities_environment_check check (
    environment in ('production', 'sandbox') or environment = 'android' and ended_at is not null)
);

-- Not partial: ended cards are read, too, because no new card may replace one that a person
-- dismissed.
create index live_activities_by_ride on ridepulse.live_activities (ride_id);
create index live_activities_by_owner on ridepulse.live_activities (app, owner_id)
  where ended_at is null;
create index live_activities_by_installation on ridepulse.live_activities (app, installation_id)
  where installation_id is not null and ended_at is null;

comment on table ridepulse.live_activities is
  'Cards (Live Activities) on phones, one row for each activity.';
comment on column ridepulse.live_activities.id is 'The key of the card in a memo.';
comment on column ridepulse.live_activities.ride_id is 'The ride that the card shows.';
comment on column ridepulse.live_activities.app is 'The app that shows the card.';
comment on column ridepulse.live_activities.owner_id is 'The owner of the phone.';
comment on column ridepulse.live_activities.activity_id is
  'ActivityKit''s ID of the activity; of a dismissed card of an Android phone, devices.id and the ride''s ID.';
comment on column ridepulse.live_activities.token is
  'The activity''s newest update token, in lower-case hexadecimal; of an Android phone''s card, devices.id.';
comment on column ridepulse.live_activities.environment is
  'The APNs environment; null if the app has not named one; android for a dismissed card of an '
  'Android phone, which has no row before.';
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
create index push_to_start_tokens_by_installation
  on ridepulse.push_to_start_tokens (app, installation_id)
  where installation_id is not null and disabled_at is null;

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
  unnamed_at   timestamptz,
  primary key (app, owner_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

comment on table ridepulse.contacts is
  'The last contact of each owner''s phones with the app''s backend.';
comment on column ridepulse.contacts.app is 'The app on the phone.';
comment on column ridepulse.contacts.owner_id is 'The owner of the phone.';
comment on column ridepulse.contacts.contacted_at is
  'When ridepulse.contact was last called for the owner.';
comment on column ridepulse.contacts.unnamed_at is
  'The last contact that named no installation, -infinity for none; null if it is contacted_at.';

create table ridepulse.installation_contacts (
  app             text not null,
  owner_id        text not null,
  installation_id text not null,
  contacted_at    timestamptz not null,
  primary key (app, owner_id, installation_id)
) with (fillfactor = 70);

comment on table ridepulse.installation_contacts is
  'The last contact of each phone whose app named its installation. contacts has the last one of '
  'each owner, whichever phone made it.';
comment on column ridepulse.installation_contacts.app is 'The app on the phone.';
comment on column ridepulse.installation_contacts.owner_id is 'The owner of the phone.';
comment on column ridepulse.installation_contacts.installation_id is
  'The installation of the app, as in devices.';
comment on column ridepulse.installation_contacts.contacted_at is
  'When ridepulse.contact was last called for the installation.';

create table ridepulse.phone_counts (
  is_only    boolean primary key default true check (is_only),
  counted_at timestamptz not null default 'epoch',
  took       interval not null default '0',
  counts     jsonb not null default '[]'
);

insert into ridepulse.phone_counts default values;

comment on table ridepulse.phone_counts is
  'The number of phones in each state, in one row: one node counts them, all of them export it.';
comment on column ridepulse.phone_counts.is_only is 'True.';
comment on column ridepulse.phone_counts.counted_at is
  'When phones were last counted, or a node last began to count them.';
comment on column ridepulse.phone_counts.took is
  'How long it took; they are not counted again within a thousand times as long.';
comment on column ridepulse.phone_counts.counts is
  'A list of lists: app, platform, state, disabled_reason and number.';
