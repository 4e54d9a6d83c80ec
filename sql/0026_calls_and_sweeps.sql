-- The HTTP calls of receipts and preferences, and how long receipts, preferences and permits are kept.
-- The tables of the last two, and set_preference, come with 0028_limits.sql.
-- Reasons: docs/decisions/0058-time-and-events.md and 0060-limits-per-person.md.

create or replace function ridepulse.answer(call text, arguments jsonb, out status integer, out body text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  a constant jsonb := arguments;
  suffix constant text := right(lower(a ->> 'token'), 6);
  is_new boolean;
  answer jsonb;
begin
  status := 200;
  case call
    when 'events' then
      status := 201;
      answer := jsonb_build_object('event_id',
        ridepulse.emit(a ->> 'event', a ->> 'ride_id', coalesce(a -> 'data', '{}')));
    when 'devices' then
      perform ridepulse.register_device(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'environment', a ->> 'installation_id', a ->> 'locale');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'token_suffix', suffix);
    when 'live-activities' then
      perform ridepulse.register_live_activity(a ->> 'ride_id', a ->> 'app', a ->> 'owner_id',
        a ->> 'token', a ->> 'activity_id', a ->> 'environment', (a ->> 'frequent')::boolean,
        a ->> 'installation_id');
      answer := jsonb_build_object('ride_id', a -> 'ride_id', 'app', a -> 'app',
        'activity_id', a -> 'activity_id', 'token_suffix', suffix);
    when 'push-to-start' then
      perform ridepulse.register_push_to_start(a ->> 'app', a ->> 'owner_id', a ->> 'token',
        a ->> 'attributes_type', a ->> 'environment', a ->> 'installation_id');
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'attributes_type', a -> 'attributes_type', 'token_suffix', suffix);
    when 'contact' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'contacted_at', to_char(ridepulse.contact(a ->> 'app', a ->> 'owner_id')
          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
    when 'preferences' then
      answer := jsonb_build_object('app', a -> 'app', 'owner_id', a -> 'owner_id',
        'topic', a -> 'topic', 'allowed', a -> 'allowed',
        'changed', ridepulse.set_preference(a ->> 'app', a ->> 'owner_id', a ->> 'topic',
          (a ->> 'allowed')::boolean));
    when 'seen' then
      perform ridepulse.seen((a ->> 'apns_id')::uuid);
      status := 204;
    when 'rides' then
      is_new := ridepulse.put_ride(a);
      status := case when is_new then 201 else 200 end;
      answer := jsonb_build_object('id', a -> 'id', 'created', is_new);
    when 'delete-device' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_device(a ->> 'app', a ->> 'token'));
    when 'delete-live-activity' then
      answer := jsonb_build_object('app', a -> 'app', 'activity_id', a -> 'activity_id',
        'withdrawn', ridepulse.end_live_activity(a ->> 'app', a ->> 'activity_id'));
    when 'delete-push-to-start' then
      answer := jsonb_build_object('app', a -> 'app', 'token_suffix', suffix,
        'withdrawn', ridepulse.unregister_push_to_start(a ->> 'app', a ->> 'token'));
    when 'push' then
      status := 201;
      answer := jsonb_build_object('apns_id', case when a ? 'channel'
        then ridepulse.broadcast(a ->> 'app', a ->> 'channel', (a ->> 'payload')::json,
          make_interval(secs => (a ->> 'expires')::double precision), (a ->> 'priority')::integer)
        else ridepulse.push(a ->> 'app', a ->> 'token', (a ->> 'payload')::json,
          coalesce(a ->> 'push_type', 'alert'), (a ->> 'priority')::integer,
          make_interval(secs => (a ->> 'expires')::double precision), a ->> 'environment',
          a ->> 'collapse_id') end);
  end case;
  body := coalesce(answer::text, '');
end
$$;

create or replace function ridepulse.sweep_condition(name text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case $1
    when 'rides' then
      't.updated_at < now() - k.rides'
      ' and (t.pickup_at is null or t.pickup_at < now() - k.rides)'
      ' and not exists (select from ridepulse.agenda a where a.ride_id = t.id)'
      ' and not exists (select from ridepulse.events e where e.ride_id = t.id)'
    when 'live_activities' then
      'coalesce(t.ended_at, t.registered_at + interval ''1 day'') < now() - k.cards'
    when 'push_to_start_tokens' then
      'case when t.disabled_at is null then t.registered_at < now() - k.start_tokens'
      ' else t.disabled_at < now() - k.disabled_tokens end'
    when 'devices' then
      -- A phone that only the legacy gateway has added was never registered: it goes with its
      -- last push.
      'case when t.disabled_at is not null then t.disabled_at < now() - k.disabled_phones'
      ' when t.registered_at = ''-infinity'' then not exists ('
      'select from ridepulse.ledger l where l.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.events e'
      ' where e.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' and not exists (select from ridepulse.agenda a'
      ' where a.ride_id = ridepulse.legacy_ride(t.app, t.token))'
      ' else t.registered_at < now() - k.phones and not exists ('
      'select from ridepulse.contacts c where c.app = t.app and c.owner_id = t.owner_id'
      ' and c.contacted_at >= now() - k.phones) end'
    when 'contacts' then 't.contacted_at < now() - k.contacts'
    when 'preferences' then
      't.changed_at < now() - k.phones and not exists ('
      'select from ridepulse.devices d where d.app = t.app and d.owner_id = t.owner_id)'
    when 'permits' then 't.keep_until < now()'
    when 'receipts' then 't.seen_at < now() - k.keep'
    when 'channels' then
      'coalesce(t.deleted_at, case when t.channel_id is null then t.ended_at end)'
      ' < now() - k.channels'
    when 'watch_errors' then 't.last_at < now() - k.watch_errors'
    when 'nodes' then 't.seen_at < now() - interval ''1 day'''
    when 'idempotency_keys' then 't.created_at < now() - interval ''1 day'''
    when 'legacy_frames' then 't.taken_at < now() - interval ''1 day'''
  end
$$;
