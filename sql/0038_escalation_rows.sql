-- A pending row of an escalation has no apns_id in `deliveries`: no phone receives it, so that a
-- receipt for it means nothing.

-- Readers lock the view before the ledger, and so does this. It waits 2 s at most; if it can't have the
-- lock, nothing has changed, and `ridepulse migrate` can be repeated.
do $$
declare
  -- Where an app's view selects from it, seen_at is the last column.
  columns constant text := (
    select string_agg(
      case a.attname
        when 'apns_id' then
          'case when l.attempts > 0 or l.status = ''pending'' '
          'and l.reason_code is distinct from ''waiting_for_receipt'' then l.apns_id end as apns_id'
        when 'seen_at' then
          '(select r.seen_at from ridepulse.receipts r where r.apns_id = l.apns_id) as seen_at'
        else format('l.%I', a.attname)
      end, ', ' order by a.attnum)
    from pg_attribute a where a.attrelid = 'ridepulse.deliveries'::regclass and a.attnum > 0);
begin
  perform set_config('lock_timeout', '2s', true);
  execute 'create or replace view ridepulse.deliveries as select ' || columns
    || ' from ridepulse.ledger l';
end
$$;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, for people and backends. apns_id is null if nothing was sent, and while an '
  'escalation waits for a receipt; seen_at is null unless the app reported the push; apns_unique_id is '
  'that of Apple''s Push Notifications Console, null unless APNs sent one.';
