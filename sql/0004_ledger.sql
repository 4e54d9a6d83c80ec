-- The ledger, partitioned by the day (UTC) of the event, so that old days are dropped whole and
-- leave no dead rows (docs/decisions/0012-ledger-by-days.md); receipts; the rules that decided each
-- push; the JSON types of the fields of cards (0053-reading-swift.md, 0056-types-of-the-last-day.md).

create table ridepulse.ledger (
  ride_id      text not null,
  apns_id      uuid not null,
  event_id     bigint,
  event        text not null,
  rule         text not null,
  app          text not null,
  push_type    text not null,
  status       text not null check (status in ('pending', 'accepted', 'rejected', 'expired',
                                               'uncertain', 'suppressed', 'superseded')),
  reason       text,
  attempts     integer not null,
  collapse_id  text,
  device_id    bigint,
  token_suffix text,
  occurred_at  timestamptz not null,
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  priority     smallint,
  expiration   bigint,
  card_event   text check (card_event in ('start', 'update', 'end')),
  reason_code  text,
  settled_xid  xid8 not null default pg_current_xact_id(),
  decided_by   integer,
  apns_unique_id text,
  owner_id     text,
  primary key (ride_id, apns_id, occurred_at)
) partition by range (occurred_at);

-- The order of ridepulse.deliveries_after, which sorts the few rows of a transaction itself: equal
-- keys take almost no space. A pending push has no verdict to follow.
create index ledger_verdicts on ridepulse.ledger (settled_xid) where status <> 'pending';

-- Settlements append rows, so a summary of each range of blocks finds a time, at almost no cost.
create index ledger_by_time on ridepulse.ledger using brin (created_at, finished_at)
  with (autosummarize = on);

-- Words that no rule file declares; doctor counts those of the last day.
create index ledger_unknown_words on ridepulse.ledger (created_at)
  where reason_code in ('unknown_event', 'unknown_state');

comment on table ridepulse.ledger is
  'Outcomes of pushes: one row for each event or slot, rule and phone, and one row without a '
  'phone if a rule had no recipient; and of events that rules emit.';
comment on column ridepulse.ledger.ride_id is 'The ride.';
comment on column ridepulse.ledger.apns_id is 'apns-id, the same in every attempt of the push.';
comment on column ridepulse.ledger.event_id is 'The event''s ID; null for a schedule slot.';
comment on column ridepulse.ledger.event is 'The event''s name.';
comment on column ridepulse.ledger.rule is 'The rule''s name.';
comment on column ridepulse.ledger.app is 'The app of the phone.';
comment on column ridepulse.ledger.push_type is
  'apns-push-type; emit or escalation for what is no push.';
comment on column ridepulse.ledger.status is 'The outcome; docs/sql.md describes each one.';
comment on column ridepulse.ledger.reason is 'Why the push has this status, as a text for people.';
comment on column ridepulse.ledger.attempts is 'Number of times the push was sent.';
comment on column ridepulse.ledger.collapse_id is 'apns-collapse-id.';
comment on column ridepulse.ledger.device_id is
  'The phone, an ID in devices; null if there is none.';
comment on column ridepulse.ledger.token_suffix is 'The last six digits of the token.';
comment on column ridepulse.ledger.occurred_at is
  'When the event happened or the slot was due: the same in every attempt, and the partition key.';
comment on column ridepulse.ledger.created_at is 'When the push was first settled.';
comment on column ridepulse.ledger.finished_at is
  'When the outcome became final; null while the push is pending.';
comment on column ridepulse.ledger.priority is 'apns-priority; null if nothing was sent.';
comment on column ridepulse.ledger.expiration is
  'apns-expiration in seconds since 1970, 0 for a push that APNs must not store; null if nothing '
  'was sent.';
comment on column ridepulse.ledger.card_event is
  'start, update or end; null if the push does not concern a card.';
comment on column ridepulse.ledger.reason_code is
  'The reason as a code: APNs'' reason, "HTTP n", or one of the engine''s words; see docs/sql.md.';
comment on column ridepulse.ledger.settled_xid is
  'The transaction that wrote the status: the order of ridepulse.deliveries_after.';
comment on column ridepulse.ledger.decided_by is
  'The rules and the program version that decided the status, an ID in revisions; null if a '
  'program that does not record it has.';
comment on column ridepulse.ledger.apns_unique_id is
  'apns-unique-id of the last answer, which APNs sends in its sandbox and for broadcasts; null '
  'without one.';
comment on column ridepulse.ledger.owner_id is
  'The person whom it was for; null if it was for none, for a raw push, and once the person is '
  'erased.';

-- For rows without a partition: slots of long ago, events from a wrong clock, and all rows if the
-- engine's role may not rotate the ledger.
create table ridepulse.ledger_default partition of ridepulse.ledger default with (fillfactor = 95);

comment on table ridepulse.ledger_default is 'Ledger rows whose day has no partition.';

-- A table of its own, because a receipt may come before its push is settled, and because an app's
-- transaction must not hold a ledger row that a settlement writes.
-- One that an escalation awaited names its owner, one a day; all others are just an apns-id and a time.
create table ridepulse.receipts (
  apns_id  uuid primary key,
  seen_at  timestamptz not null default clock_timestamp(),
  app      text,
  owner_id text
) with (fillfactor = 95, autovacuum_vacuum_scale_factor = 0.05);

create index receipts_of_owners on ridepulse.receipts (app, owner_id) where owner_id is not null;

comment on table ridepulse.receipts is
  'Pushes that apps have reported as seen. Kept as long as ledger rows.';
comment on column ridepulse.receipts.apns_id is 'apns-id of the push.';
comment on column ridepulse.receipts.seen_at is 'When the first report came.';
comment on column ridepulse.receipts.app is 'The app of owner_id.';
comment on column ridepulse.receipts.owner_id is
  'The owner of whom this is the first receipt of a day that an escalation awaited; null for all others.';

-- Apart from the ledger, whose rows need no trace: a sampled push is here until its receipt comes, for
-- 1 day at most (docs/decisions/0128-traces.md).
create table ridepulse.traced_pushes (
  apns_id    uuid primary key,
  trace      text not null,
  app        text not null,
  created_at timestamptz not null default now(),
  is_seen    boolean not null default false
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);

create index traced_pushes_seen on ridepulse.traced_pushes (apns_id) where is_seen;

create index traced_pushes_by_age on ridepulse.traced_pushes (created_at);

comment on table ridepulse.traced_pushes is
  'Accepted pushes of sampled traces whose receipts have not been exported. See docs/traces.md.';
comment on column ridepulse.traced_pushes.apns_id is 'apns-id of the push.';
comment on column ridepulse.traced_pushes.trace is
  'The traceparent of the attempt that was accepted.';
comment on column ridepulse.traced_pushes.app is 'The app of the phone.';
comment on column ridepulse.traced_pushes.created_at is 'When the row was written.';
comment on column ridepulse.traced_pushes.is_seen is 'Whether the app has reported the push since.';

create function ridepulse.seen(apns_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if apns_id is null then
    raise exception 'ridepulse.seen needs apns_id, got null'
      using errcode = 'invalid_parameter_value', hint = 'It is the apns-id of the push.';
  end if;
  insert into ridepulse.receipts (apns_id) values (seen.apns_id)
  on conflict on constraint receipts_pkey do nothing;
  update ridepulse.traced_pushes t set is_seen = true
  where t.apns_id = seen.apns_id and not t.is_seen;
end
$$;

comment on function ridepulse.seen(uuid) is
  'Records that an app displayed a push; the first report counts. apns_id: the apns-id of the push; '
  'one that is unknown, or not known yet, is no error. Errors: 22023 if it is null.';

create view ridepulse.deliveries as
  select case when l.push_type in ('emit', 'escalation', 'post') then l.push_type else 'push' end
      as kind,
    l.owner_id,
    (select d.platform from ridepulse.devices d where d.id = l.device_id) as platform,
    l.reason_code, l.ride_id, l.event, l.rule, l.app,
    case when l.push_type not in ('emit', 'escalation', 'post') then l.push_type end as push_type,
    l.status, l.reason, l.attempts,
    case when (l.attempts > 0 or l.status = 'pending')
      and l.push_type not in ('emit', 'escalation') then l.apns_id end as apns_id,
    l.collapse_id, l.created_at, l.finished_at, l.token_suffix,
    (select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id) as seen_at,
    l.apns_unique_id
  from ridepulse.ledger l;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, of posts to receivers, and of events that rules emit, for people and backends. '
  'kind is push, post, emit or escalation; push_type is null unless it is push. owner_id is null if '
  'it was for no person, and for a raw push. platform is ios or android; null without a phone, and '
  'once its row is deleted. apns_id is null if nothing was sent; of a post it is the '
  'webhook-id. seen_at is null unless the app reported the push; apns_unique_id is that of Apple''s '
  'Push Notifications Console, null unless APNs sent one.';

create table ridepulse.revisions (
  id         integer primary key,
  rules      text not null,
  version    text not null,
  first_at   timestamptz not null default clock_timestamp(),
  last_at    timestamptz not null default clock_timestamp()
);

comment on table ridepulse.revisions is
  'The rule files and program versions that decided pushes: one row for each combination that a '
  'service has started with or reloaded.';
comment on column ridepulse.revisions.id is
  'The decided_by of ledger rows: the first 32 bits of the SHA-256 of rules, a space and version.';
comment on column ridepulse.revisions.rules is
  'SHA-256 of the rule files, as `ridepulse check` prints it.';
comment on column ridepulse.revisions.version is 'The version of the program.';
comment on column ridepulse.revisions.first_at is 'When a service first used the combination.';
comment on column ridepulse.revisions.last_at is
  'When a service last started with the combination or reloaded it.';

create table ridepulse.card_type_hours (
  attributes_type text not null,
  field           text not null,
  json_type       text not null,
  hour            timestamptz not null default date_trunc('hour', now(), 'UTC'),
  count           bigint not null,
  last_at         timestamptz not null default now(),
  primary key (attributes_type, field, json_type, hour)
) with (fillfactor = 50);

comment on table ridepulse.card_type_hours is
  'The JSON types that the fields of cards had in pushes which APNs accepted, by the hour. Each node '
  'adds its counts once a minute. Rows are kept for 1 day.';
comment on column ridepulse.card_type_hours.attributes_type is
  'The attributes-type of the card''s rule.';
comment on column ridepulse.card_type_hours.field is
  'The field with its part of the payload, such as content-state.etaEpoch.';
comment on column ridepulse.card_type_hours.json_type is
  'string, int, fraction (a number with a fraction or an exponent), bool, null, list or object.';
comment on column ridepulse.card_type_hours.hour is 'The beginning of the hour.';
comment on column ridepulse.card_type_hours.count is 'How many pushes had this type in the hour.';
comment on column ridepulse.card_type_hours.last_at is 'When a node last recorded the type.';

create table ridepulse.card_types (
  attributes_type text not null,
  field           text not null,
  json_type       text not null,
  count           bigint not null,
  first_at        timestamptz not null default now(),
  last_at         timestamptz not null default now(),
  primary key (attributes_type, field, json_type)
) with (fillfactor = 50);

comment on table ridepulse.card_types is
  'The counts of nodes of an earlier version, kept for 1 day; card_type_hours has all others.';
comment on column ridepulse.card_types.attributes_type is 'The attributes-type of the card''s rule.';
comment on column ridepulse.card_types.field is
  'The field with its part of the payload, such as content-state.etaEpoch.';
comment on column ridepulse.card_types.json_type is
  'string, int, fraction (a number with a fraction or an exponent), bool, null, list or object.';
comment on column ridepulse.card_types.count is 'How many pushes had this type since first_at.';
comment on column ridepulse.card_types.first_at is 'When a node first recorded the type.';
comment on column ridepulse.card_types.last_at is 'When a node last recorded the type.';
