-- For people on call: who holds sending; pauses of a rule, an event or an app; events that are
-- discarded. Reasons: docs/decisions/0122-pauses.md.

create function ridepulse.record_hold() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.held_by := case when new.held_at is not null then session_user end;
  return new;
end
$$;

comment on function ridepulse.record_hold() is 'Trigger of pin: records who holds sending.';

create trigger record_hold before insert or update of held_at on ridepulse.pin
  for each row execute function ridepulse.record_hold();

create function ridepulse.release(out held_at timestamptz, out held_reason text, out held_by text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  held ridepulse.pin;
begin
  select * into held from ridepulse.pin p where p.held_at is not null for update;
  if not found then
    return;
  end if;
  update ridepulse.pin p set held_at = null, held_reason = null;
  release.held_at := held.held_at;
  release.held_reason := held.held_reason;
  release.held_by := held.held_by;
end
$$;

comment on function ridepulse.release() is
  'Ends hold and returns since when, why and by whom sending was held; nulls if it was not. The pin '
  'stays: a copy of a database that is recognized sends nothing after it either.';

create table ridepulse.pauses (
  kind      text not null check (kind in ('rule', 'event', 'app')),
  name      text not null check (octet_length(name) between 1 and 512),
  until     timestamptz not null,
  reason    text check (octet_length(reason) <= 500),
  paused_by text not null default session_user,
  since     timestamptz not null default now(),
  primary key (kind, name),
  check (until > since and until <= since + interval '169 hours')
);

comment on table ridepulse.pauses is
  'Rules, events and apps of which nothing is sent for a while: it waits, and is decided again after '
  'the pause. A row is void once its time is over.';
comment on column ridepulse.pauses.kind is 'rule, event or app.';
comment on column ridepulse.pauses.name is 'The name of the rule, event or app.';
comment on column ridepulse.pauses.until is 'When the pause ends by itself: at most 7 days ahead.';
comment on column ridepulse.pauses.reason is 'Why, as a text for people; null if none was given.';
comment on column ridepulse.pauses.paused_by is 'Who paused it, a login of Postgres.';
comment on column ridepulse.pauses.since is 'When it was paused.';

create function ridepulse.pause(
  kind text, name text, duration interval default '1 hour', reason text default null)
returns timestamptz
language plpgsql set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
#variable_conflict use_column
declare
  ends_at timestamptz;
begin
  if pause.kind is null or pause.kind not in ('rule', 'event', 'app') then
    raise exception 'ridepulse.pause needs rule, event or app, got %', coalesce(pause.kind, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  if pause.name is null or octet_length(pause.name) not between 1 and 512 then
    raise exception 'ridepulse.pause needs a name of 1 to 512 bytes'
      using errcode = 'invalid_parameter_value';
  end if;
  if duration is null or duration <= interval '0' or duration > interval '7 days' then
    raise exception 'ridepulse.pause lasts up to 7 days, got %', coalesce(duration::text, 'null')
      using errcode = 'invalid_parameter_value',
        hint = 'Pause it again before it ends, or change the rules.';
  end if;
  delete from ridepulse.pauses p where p.until <= now();
  insert into ridepulse.pauses as p (kind, name, until, reason)
  values (pause.kind, pause.name, now() + duration, nullif(left(pause.reason, 120), ''))
  on conflict (kind, name) do update set until = excluded.until, reason = excluded.reason,
    paused_by = excluded.paused_by, since = excluded.since
  returning p.until into ends_at;
  return ends_at;
end
$$;

comment on function ridepulse.pause(text, text, interval, text) is
  'Pauses a rule, an event or an app, or changes its pause; returns when that ends. What it would '
  'send waits meanwhile. reason: at most 120 characters are kept. Errors: 22023.';

create function ridepulse.resume(
  kind text, name text, out until timestamptz, out reason text, out paused_by text,
  out since timestamptz, out rides bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  delete from ridepulse.pauses p where p.kind = resume.kind and p.name = resume.name
  returning p.until, p.reason, p.paused_by, p.since
  into resume.until, resume.reason, resume.paused_by, resume.since;
  if not found then
    return;
  end if;
  -- Once each node has claimed again. A ride that a node holds looks by itself within 30 s.
  with free as materialized (
    select a.ride_id from ridepulse.agenda a
    where a.memo ? 'waiting' and a.leased_until <= now()
      and a.memo @? '$.waiting[*].entry.reason.code ? (@ == "paused")'
    order by a.ride_id for update skip locked
  ), moved as (
    update ridepulse.agenda a set due_at = least(a.due_at, now() + interval '3 seconds')
    from free where a.ride_id = free.ride_id
    returning 1
  )
  select count(*) into resume.rides from moved;
end
$$;

comment on function ridepulse.resume(text, text) is
  'Ends a pause, makes the rides that wait for one due, and returns the pause and the number of these '
  'rides; nulls if there was no such pause.';

create function ridepulse.discard(
  event text, since timestamptz, until timestamptz default 'infinity', size integer default 500)
returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  rides text[];
  discarded bigint;
begin
  if discard.event is null or discard.since is null or discard.until is null then
    raise exception 'ridepulse.discard needs the name of an event and a time'
      using errcode = 'invalid_parameter_value';
  end if;
  select array_agg(distinct f.ride_id order by f.ride_id) into rides from (
    select e.ride_id from ridepulse.events e
    where e.event = discard.event
      and e.created_at >= discard.since and e.created_at < discard.until
      and not exists (
        select from ridepulse.agenda a
        where a.ride_id = e.ride_id
          and (a.node is not null or a.leased_until > now() or a.memo ? 'part'))
    order by e.id limit discard.size) f;
  -- A ride that a node claims for its first event now is on the agenda before or after this.
  insert into ridepulse.agenda (ride_id, due_at, fence, leased_until)
  select r, now(), 0, '-infinity' from unnest(rides) r
  where not exists (select from ridepulse.agenda a where a.ride_id = r) order by r
  on conflict do nothing;
  -- No node claims a ride whose row is locked. One that lost its node, or is between two parts of a
  -- pass, may have sent some pushes already.
  select array_agg(l.ride_id) into rides from (
    select a.ride_id from ridepulse.agenda a
    where a.ride_id = any (rides) and a.node is null and a.leased_until <= now()
      and not coalesce(a.memo ? 'part', false)
    order by a.ride_id for update skip locked) l;
  with gone as (
    delete from ridepulse.events e
    where e.ride_id = any (rides) and e.event = discard.event
      and e.created_at >= discard.since and e.created_at < discard.until
    returning e.id, e.ride_id, e.event, e.created_at
  )
  insert into ridepulse.ledger (ride_id, apns_id, event_id, event, rule, app, push_type, status,
    reason, attempts, occurred_at, finished_at, reason_code)
  select g.ride_id, gen_random_uuid(), g.id, g.event, '', '', 'alert', 'suppressed',
    'discarded by ' || session_user, 0, g.created_at, clock_timestamp(), 'discarded'
  from gone g;
  get diagnostics discarded = row_count;
  return discarded;
end
$$;

comment on function ridepulse.discard(text, timestamptz, timestamptz, integer) is
  'Ends events of a name that no node has handled, from a time on and before another, of about size '
  'events; each has a row in the ledger. Returns their number: call it until that is 0. Events of '
  'rides that a node holds are left. Errors: 22023.';
