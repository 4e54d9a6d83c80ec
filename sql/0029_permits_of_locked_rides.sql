-- Permits and the settlement that they belong to are written together or not at all.
-- Reasons: docs/decisions/0060-limits-per-person.md.

-- Locks owners and topics in the order of their numbers, so that two settlements can't deadlock,
-- and counts after that: a statement sees what was committed before it began. It waits for no row.
create or replace function ridepulse.settle_permits(changes jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  held text[];
  change record;
  used bigint;
begin
  held := array(
    select a.ride_id from jsonb_to_recordset(changes -> 'rides')
      as r (ride_id text, fence bigint, node uuid)
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    order by a.ride_id for update of a skip locked);
  -- The settlement that follows may find the lock of a skipped ride released. It would write what
  -- was sent without its permit, so that one push too many could follow.
  if exists (
    select from jsonb_to_recordset(changes -> 'rides') as r (ride_id text, fence bigint, node uuid)
    join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence and a.node = r.node
    where a.ride_id <> all (held))
  then
    raise exception 'agenda rows of ridepulse.settle_permits are locked'
      using errcode = 'lock_not_available', hint = 'Repeat the settlement.';
  end if;
  perform pg_advisory_xact_lock(k.number) from (
    select distinct hashtextextended(
      jsonb_build_array('ridepulse permits', c.app, c.owner_id, c.topic)::text, 0) as number
    from (
      select * from jsonb_to_recordset(changes -> 'outcomes')
        as o (app text, owner_id text, topic text)
      union all
      select * from jsonb_to_recordset(changes -> 'requests')
        as q (app text, owner_id text, topic text)) c
    order by 1) k;
  for change in
    select * from jsonb_to_recordset(changes -> 'outcomes') as o (
      ride_id text, id uuid, app text, owner_id text, topic text, sent boolean, done boolean,
      "window" bigint)
  loop
    if change.sent and change.ride_id = any (held) then
      insert into ridepulse.permits as p
        (id, app, owner_id, topic, is_granted, is_sent, counts_at, keep_until)
      values (change.id, change.app, change.owner_id, change.topic, true, true,
        clock_timestamp(), clock_timestamp() + change."window" * interval '1 microsecond')
      on conflict (id) do update set is_granted = true, is_sent = true;
    elsif change.sent then
      -- Adds no row: the person may have been erased meanwhile.
      update ridepulse.permits p set is_sent = true where p.id = change.id;
    end if;
    -- Of a ride that has passed to another node, that node may still be sending.
    continue when not change.done or change.ride_id <> all (held);
    update ridepulse.permits p set counts_at = clock_timestamp()
    where p.id = change.id and p.is_sent;
    delete from ridepulse.permits p where p.id = change.id and not p.is_sent;
  end loop;
  for change in
    select * from jsonb_to_recordset(changes -> 'requests') as q (
      ride_id text, id uuid, app text, owner_id text, topic text, count bigint, per bigint,
      valid_until bigint, "window" bigint, occurred_at bigint)
    where q.ride_id = any (held)
    order by q.occurred_at, q.id
  loop
    update ridepulse.permits p set counts_at = greatest(p.counts_at,
      timestamptz 'epoch' + change.valid_until * interval '1 microsecond')
    where p.id = change.id and p.is_granted;
    continue when found;
    select count(*) into used from ridepulse.permits p
    where p.app = change.app and p.owner_id = change.owner_id and p.topic = change.topic
      and p.is_granted and p.counts_at > clock_timestamp() - change.per * interval '1 microsecond';
    insert into ridepulse.permits as p
      (id, app, owner_id, topic, is_granted, counts_at, keep_until)
    values (change.id, change.app, change.owner_id, change.topic, used < change.count,
      timestamptz 'epoch' + change.valid_until * interval '1 microsecond',
      timestamptz 'epoch' + (change.valid_until + change."window") * interval '1 microsecond')
    on conflict (id) do nothing;
  end loop;
end
$$;

comment on function ridepulse.settle_permits(jsonb) is
  'Grants or refuses permits, and records their outcomes; called in the transaction of a '
  'settlement, before it. changes: rides with their claims, outcomes and requests. Only of rides '
  'that are held under their claim, permits are granted and released; what was sent counts anyway. '
  'Errors: 55P03 if another session has locked the agenda row of a ride that is held.';
