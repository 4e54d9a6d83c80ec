-- What a ride service writes, rides and events, and what the engine plans from them.
--
-- Producers only ever insert events (the triggers too) and wait for no one; the engine deletes what
-- it has consumed. Contract: docs/sql.md. `ridepulse migrate` has created the schema and
-- ridepulse.migrations, and revokes EXECUTE on new functions from PUBLIC after each file.

comment on table ridepulse.migrations is 'The files of sql/ that were applied to this database.';
comment on column ridepulse.migrations.number is 'The number that the file''s name begins with.';
comment on column ridepulse.migrations.name is 'The file''s name without its extension.';
comment on column ridepulse.migrations.checksum is
  'The SHA-256 of the file''s text: a file that was applied must not change.';
comment on column ridepulse.migrations.applied_at is 'When it was applied.';

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

alter table ridepulse.rides
  add constraint rides_id_at_most_512_bytes check (octet_length(id) <= 512) not valid;

comment on table ridepulse.rides is
  'Rides as the service''s backend knows them. Each change becomes an event.';
comment on column ridepulse.rides.id is 'The ride''s ID, at most 512 bytes.';
comment on column ridepulse.rides.state is
  'The state, in the backend''s own words. A new state is an event of the same name.';
comment on column ridepulse.rides.customer_id is 'The owner of the phones of app customer.';
comment on column ridepulse.rides.driver_id is 'The owner of the phones of app driver.';
comment on column ridepulse.rides.pickup_at is 'The planned pickup, which schedule rules refer to.';
comment on column ridepulse.rides.time_zone is
  'The IANA time zone in which times are shown and local schedules are evaluated.';
comment on column ridepulse.rides.attributes is
  'Further data for templates; <app>_id names the owner of another app''s phones.';
comment on column ridepulse.rides.updated_at is
  'When the row last changed, by the backend''s clock if it sets the column itself.';

create table ridepulse.events (
  id          bigint generated always as identity primary key,
  ride_id     text not null,
  event       text not null,
  data        jsonb not null,
  created_at  timestamptz not null default clock_timestamp(),
  customer_id text,
  driver_id   text,
  former      jsonb
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- A claim reads the first events of a ride only.
create index events_by_ride on ridepulse.events (ride_id, id);

comment on table ridepulse.events is
  'Events that no engine has consumed yet. A consumed event is deleted and recorded in the ledger.';
comment on column ridepulse.events.id is 'The order in which events of a ride are handled.';
comment on column ridepulse.events.ride_id is 'The ride, which need not exist.';
comment on column ridepulse.events.event is 'The name that rules match.';
comment on column ridepulse.events.data is 'The event''s own data, a JSON object.';
comment on column ridepulse.events.created_at is
  'When the statement ran, not when its transaction began: validity counts from here.';
comment on column ridepulse.events.customer_id is 'The ride''s customer after the change.';
comment on column ridepulse.events.driver_id is 'The ride''s driver after the change.';
comment on column ridepulse.events.former is
  'The ride''s row before the change, if the change replaced or removed one of its people.';

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
  'One row for each live ride: when it next needs attention, and which node holds it.';
comment on column ridepulse.agenda.ride_id is 'The ride.';
comment on column ridepulse.agenda.due_at is
  'When it next needs attention; null if only its next event makes it due.';
comment on column ridepulse.agenda.memo is
  'What the last decision left for the next one: retries, cards, schedule slots.';
comment on column ridepulse.agenda.node is
  'The node that holds it. A settlement by any other node is refused.';
comment on column ridepulse.agenda.fence is
  'The fencing token of the holder, higher than that of every earlier one.';
comment on column ridepulse.agenda.leased_until is
  'When the lease ends; infinity for a parked ride.';
comment on column ridepulse.agenda.parked_reason is 'Why it is parked; null for all other rides.';
comment on column ridepulse.agenda.unread is 'How many reads of it have failed in a row.';
comment on column ridepulse.agenda.parked_at is 'When it was parked.';

-- Fences rise over all rides and forever, also for a ride whose row was deleted in between.
create sequence ridepulse.fence cache 100;

comment on sequence ridepulse.fence is 'Fencing tokens of claims.';

create view ridepulse.parked as
  select ride_id, parked_reason as reason from ridepulse.agenda where parked_reason is not null;

comment on view ridepulse.parked is
  'Rides that no node handles until ridepulse.unpark is called for them, with the reason.';

-- Unlogged: its rows count only while the nodes live, and each claim writes one.
create unlogged table ridepulse.nodes (
  node    uuid primary key,
  host    text not null,
  asleep  boolean not null,
  seen_at timestamptz not null,
  edition integer not null
) with (fillfactor = 50);

comment on table ridepulse.nodes is
  'The nodes that claim rides, and which of them sleep until they are notified.';
comment on column ridepulse.nodes.node is 'The node''s ID, new at each start.';
comment on column ridepulse.nodes.host is 'The machine''s name, for people.';
comment on column ridepulse.nodes.asleep is 'Whether it waits for a NOTIFY.';
comment on column ridepulse.nodes.seen_at is 'Its last claim.';
comment on column ridepulse.nodes.edition is
  'The version of the schema''s contract that it follows; a node without one cannot claim.';

-- Each node adds to rows of its own, so that no two nodes wait for each other.
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

comment on table ridepulse.slot_counts is 'Schedule slots by outcome, for each rule, day and node.';
comment on column ridepulse.slot_counts.rule is 'The rule''s name.';
comment on column ridepulse.slot_counts.day is 'The day of the settlement, in UTC.';
comment on column ridepulse.slot_counts.node is 'The node that settled them.';
comment on column ridepulse.slot_counts.due is
  'Slots that were due, counted independently of their outcomes.';
comment on column ridepulse.slot_counts.fired is 'The rule fired.';
comment on column ridepulse.slot_counts.skipped is 'The rule was not to fire.';
comment on column ridepulse.slot_counts.missed is 'Evaluated too late, and not made up for.';
comment on column ridepulse.slot_counts.capped is 'Would have been made up for, beyond the bound.';
comment on column ridepulse.slot_counts.expired is 'The push was no longer valid.';

create view ridepulse.slots as
  select rule, day, sum(due)::bigint as due, sum(fired)::bigint as fired,
    sum(skipped)::bigint as skipped, sum(missed)::bigint as missed, sum(capped)::bigint as capped,
    sum(expired)::bigint as expired,
    sum(due - fired - skipped - missed - capped - expired)::bigint as remainder
  from ridepulse.slot_counts group by rule, day;

comment on view ridepulse.slots is
  'Schedule slots by outcome, for each rule and day. A remainder other than 0 is a fault of '
  'RidePulse.';

create table ridepulse.timing (
  is_only    boolean primary key default true check (is_only),
  rules      text not null,
  adopted_at timestamptz not null default now()
);

comment on table ridepulse.timing is
  'The schedule rules that live rides were last rescheduled for.';
comment on column ridepulse.timing.is_only is 'There is one row.';
comment on column ridepulse.timing.rules is 'The digest of the schedule rules.';
comment on column ridepulse.timing.adopted_at is 'When all live rides had been rescheduled.';
