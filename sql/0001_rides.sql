-- Rides, their people and events, which a ride service writes, and the agenda, which the engine
-- writes.
--
-- Producers, triggers included, only insert events and never wait for the engine; the engine
-- deletes the events that it has consumed. Contract: docs/sql.md. `ridepulse migrate` creates the
-- schema and ridepulse.migrations before this file, and revokes EXECUTE on new functions from
-- PUBLIC after each file.

comment on table ridepulse.migrations is
  'The migrations that were applied to this database: the files of sql/.';
comment on column ridepulse.migrations.number is 'The number that the file name begins with.';
comment on column ridepulse.migrations.name is 'The file name without its extension.';
comment on column ridepulse.migrations.checksum is
  'SHA-256 of the file in hexadecimal: an applied file must not change.';
comment on column ridepulse.migrations.applied_at is 'When the file was applied.';

create table ridepulse.rides (
  id          text primary key check (id <> ''),
  state       text,
  customer_id text,
  driver_id   text,
  pickup_at   timestamptz,
  time_zone   text default 'UTC',
  attributes  jsonb default '{}',
  updated_at  timestamptz default now()
);

comment on table ridepulse.rides is
  'Rides, written by the service''s backend. A new state and any other change emit an event.';
comment on column ridepulse.rides.id is 'The ride''s ID, 1 to 512 bytes.';
comment on column ridepulse.rides.state is
  'The state, in the backend''s own terms. A new state emits the event of the same name.';
comment on column ridepulse.rides.customer_id is 'The owner of the phones of app customer.';
comment on column ridepulse.rides.driver_id is 'The owner of the phones of app driver.';
comment on column ridepulse.rides.pickup_at is
  'The planned pickup time; schedule rules may refer to it.';
comment on column ridepulse.rides.time_zone is
  'The IANA time zone of formatted times and of local schedules.';
comment on column ridepulse.rides.attributes is
  'Further data for templates, a JSON object. <app>_id names the owner of the phones of any other '
  'app.';
comment on column ridepulse.rides.updated_at is
  'When the row last changed: set by a trigger unless the update sets it itself.';

alter table ridepulse.rides
  add constraint rides_id_at_most_512_bytes check (octet_length(id) <= 512) not valid;

create table ridepulse.participants (
  ride_id    text not null,
  app        text not null,
  owner_id   text not null,
  attributes jsonb not null default '{}',
  primary key (ride_id, app, owner_id)
);

create index participants_by_owner on ridepulse.participants (owner_id, app);

comment on table ridepulse.participants is
  'Further people of rides, written by the service''s backend: they receive what the ride''s own '
  'customer, driver and so on receive. They go with their ride.';
comment on column ridepulse.participants.ride_id is 'The ride, which must exist.';
comment on column ridepulse.participants.app is 'The app whose phones receive the pushes.';
comment on column ridepulse.participants.owner_id is 'The owner of these phones, 1 to 512 bytes.';
comment on column ridepulse.participants.attributes is
  'What concerns this person alone, a JSON object of at most 8 KiB; rules and texts read it as me.';

create table ridepulse.events (
  id          bigint generated always as identity primary key,
  ride_id     text not null,
  event       text not null,
  data        jsonb not null,
  created_at  timestamptz not null default clock_timestamp(),
  customer_id text,
  driver_id   text,
  former      jsonb,
  -- One byte more than version 00 has, so that a longer text is seen to be malformed.
  trace       text default nullif(left(current_setting('ridepulse.traceparent', true), 56), '')
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- A claim reads only the first events of each ride.
create index events_by_ride on ridepulse.events (ride_id, id);

comment on table ridepulse.events is
  'Events that the engine has not consumed yet. It deletes consumed events and records their '
  'pushes in the ledger.';
comment on column ridepulse.events.id is 'The events of a ride are handled in this order.';
comment on column ridepulse.events.ride_id is 'The ride; it need not exist.';
comment on column ridepulse.events.event is 'The event''s name, which rules match.';
comment on column ridepulse.events.data is 'The event''s own data, a JSON object.';
comment on column ridepulse.events.created_at is
  'The time of the statement, not the start of its transaction. Validity counts from here.';
comment on column ridepulse.events.customer_id is
  'The ride''s customer when the event was emitted: the new one if the event is its change.';
comment on column ridepulse.events.driver_id is
  'The ride''s driver when the event was emitted: the new one if the event is its change.';
comment on column ridepulse.events.former is
  'The row before the change, as ridepulse.former_row returns it; null unless the change replaced '
  'or removed one of the ride''s people.';
comment on column ridepulse.events.trace is
  'The traceparent that the transaction had set, unchecked; null without one. See docs/traces.md.';

-- A ride with unconsumed events is due whatever its due_at is. The lease is not indexed, and due_at
-- stays unchanged while a ride is leased, so that a claim is a HOT update.
create table ridepulse.agenda (
  ride_id       text primary key,
  due_at        timestamptz,
  memo          jsonb,
  node          uuid,
  fence         bigint not null,
  leased_until  timestamptz not null,
  parked_reason text,
  unread        smallint not null default 0,
  parked_at     timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

create index agenda_due on ridepulse.agenda (due_at) where due_at is not null;

comment on table ridepulse.agenda is
  'One row for each live ride: when it next needs attention, its memo, and its lease.';
comment on column ridepulse.agenda.ride_id is 'The ride.';
comment on column ridepulse.agenda.due_at is
  'When the ride next needs attention; null if only its next event makes it due.';
comment on column ridepulse.agenda.memo is
  'What the last decision left for the next one: what waits, cards, schedule slots.';
comment on column ridepulse.agenda.node is
  'The claim that holds the ride; null once the ride is released. Its first 18 characters are those '
  'of the node. A settlement of any other claim is refused.';
comment on column ridepulse.agenda.fence is
  'Fencing token of the last claim. A settlement with any other one is refused. A failover may give '
  'one out twice; the claim in node is unique even then.';
comment on column ridepulse.agenda.leased_until is
  'When the lease ends: -infinity without a lease, infinity for a parked ride.';
comment on column ridepulse.agenda.parked_reason is 'Why the ride is parked; null if it is not.';
comment on column ridepulse.agenda.unread is
  'Number of consecutive claims that could not read the ride.';
comment on column ridepulse.agenda.parked_at is 'When the ride was parked; null if it is not.';

-- A fence is unique over all rides, even if the row of a ride is deleted and inserted again. Each
-- session caches 100 of them, so fences do not rise in the order of the claims.
create sequence ridepulse.fence cache 100;

comment on sequence ridepulse.fence is 'Fencing tokens of claims.';

create view ridepulse.parked as
  select ride_id, parked_reason as reason from ridepulse.agenda where parked_reason is not null;

comment on view ridepulse.parked is
  'Rides that no node claims until ridepulse.unpark is called for them, with the reason.';

create function ridepulse.unpark(ride_id text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with unparked as (
    update ridepulse.agenda a
    set parked_reason = null, parked_at = null, unread = 0, leased_until = '-infinity',
      due_at = now()
    where a.ride_id = $1 and a.parked_reason is not null
    returning 1
  )
  select exists (select from unparked)
$$;

comment on function ridepulse.unpark(text) is
  'Makes a parked ride due again; returns whether it was parked.';

create table ridepulse.lost_claims (
  ride_id    text primary key,
  fence      bigint not null,
  claims     smallint not null,
  is_waiting boolean not null default true,
  is_deciding boolean not null default false,
  held_until timestamptz,
  lost_at    timestamptz not null default now(),
  decisions  smallint not null default 0
);

comment on table ridepulse.lost_claims is
  'Rides whose last claim did not survive, or may not survive a clock that went back. They are decided apart from others, and parked if they '
  'end their node again and again. A row is void once its ride has another fence or no holder.';
comment on column ridepulse.lost_claims.fence is 'The fence of the ride''s last claim.';
comment on column ridepulse.lost_claims.claims is
  'The number of claims in a row that did not survive.';
comment on column ridepulse.lost_claims.is_waiting is
  'Whether the ride waits to be claimed again; false while it is claimed.';
comment on column ridepulse.lost_claims.is_deciding is
  'Whether the last claim began to decide the ride and has not recorded the end of the decision.';
comment on column ridepulse.lost_claims.held_until is
  'The end of a lease that was set before the database''s clock went back: up to that time pushes may '
  'have left.';
comment on column ridepulse.lost_claims.lost_at is
  'When the end of the first of these claims was noticed.';
-- A ride is parked once two lost claims ended while it was decided: one end may be chance.
-- Reasons: docs/decisions/0074-rides-that-end-their-node.md.
comment on column ridepulse.lost_claims.decisions is
  'How many of these claims, without the last, ended while the ride was decided.';

-- Unlogged: a row matters only while its node lives, and claims update it every 2 s.
create unlogged table ridepulse.nodes (
  node          uuid primary key,
  host          text not null,
  asleep        boolean not null,
  seen_at       timestamptz not null,
  edition       integer not null,
  apns          text check (apns in ('reached', 'lost')),
  started_at    timestamptz not null default now(),
  revision      integer,
  rules_share   text,
  rules_since   timestamptz,
  rules_problem text
) with (fillfactor = 50);

comment on table ridepulse.nodes is
  'The nodes that claim rides, and whether each sleeps until it is notified.';
comment on column ridepulse.nodes.node is 'The node''s ID, new at each start.';
comment on column ridepulse.nodes.host is 'The host name of the machine, for people.';
comment on column ridepulse.nodes.asleep is 'Whether the node waits for a NOTIFY.';
comment on column ridepulse.nodes.seen_at is 'When the node last claimed, updated every 2 s.';
comment on column ridepulse.nodes.edition is
  'Version of the schema that the node writes. A node that names none cannot claim.';
comment on column ridepulse.nodes.apns is
  'Whether the node reaches APNs: reached, with an open connection, or lost; null while unknown.';
comment on column ridepulse.nodes.started_at is 'When the node first claimed.';
comment on column ridepulse.nodes.revision is
  'The rules and the program version that the node decides with, an ID in revisions; null until it '
  'has reported them.';
comment on column ridepulse.nodes.rules_share is
  'The beginning of the digest of the rules for a share of the rides, and the share; null if there are none.';
comment on column ridepulse.nodes.rules_since is 'When the node reported these rules first.';
comment on column ridepulse.nodes.rules_problem is
  'The first problem of rule files that the node refused; null if it uses the last ones it read.';

-- Each node adds to its own rows, so that nodes never wait for each other.
create table ridepulse.slot_counts (
  rule    text not null,
  day     date not null,
  node    uuid not null,
  due     bigint not null,
  fired   bigint not null,
  skipped bigint not null,
  missed  bigint not null,
  capped  bigint not null,
  expired bigint not null,
  primary key (rule, day, node)
) with (fillfactor = 50);

comment on table ridepulse.slot_counts is
  'Number of schedule slots by outcome, for each rule, day and node.';
comment on column ridepulse.slot_counts.rule is 'The rule''s name.';
comment on column ridepulse.slot_counts.day is 'The day of the settlement, in UTC.';
comment on column ridepulse.slot_counts.node is 'The node that settled the slots.';
comment on column ridepulse.slot_counts.due is
  'Slots that were due, counted independently of their outcomes.';
comment on column ridepulse.slot_counts.fired is 'Slots at which the rule fired.';
comment on column ridepulse.slot_counts.skipped is
  'Slots at which the rule was not to fire, such as a heartbeat whose successor was due.';
comment on column ridepulse.slot_counts.missed is
  'Cron slots that no node evaluated in time and that the rule does not make up for.';
comment on column ridepulse.slot_counts.capped is
  'Missed cron slots beyond the number that the rule makes up for.';
comment on column ridepulse.slot_counts.expired is 'Slots whose push was no longer valid.';

create view ridepulse.slots as
  select rule, day, sum(due)::bigint as due, sum(fired)::bigint as fired,
    sum(skipped)::bigint as skipped, sum(missed)::bigint as missed, sum(capped)::bigint as capped,
    sum(expired)::bigint as expired,
    sum(due - fired - skipped - missed - capped - expired)::bigint as remainder
  from ridepulse.slot_counts group by rule, day;

comment on view ridepulse.slots is
  'Number of schedule slots by outcome, for each rule and day (UTC). remainder is due minus all '
  'outcomes: anything except 0 is a bug in RidePulse.';

create table ridepulse.timing (
  is_only    boolean primary key default true check (is_only),
  rules      text not null,
  adopted_at timestamptz not null default now()
);

comment on table ridepulse.timing is
  'One row: the schedule rules for which live rides were last rescheduled.';
comment on column ridepulse.timing.is_only is 'Always true: the primary key of the only row.';
comment on column ridepulse.timing.rules is 'The digest of the schedule rules.';
comment on column ridepulse.timing.adopted_at is
  'When the last live ride was rescheduled for them.';
