-- Fills an empty, migrated database with a fleet, and prints what each table takes; the figures of
-- docs/performance.md. psql -d DATABASE -v rides=100000 -f scripts/sizes.sql
--
-- A ride has 6 states, each an update of its row and an event, and 16 pushes: 8 alerts and 8 updates
-- of a card. IDs are UUIDs as texts; attributes have 250 bytes. A customer rides 4 times.
\set ON_ERROR_STOP on
\if :{?rides} \else \set rides 100000 \endif
\o /dev/null
set synchronous_commit = off;
select setseed(0.5);

create temporary table fleet as
  select n, gen_random_uuid()::text as ride, 'customer-' || n / 4 as customer,
    'driver-' || n % 1000 as driver
  from generate_series(1, :rides) n;

select ridepulse.register_device('customer', customer, md5(customer) || md5(customer || 'x'),
  'production', md5(customer)::uuid::text, 'de-AT')
from (select distinct customer from fleet) c;
select ridepulse.register_device('driver', driver, md5(driver) || md5(driver || 'x'), 'production',
  md5(driver)::uuid::text)
from (select distinct driver from fleet) d;
select ridepulse.register_push_to_start('customer', customer, md5(customer) || md5(customer || 's'),
  'RideAttributes', 'production', md5(customer)::uuid::text)
from (select distinct customer from fleet) c;
select ridepulse.contact('customer', customer) from (select distinct customer from fleet) c;

-- In batches, as a service works: a batch is vacuumed before the next one.
create procedure pg_temp.work(first bigint, last bigint) language plpgsql as $$
begin
  insert into ridepulse.rides (id, state, customer_id, time_zone, attributes)
  select ride, 'requested', customer, 'Europe/Vienna', jsonb_build_object(
    'pickup_address', 'Mariahilfer Strasse ' || n % 200, 'dropoff_address', 'Flughafen Wien, Gate 3',
    'product', 'comfort', 'price_cents', n % 9000, 'currency', 'EUR', 'passengers', n % 4)
  from fleet where n between first and last;
  for step in 1..5 loop
    update ridepulse.rides r set driver_id = f.driver,
      state = (array['driver_assigned', 'driver_en_route', 'driver_arrived', 'ride_started',
                     'ride_completed'])[step],
      attributes = r.attributes || jsonb_build_object('driver_name', 'Ana', 'plate', 'W-1001 TX',
        'vehicle', 'Skoda Octavia', 'eta_epoch', 1800000000 + step)
    from fleet f where f.n between first and last and r.id = f.ride;
    commit;
  end loop;
  insert into ridepulse.live_activities (ride_id, app, owner_id, activity_id, token, environment,
    installation_id, ended_at, ended_reason)
  select ride, 'customer', customer, gen_random_uuid()::text, md5(ride) || md5(ride || 'x') || md5(ride),
    'production', md5(customer)::uuid::text, now(), 'ended'
  from fleet where n between first and last;
  for push in 1..16 loop
    insert into ridepulse.ledger (ride_id, apns_id, event_id, event, rule, app, push_type, status,
      reason, attempts, collapse_id, device_id, token_suffix, occurred_at, finished_at, priority,
      expiration, card_event, reason_code, decided_by)
    select f.ride, gen_random_uuid(), f.n * 6 + push, 'driver_arrived',
      case when push > 8 then 'customer-card' else 'customer-driver-arrived' end, 'customer',
      case when push > 8 then 'liveactivity' else 'alert' end,
      case push % 8 when 0 then 'suppressed' else 'accepted' end,
      case push % 8 when 0 then 'covered by the card' end, case push % 8 when 0 then 0 else 1 end,
      case when push <= 8 then 'ride-' || f.ride end, case when push <= 8 then d.id end,
      right(d.token, 6), now(), now(), 10, 1800000000, case when push > 8 then 'update' end,
      case push % 8 when 0 then 'covered_by_card' end, 1
    from fleet f join ridepulse.devices d on d.app = 'customer' and d.owner_id = f.customer
    where f.n between first and last;
    commit;
  end loop;
  delete from ridepulse.events;
  commit;
end
$$;

create index on fleet (n);
select format('call pg_temp.work(%s, %s)', n, n + 4999), 'vacuum ridepulse.rides, ridepulse.events'
  from generate_series(1, :rides, 5000) n
\gexec
vacuum analyze;
\o
select c.relname as "table", sum(s.rows) as rows,
  pg_size_pretty(sum(s.heap)) as heap, pg_size_pretty(sum(s.indexes)) as indexes,
  round(sum(s.heap) / nullif(sum(s.rows), 0)) as "heap bytes/row",
  round(sum(s.indexes) / nullif(sum(s.rows), 0)) as "index bytes/row",
  pg_size_pretty(sum(s.heap + s.indexes) * 1000000 / :rides) as "per million rides"
from pg_class c
cross join lateral (
  select greatest(p.reltuples, 0)::bigint as rows, pg_table_size(p.oid) as heap,
    pg_indexes_size(p.oid) as indexes
  from pg_class p
  where p.oid = c.oid and c.relkind = 'r'
    or p.relkind = 'r' and p.oid in (select relid from pg_partition_tree(c.oid))) s
where c.relnamespace = 'ridepulse'::regnamespace and not c.relispartition and c.relkind in ('r', 'p')
group by 1 having sum(s.rows) > 1000 order by sum(s.heap + s.indexes) desc;
