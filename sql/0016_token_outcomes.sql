-- What APNs answered for tokens. A settlement only inserts here: it never waits for an app that has a
-- phone's row locked, and no app waits for a settlement. Each row is applied to its token in a
-- transaction of its own, in the order of the IDs, as soon as the token's row is free, and deleted
-- with that. Until then the views below show the token as if the row had been applied.

create table ridepulse.token_outcomes (
  id          bigint generated always as identity primary key,
  -- What token_id names: devices, live_activities, push_to_start_tokens or channels.
  kind        text not null check (kind in ('phone', 'activity', 'start', 'channel')),
  token_id    bigint not null,
  -- The token is of no more use; a registration after gone_since, and at the latest after the
  -- settlement, outweighs that. infinity: none does.
  gone_reason text,
  gone_since  timestamptz,
  -- Of a phone that is not gone: APNs called its token bad, or accepted a push again.
  is_refused  boolean not null default false,
  is_good     boolean not null default false,
  -- It was tried in the other environment, and belongs to this one, or to none.
  is_probed   boolean not null default false,
  environment text,
  -- The push that may try the other environment, and one that ended before it could.
  probe       uuid,
  unprobed    uuid,
  quiet_until timestamptz,
  created_at  timestamptz not null default clock_timestamp(),
  check ((gone_reason is null) = (gone_since is null))
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);

-- Each claim asks whether there is something about its phones; nearly always there is not.
create index token_outcomes_by_token on ridepulse.token_outcomes (kind, token_id, id);

-- Phones that may receive something.
create view ridepulse.current_devices as
  select d.id, d.app, d.owner_id, d.token, d.installation_id, d.locale, d.registered_at,
    case when o.count = 0 then d.environment
      else coalesce(d.environment, (
        select e.environment from ridepulse.token_outcomes e
        where e.kind = 'phone' and e.token_id = d.id and e.environment is not null
        order by e.id limit 1)) end as environment,
    case when o.is_reset then 0 else d.refusals end + o.refusals as refusals,
    -- Three is PhoneTrouble.quarantineAfter.
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
      -- In a row: since the last one that was good.
      count(*) filter (where f.is_refused and f.created_at >= d.registered_at and not exists (
        select from ridepulse.token_outcomes g
        where g.kind = 'phone' and g.token_id = d.id and g.id >= f.id
          and (g.is_good or g.environment is not null)))::integer as refusals,
      coalesce(bool_or(f.is_probed), false) as is_probed, max(f.quiet_until) as quiet_until
    from ridepulse.token_outcomes f where f.kind = 'phone' and f.token_id = d.id
  ) o
  where d.disabled_at is null and not o.is_gone;

create view ridepulse.current_live_activities as
  select a.id, a.ride_id, a.app, a.owner_id, a.activity_id, a.token, a.environment, a.frequent,
    a.registered_at, coalesce(a.ended_at, o.created_at) as ended_at,
    coalesce(a.ended_reason, o.gone_reason) as ended_reason
  from ridepulse.live_activities a
  left join lateral (
    select e.created_at, e.gone_reason from ridepulse.token_outcomes e
    where e.kind = 'activity' and e.token_id = a.id and a.ended_at is null
      and e.gone_since >= a.registered_at
    order by e.id limit 1
  ) o on true;

create view ridepulse.current_start_tokens as
  select t.id, t.app, t.owner_id, t.attributes_type, t.token, t.environment, t.registered_at
  from ridepulse.push_to_start_tokens t
  where t.disabled_at is null and not exists (
    select from ridepulse.token_outcomes o
    where o.kind = 'start' and o.token_id = t.id and o.gone_since >= t.registered_at);

create view ridepulse.current_channels as
  select c.id, c.ride_id, c.app, c.environment, c.storage, c.channel_id, c.created_at,
    c.unanswered_at, coalesce(c.ended_at, o.created_at) as ended_at,
    coalesce(c.ended_reason, o.gone_reason) as ended_reason
  from ridepulse.channels c
  left join lateral (
    select e.created_at, e.gone_reason from ridepulse.token_outcomes e
    where e.kind = 'channel' and e.token_id = c.id and c.ended_at is null
    order by e.id limit 1
  ) o on true;

-- A channel's ID goes into its ride's attributes, and its ride falls due: reported_at is when. An app
-- that has the ride locked is not waited for; what is not reported is tried again.
alter table ridepulse.channels add column reported_at timestamptz;
update ridepulse.channels set reported_at = clock_timestamp();

create index channels_to_report on ridepulse.channels (id)
  where channel_id is not null and ride_id is not null and ended_at is null and reported_at is null;

-- Returns whether nothing is left to do.
create function ridepulse.report_channel(channel bigint, is_awaited boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  this ridepulse.channels;
begin
  select * into this from ridepulse.channels c
  where c.id = channel and c.reported_at is null for update skip locked;
  if not found then
    return not exists (
      select from ridepulse.channels c where c.id = channel and c.reported_at is null);
  end if;
  if this.channel_id is null and this.ended_at is null then
    return true;
  end if;
  -- Of a channel that has ended there is nothing to report, of one that was refused there is.
  if this.ride_id is not null and (this.channel_id is null or this.ended_at is null) then
    if this.channel_id is not null then
      perform from ridepulse.rides r where r.id = this.ride_id for update skip locked;
      if not found and exists (select from ridepulse.rides r where r.id = this.ride_id) then
        return false;
      end if;
    end if;
    perform ridepulse.attach_channel(this.ride_id, this.app, this.channel_id, this.ended_reason,
      is_awaited);
  end if;
  update ridepulse.channels c set reported_at = clock_timestamp() where c.id = channel;
  return true;
end
$$;

revoke execute on function ridepulse.report_channel(bigint, boolean) from public;
