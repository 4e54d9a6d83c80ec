-- The ID by which Apple's Push Notifications Console finds a push.
-- Reasons: docs/decisions/0054-apple-of-2026.md.

-- Settlements queue behind the locks below while this waits for them, 2 s at most. If it can't have
-- them, nothing has changed, and `ridepulse migrate` can be repeated.
do $$
declare
  part oid;
  give_up_at constant timestamptz := clock_timestamp() + interval '2 seconds';
begin
  -- `alter table` alone would wait 2 s for each partition.
  for part in
    select t.relid from pg_partition_tree('ridepulse.ledger') t order by t.level, t.relid::oid
  loop
    perform set_config('lock_timeout', greatest(1, ceil(1000 *
      extract(epoch from give_up_at - clock_timestamp())))::integer::text, true);
    execute format('lock table only %s in access exclusive mode', part::regclass);
  end loop;
  perform set_config('lock_timeout', '2s', true);
  alter table ridepulse.ledger add column apns_unique_id text;
end
$$;

comment on column ridepulse.ledger.apns_unique_id is
  'apns-unique-id of the last answer, which APNs sends in its sandbox and for broadcasts; null '
  'without one.';

create or replace view ridepulse.deliveries as
  select ride_id, event, rule, app, push_type, status, reason, attempts,
         case when attempts > 0 or status = 'pending' then apns_id end as apns_id,
         collapse_id, created_at, finished_at, token_suffix, apns_unique_id
  from ridepulse.ledger;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, for people and backends. apns_id is null if nothing was sent; apns_unique_id '
  'is that of Apple''s Push Notifications Console, null unless APNs sent one.';

comment on function ridepulse.deliveries_after(text, integer) is
  'Returns the verdicts after a cursor, in the order in which they were committed, each with the '
  'cursor behind it (next) and the columns of the view deliveries, except apns_unique_id. No verdict '
  'is skipped; one that a repeated push changes is returned again. cursor: null begins with the '
  'oldest. max: 1 to 10000 rows. Errors: 22023 if an argument is malformed; 55000 on a standby, and '
  'for a cursor of another server or of commits that a failover has lost.';
